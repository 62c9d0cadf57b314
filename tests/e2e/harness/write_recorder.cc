#include "tests/e2e/harness/write_recorder.h"

#include <mutex>

#include "pkg/quota/quota.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/wait.h"
#include "tests/e2e/harness/watch_follower.h"

namespace e2e {

struct Seen {
  int writes = 0;
  std::uint64_t resource_version = 0;
  std::vector<std::size_t> reservations;
};

// In the annotation, or in the status of quotas that have them there.
static std::string_view ReservationsOf(const json::Value& quota) {
  const std::string annotation(quota::kReservations);
  const std::string_view annotated = quota.StringAt({"metadata", "annotations", annotation});
  return annotated.empty() ? quota.StringAt({"status", "reservations"}) : annotated;
}

class WriteRecorder::Notes {
 public:
  Notes(const std::string& kubeconfig, const std::string& path, const std::string& resource_version)
      : follower_(
            kubeconfig, path, resource_version,
            [this](const std::string& type, const json::Value& quota) { Record(type, quota); }) {}

  int AllWrites() const {
    const std::lock_guard lock(mutex_);
    int sum = 0;
    for (const auto& [quota, seen] : seen_) sum += seen.writes;
    return sum;
  }
  Seen Of(const std::string& quota) const {
    const std::lock_guard lock(mutex_);
    const auto found = seen_.find(quota);
    return found == seen_.end() ? Seen{} : found->second;
  }

 private:
  void Record(const std::string& type, const json::Value& quota) {
    const std::lock_guard lock(mutex_);
    auto& seen = seen_[std::string(quota.StringAt({"metadata", "name"}))];
    seen.resource_version =
        std::stoull(std::string(quota.StringAt({"metadata", "resourceVersion"})));
    if (type != "MODIFIED") return;
    ++seen.writes;
    seen.reservations.push_back(ReservationsOf(quota).size());
  }

  mutable std::mutex mutex_;
  std::map<std::string, Seen> seen_;  // guarded by mutex_
  WatchFollower follower_;
};

WriteRecorder::WriteRecorder(const std::string& kubeconfig, const std::string& ns,
                             const std::string& resource_version)
    : WriteRecorder(kubeconfig, Collection{PathOf("resourcequotas", ns)}, resource_version) {}

WriteRecorder::WriteRecorder(const std::string& kubeconfig, const Collection& collection,
                             const std::string& resource_version)
    : notes_(std::make_unique<Notes>(kubeconfig, collection.path, resource_version)) {}

WriteRecorder::~WriteRecorder() = default;

int WriteRecorder::Writes(const std::string& quota) const { return notes_->Of(quota).writes; }

int WriteRecorder::AllWrites() const { return notes_->AllWrites(); }

std::vector<std::size_t> WriteRecorder::ReservationSizes(const std::string& quota) const {
  return notes_->Of(quota).reservations;
}

void WriteRecorder::WaitSeen(const std::string& quota, const std::string& resource_version) const {
  Eventually(
      "the recorder sees version " + resource_version + " of " + quota, [&]() -> std::string {
        const auto seen = notes_->Of(quota).resource_version;
        return seen >= std::stoull(resource_version) ? "" : "version " + std::to_string(seen);
      });
}

}  // namespace e2e
