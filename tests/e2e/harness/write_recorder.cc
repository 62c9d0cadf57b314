#include "tests/e2e/harness/write_recorder.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <mutex>
#include <thread>

#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/connection.h"
#include "tests/e2e/harness/wait.h"

namespace e2e {

constexpr base::Duration kPause = 20ms;  // before a watch is opened again
constexpr std::chrono::milliseconds kQuiet = 10min;

struct Seen {
  int writes = 0;
  std::uint64_t resource_version = 0;
};

class WriteRecorder::Follower {
 public:
  Follower(const std::string& kubeconfig, const std::string& ns, std::string resource_version)
      : connection_(kubeconfig),
        path_(PathOf("resourcequotas", ns)),
        from_(std::move(resource_version)),
        tasks_(connection_.io.get_executor()) {
    tasks_.Spawn("record quota writes", [this] { return Follow(); });
    thread_ = std::thread([this] { connection_.io.run(); });
  }

  ~Follower() {
    base::asio::post(connection_.io, [this] { tasks_.Cancel(); });
    thread_.join();
  }

  Seen Of(const std::string& quota) const {
    const std::lock_guard lock(mutex_);
    const auto found = seen_.find(quota);
    return found == seen_.end() ? Seen{} : found->second;
  }

 private:
  base::Task<void> Follow() {
    co_await base::DeferCancellation();
    while (!co_await base::Stopping()) {
      co_await WatchOnce();
      base::Scheduler& scheduler = connection_.scheduler;
      co_await scheduler.Sleep(kPause);
    }
  }

  base::Task<void> WatchOnce() {
    client::ApiRequest request;
    request.path = path_;
    request.query.emplace_back("watch", "1");
    request.query.emplace_back("resourceVersion", from_);
    auto stream = co_await connection_.rest->Stream(std::move(request));
    // A version that the server no longer (or not yet) knows: what it holds now comes as ADDED.
    if (!stream && stream.error().http_status != 0) from_.clear();
    std::string pending;
    while (stream.has_value()) {
      auto bytes = co_await (*stream)->Read(kQuiet);
      if (!bytes || !bytes->has_value()) break;
      pending += **bytes;
      for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
        Record(Json(pending.substr(0, end)));
        pending.erase(0, end + 1);
      }
    }
  }

  void Record(const json::Value& event) {
    if (event.StringAt({"type"}) == "ERROR") {
      from_.clear();
      return;
    }
    from_ = event.StringAt({"object", "metadata", "resourceVersion"});
    const std::lock_guard lock(mutex_);
    auto& seen = seen_[std::string(event.StringAt({"object", "metadata", "name"}))];
    seen.resource_version = std::stoull(from_);
    if (event.StringAt({"type"}) == "MODIFIED") ++seen.writes;
  }

  Connection connection_;
  std::string path_;
  std::string from_;
  base::TaskGroup tasks_;
  mutable std::mutex mutex_;
  std::map<std::string, Seen> seen_;  // guarded by mutex_
  std::thread thread_;
};

WriteRecorder::WriteRecorder(const std::string& kubeconfig, const std::string& ns,
                             const std::string& resource_version)
    : follower_(std::make_unique<Follower>(kubeconfig, ns, resource_version)) {}

WriteRecorder::~WriteRecorder() = default;

int WriteRecorder::Writes(const std::string& quota) const { return follower_->Of(quota).writes; }

void WriteRecorder::WaitSeen(const std::string& quota, const std::string& resource_version) const {
  Eventually(
      "the recorder sees version " + resource_version + " of " + quota, [&]() -> std::string {
        const auto seen = follower_->Of(quota).resource_version;
        return seen >= std::stoull(resource_version) ? "" : "version " + std::to_string(seen);
      });
}

}  // namespace e2e
