#include "pkg/webhook/handler.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/task_group.h"
#include "tests/pkg/admission/sample_reviews.h"

namespace handler_test {

namespace {

using admission::Answer;
using admission::Review;
using admission::test::PodText;
using admission::test::ReviewText;
using base::Task;
using namespace std::chrono_literals;

class FakeAdmitter final : public admission::Admitter {
 public:
  explicit FakeAdmitter(base::asio::io_context& io) : gate_(io) {
    gate_.expires_at(base::TimePoint::max());
  }
  [[nodiscard]] std::vector<std::string> quota_apis() const override { return {"core", "cluster"}; }
  [[nodiscard]] std::vector<std::string> FieldsOf(const api::GroupResource&) override {
    return {"spec.containers.resources"};
  }
  Task<Answer> Admit(Review review, base::TimePoint until) override {
    seen.push_back(std::move(review));
    deadline = until;
    if (closed) {
      boost::system::error_code ended;
      co_await gate_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ended));
    }
    co_return answer;
  }
  void Open() {
    closed = false;
    gate_.cancel();
  }

  Answer answer;
  bool closed = false;  // reviews wait for Open()
  std::vector<Review> seen;
  base::TimePoint deadline{};

 private:
  boost::asio::steady_timer gate_;
};

class Decisions final : public admission::Observer {
 public:
  void OnDecision(std::string_view quota_api, std::string_view result, base::Duration) override {
    seen.push_back(std::string(quota_api) + " " + std::string(result));
  }
  void OnRefusal(std::string_view quota_api, const admission::Refusal& refusal) override {
    refusals.push_back(std::string(quota_api) + " " + refusal.quota.ToString() + " " +
                       refusal.quota_uid + " " + (refusal.owner ? refusal.owner->name : "-") + " " +
                       refusal.message);
  }
  void OnWouldRefuse(std::string_view quota_api, const admission::Refusal& refusal) override {
    const bool warns = refusal.mode == quota::ClusterSpec::Enforcement::kWarn;
    tried.push_back((warns ? "warn " : "audit ") + std::string(quota_api) + " " +
                    refusal.quota.ToString() + " " + refusal.ns + " " + refusal.message);
  }
  void OnWarning(std::string_view) override {}
  void OnBatch(std::string_view, std::size_t, std::size_t) override {}
  void OnConflict(std::string_view) override {}
  void OnReservationsExpired(std::string_view, std::size_t) override {}

  std::vector<std::string> seen;
  std::vector<std::string> refusals;
  std::vector<std::string> tried;
};

class Recorder final : public http::ResponseWriter {
 public:
  explicit Recorder(std::vector<http::Response>& into, std::size_t room)
      : into_(into), room_(room) {}
  Task<base::Result<void>> Send(http::Response response) override {
    into_.push_back(std::move(response));
    co_return base::Result<void>();
  }
  Task<base::Result<void>> Start(int, http::Headers) override { co_return base::Error{}; }
  Task<base::Result<void>> Write(std::string) override { co_return base::Error{}; }
  Task<base::Result<void>> Finish() override { co_return base::Error{}; }
  void Abort(bool) override {}
  bool Keep(std::size_t bytes) override { return bytes <= room_; }

 private:
  std::vector<http::Response>& into_;
  const std::size_t room_;
};

// A handler whose admitter enforces "core" and "cluster".
class Fixture {
 public:
  http::Request Post(std::string body, std::string target = "/validate/core?timeout=10s") {
    return {.method = "POST",
            .target = std::move(target),
            .headers = {{"Content-Type", "application/json"}},
            .body = std::move(body)};
  }
  // Sends the request. Its answer is added to `responses` when it arrives.
  void Begin(http::Request request) {
    if (!handler) handler = webhook::NewHandler(admitter, decisions, clock, options);
    tasks.Spawn("request", [this, request = std::move(request)]() mutable -> Task<void> {
      Recorder writer(responses, room);
      co_await handler(std::move(request), http::Peer(), writer);
    });
    Poll();
  }
  void Poll() {
    io.restart();
    io.poll();
  }
  http::Response Ask(http::Request request) {
    const std::size_t before = responses.size();
    Begin(std::move(request));
    REQUIRE(responses.size() == before + 1);
    return responses.back();
  }
  base::Duration WaitGiven(const std::string& target) {
    const http::Response response = Ask(Post(ReviewText({}), target));
    REQUIRE(response.status == 200);
    return admitter.deadline - clock.Now();
  }

  base::asio::io_context io{1};
  base::ManualClock clock;
  FakeAdmitter admitter{io};
  Decisions decisions;
  webhook::HandlerOptions options;
  http::Handler handler;
  std::vector<http::Response> responses;
  std::size_t room = std::size_t{64} << 20;  // for the memory that a handler keeps
  base::TaskGroup tasks{io.get_executor()};
};

json::Value Body(const http::Response& response) {
  auto parsed = json::Parse(response.body);
  CAPTURE(response.body);
  REQUIRE(parsed.has_value());
  return std::move(*parsed);
}

std::string Message(const http::Response& response) {
  const json::Value body = Body(response);
  CHECK(body.StringAt({"kind"}) == "Status");
  CHECK(body.At({"code"})->AsInt64() == response.status);
  return std::string(body.StringAt({"message"}));
}

TEST_CASE("handler: admissions and refusals are answered with a review", "[admission]") {
  Fixture f;
  const http::Response allowed = f.Ask(f.Post(ReviewText({})));
  CHECK(allowed.status == 200);
  CHECK(allowed.headers.Get("Content-Type") == "application/json");
  CHECK(Body(allowed).At({"response", "allowed"})->AsBool() == true);
  REQUIRE(f.admitter.seen.size() == 1);
  CHECK(f.admitter.seen[0].object.At({"spec", "containers"}) != nullptr);

  f.admitter.answer = {
      .kind = Answer::Kind::kRefused, .reason = "Forbidden", .message = "exceeded quota: q"};
  const http::Response refused = f.Ask(f.Post(ReviewText({})));
  CHECK(refused.status == 200);
  CHECK(Body(refused).StringAt({"response", "uid"}) == "705ab4f5-6393-11e8-b7cc-42010a800002");
  CHECK(Body(refused).StringAt({"response", "status", "message"}) ==
        "pods \"web-6d4cf56db6-abcde\" is forbidden: exceeded quota: q");
  CHECK(f.decisions.seen == std::vector<std::string>{"core allowed", "core refused"});
}

TEST_CASE("handler: refusals by a quota are reported, except for dry runs", "[admission]") {
  Fixture f;
  f.admitter.answer = {
      .kind = Answer::Kind::kRefused, .reason = "Forbidden", .message = "cannot be counted"};
  f.Ask(f.Post(ReviewText({})));
  CHECK(f.decisions.refusals.empty());
  f.admitter.answer.message = "exceeded quota: q";
  f.admitter.answer.refuser = quota::Refuser{.name = "q", .uid = "u", .exceeded = {"pods"}};
  f.Ask(f.Post(ReviewText({.dry_run = true})));
  CHECK(f.decisions.refusals.empty());
  f.Ask(f.Post(ReviewText({})));
  CHECK(f.decisions.refusals ==
        std::vector<std::string>{"core team-a/q u web-6d4cf56db6 pods \"web-6d4cf56db6-abcde\" is "
                                 "forbidden: exceeded quota: q"});
}

TEST_CASE("handler: refusals by quotas in mode Warn or Audit are reported", "[admission]") {
  Fixture f;
  f.admitter.answer.warnings = {"quota nearly used up: q: pods 19 of 20"};
  f.admitter.answer.would_refuse = {
      {"cluster",
       {.mode = quota::ClusterSpec::Enforcement::kWarn,
        .message = "exceeded cluster quota: team-a, requested: pods=1",
        .quota = {.name = "team-a", .uid = "u", .exceeded = {"pods", "requests.cpu"}}}},
      {"cluster",
       {.mode = quota::ClusterSpec::Enforcement::kAudit,
        .message = "exceeded cluster quota: company (above team-a), requested: pods=1",
        .quota = {.name = "company", .uid = "v", .exceeded = {"pods"}}}}};
  f.Ask(f.Post(ReviewText({.dry_run = true})));
  CHECK(f.decisions.tried.empty());
  const json::Value body = Body(f.Ask(f.Post(ReviewText({}))));
  CHECK(body.At({"response", "allowed"})->AsBool() == true);
  CHECK(json::Write(*body.At({"response", "warnings"})) ==
        R"(["would be refused: exceeded cluster quota: team-a, requested: pods=1",)"
        R"("quota nearly used up: q: pods 19 of 20"])");
  CHECK(json::Write(*body.At({"response", "auditAnnotations"})) ==
        R"({"would-be-refused-by-quota":"team-a,company","would-exceed":"pods,requests.cpu"})");
  const std::string pod = " team-a pods \"web-6d4cf56db6-abcde\" would be forbidden: ";
  CHECK(f.decisions.tried ==
        std::vector<std::string>{
            "warn cluster team-a" + pod + "exceeded cluster quota: team-a, requested: pods=1",
            "audit cluster company" + pod +
                "exceeded cluster quota: company (above team-a), requested: pods=1"});
  CHECK(f.decisions.refusals.empty());
}

TEST_CASE("handler: a refusal by a cluster quota names its quota API", "[admission]") {
  Fixture f;
  f.admitter.answer = {.kind = Answer::Kind::kRefused,
                       .reason = "Forbidden",
                       .message = "exceeded cluster quota: q",
                       .refuser = quota::Refuser{.name = "q", .uid = "u", .exceeded = {"pods"}},
                       .quota_api = "cluster",
                       .refused_by_cluster_quota = true};
  f.Ask(f.Post(ReviewText({})));
  REQUIRE(f.decisions.refusals.size() == 1);
  CHECK(f.decisions.refusals[0].starts_with("cluster q u web-6d4cf56db6 pods"));
}

TEST_CASE("handler: DELETE and CONNECT are allowed without a decision", "[admission]") {
  Fixture f;
  for (const char* operation : {"DELETE", "CONNECT"}) {
    const http::Response response = f.Ask(
        f.Post(ReviewText({.operation = operation, .object = "null", .old_object = PodText()})));
    CHECK(Body(response).At({"response", "allowed"})->AsBool() == true);
  }
  CHECK(f.admitter.seen.empty());
}

TEST_CASE("handler: another path, method or content type fails", "[admission]") {
  Fixture f;
  for (const char* target : {"/", "/validate", "/validate/", "/validate/karmada",
                             "/validate/core/x", "/metrics", "/validate/core%zz"}) {
    const http::Response response = f.Ask(f.Post(ReviewText({}), target));
    CAPTURE(target);
    CHECK(response.status == 404);
    CHECK(Message(response) == std::string("no quota API has the path ") + target);
  }
  http::Request get = f.Post("");
  get.method = "GET";
  const http::Response wrong_method = f.Ask(get);
  CHECK(wrong_method.status == 405);
  CHECK(wrong_method.headers.Get("Allow") == "POST");

  const auto status_with = [&](const std::string& type) {
    http::Request request = f.Post(ReviewText({}));
    request.headers.Set("Content-Type", type);
    return f.Ask(std::move(request)).status;
  };
  CHECK(status_with("application/json; charset=utf-8") == 200);
  CHECK(status_with("Application/JSON ;x=y") == 200);
  CHECK(status_with("application/jsonx") == 415);
  CHECK(status_with("text/plain") == 415);
  CHECK(status_with("") == 415);
}

TEST_CASE("handler: the error about an invalid review says what is wrong", "[admission]") {
  Fixture f;
  const http::Response none = f.Ask(f.Post("hello"));
  CHECK(none.status == 400);
  CHECK(Message(none).starts_with("not an AdmissionReview: malformed JSON"));
  const http::Response version =
      f.Ask(f.Post(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v2"})"));
  CHECK(version.status == 400);
  CHECK(Message(version).find("admission.k8s.io/v2") != std::string::npos);
  const http::Response objectless = f.Ask(f.Post(ReviewText({.object = "null"})));
  CHECK(objectless.status == 400);
  CHECK(Message(objectless) == "the review has no request.object");
  CHECK(f.decisions.seen == std::vector<std::string>(3, "core malformed"));
}

TEST_CASE("handler: the admitter's deadline follows from the caller's timeout", "[admission]") {
  Fixture f;
  CHECK(f.WaitGiven("/validate/core") == 5s);
  CHECK(f.WaitGiven("/validate/core?timeout=10s") == 5s);
  CHECK(f.WaitGiven("/validate/core?timeout=0s") == 5s);
  CHECK(f.WaitGiven("/validate/core?timeout=3s") == 2500ms);
  CHECK(f.WaitGiven("/validate/core?timeout=1s") == 750ms);
  for (const char* bad : {"10", "soon", "-1s"}) {
    const http::Response response =
        f.Ask(f.Post(ReviewText({}), std::string("/validate/core?timeout=") + bad));
    CHECK(response.status == 400);
    CHECK(Message(response).starts_with("timeout: "));
  }
}

TEST_CASE("handler: 429 has Retry-After, 503 has not", "[admission]") {
  Fixture f;
  f.admitter.answer = {.kind = Answer::Kind::kBusy, .message = "too much", .retry_after = 3s};
  const http::Response busy = f.Ask(f.Post(ReviewText({})));
  CHECK(busy.status == 429);
  CHECK(busy.headers.Get("Retry-After") == "3");
  CHECK(Message(busy) == "too much");
  f.admitter.answer = {.kind = Answer::Kind::kUnavailable, .message = "quota q: not written"};
  const http::Response unavailable = f.Ask(f.Post(ReviewText({})));
  CHECK(unavailable.status == 503);
  CHECK_FALSE(unavailable.headers.Has("Retry-After"));
  CHECK(Message(unavailable) == "quota q: not written");
  CHECK(f.decisions.seen == std::vector<std::string>{"core busy", "core unavailable"});
}

TEST_CASE("handler: too many reviews: the newest is refused at once", "[admission]") {
  Fixture f;
  f.options.max_in_hand = 2;
  f.admitter.closed = true;
  f.Begin(f.Post(ReviewText({})));
  f.Begin(f.Post(ReviewText({})));
  CHECK(f.responses.empty());
  const http::Response third = f.Ask(f.Post(ReviewText({})));
  CHECK(third.status == 429);
  CHECK(third.headers.Get("Retry-After") == "1");
  CHECK(Message(third) == "too many reviews at once: 2 are in hand");
  f.admitter.Open();
  f.Poll();
  CHECK(f.responses.size() == 3);
  CHECK(f.Ask(f.Post(ReviewText({}))).status == 200);
}

TEST_CASE("handler: a review whose connection is cut is no longer in hand", "[admission]") {
  Fixture f;
  f.options.max_in_hand = 1;
  f.admitter.closed = true;
  f.Begin(f.Post(ReviewText({})));
  f.tasks.Cancel();
  f.Poll();
  CHECK(f.tasks.empty());
  f.admitter.closed = false;
  CHECK(f.Ask(f.Post(ReviewText({}))).status == 200);
}

TEST_CASE("handler: a review that does not fit into the server's memory is refused",
          "[admission]") {
  Fixture f;
  f.room = 1000;
  const http::Response response = f.Ask(f.Post(ReviewText({})));
  CHECK(response.status == 429);
  CHECK(response.headers.Get("Retry-After") == "1");
  CHECK(Message(response) == "too much memory is held for other reviews");
  CHECK(f.admitter.seen.empty());
  CHECK(f.decisions.seen == std::vector<std::string>{"core busy"});
}

TEST_CASE("handler: fields larger than any stored object's are refused", "[admission]") {
  Fixture f;
  std::string containers = "{}";
  while (containers.size() < std::size_t{1} << 20) containers += ",{}";
  const http::Response many = f.Ask(f.Post(
      ReviewText({.object = R"({"metadata":{},"spec":{"containers":[)" + containers + "]}}"})));
  CHECK(many.status == 413);
  CHECK(Message(many).find("JSON that takes more than 8388608 bytes") != std::string::npos);
  const std::string name(std::size_t{9} << 20, 'n');
  const http::Response long_name =
      f.Ask(f.Post(ReviewText({.object = R"({"metadata":{"name":")" + name + "\"}}"})));
  CHECK(long_name.status == 413);
  CHECK(f.admitter.seen.empty());
  CHECK(f.decisions.seen == std::vector<std::string>(2, "core malformed"));
}

TEST_CASE("handler: the server accepts a body with two large objects", "[admission]") {
  const http::ServerOptions options = webhook::WebhookServerOptions();
  CHECK(options.max_body_bytes == 16U << 20);
  CHECK(options.max_held_bytes >= 4 * options.max_body_bytes);
  CHECK(options.max_unproven_bytes > options.max_body_bytes);
  CHECK(options.idle_timeout > 90s);
  CHECK(options.max_connection_age >= 5min);
}

}  // namespace

}  // namespace handler_test
