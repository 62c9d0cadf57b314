#include "pkg/client/event_recorder.h"

#include <glog/logging.h>

#include <algorithm>
#include <deque>
#include <set>

#include "pkg/api/resource.h"
#include "pkg/api/time.h"
#include "pkg/base/backoff.h"
#include "pkg/base/reminder.h"
#include "pkg/client/api_error.h"
#include "pkg/client/event_correlator.h"
#include "pkg/json/value.h"

namespace client {
namespace {

using base::Error;
using base::ErrorCode;
using std::chrono::milliseconds;

const api::GroupVersionResource kEvents{"", "v1", "events"};
constexpr std::size_t kMaxInstance = 128;

std::string_view TypeName(EventType type) {
  return type == EventType::kWarning ? "Warning" : "Normal";
}

json::Object Reference(const ObjectReference& about) {
  json::Object reference{{"apiVersion", about.api_version},
                         {"kind", about.kind},
                         {"name", about.name},
                         {"uid", about.uid}};
  if (!about.ns.empty()) reference.Set("namespace", about.ns);
  if (!about.resource_version.empty()) reference.Set("resourceVersion", about.resource_version);
  return reference;
}

std::string WholeBody(const EventWrite& write, const EventRecorderOptions& options) {
  return json::Write(json::Object{
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", json::Object{{"name", write.name}, {"namespace", write.ns}}},
      {"involvedObject", Reference(write.event.about)},
      {"reason", write.event.reason},
      {"message", write.event.message},
      {"type", TypeName(write.event.type)},
      {"source", json::Object{{"component", options.component}}},
      {"firstTimestamp", api::FormatTime(write.first)},
      {"lastTimestamp", api::FormatTime(write.last)},
      {"count", write.count},
      {"reportingComponent", options.component},
      {"reportingInstance", options.instance.substr(0, kMaxInstance)},
  });
}

std::string RepeatBody(const EventWrite& write) {
  return json::Write(json::Object{{"count", write.count},
                                  {"lastTimestamp", api::FormatTime(write.last)},
                                  {"message", write.event.message}});
}

// True if the server, or a proxy before it, may answer better later. Otherwise it has decided.
bool MayPass(const Error& error) {
  return error.http_status == 0 || error.http_status == 429 || error.http_status >= 500;
}

// Nothing can be created in a namespace that is terminating or gone, and its quotas go with it.
bool NamespaceIsGone(const Error& error) {
  return error.Is(ErrorCode::kNotFound) || IsTerminating(error);
}

class Recorder final : public ApiEventRecorder {
 public:
  Recorder(ApiClient& client, base::Scheduler& scheduler, EventRecorderOptions options)
      : client_(client),
        scheduler_(scheduler),
        options_(std::move(options)),
        interval_(base::Duration(std::chrono::seconds(1)) / std::max(1, options_.per_second)),
        wake_(scheduler.NewAlarm()),
        backoff_({.initial = options_.first_pause, .cap = options_.longest_pause, .jitter = 0.2}) {}

  bool Record(Event event) override;
  base::Task<void> Run() override;

 private:
  struct Pending {
    EventWrite write;
    int tries = 0;
  };

  base::Task<void> SendNext();
  base::Task<base::Result<void>> Send(EventWrite& write, base::TimePoint deadline);
  base::Task<base::Result<void>> Exchange(EventWrite write, base::TimePoint deadline);
  base::Task<void> Flush();
  bool Join(const EventWrite& write);
  void Settle(Pending pending, const base::Result<void>& sent, bool last_chance);
  void Complain(const Error& error);
  void Count(std::string_view outcome) const;
  [[nodiscard]] base::TimePoint NextSend() const;

  ApiClient& client_;
  base::Scheduler& scheduler_;
  const EventRecorderOptions options_;
  const base::Duration interval_;
  std::unique_ptr<base::Alarm> wake_;
  base::Backoff backoff_;
  EventCorrelator correlator_;
  std::deque<Pending> queue_;
  base::TimePoint paid_until_{};  // each request moves it on by `interval_`
  base::TimePoint not_before_{};  // after a request without an answer: the time of the next one
  base::Reminder away_;           // whether the server answers
  std::set<ErrorCode> refusals_;  // logged already
};

bool Recorder::Record(Event event) {
  // Before the correlator, so that a dropped event does not count as sent when it is recorded
  // again.
  if (queue_.size() >= options_.queue) {
    Count("queue_full");
    return false;
  }
  auto write = correlator_.Observe(std::move(event), scheduler_.Now(), scheduler_.WallNow());
  if (!write) {
    Count("silenced");
    return true;  // recorded again, it would be silenced again
  }
  VLOG(1) << "event object=" << write->ns << "/" << write->event.about.name
          << " reason=" << write->event.reason << " count=" << write->count
          << " message=" << json::Quote(write->event.message);
  if (write->repeats && Join(*write)) return true;
  queue_.push_back({std::move(*write)});
  wake_->Wake();
  return true;
}

// Merges a repetition into its event if that is still queued.
bool Recorder::Join(const EventWrite& write) {
  const auto waiting = std::ranges::find_if(
      queue_, [&](const Pending& pending) { return pending.write.name == write.name; });
  if (waiting == queue_.end()) return false;
  waiting->write.count = write.count;
  waiting->write.last = write.last;
  waiting->write.event.message = write.event.message;
  return true;
}

base::TimePoint Recorder::NextSend() const {
  if (queue_.empty()) return scheduler_.Now() + std::chrono::hours(1);
  // A token bucket as one time: `paid_until_` may be a burst of intervals ahead of now.
  return std::max(not_before_, paid_until_ - interval_ * (options_.burst - 1));
}

base::Task<void> Recorder::Run() {
  co_await base::DeferCancellation();
  while (!co_await base::Stopping()) {
    const base::TimePoint next = NextSend();
    if (next <= scheduler_.Now()) {
      co_await SendNext();
      continue;
    }
    co_await wake_->WaitUntil(next);
  }
  co_await base::IgnoreCancellation();  // the flush has its own time limit
  co_await Flush();
}

base::Task<void> Recorder::SendNext() {
  CHECK(!queue_.empty()) << "an event is sent, and none is queued";
  paid_until_ = std::max(paid_until_, scheduler_.Now()) + interval_;
  Pending pending = std::move(queue_.front());
  queue_.pop_front();
  const base::Result<void> sent = co_await Send(pending.write, scheduler_.Now() + options_.timeout);
  const bool stopping = co_await base::Stopping();
  if (!sent && stopping && MayPass(sent.error())) {
    queue_.push_front(std::move(pending));  // cancelled in mid-request: the flush sends it again
    co_return;
  }
  Settle(std::move(pending), sent, false);
}

base::Task<base::Result<void>> Recorder::Send(EventWrite& write, base::TimePoint deadline) {
  base::Result<void> sent = co_await Exchange(write, deadline);
  if (sent || !write.repeats || !sent.error().Is(ErrorCode::kNotFound)) co_return sent;
  write.repeats = false;  // the server has deleted it, as events expire
  co_return co_await Exchange(write, deadline);
}

base::Task<base::Result<void>> Recorder::Exchange(EventWrite write, base::TimePoint deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - scheduler_.Now());
  ApiRequest request{.timeout = std::max(left, milliseconds(1))};
  if (write.repeats) {
    request.verb = "PATCH";
    request.path = kEvents.Path(write.ns, write.name);
    request.content_type = std::string(kMergePatch);
    request.body = RepeatBody(write);
  } else {
    request.verb = "POST";
    request.path = kEvents.Path(write.ns);
    request.content_type = std::string(kJson);
    request.body = WholeBody(write, options_);
  }
  const auto answer = co_await client_.Do(std::move(request));
  // Only we use this name: an earlier try was stored, and only its answer was lost.
  if (answer || answer.error().Is(ErrorCode::kAlreadyExists)) co_return base::Result<void>();
  co_return answer.error();
}

void Recorder::Settle(Pending pending, const base::Result<void>& sent, bool last_chance) {
  if (sent) {
    LOG_IF(INFO, away_.Solve()) << "events are sent again";
    backoff_.Reset();
    return Count(pending.write.repeats ? "repeated" : "created");
  }
  const Error& error = sent.error();
  if (!MayPass(error)) {
    if (NamespaceIsGone(error)) return Count("namespace_gone");
    Complain(error);
    return Count("refused");
  }
  Complain(error);
  not_before_ = scheduler_.Now() + backoff_.Next(scheduler_.Now(), error.retry_after);
  // To the front: events of one object keep their order.
  if (last_chance || ++pending.tries >= options_.tries) return Count("unsent");
  queue_.push_front(std::move(pending));
  // Others were recorded while this one was sent.
  CHECK_LE(queue_.size(), options_.queue + 1) << "more events are queued than may be";
}

base::Task<void> Recorder::Flush() {
  const base::TimePoint deadline = scheduler_.Now() + options_.flush;
  while (!queue_.empty() && scheduler_.Now() < deadline) {
    Pending pending = std::move(queue_.front());
    queue_.pop_front();
    const base::Result<void> sent = co_await Send(pending.write, deadline);
    Settle(std::move(pending), sent, true);
    if (!sent && MayPass(sent.error())) break;
  }
  if (queue_.empty()) co_return;
  LOG(WARNING) << "events were not sent before the process ended events=" << queue_.size();
  for (std::size_t i = 0; i < queue_.size(); ++i) Count("unsent");
  queue_.clear();
}

// Logs each refusal's code once, not each event. A namespace whose own webhook fails looks like a
// server that is away, while events of others are sent.
void Recorder::Complain(const Error& error) {
  if (!MayPass(error)) {
    if (!refusals_.insert(error.code).second) return;
    LOG(WARNING) << "the server refused an event, further ones are only counted error="
                 << json::Quote(error.message);
  } else if (away_.Meet("", scheduler_.Now())) {
    LOG(WARNING) << "cannot send events, retrying error=" << json::Quote(error.message);
  }
}

void Recorder::Count(std::string_view outcome) const {
  if (options_.observer != nullptr) options_.observer->OnEvent(outcome);
}

}  // namespace

std::unique_ptr<ApiEventRecorder> NewEventRecorder(ApiClient& client, base::Scheduler& scheduler,
                                                   EventRecorderOptions options) {
  return std::make_unique<Recorder>(client, scheduler, std::move(options));
}

}  // namespace client
