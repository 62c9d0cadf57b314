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
  void Spawn(const std::string& token, std::vector<std::string>& answers,
             const std::string& address = "10.0.0.1") {
    tasks.Spawn("ask", [this, token, address, &answers]() -> base::Task<void> {
      const auto verdict = co_await Reviewer().MayGet(token, "/metrics", address);
      answers.push_back(verdict ? "allowed" : std::string(ToString(verdict.error().code)));
      if (!verdict) CHECK_THAT(verdict.error().message, !Contains(kToken));
    });
  }
  std::string Ask(const std::string& token = kToken, const std::string& address = "10.0.0.1") {
    std::vector<std::string> answers;
    Spawn(token, answers, address);
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
    const std::size_t asked = f.api.calls.size();
    f.scheduler.RunFor(1s);
    CHECK(f.Ask() == "Unavailable");  // cached for two seconds
    CHECK(f.api.calls.size() == asked);
    f.scheduler.RunFor(1s);
  }
  f.Knows();
  f.api.OnDo(fake::Answer::Refuse(ErrorCode::kForbidden));
  CHECK(f.Ask() == "Unavailable");
  f.scheduler.RunFor(2s);
  f.Knows();
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
    f.scheduler.RunFor(2s);
  }
  CHECK(log.With("cannot be reviewed").size() == 1);
  for (int i = 0; i < 5; ++i) {  // only the second review is refused
    f.Knows();
    f.api.OnDo(fake::Answer::Refuse(ErrorCode::kUnavailable));
    CHECK(f.Ask() == "Unavailable");
    f.scheduler.RunFor(2s);
  }
  CHECK(log.With("cannot be reviewed").size() == 1);
}

TEST_CASE("access reviewer: failures whose texts differ do not fill the log", "[client]") {
  const fake::CapturedLog log;
  Fixture f;
  for (int i = 0; i < 100; ++i) {
    f.api.OnDo(fake::Answer::Refuse(
        base::Error{.code = ErrorCode::kUnavailable, .message = "port " + std::to_string(i)}));
    CHECK(f.Ask() == "Unavailable");
    f.scheduler.RunFor(2s);
  }
  CHECK(log.With("cannot be reviewed").size() == 8);
}

TEST_CASE("access reviewer: only a few reviews run at once", "[client]") {
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
  for (int i = 0; i < 15; ++i) {
    f.KnowsNot();
    CHECK(f.Ask("stranger-" + std::to_string(i)) == "Unauthorized");
  }
  const std::size_t before = f.api.calls.size();
  CHECK(f.Ask() == "allowed");
  CHECK(f.api.calls.size() == before);
  f.scheduler.RunFor(1s);
  for (int i = 0; i < 5; ++i) {
    f.KnowsNot();
    CHECK(f.Ask("stranger-" + std::to_string(i)) == "Unauthorized");
  }
  CHECK(f.api.calls.size() >= before + 2);  // three were kept, so two are reviewed again
}

TEST_CASE("access reviewer: strangers cause few reviews, and do not lock out a known user",
          "[client]") {
  Fixture f;
  f.Knows();
  f.Allows(true);
  CHECK(f.Ask() == "allowed");
  std::size_t refused = 0;
  std::size_t reviewed = 0;
  for (int second = 0; second < 300; ++second) {
    const std::size_t before = f.api.calls.size();
    for (int i = 0; i < 50; ++i) {
      f.KnowsNot();
      const std::string answer = f.Ask("stranger-" + std::to_string(second * 50 + i));
      refused += answer == "TooManyRequests" ? 1 : 0;
    }
    reviewed += f.api.calls.size() - before;
    f.api.ForgetAnswers();
    if (second % 30 == 0) {  // a scrape
      f.Knows();
      f.Allows(true);
      f.Knows();
      f.Allows(true);
      CHECK(f.Ask() == "allowed");
      // Another one, whose token was renewed.
      CHECK(f.Ask("renewed-" + std::to_string(second), "10.0.0.2") == "allowed");
      f.api.ForgetAnswers();
    }
    f.scheduler.RunFor(1s);
  }
  CHECK(reviewed <= 20 + 5 * 300);
  CHECK(reviewed >= 300);
  CHECK(refused >= 13000);
}

TEST_CASE("access reviewer: many addresses of strangers leave the API server alone as well",
          "[client]") {
  Fixture f;
  std::size_t reviewed = 0;
  for (int second = 0; second < 100; ++second) {
    const std::size_t before = f.api.calls.size();
    for (int i = 0; i < 100; ++i) {
      f.KnowsNot();
      f.Ask("stranger", "10.0." + std::to_string(second) + "." + std::to_string(i));
      f.api.ForgetAnswers();
      f.Ask("stranger-" + std::to_string(second * 100 + i), "10.1.1." + std::to_string(i));
    }
    reviewed += f.api.calls.size() - before;
    f.scheduler.RunFor(1s);
  }
  CHECK(reviewed <= 40 + 5 * 100);
}

TEST_CASE("access reviewer: a known token has places of its own", "[client]") {
  Fixture f;
  f.options.max_under_way = 1;
  f.Knows();
  f.Allows(true);
  CHECK(f.Ask() == "allowed");
  f.scheduler.RunFor(61s);  // its answer has expired
  fake::Answer slow = fake::Answer::Whole(R"({"status":{}})");
  slow.delay = 5s;
  f.api.OnDo(std::move(slow));
  std::vector<std::string> answers;
  f.Spawn("stranger", answers);
  f.scheduler.RunUntilIdle();
  CHECK(f.Ask("another") == "TooManyRequests");
  f.Knows();
  f.Allows(true);
  CHECK(f.Ask() == "allowed");
  f.scheduler.RunFor(5s);
  CHECK(answers.size() == 1);
}

TEST_CASE("access reviewer: a token in use is renewed before its answer expires", "[client]") {
  Fixture f;
  f.tasks.Spawn("renewals", [&f] { return f.Reviewer().Run(); });
  f.Knows();
  f.Allows(true);
  CHECK(f.Ask() == "allowed");
  for (int scrape = 0; scrape < 20; ++scrape) {
    f.scheduler.RunFor(40s);
    fake::Answer slow =
        fake::Answer::Whole(R"({"status":{"authenticated":true,"user":{"username":"scraper"}}})");
    slow.delay = 3s;
    f.api.OnDo(std::move(slow));
    f.Allows(true);
    CHECK(f.Ask() == "allowed");  // at once, although the review is slow
  }
  CHECK(f.api.calls.size() == 42 - 1);
  SECTION("a failure is not a refusal, and is not repeated at once") {
    f.scheduler.RunFor(40s);
    const std::size_t asked = f.api.calls.size();
    for (int i = 0; i < 5; ++i) {
      CHECK(f.Ask() == "allowed");
      f.scheduler.RunFor(1s);
    }
    CHECK(f.api.calls.size() == asked + 1);
    f.scheduler.RunFor(1min);
    CHECK(f.Ask() == "Unavailable");
    f.scheduler.RunFor(2s);
    f.Knows();
    f.Allows(true);
    CHECK(f.Ask() == "allowed");
  }
  SECTION("a revoked right ends with the next use") {
    f.scheduler.RunFor(40s);
    f.KnowsNot();
    CHECK(f.Ask() == "allowed");
    f.scheduler.RunFor(1s);
    CHECK(f.Ask() == "Unauthorized");
  }
  f.tasks.Cancel();
  f.scheduler.RunUntilIdle();
  CHECK(f.tasks.empty());
}

}  // namespace

}  // namespace access_reviewer_test
