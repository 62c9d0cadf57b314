#include "tests/e2e/harness/watch_follower.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <thread>

#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/connection.h"

namespace e2e {

constexpr base::Duration kReopenPause =
    std::chrono::milliseconds(20);  // before a watch is opened again
constexpr std::chrono::milliseconds kQuiet = std::chrono::minutes(10);

class WatchFollower::Thread {
 public:
  Thread(const std::string& kubeconfig, std::string path, std::string resource_version,
         OnEvent on_event, std::function<void()> on_anew)
      : connection_(kubeconfig),
        path_(std::move(path)),
        from_(std::move(resource_version)),
        on_event_(std::move(on_event)),
        on_anew_(std::move(on_anew)),
        tasks_(connection_.io.get_executor()) {
    tasks_.Spawn("follow " + path_, [this] { return Follow(); });
    thread_ = std::thread([this] { connection_.io.run(); });
  }

  ~Thread() {
    base::asio::post(connection_.io, [this] { tasks_.Cancel(); });
    thread_.join();
  }

 private:
  base::Task<void> Follow() {
    co_await base::DeferCancellation();
    while (!co_await base::Stopping()) {
      co_await WatchOnce();
      base::Scheduler& scheduler = connection_.scheduler;
      co_await scheduler.Sleep(kReopenPause);
    }
  }

  base::Task<void> WatchOnce() {
    const bool anew = from_.empty();
    client::ApiRequest request;
    request.path = path_;
    request.query.emplace_back("watch", "1");
    request.query.emplace_back("resourceVersion", from_);
    auto stream = co_await connection_.rest->Stream(std::move(request));
    // The server does not know this version any more, or not yet: its current objects are sent as
    // ADDED.
    if (!stream && stream.error().http_status != 0) from_.clear();
    if (stream && anew && on_anew_) on_anew_();
    std::string pending;
    while (stream.has_value()) {
      auto bytes = co_await (*stream)->Read(kQuiet);
      if (!bytes || !bytes->has_value()) break;
      pending += **bytes;
      for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
        Show(Json(pending.substr(0, end)));
        pending.erase(0, end + 1);
      }
    }
  }

  void Show(const json::Value& event) {
    const std::string type(event.StringAt({"type"}));
    if (type == "ERROR") {
      from_.clear();
      return;
    }
    const json::Value& object = *event.At({"object"});
    from_ = object.StringAt({"metadata", "resourceVersion"});
    on_event_(type, object);
  }

  Connection connection_;
  std::string path_;
  std::string from_;
  OnEvent on_event_;
  std::function<void()> on_anew_;
  base::TaskGroup tasks_;
  std::thread thread_;
};

WatchFollower::WatchFollower(const std::string& kubeconfig, std::string path,
                             std::string resource_version, OnEvent on_event,
                             std::function<void()> on_anew)
    : thread_(std::make_unique<Thread>(kubeconfig, std::move(path), std::move(resource_version),
                                       std::move(on_event), std::move(on_anew))) {}

WatchFollower::~WatchFollower() = default;

}  // namespace e2e
