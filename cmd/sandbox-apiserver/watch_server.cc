#include "cmd/sandbox-apiserver/watch_server.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "cmd/sandbox-apiserver/responses.h"
#include "cmd/sandbox-apiserver/table.h"

namespace sandbox {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxHeld = 4096;            // batches that wait for the end of a delay
constexpr std::size_t kRemembered = 8;            // most events that kRepeatEvent can repeat
constexpr std::chrono::seconds kLastBookmark{2};  // before the end of a watch

Outcome<WatchQuery> WatchQueryOf(const Exchange& exchange) {
  WatchQuery query;
  query.ns = exchange.path.ns;
  query.label_selector = exchange.Parameter("labelSelector");
  query.field_selector = exchange.Parameter("fieldSelector");
  query.resource_version = exchange.Parameter("resourceVersion");
  query.resource_version_match = exchange.Parameter("resourceVersionMatch");
  if (exchange.target.Has("sendInitialEvents")) {
    query.send_initial_events = IsTrue(exchange.target, "sendInitialEvents");
  }
  return query;
}

Outcome<std::chrono::nanoseconds> TimeoutOf(const Exchange& exchange,
                                            std::chrono::nanoseconds usual) {
  const std::string text = exchange.Parameter("timeoutSeconds");
  if (text.empty()) return usual;
  std::int32_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || seconds < 0) {
    return api::BadRequest("timeoutSeconds: " + json::Quote(text) + " is not a number of seconds");
  }
  return seconds == 0 ? usual : std::chrono::nanoseconds(std::chrono::seconds(seconds));
}

std::string Line(std::string_view type, std::string_view object) {
  return "{\"type\":" + json::Quote(type) + ",\"object\":" + std::string(object) + "}\n";
}

// The annotated bookmark ends the initial events, if the client allows bookmarks.
bool WantsInitialEnd(const WatchQuery& query) {
  const bool from_now = query.resource_version.empty() || query.resource_version == "0";
  return query.send_initial_events.value_or(from_now);
}

}  // namespace

struct WatchServer::Stream {
  const Exchange& exchange;
  http::ResponseWriter& writer;
  std::unique_ptr<base::Alarm> alarm;
  std::unique_ptr<Watch> watch;
  bool bookmarks = false;
  bool initial_end_due = false;
  bool sent_columns = false;  // tables name their columns once
  base::TimePoint deadline;
  base::TimePoint next_bookmark = base::TimePoint::max();
  std::deque<std::pair<base::TimePoint, std::string>> held;  // the text, and when to send it
  std::deque<std::string> remembered;
  enum class End { kNone, kClean, kReset } end = End::kNone;
};

base::Task<int> WatchServer::Serve(const Exchange& exchange, http::ResponseWriter& writer) {
  co_await base::DeferCancellation();
  const Outcome<WatchQuery> query = WatchQueryOf(exchange);
  const Outcome<std::chrono::nanoseconds> timeout = TimeoutOf(exchange, options_.default_timeout);
  Stream stream{exchange, writer, scheduler_.NewAlarm(), nullptr};
  std::optional<api::Status> refusal;
  if (!timeout) refusal = timeout.error();
  if (!refusal) {
    Outcome<std::unique_ptr<Watch>> watch =
        objects_.StartWatch(exchange.type, *query, [alarm = stream.alarm.get()] { alarm->Wake(); });
    if (watch) {
      stream.watch = *std::move(watch);
    } else {
      refusal = watch.error();
    }
  }
  if (refusal && refusal->code != 410) {
    http::Response response = StatusResponse(*refusal);
    co_await writer.Send(std::move(response));
    co_return refusal->code;
  }
  const http::Headers headers{{"Content-Type", "application/json"},
                              {"Cache-Control", "no-cache, private"}};
  const base::Result<void> started = co_await writer.Start(200, headers);
  if (!started) co_return 200;
  if (refusal) {
    // A version that is too old is an ERROR event of the stream, as with kube-apiserver.
    std::string line = Line("ERROR", json::Write(refusal->ToJson()));
    const base::Result<void> told = co_await writer.Write(std::move(line));
    if (told) co_await writer.Finish();
    co_return 200;
  }
  const base::TimePoint now = scheduler_.Now();
  stream.bookmarks = IsTrue(exchange.target, "allowWatchBookmarks");
  stream.initial_end_due = stream.bookmarks && WantsInitialEnd(*query);
  stream.deadline = now + *timeout;
  if (stream.bookmarks) stream.next_bookmark = now + options_.bookmark_interval;
  streams_.push_back(&stream);
  co_await Run(stream);
  streams_.remove(&stream);
  co_return 200;
}

base::TimePoint WatchServer::NextWake(const Stream& stream) const {
  base::TimePoint wake = std::min(stream.deadline, stream.next_bookmark);
  if (!stream.held.empty()) wake = std::min(wake, stream.held.front().first);
  return wake;
}

base::Task<void> WatchServer::Run(Stream& stream) {
  while (true) {
    const bool stopping = co_await base::Stopping();
    if (stopping) {
      // The server stops, or the client has disconnected.
      co_await stream.writer.Finish();
      co_return;
    }
    if (stream.end == Stream::End::kReset) {
      stream.writer.Abort(true);
      co_return;
    }
    const bool sent = co_await SendPending(stream);
    if (!sent) co_return;
    const base::TimePoint now = scheduler_.Now();
    const bool over = now >= stream.deadline || stream.end == Stream::End::kClean;
    if (over || (stream.watch->lagged() && stream.held.empty())) {
      co_await stream.writer.Finish();
      co_return;
    }
    if (now >= stream.next_bookmark && stream.held.empty()) {
      const bool bookmarked = co_await SendBookmark(stream);
      if (!bookmarked) co_return;
      continue;
    }
    co_await stream.alarm->WaitUntil(NextWake(stream));
  }
}

// Sends events now, or after their delay. False: the client has disconnected.
base::Task<bool> WatchServer::SendPending(Stream& stream) {
  while (true) {
    const base::TimePoint now = scheduler_.Now();
    if (stream.held.size() < kMaxHeld) {
      std::string batch = NextBatch(stream);
      if (!batch.empty()) {
        const auto delay = DelayOf(stream.exchange.path);
        stream.held.emplace_back(now + delay, std::move(batch));
      }
    }
    if (stream.held.empty() || stream.held.front().first > now) co_return true;
    std::string text = std::move(stream.held.front().second);
    stream.held.pop_front();
    const base::Result<void> written = co_await stream.writer.Write(std::move(text));
    if (!written) co_return false;
    if (stream.end != Stream::End::kNone) co_return true;
  }
}

std::string WatchServer::NextBatch(Stream& stream) {
  std::string batch;
  while (batch.size() < kBatchBytes) {
    const std::optional<WatchEvent> event = stream.watch->Next();
    if (!event) break;
    std::string line = EventLine(stream, ToString(event->type), event->object);
    stream.remembered.push_back(line);
    if (stream.remembered.size() > kRemembered) stream.remembered.pop_front();
    batch += line;
  }
  if (stream.initial_end_due && stream.watch->initial_done()) {
    stream.initial_end_due = false;
    batch += BookmarkLine(stream, true);
  }
  return batch;
}

base::Task<bool> WatchServer::SendBookmark(Stream& stream) {
  const base::TimePoint now = scheduler_.Now();
  stream.watch->Advance(objects_.current_version());
  stream.next_bookmark = now + options_.bookmark_interval;
  const base::TimePoint last = stream.deadline - kLastBookmark;
  if (now < last) stream.next_bookmark = std::min(stream.next_bookmark, last);
  std::string line = BookmarkLine(stream, false);
  const base::Result<void> written = co_await stream.writer.Write(std::move(line));
  co_return written.has_value();
}

std::string WatchServer::EventLine(Stream& stream, std::string_view type,
                                   const ObjectPtr& object) const {
  const Form form = stream.exchange.form;
  if (form == Form::kObject) return Line(type, json::Write(*object));
  if (form == Form::kMetadata) return Line(type, json::Write(PartialMetadata(*object)));
  json::Object metadata{{"resourceVersion", object->StringAt({"metadata", "resourceVersion"})}};
  const bool columns = !std::exchange(stream.sent_columns, true);
  return Line(type, json::Write(MakeTable(*stream.exchange.type, {object}, std::move(metadata),
                                          scheduler_.WallNow(), columns)));
}

std::string WatchServer::BookmarkLine(const Stream& stream, bool initial_end) const {
  const Form form = stream.exchange.form;
  const ResourceType& type = *stream.exchange.type;
  json::Object metadata{{"resourceVersion", std::to_string(stream.watch->position())},
                        {"creationTimestamp", nullptr}};
  if (initial_end) {
    metadata.Set("annotations", json::Object{{"k8s.io/initial-events-end", "true"}});
  }
  json::Object object;
  if (form == Form::kObject) {
    object = {{"kind", type.kind}, {"apiVersion", type.ApiVersion()}};
  } else {
    object = {{"kind", form == Form::kTable ? "Table" : "PartialObjectMetadata"},
              {"apiVersion", "meta.k8s.io/v1"}};
  }
  object.Set("metadata", std::move(metadata));
  if (form == Form::kTable) {
    object.Set("columnDefinitions", nullptr);
    object.Set("rows", json::Array());
  }
  return Line("BOOKMARK", json::Write(object));
}

std::chrono::nanoseconds WatchServer::DelayOf(const ResourcePath& path) const {
  std::chrono::nanoseconds delay{0};
  for (const Fault& fault : delays_) {
    if (fault.requests.Matches(path)) delay = fault.delay;
  }
  return delay;
}

std::string WatchServer::FaultText(const Stream& stream, const Fault& fault) const {
  if (fault.kind == FaultKind::kRepeatEvent) {
    const auto count = std::min<std::size_t>(
        static_cast<std::size_t>(std::max<std::int64_t>(fault.by, 1)), stream.remembered.size());
    std::string text;
    for (auto line = stream.remembered.end() - static_cast<std::ptrdiff_t>(count);
         line != stream.remembered.end(); ++line) {
      text += *line;
    }
    return text;
  }
  if (!fault.body.empty()) return fault.body;
  if (fault.code != 0) {
    api::Status status = StatusOfCode(fault.code, fault.message);
    if (!fault.reason.empty()) status.reason = fault.reason;
    status.retry_after_seconds = fault.retry_after_seconds;
    return Line(fault.event_type.empty() ? "ERROR" : fault.event_type,
                json::Write(status.ToJson()));
  }
  const ResourceType& type = *stream.exchange.type;
  json::Object metadata{{"name", "injected"},
                        {"uid", "00000000-0000-4000-8000-00000000face"},
                        {"resourceVersion", std::to_string(objects_.current_version())}};
  if (type.namespaced) metadata.Set("namespace", "default");
  if (fault.bytes > 0) {
    metadata.Set("annotations", json::Object{{"filler", std::string(fault.bytes, 'x')}});
  }
  const json::Object object{
      {"kind", type.kind}, {"apiVersion", type.ApiVersion()}, {"metadata", std::move(metadata)}};
  return Line(fault.event_type.empty() ? "MODIFIED" : fault.event_type, json::Write(object));
}

void WatchServer::Inject(const Fault& fault) {
  if (fault.kind == FaultKind::kDelayWatch) delays_.push_back(fault);
  for (Stream* stream : streams_) {
    if (!fault.requests.Matches(stream->exchange.path)) continue;
    if (fault.kind == FaultKind::kDropWatches) {
      stream->end = fault.reset ? Stream::End::kReset : Stream::End::kClean;
    } else if (fault.kind == FaultKind::kSendEvent || fault.kind == FaultKind::kRepeatEvent) {
      std::string text = FaultText(*stream, fault);
      if (!text.empty()) stream->held.emplace_back(scheduler_.Now(), std::move(text));
    }
    stream->alarm->Wake();
  }
}

void WatchServer::CatchUp() {
  for (Stream* stream : streams_) stream->watch->Advance(objects_.current_version());
}

}  // namespace sandbox
