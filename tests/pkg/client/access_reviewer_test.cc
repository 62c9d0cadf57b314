#include "pkg/client/access_reviewer.h"

#include <catch2/catch.hpp>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/fake/captured_log.h"
#include "tests/fake/scripted_client.h"

namespace access_reviewer_test {

using base::ErrorCode;
using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

const std::string kToken = "a-token-that-nobody-may-see";

struct Fixture {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  base::TaskGroup tasks{io.get_executor()};
  fake::ScriptedClient api{scheduler};
  client::AccessReviewerOptions options;
  std::unique_ptr<client::AccessReviewer> reviewer;

  void Knows(const std::string& user = R"({"username":"scraper","groups":["a","b"]})") {
    api.OnDo(fake::Answer::Whole(R"({"status":{"authenticated":true,"user":)" + user + "}}"));
  }
  void KnowsNot() { api.OnDo(fake::Answer::Whole(R"({"status":{"user":{}}})")); }
  void Allows(bool allowed) {
    api.OnDo(fake::Answer::Whole(allowed ? R"({"status":{"allowed":true}})"
                                         : R"({"status":{"allowed":false}})"));
  }
  client::AccessReviewer& Reviewer() {
    if (!reviewer) {
      reviewer = std::make_unique<client::AccessReviewer>(api, scheduler, options);
    }
    return *reviewer;
  }
  void Spawn(const std::string& token, std::vector<std::string>& answers) {
    tasks.Spawn("ask", [this, token, &answers]() -> base::Task<void> {
      const auto verdict = co_await Reviewer().MayGet(token, "/metrics");
      answers.push_back(verdict ? "allowed" : std::string(ToString(verdict.error().code)));
      if (!verdict) CHECK_THAT(verdict.error().message, !Contains(kToken));
    });
  }
  std::string Ask(const std::string& token = kToken) {
    std::vector<std::string> answers;
    Spawn(token, answers);
    scheduler.RunUntilIdle();
    return answers.size() == 1 ? answers.front() : "no answer";
  }
  [[nodiscard]] json::Value Sent(std::size_t call) const {
    return json::Parse(api.calls.at(call).request.body).value();
  }
};

TEST_CASE("access reviewer: the API server identifies the user and authorizes the request",
          "[client]") {
  Fixture f;
  f.Knows(R"({"username":"scraper","uid":"7","groups":["a","b"],"extra":{"k":["v"]}})");
  f.Allows(true);
  CHECK(f.Ask() == "allowed");
  REQUIRE(f.api.calls.size() == 2);
  CHECK(f.api.calls[0].request.path == "/apis/authentication.k8s.io/v1/tokenreviews");
  CHECK(f.Sent(0).StringAt({"spec", "token"}) == kToken);
  CHECK(f.api.calls[1].request.path == "/apis/authorization.k8s.io/v1/subjectaccessreviews");
  const json::Value review = f.Sent(1);
  CHECK(json::Write(*review.At({"spec"})) ==
        R"({"user":"scraper","uid":"7","groups":["a","b"],"extra":{"k":["v"]},)"
        R"("nonResourceAttributes":{"path":"/metrics","verb":"get"}})");
}

TEST_CASE("access reviewer: an unknown user and a forbidden user get different answers",
          "[client]") {
  Fixture f;
  f.KnowsNot();
  CHECK(f.Ask("other") == "Unauthorized");
  f.Knows();
  f.Allows(false);
  CHECK(f.Ask() == "Forbidden");
  CHECK(f.Ask("") == "Unauthorized");  // without a review
  CHECK(f.api.calls.size() == 3);
}

TEST_CASE("access reviewer: a permission is cached for a minute, a refusal for ten seconds",
          "[client]") {
  Fixture f;
  f.Knows();
  f.Allows(true);
  CHECK(f.Ask() == "allowed");
  f.scheduler.RunFor(59s);
  CHECK(f.Ask() == "allowed");
  CHECK(f.api.calls.size() == 2);
  f.scheduler.RunFor(1s);
  f.KnowsNot();  // the token was revoked
  CHECK(f.Ask() == "Unauthorized");
  f.scheduler.RunFor(9s);
  CHECK(f.Ask() == "Unauthorized");
  CHECK(f.api.calls.size() == 3);
  f.scheduler.RunFor(1s);
  f.Knows();
  f.Allows(true);
  CHECK(f.Ask() == "allowed");
}

TEST_CASE("access reviewer: a failure of our own credentials is not a refusal", "[client]") {
  const fake::CapturedLog log;
  Fixture f;
  for (const ErrorCode code :
       {ErrorCode::kUnavailable, ErrorCode::kUnauthorized, ErrorCode::kForbidden,
        ErrorCode::kTimeout, ErrorCode::kTooManyRequests, ErrorCode::kNotFound}) {
    f.api.OnDo(fake::Answer::Refuse(code));
    CHECK(f.Ask() == "Unavailable");
  }
  f.Knows();
  f.api.OnDo(fake::Answer::Refuse(ErrorCode::kForbidden));
  CHECK(f.Ask() == "Unavailable");
  f.Knows();  // nothing was cached
  f.Allows(true);
  CHECK(f.Ask() == "allowed");
  CHECK(log.With("cannot be reviewed").size() >= 1);
  CHECK(log.With("can be reviewed again").size() >= 1);
  CHECK(log.With(kToken).empty());
}

TEST_CASE("access reviewer: a lasting failure is logged once", "[client]") {
  const fake::CapturedLog log;
  Fixture f;
  for (int i = 0; i < 5; ++i) {
    f.api.OnDo(fake::Answer::Refuse(ErrorCode::kUnavailable));
    CHECK(f.Ask() == "Unavailable");
  }
  CHECK(log.With("cannot be reviewed").size() == 1);
  for (int i = 0; i < 5; ++i) {  // only the second review is refused
    f.Knows();
    f.api.OnDo(fake::Answer::Refuse(ErrorCode::kUnavailable));
    CHECK(f.Ask() == "Unavailable");
  }
  CHECK(log.With("cannot be reviewed").size() == 1);
}

TEST_CASE("access reviewer: concurrent requests of one user share one review", "[client]") {
  Fixture f;
  f.options.max_under_way = 2;
  for (int i = 0; i < 2; ++i) {
    fake::Answer slow = fake::Answer::Whole(R"({"status":{}})");
    slow.delay = 1s;
    f.api.OnDo(std::move(slow));
  }
  std::vector<std::string> answers;
  for (int i = 0; i < 10; ++i) f.Spawn("token-" + std::to_string(i), answers);
  f.scheduler.RunUntilIdle();
  CHECK(answers == std::vector<std::string>(8, "TooManyRequests"));
  CHECK(f.api.calls.size() == 2);
  f.scheduler.RunFor(1s);
  CHECK(answers.size() == 10);
  f.Knows();
  f.Allows(true);
  CHECK(f.Ask() == "allowed");  // there is room again
}

TEST_CASE("access reviewer: a client that disconnects during its review frees its place",
          "[client]") {
  Fixture f;
  f.options.max_under_way = 1;
  fake::Answer slow = fake::Answer::Whole(R"({"status":{}})");
  slow.delay = 5s;
  f.api.OnDo(std::move(slow));
  std::vector<std::string> answers;
  f.Spawn("token", answers);
  f.scheduler.RunFor(1s);
  f.tasks.Cancel();
  f.scheduler.RunFor(5s);
  CHECK(f.tasks.empty());
  f.Knows();
  f.Allows(true);
  CHECK(f.Ask() == "allowed");
}

TEST_CASE("access reviewer: unknown users do not evict permitted ones from the cache", "[client]") {
  Fixture f;
  f.options.max_remembered = 4;
  f.Knows();
  f.Allows(true);
  CHECK(f.Ask() == "allowed");
  for (int i = 0; i < 20; ++i) {
    f.KnowsNot();
    CHECK(f.Ask("stranger-" + std::to_string(i)) == "Unauthorized");
  }
  const std::size_t before = f.api.calls.size();
  CHECK(f.Ask() == "allowed");
  CHECK(f.api.calls.size() == before);
  f.KnowsNot();
  CHECK(f.Ask("stranger-0") == "Unauthorized");  // evicted, so it is reviewed again
  CHECK(f.api.calls.size() == before + 1);
}

}  // namespace

}  // namespace access_reviewer_test
