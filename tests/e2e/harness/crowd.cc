#include "tests/e2e/harness/crowd.h"

#include <algorithm>
#include <mutex>
#include <set>

namespace e2e {

json::Value Crowd::Next() {
  json::Value pod = Pod("c" + std::to_string(next_));
  if (label_halves_) pod.Make({"metadata", "labels", "half"}) = next_ % 2 == 0 ? "a" : "b";
  ++next_;
  return pod;
}

std::vector<Attempt> Crowd::Round(int more, std::size_t parallel) {
  const auto alive = Names();
  std::vector<client::ApiRequest> requests;
  for (std::size_t i = 0; i < alive.size(); i += 2) {
    requests.push_back({.verb = "DELETE",
                        .path = scenario_.Path("pods", alive[i]),
                        .query = {{"gracePeriodSeconds", "0"}},
                        .timeout = Stretched(60s)});
  }
  for (int i = 0; i < more; ++i) requests.push_back(PostOf(scenario_.Path("pods"), Next()));
  std::shuffle(requests.begin(), requests.end(), random_);
  std::vector<bool> asked_for;
  asked_for.reserve(requests.size());
  for (const auto& request : requests) asked_for.push_back(request.verb == "POST");
  const auto answers = scenario_.api().DoAll(std::move(requests), parallel);
  std::vector<Attempt> attempts;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (asked_for[i]) attempts.push_back(ToAttempt(answers[i]));
  }
  return attempts;
}

std::vector<std::string> Crowd::Names() {
  const auto list = scenario_.api().Get(scenario_.Path("pods"));
  std::vector<std::string> names;
  for (const auto& pod : *list.At({"items"})->AsArray()) {
    names.emplace_back(pod.StringAt({"metadata", "name"}));
  }
  return names;
}

class HeadCount::Notes {
 public:
  Notes(const std::string& kubeconfig, const std::string& path, const std::string& resource_version)
      : follower_(
            kubeconfig, path, resource_version,
            [this](const std::string& type, const json::Value& one) { Record(type, one); },
            [this] {
              const std::lock_guard lock(mutex_);
              names_.clear();
            }) {}

  [[nodiscard]] std::size_t now() const {
    const std::lock_guard lock(mutex_);
    return names_.size();
  }
  [[nodiscard]] std::size_t most() const {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  void Record(const std::string& type, const json::Value& one) {
    const std::string name(one.StringAt({"metadata", "name"}));
    const std::lock_guard lock(mutex_);
    if (type == "ADDED") names_.insert(name);
    if (type == "DELETED") names_.erase(name);
    most_ = std::max(most_, names_.size());
  }

  mutable std::mutex mutex_;
  std::set<std::string> names_;  // guarded by mutex_
  std::size_t most_ = 0;         // guarded by mutex_
  WatchFollower follower_;
};

HeadCount::HeadCount(const std::string& kubeconfig, const std::string& path,
                     const std::string& resource_version)
    : notes_(std::make_unique<Notes>(kubeconfig, path, resource_version)) {}

HeadCount::~HeadCount() = default;

void HeadCount::WaitFor(std::size_t now) const {
  Eventually("the watch has seen all, " + std::to_string(now) + " are left", [&]() -> std::string {
    const std::size_t seen = notes_->now();
    return seen == now ? "" : std::to_string(seen) + " are";
  });
}

std::size_t HeadCount::most() const { return notes_->most(); }

HighestUsed::HighestUsed(Scenario& s, const std::string& quota, std::string name)
    : HighestUsed(s.server().Kubeconfig(), PathOf("resourcequotas", s.ns()), s.GetQuota(quota),
                  std::move(name)) {}

HighestUsed::HighestUsed(const std::string& kubeconfig, const std::string& path,
                         const json::Value& quota, std::string name)
    : name_(std::move(name)),
      follower_(kubeconfig, path, std::string(quota.StringAt({"metadata", "resourceVersion"})),
                [this, id = std::string(quota.StringAt({"metadata", "name"}))](
                    const std::string&, const json::Value& seen) {
                  if (seen.StringAt({"metadata", "name"}) != id) return;
                  const auto used = ToQuantities(seen.At({"status", "used"}));
                  const auto found = used.find(name_);
                  if (found == used.end()) return;
                  highest_ = std::max(highest_.load(), std::stod(found->second));
                }) {}

}  // namespace e2e
