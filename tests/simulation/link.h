#pragma once

// The network between one replica and the API server. Requests and events take time and meet
// faults: an answer is lost after the write was made, a request never arrives, a watch lags,
// breaks, or expires. A request that has left the process arrives even if the process is stopped or
// killed.

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "pkg/client/api_client.h"
#include "tests/simulation/replica_clock.h"
#include "tests/simulation/server.h"
#include "tests/simulation/timeline.h"

namespace simulation {

struct RequestFault {
  enum class Kind : std::uint8_t {
    kLoseAnswer,  // done, then the connection breaks
    kHang,        // done, then no answer until the timeout
    kDrop,        // the connection breaks before it arrives
    kFail,        // the server answers 503
    kError,       // done, then the server answers 500 or 504
    kSlow,        // done, `time` later
  };
  Kind kind = Kind::kSlow;
  bool writes_only = false;  // the next PATCH of a status; else the next request
  int count = 1;
  base::Duration time{};
};

class Link final : public client::ApiClient {
 public:
  // The arguments must outlive the link and all exchanges in progress.
  Link(Timeline& timeline, Server& server, ReplicaClock& clock, std::uint64_t seed);
  ~Link() override;

  base::Task<base::Result<client::ApiResponse>> Do(client::ApiRequest request) override;
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(
      client::ApiRequest request) override;

  void Suffer(RequestFault fault) { faults_.push_back(fault); }
  void CutWatches(Resource resource);
  // The next watch of the resource gets 410 Expired.
  void Expire(Resource resource);
  // Events of the resource come later, in order.
  void Lag(Resource resource, base::Duration duration);
  // Lists and watches of the resource fail.
  void Block(Resource resource, base::Duration duration);
  // The history of the resource has grown.
  void Pump(Resource resource);
  // The latest version of the resource that the process was shown; 0 if it never asked.
  [[nodiscard]] std::uint64_t Shown(Resource resource) const { return VersionIn(shown_, resource); }
  // The latest version that a watch started from or has shown; 0 if there was no watch. Live reads
  // do not count, because the process does not keep them.
  [[nodiscard]] std::uint64_t Watched(Resource resource) const {
    return VersionIn(watched_, resource);
  }
  // How often all objects of the resource were listed.
  [[nodiscard]] int Lists(Resource resource) const {
    const auto entry = lists_.find(resource);
    return entry == lists_.end() ? 0 : entry->second;
  }
  // A request met a fault, or a watch ended.
  [[nodiscard]] bool HadTrouble() const { return had_trouble_; }
  // All watches break.
  void CutAll();
  // A watch is open that shows nothing, because it starts from a version that the restored server
  // has not reached.
  [[nodiscard]] bool Misled() const;
  // No request leaves any more. All requests in progress end without an answer.
  void Kill();

  // Called when a request meets a fault, with the longest duration of its consequences.
  std::function<void(base::Duration)> on_fault;
  // Called with each PATCH as it leaves.
  std::function<void(const client::ApiRequest&)> on_patch;

 private:
  using Versions = std::map<Resource, std::uint64_t>;
  struct Exchange;
  struct Watch;
  class WatchBody;
  using Handler = std::function<base::Result<client::ApiResponse>()>;

  base::Task<base::Result<client::ApiResponse>> Send(std::chrono::milliseconds timeout,
                                                     std::optional<RequestFault> fault,
                                                     Handler handler);
  std::optional<RequestFault> FaultFor(const client::ApiRequest& request);
  void Notice(const std::optional<RequestFault>& fault, const client::ApiRequest& request,
              base::Duration pause);
  base::Duration PauseAfter(const client::ApiRequest& request, bool fault);
  static std::uint64_t VersionIn(const Versions& versions, Resource resource) {
    const auto entry = versions.find(resource);
    return entry == versions.end() ? 0 : entry->second;
  }
  static void Raise(Versions& versions, Resource resource, std::uint64_t version) {
    std::uint64_t& latest = versions[resource];
    latest = std::max(latest, version);
  }
  base::Result<client::ApiResponse> OpenWatch(const std::shared_ptr<Watch>& watch);
  void Deliver(const std::shared_ptr<Watch>& watch);
  base::Duration Way();

  Timeline& timeline_;
  Server& server_;
  ReplicaClock& clock_;
  std::mt19937_64 random_;
  bool dead_ = false;
  bool had_trouble_ = false;
  std::map<Resource, int> lists_;
  bool any_misled_ = false;  // some watch was misled at some time
  std::deque<RequestFault> faults_;
  std::map<std::string, int> failures_;  // of PATCHes in a row, by path
  std::list<std::weak_ptr<Exchange>> exchanges_;
  std::list<std::weak_ptr<Watch>> watches_;
  std::set<Resource> expired_;
  Versions shown_;
  Versions watched_;
  std::map<Resource, base::TimePoint> lag_until_;
  std::map<Resource, base::TimePoint> blocked_until_;
};

}  // namespace simulation
