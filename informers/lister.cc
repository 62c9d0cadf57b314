#include "informers/lister.h"

#include <glog/logging.h>

#include "informers/collection_requests.h"
#include "informers/give_way.h"
#include "informers/progress.h"
#include "informers/splitters.h"
#include "informers/watch_event.h"
#include "pkg/api/object_meta.h"
#include "pkg/base/duration.h"

namespace informers {
namespace {

using base::Error;
using base::ErrorCode;

// Of each pass over the last. A token expires after a few minutes, so fewer pages must do.
constexpr std::size_t kPageGrowth = 10;

struct Page {
  std::string version;
  std::string next;  // the continue token of the next page; "" for the last
};

Error Malformed(const std::string& what) {
  return {.code = ErrorCode::kMalformed, .message = what};
}

// Reads the list's metadata from the answer without its items. A Status is an error even with HTTP
// status 200.
base::Result<Page> ReadEnvelope(const std::string& path, const std::string& text) {
  const base::Result<json::Value> envelope = json::Parse(text);
  if (!envelope) return envelope.error();
  if (api::Kind(*envelope) == "Status") {
    const json::Value* const code = envelope->At({"code"});
    const std::int64_t status = code != nullptr ? code->AsInt64().value_or(500) : 500;
    return client::ErrorFromAnswer("LIST", path, static_cast<int>(status), "", text);
  }
  const json::Value* const items = envelope->At({"items"});
  if (items == nullptr || !(items->IsArray() || items->IsNull())) {
    return Malformed("the answer is not a list: it has no items");
  }
  Page page{.version = std::string(api::ResourceVersion(*envelope)),
            .next = std::string(envelope->StringAt({"metadata", "continue"}))};
  if (page.version.empty()) return Malformed("the list has no resourceVersion");
  return page;
}

// Passes the items of one page to the sink. Remembers the last key, to name the place of an
// unreadable item.
class PageReader {
 public:
  PageReader(const ReflectorOptions& options, const ObjectDecoder& decoder, const ListSink& sink)
      : path_(options.resource.Path(options.ns)),
        decoder_(decoder),
        skimmer_(decoder.NewSkimmer()),
        splitter_(options.max_object_bytes, &skimmer_),
        sink_(sink) {}

  base::Result<void> Feed(std::string_view bytes) {
    const auto item = [this](WireForm form, std::string_view object) { return Take(form, object); };
    const base::Result<void> fed = splitter_.Feed(bytes, item);
    if (fed) return {};
    return fed.error().Wrap(last_key_.empty() ? "first item" : "item after " + last_key_);
  }

  [[nodiscard]] base::Result<Page> Finish() const {
    const base::Result<std::string> envelope = splitter_.Envelope();
    if (!envelope) return envelope.error();
    return ReadEnvelope(path_, *envelope);
  }

 private:
  base::Result<void> Take(WireForm form, std::string_view bytes) {
    const base::Result<json::Value> object = decoder_.Decode(form, bytes, skimmer_);
    if (!object) return object.error();
    last_key_ = KeyOf(*object);
    sink_.object(*object);
    return {};
  }

  std::string path_;
  const ObjectDecoder& decoder_;
  json::Skimmer skimmer_;
  ListSplitter splitter_;
  const ListSink& sink_;
  std::string last_key_;
};

// Call after every wait: the client's waits return as usual when this coroutine is cancelled.
base::Task<std::optional<Error>> Cancelled() {
  const bool stopping = co_await base::Stopping();
  if (!stopping) co_return std::nullopt;
  co_return Error{.code = ErrorCode::kCancelled, .message = "cancelled"};
}

Error TooSlow(base::Duration lasted) {
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(lasted);
  return {.code = ErrorCode::kTimeout,
          .message = "the page arrives too slowly, after " + base::FormatDuration(time) +
                     " it is not complete"};
}

// `last`: when the whole list must have ended.
base::Task<base::Result<Page>> ReadPage(client::ApiClient& client, const base::Clock& clock,
                                        const ReflectorOptions& options,
                                        const ObjectDecoder& decoder, const ListSink& sink,
                                        std::string continue_token, base::TimePoint last) {
  const base::TimePoint begin = clock.Now();
  auto opened = co_await client.Stream(ListRequest(options, decoder, continue_token));
  std::optional<Error> stop = co_await Cancelled();
  if (stop) co_return *stop;
  if (!opened) co_return opened.error();
  const std::unique_ptr<http::BodyStream> body = std::move(*opened);
  Progress progress(clock.Now(), std::min(begin + options.list_page_timeout, last));
  PageReader reader(options, decoder, sink);
  const auto take = [&reader](std::string_view piece) { return reader.Feed(piece); };
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(progress.Until() - clock.Now());
    if (left <= std::chrono::milliseconds::zero()) co_return TooSlow(clock.Now() - begin);
    const auto idle = std::chrono::milliseconds(options.list_idle_timeout);
    const auto bytes = co_await body->Read(std::min(left, idle));
    stop = co_await Cancelled();
    if (stop) co_return *stop;
    if (!bytes) co_return bytes.error();
    if (!*bytes) co_return reader.Finish();
    progress.Take(clock.Now(), (*bytes)->size());
    const base::Result<void> fed = co_await TakeInPieces(**bytes, take);
    if (!fed) co_return fed.error();
  }
}

// One pass over all pages. Sets `restart` if the error is an expired continue token.
base::Task<base::Result<std::string>> ListOnce(client::ApiClient& client, const base::Clock& clock,
                                               const ReflectorOptions& options,
                                               const ListSink& sink, base::TimePoint last,
                                               bool& restart) {
  const ObjectDecoder decoder(options);
  std::string version;
  std::string token;
  for (;;) {
    if (clock.Now() >= last) {
      co_return Error{
          .code = ErrorCode::kTimeout,
          .message = "it did not end within " + base::FormatDuration(options.list_timeout)};
    }
    const base::Result<Page> page =
        co_await ReadPage(client, clock, options, decoder, sink, token, last);
    if (!page) {
      restart = page.error().Is(ErrorCode::kExpired) && !token.empty();
      co_return page.error();
    }
    // All pages of one chain have the version of the first.
    if (version.empty()) version = page->version;
    if (page->next.empty()) co_return version;
    if (page->next == token) co_return Malformed("the same continue token came twice");
    token = page->next;
  }
}

}  // namespace

base::Task<base::Result<std::string>> ListPages(client::ApiClient& client, const base::Clock& clock,
                                                ReflectorOptions options, ListSink sink,
                                                int restarts) {
  const base::TimePoint last = clock.Now() + options.list_timeout;
  for (;; --restarts) {
    sink.begin();
    bool restart = false;
    base::Result<std::string> version =
        co_await ListOnce(client, clock, options, sink, last, restart);
    if (version || version.error().Is(ErrorCode::kCancelled)) co_return version;
    if (!restart || restarts <= 0) {
      co_return version.error().Wrap("list " + options.resource.ToString());
    }
    options.page_size = restarts > 1 ? options.page_size * kPageGrowth : 0;
    VLOG(1) << "list started over, its continuation has expired resource="
            << options.resource.ToString();
  }
}

base::Task<base::Result<std::string>> CurrentVersion(client::ApiClient& client,
                                                     const base::Clock& clock,
                                                     ReflectorOptions options) {
  options.page_size = 1;
  options.list_page_timeout = std::chrono::seconds(30);  // a watch waits for the answer
  const ObjectDecoder decoder(options);
  const ListSink sink{.begin = nullptr, .object = [](const json::Value&) {}};
  const base::Result<Page> page =
      co_await ReadPage(client, clock, options, decoder, sink, "", base::TimePoint::max());
  if (!page) co_return page.error();
  co_return page->version;
}

base::Task<base::Result<std::string>> ListAll(client::ApiClient& client, const base::Clock& clock,
                                              ReflectorOptions options,
                                              std::function<void(const json::Value&)> object,
                                              std::function<void()> restart) {
  const int restarts = restart ? kListRestarts : 0;
  ListSink sink;
  sink.begin = [restart = std::move(restart), first = true]() mutable {
    // ListPages() also calls `begin` before the first page.
    if (!std::exchange(first, false)) restart();
  };
  sink.object = [object = std::move(object)](const json::Value& value) {
    if (IsWhole(value)) object(value);
  };
  return ListPages(client, clock, std::move(options), std::move(sink), restarts);
}

}  // namespace informers
