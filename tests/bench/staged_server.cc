#include "tests/bench/staged_server.h"

#include <stdexcept>

#include "tests/bench/counted.h"
#include "tests/bench/discovery_text.h"

namespace bench {
namespace {

using Piece = std::optional<std::string>;

// A whole body, read at once.
class WholeBody final : public http::BodyStream {
 public:
  explicit WholeBody(std::string text) : text_(std::move(text)) {}
  base::Task<base::Result<Piece>> Read(std::chrono::milliseconds) override {
    if (std::exchange(done_, true)) co_return Piece();
    co_return Piece(std::move(text_));
  }

 private:
  std::string text_;
  bool done_ = false;
};

class FeedBody final : public http::BodyStream {
 public:
  FeedBody(base::Scheduler& scheduler, Feed& feed) : scheduler_(scheduler), feed_(feed) {}

  base::Task<base::Result<Piece>> Read(std::chrono::milliseconds timeout) override {
    if (feed_.pieces.empty()) co_await feed_.arrived->WaitUntil(scheduler_.Now() + timeout);
    if (feed_.pieces.empty()) {
      co_return base::Error{.code = base::ErrorCode::kTimeout, .message = "nothing came"};
    }
    Piece bytes(std::move(feed_.pieces.front()));
    feed_.pieces.pop_front();
    co_return bytes;
  }

 private:
  base::Scheduler& scheduler_;
  Feed& feed_;
};

bool IsWatch(const client::ApiRequest& request) {
  for (const auto& [name, value] : request.query) {
    if (name == "watch") return true;
  }
  return false;
}

std::string ListOf(const json::Value& object) {
  return R"({"kind":"ResourceQuotaList","apiVersion":"v1","metadata":{"resourceVersion":"1000"},)"
         R"("items":[)" +
         json::Write(object) + "]}";
}

}  // namespace

StagedServer::StagedServer(base::Scheduler& scheduler, std::string list, json::Value quota)
    : scheduler_(scheduler),
      list_(std::move(list)),
      quota_(std::move(quota)),
      objects_(scheduler),
      quotas_(scheduler) {}

// The patch has the differences of status.hard and status.used, the annotation of reservations, and
// the version that it starts from.
std::string StagedServer::Write(const std::string& patch) {
  const json::Value wanted = json::Parse(patch).value();
  if (wanted.StringAt({"metadata", "resourceVersion"}) !=
      quota_.StringAt({"metadata", "resourceVersion"})) {
    throw std::runtime_error("a write starts from a version that is not the newest");
  }
  for (const std::string_view list : {"hard", "used"}) {
    const json::Value* amounts = wanted.At({"status", list});
    if (amounts == nullptr) continue;
    for (const auto& [name, amount] : *amounts->AsObject()) {
      quota_.Make({"status", list, name}) = amount;
    }
  }
  if (const json::Value* annotations = wanted.At({"metadata", "annotations"})) {
    for (const auto& [name, text] : *annotations->AsObject()) {
      quota_.Make({"metadata", "annotations", name}) = text;
    }
  }
  quota_.Make({"metadata", "resourceVersion"}) = std::to_string(++version_);
  ++writes;
  std::string text = json::Write(quota_);
  quotas_.Send(R"({"type":"MODIFIED","object":)" + text + "}\n");
  return text;
}

base::Task<base::Result<client::ApiResponse>> StagedServer::Do(client::ApiRequest request) {
  client::ApiResponse response{.status = 200};
  if (request.verb == "PATCH") {
    Uncounted([&] { response.body = Write(request.body); });
    if (answer_delay > base::Duration::zero()) co_await scheduler_.Sleep(answer_delay);
    co_return response;
  }
  response.headers.Set("Content-Type", kDiscoveryType);
  const Kinds core{{"pods", "Pod"}, {"resourcequotas", "ResourceQuota"}};
  response.body = DiscoveryText(request.path == "/api" ? core : Kinds());
  co_return response;
}

base::Task<base::Result<std::unique_ptr<http::BodyStream>>> StagedServer::Stream(
    client::ApiRequest request) {
  const bool of_quotas = request.path.ends_with("quotas");
  std::unique_ptr<http::BodyStream> body;
  if (IsWatch(request)) {
    body = std::make_unique<FeedBody>(scheduler_, of_quotas ? quotas_ : objects_);
  } else {
    body = std::make_unique<WholeBody>(of_quotas ? ListOf(quota_) : list_);
  }
  co_return body;
}

}  // namespace bench
