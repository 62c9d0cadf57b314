#include "tests/simulation/link.h"

#include <algorithm>

namespace simulation {
namespace {

using base::Error;
using base::ErrorCode;
using Kind = RequestFault::Kind;

Error Broken() { return {.code = ErrorCode::kUnavailable, .message = "the connection is lost"}; }

Error Overloaded() {
  return {.code = ErrorCode::kUnavailable, .message = "service unavailable", .http_status = 503};
}

// The answer of an API server whose etcd timed out.
Error TimedOut(bool gateway) {
  return {.code = gateway ? ErrorCode::kTimeout : ErrorCode::kUnavailable,
          .message = "etcdserver: request timed out",
          .http_status = gateway ? 504 : 500};
}

// The longest pause before a retry of a request that did not fail many times in a row.
constexpr std::chrono::seconds kRetryPause{2};
// The longest pause after many failures in a row.
constexpr std::chrono::seconds kLongestRetryPause{72};
// Lists and watches back off further, and may have failed for a while already.
constexpr std::chrono::seconds kReopenPause{12};

constexpr const char* kTooOld =
    R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure",)"
    R"("reason":"Expired","code":410,"message":"too old resource version"}})"
    "\n";

std::string_view QueryOf(const client::ApiRequest& request, std::string_view wanted) {
  for (const auto& [name, value] : request.query) {
    if (name == wanted) return value;
  }
  return "";
}

// The answer to a list: one piece, then the end.
class TextBody final : public http::BodyStream {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  base::Task<base::Result<std::optional<std::string>>> Read(std::chrono::milliseconds) override {
    if (std::exchange(done_, true)) co_return std::optional<std::string>();
    co_return std::optional<std::string>(std::move(text_));
  }

 private:
  std::string text_;
  bool done_ = false;
};

}  // namespace

struct Link::Exchange {
  std::optional<base::Result<client::ApiResponse>> answer;
  std::unique_ptr<base::Alarm> alarm;

  void Answer(base::Result<client::ApiResponse> with) {
    if (answer) return;
    answer = std::move(with);
    alarm->Wake();
  }
};

struct Link::Watch {
  Resource resource;
  std::uint64_t since = 0;          // the last version that the server has sent
  base::TimePoint last{};           // when that event arrives
  std::deque<Server::Event> lines;  // arrived, not yet read
  bool ended = false;
  bool misled = false;  // starts from a version that the restored server has not reached
  std::unique_ptr<base::Alarm> alarm;

  void End() {
    ended = true;
    alarm->Wake();
  }
};

class Link::WatchBody final : public http::BodyStream {
 public:
  WatchBody(Link& link, std::shared_ptr<Watch> watch) : link_(link), watch_(std::move(watch)) {}
  ~WatchBody() override { watch_->ended = true; }

  base::Task<base::Result<std::optional<std::string>>> Read(
      std::chrono::milliseconds timeout) override {
    const base::TimePoint deadline = link_.clock_.Now() + timeout;
    for (;;) {
      if (!watch_->lines.empty()) {
        Server::Event event = std::move(watch_->lines.front());
        watch_->lines.pop_front();
        // Only now: a stopped process has not seen the events that have arrived.
        Raise(link_.shown_, watch_->resource, event.version);
        Raise(link_.watched_, watch_->resource, event.version);
        co_return std::optional<std::string>(std::move(event.line));
      }
      if (watch_->ended) co_return std::optional<std::string>();
      if (link_.clock_.Now() >= deadline)
        co_return Error{.code = ErrorCode::kTimeout, .message = "silence"};
      co_await watch_->alarm->WaitUntil(deadline);
      const bool stopping = co_await base::Stopping();
      if (stopping) co_return Error{.code = ErrorCode::kCancelled, .message = "cancelled"};
    }
  }

 private:
  Link& link_;
  std::shared_ptr<Watch> watch_;
};

Link::Link(Timeline& timeline, Server& server, ReplicaClock& clock, std::uint64_t seed)
    : timeline_(timeline), server_(server), clock_(clock), random_(seed) {}

Link::~Link() = default;

// 0.3 to 20 ms, most of them short.
base::Duration Link::Way() {
  const auto drawn = random_() % 1'000;
  return std::chrono::microseconds(300 + (drawn * drawn) / 50);
}

std::optional<RequestFault> Link::FaultFor(const client::ApiRequest& request) {
  const auto resource = Server::CollectionAt(request.path);
  const auto blocked = resource ? blocked_until_.find(*resource) : blocked_until_.end();
  if (blocked != blocked_until_.end() && timeline_.Now() < blocked->second) {
    return RequestFault{.kind = Kind::kFail};
  }
  const auto fault = std::find_if(faults_.begin(), faults_.end(), [&](const auto& f) {
    return !f.writes_only || request.verb == "PATCH";
  });
  if (fault == faults_.end()) return std::nullopt;
  const RequestFault found = *fault;
  if (--fault->count <= 0) faults_.erase(fault);
  return found;
}

// Reports the fault with the pause until the retry, because its consequences last so long.
void Link::Notice(const std::optional<RequestFault>& fault, const client::ApiRequest& request,
                  base::Duration pause) {
  had_trouble_ = had_trouble_ || fault;
  if (!fault || dead_ || !on_fault) return;
  const base::Duration silence = fault->kind == Kind::kHang ? 2 * request.timeout : fault->time;
  on_fault(silence + pause);
}

base::Task<base::Result<client::ApiResponse>> Link::Send(std::chrono::milliseconds timeout,
                                                         std::optional<RequestFault> fault,
                                                         Handler handler) {
  if (dead_) co_return Broken();
  const base::TimePoint deadline = clock_.Now() + timeout;
  const auto exchange = std::make_shared<Exchange>();
  exchange->alarm = clock_.NewAlarm();
  std::erase_if(exchanges_, [](const auto& other) { return other.expired(); });
  exchanges_.push_back(exchange);
  const Kind kind = fault ? fault->kind : Kind::kSlow;
  const base::Duration back = Way() + (fault ? fault->time : base::Duration::zero());
  // On the timeline, not in this coroutine: the request arrives even if the process is killed.
  timeline_.After(Way(), [this, exchange, kind, back, handler = std::move(handler)] {
    const bool arrives = kind != Kind::kDrop && kind != Kind::kFail;
    base::Result<client::ApiResponse> answer = Broken();
    if (arrives) answer = handler();
    if (kind == Kind::kHang) return;
    if (kind == Kind::kLoseAnswer) answer = Broken();
    if (kind == Kind::kFail) answer = Overloaded();
    if (kind == Kind::kError) answer = TimedOut(back.count() % 2 != 0);
    timeline_.After(back, [exchange, answer = std::move(answer)]() mutable {
      exchange->Answer(std::move(answer));
    });
  });
  bool stopping = co_await base::Stopping();
  while (!exchange->answer && !stopping && clock_.Now() < deadline) {
    co_await exchange->alarm->WaitUntil(deadline);
    stopping = co_await base::Stopping();
  }
  if (exchange->answer) co_return std::move(*exchange->answer);
  if (stopping) co_return Error{.code = ErrorCode::kCancelled, .message = "cancelled"};
  co_return Error{.code = ErrorCode::kTimeout, .message = "no answer"};
}

// The work queue doubles the pause of a key with each failure (queue::RetryOptions).
base::Duration Link::PauseAfter(const client::ApiRequest& request, bool fault) {
  if (request.verb != "PATCH") return kRetryPause;
  int& failures = failures_[request.path];
  failures = fault ? failures + 1 : 0;
  const base::Duration pause = std::chrono::milliseconds(6) * (1 << std::min(failures, 14));
  return std::clamp<base::Duration>(pause, kRetryPause, kLongestRetryPause);
}

base::Task<base::Result<client::ApiResponse>> Link::Do(client::ApiRequest request) {
  if (!dead_ && request.verb == "PATCH" && on_patch) on_patch(request);
  std::optional<RequestFault> fault = FaultFor(request);
  Notice(fault, request, PauseAfter(request, fault.has_value()));
  const std::chrono::milliseconds timeout = request.timeout;
  Handler handler = [this, request = std::move(request)] { return server_.Handle(request); };
  co_return co_await Send(timeout, fault, std::move(handler));
}

base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Link::Stream(
    client::ApiRequest request) {
  using Body = std::unique_ptr<http::BodyStream>;
  std::optional<RequestFault> fault = FaultFor(request);
  Notice(fault, request, kReopenPause);
  const bool watching = !QueryOf(request, "watch").empty();
  if (!watching) {
    const std::chrono::milliseconds timeout = request.timeout;
    const auto listed_at = std::make_shared<std::uint64_t>(0);
    // A list shows the state at the moment when the server handles it, not when it arrives.
    Handler list = [this, request, listed_at] {
      *listed_at = server_.version();
      return server_.Handle(request);
    };
    auto answer = co_await Send(timeout, fault, std::move(list));
    if (!answer) co_return answer.error();
    const auto resource = Server::CollectionAt(request.path);
    if (resource) Raise(shown_, *resource, *listed_at);
    // A question for the version asks for one object.
    const bool all = resource && request.path.find("/namespaces/") == std::string::npos &&
                     QueryOf(request, "limit") != "1";
    if (all) ++lists_[*resource];
    Body body = std::make_unique<TextBody>(std::move(answer->body));
    co_return base::Result<Body>(std::move(body));
  }
  const auto watch = std::make_shared<Watch>();
  watch->resource = *Server::CollectionAt(request.path);
  watch->since = std::stoull(std::string(QueryOf(request, "resourceVersion")));
  watch->alarm = clock_.NewAlarm();
  Body body = std::make_unique<WatchBody>(*this, watch);
  Handler open = [this, watch] { return OpenWatch(watch); };
  const auto answer = co_await Send(request.timeout, fault, std::move(open));
  if (!answer) co_return answer.error();
  co_return base::Result<Body>(std::move(body));
}

base::Result<client::ApiResponse> Link::OpenWatch(const std::shared_ptr<Watch>& watch) {
  const auto shows = server_.ShowsFrom(watch->since);
  if (!shows) {
    if (on_fault) on_fault(kReopenPause);
    return shows.error();
  }
  watch->misled = !*shows;
  any_misled_ = any_misled_ || watch->misled;
  watches_.push_back(watch);
  Raise(watched_, watch->resource, watch->since);
  if (expired_.erase(watch->resource) > 0) {
    if (on_fault) on_fault(std::chrono::seconds(14));  // the longest pause before it lists again
    watch->lines.push_back({0, kTooOld});
  } else {
    const std::uint64_t since = watch->since;
    Deliver(watch);
    // The watch continues after a gap, and shows old events as new ones.
    if (watch->since != since && on_fault) on_fault({});
  }
  return client::ApiResponse{.status = 200, .headers = {}, .body = ""};
}

void Link::Deliver(const std::shared_ptr<Watch>& watch) {
  const auto lag = lag_until_.find(watch->resource);
  const base::TimePoint not_before = lag != lag_until_.end() ? lag->second : base::TimePoint{};
  const auto& history = server_.History(watch->resource);
  const auto next = std::upper_bound(
      history.begin(), history.end(), watch->since,
      [](std::uint64_t since, const Server::Event& event) { return since < event.version; });
  for (auto event = next; event != history.end(); ++event) {
    watch->since = event->version;
    // Not before the previous event: a watch keeps the order.
    watch->last = std::max({watch->last, timeline_.Now() + Way(), not_before});
    timeline_.After(watch->last - timeline_.Now(), [watch, arrived = *event] {
      if (watch->ended) return;  // cut: what was on its way is lost
      watch->lines.push_back(arrived);
      watch->alarm->Wake();
    });
  }
}

void Link::Pump(Resource resource) {
  std::erase_if(watches_, [](const auto& watch) { return watch.expired() || watch.lock()->ended; });
  for (const auto& weak : watches_) {
    const std::shared_ptr<Watch> watch = weak.lock();
    if (watch->resource == resource) Deliver(watch);
  }
}

void Link::CutWatches(Resource resource) {
  had_trouble_ = true;
  for (const auto& weak : watches_) {
    const std::shared_ptr<Watch> watch = weak.lock();
    if (watch && watch->resource == resource) watch->End();
  }
}

void Link::CutAll() {
  for (const auto& weak : watches_) {
    if (const auto watch = weak.lock()) watch->End();
  }
}

bool Link::Misled() const {
  return any_misled_ && std::ranges::any_of(watches_, [](const auto& weak) {
           const auto watch = weak.lock();
           return watch && !watch->ended && watch->misled;
         });
}

void Link::Expire(Resource resource) {
  expired_.insert(resource);
  CutWatches(resource);
}

void Link::Lag(Resource resource, base::Duration duration) {
  had_trouble_ = true;
  base::TimePoint& until = lag_until_[resource];
  until = std::max(until, timeline_.Now() + duration);
}

void Link::Block(Resource resource, base::Duration duration) {
  base::TimePoint& until = blocked_until_[resource];
  until = std::max(until, timeline_.Now() + duration);
  CutWatches(resource);
}

void Link::Kill() {
  dead_ = true;
  for (const auto& weak : exchanges_) {
    if (const auto exchange = weak.lock()) exchange->Answer(Broken());
  }
  for (const auto& weak : watches_) {
    if (const auto watch = weak.lock()) watch->End();
  }
}

}  // namespace simulation
