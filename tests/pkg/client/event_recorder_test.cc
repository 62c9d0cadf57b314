#include "pkg/client/event_recorder.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <map>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/fake/captured_log.h"
#include "tests/fake/scripted_client.h"

namespace event_recorder_test {

using namespace std::chrono_literals;
using base::ErrorCode;
using client::Event;
using client::EventType;
using fake::Answer;

namespace {

Event Stale(const std::string& quota, const std::string& message = "pods are stale") {
  return {.about = {.api_version = "v1",
                    .kind = "ResourceQuota",
                    .ns = "team-a",
                    .name = quota,
                    .uid = "u-" + quota,
                    .resource_version = "12"},
          .type = EventType::kWarning,
          .reason = "QuotaStale",
          .message = message};
}

base::Error Refusal(ErrorCode code, int status, std::string message = "no") {
  return {.code = code, .message = std::move(message), .http_status = status};
}

class Outcomes final : public client::EventObserver {
 public:
  void OnEvent(std::string_view outcome) override { ++seen[std::string(outcome)]; }
  std::map<std::string, int> seen;
};

struct Fixture {
  explicit Fixture(client::EventRecorderOptions options = {}) {
    options.component = "quota-controller-manager";
    options.instance = "pod-1";
    options.observer = &outcomes;
    recorder = client::NewEventRecorder(client, scheduler, options);
    running.Spawn("events", [this] { return recorder->Run(); });
    scheduler.RunUntilIdle();
  }
  ~Fixture() {
    running.Cancel();
    scheduler.RunFor(60s);
  }
  void Accept(int requests) {
    for (int i = 0; i < requests; ++i) client.OnDo(Answer::Whole("{}"));
  }
  [[nodiscard]] json::Value Body(std::size_t call) const {
    return json::Parse(client.calls.at(call).request.body).value();
  }

  boost::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::ScriptedClient client{scheduler};
  Outcomes outcomes;
  std::unique_ptr<client::ApiEventRecorder> recorder;
  base::TaskGroup running{io.get_executor()};
};

using Counts = std::map<std::string, int>;

}  // namespace

TEST_CASE("event recorder: a complete event is stored in its object's namespace",
          "[client][events]") {
  Fixture f;
  f.Accept(1);
  CHECK(f.recorder->Record(Stale("q")));
  f.scheduler.RunUntilIdle();
  REQUIRE(f.client.calls.size() == 1);
  const auto& request = f.client.calls[0].request;
  CHECK(request.verb == "POST");
  CHECK(request.path == "/api/v1/namespaces/team-a/events");
  CHECK(request.content_type == client::kJson);
  const json::Value body = f.Body(0);
  const json::Value expected = json::Parse(R"({"apiVersion":"v1","kind":"Event",
      "metadata":{"name":"q.18121c5ece050000","namespace":"team-a"},
      "involvedObject":{"apiVersion":"v1","kind":"ResourceQuota","name":"q","namespace":"team-a",
                        "uid":"u-q","resourceVersion":"12"},
      "reason":"QuotaStale","message":"pods are stale","type":"Warning",
      "source":{"component":"quota-controller-manager"},
      "firstTimestamp":"2024-12-18T00:00:00Z","lastTimestamp":"2024-12-18T00:00:00Z","count":1,
      "reportingComponent":"quota-controller-manager","reportingInstance":"pod-1"})")
                                   .value();
  INFO(json::Write(body));
  CHECK(body == expected);
  CHECK(f.outcomes.seen == Counts{{"created", 1}});
}

TEST_CASE("event recorder: a repetition raises the count", "[client][events]") {
  Fixture f;
  f.Accept(2);
  f.recorder->Record(Stale("q"));
  f.scheduler.RunFor(30s);
  f.recorder->Record(Stale("q"));
  f.scheduler.RunUntilIdle();
  REQUIRE(f.client.calls.size() == 2);
  const auto& request = f.client.calls[1].request;
  CHECK(request.verb == "PATCH");
  CHECK(request.path == "/api/v1/namespaces/team-a/events/q.18121c5ece050000");
  CHECK(request.content_type == client::kMergePatch);
  CHECK(request.body ==
        R"({"count":2,"lastTimestamp":"2024-12-18T00:00:30Z","message":"pods are stale"})");
  CHECK(f.outcomes.seen == Counts{{"created", 1}, {"repeated", 1}});
}

TEST_CASE("event recorder: a repetition of an expired event is stored as a new one",
          "[client][events]") {
  Fixture f;
  f.Accept(1);
  f.recorder->Record(Stale("q"));
  f.scheduler.RunUntilIdle();
  f.client.OnDo(Answer::Refuse(Refusal(ErrorCode::kNotFound, 404)));
  f.Accept(1);
  f.recorder->Record(Stale("q"));
  f.scheduler.RunUntilIdle();
  REQUIRE(f.client.calls.size() == 3);
  CHECK(f.client.calls[2].request.verb == "POST");
  CHECK(f.Body(2).At({"count"})->AsInt64() == 2);
}

TEST_CASE("event recorder: repetitions of a queued event are one request", "[client][events]") {
  Fixture f;
  f.Accept(1);
  for (int i = 0; i < 3; ++i) f.recorder->Record(Stale("q"));
  f.scheduler.RunUntilIdle();
  REQUIRE(f.client.calls.size() == 1);
  CHECK(f.Body(0).At({"count"})->AsInt64() == 3);
}

TEST_CASE(
    "event recorder: requests to an absent server are retried with pauses, a limited number of "
    "times",
    "[client][events]") {
  Fixture f;
  for (int i = 0; i < 5; ++i) f.client.OnDo(Answer::Refuse(ErrorCode::kUnavailable));
  f.recorder->Record(Stale("q"));
  f.scheduler.RunFor(10s);
  CHECK(f.client.calls.size() <= 4);
  f.Accept(1);
  f.scheduler.RunFor(60s);
  CHECK(f.client.calls.size() == 6);
  CHECK(f.outcomes.seen == Counts{{"created", 1}});

  f.client.calls.clear();  // from now on nobody answers
  f.recorder->Record(Stale("other"));
  f.scheduler.RunFor(10min);
  CHECK(f.client.calls.size() == 12);
  CHECK(f.outcomes.seen == Counts{{"created", 1}, {"unsent", 1}});
}

TEST_CASE("event recorder: it waits as long as a busy server says", "[client][events]") {
  Fixture f;
  auto busy = Refusal(ErrorCode::kTooManyRequests, 429);
  busy.retry_after = 40s;
  f.client.OnDo(Answer::Refuse(busy));
  f.Accept(1);
  f.recorder->Record(Stale("q"));
  f.scheduler.RunFor(39s);
  CHECK(f.client.calls.size() == 1);
  f.scheduler.RunFor(10s);
  CHECK(f.outcomes.seen == Counts{{"created", 1}});
}

TEST_CASE("event recorder: a refused event is not retried, and the next one is sent",
          "[client][events]") {
  fake::CapturedLog log;
  Fixture f;
  f.client.OnDo(Answer::Refuse(Refusal(ErrorCode::kForbidden, 403)));
  f.client.OnDo(Answer::Refuse(Refusal(ErrorCode::kForbidden, 403)));
  f.client.OnDo(Answer::Refuse(Refusal(ErrorCode::kInvalid, 422)));
  f.client.OnDo(Answer::Refuse(
      Refusal(ErrorCode::kForbidden, 403,
              "unable to create new content in namespace a because it is being terminated")));
  f.client.OnDo(Answer::Refuse(Refusal(ErrorCode::kNotFound, 404)));
  f.client.OnDo(Answer::Refuse(Refusal(ErrorCode::kAlreadyExists, 409)));
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) f.recorder->Record(Stale(name));
  f.scheduler.RunFor(1min);
  CHECK(f.client.calls.size() == 6);
  // The outcome "created" is of the last event: the server had stored it at an earlier try.
  CHECK(f.outcomes.seen == Counts{{"refused", 3}, {"namespace_gone", 2}, {"created", 1}});
  CHECK(log.With("the server refused an event").size() == 2);  // each kind of refusal once
}

TEST_CASE("event recorder: a namespace whose events fail now and then does not fill the log",
          "[client][events]") {
  const fake::CapturedLog log;
  Fixture f;
  for (int i = 0; i < 60; ++i) {
    f.client.OnDo(Answer::Refuse(Refusal(ErrorCode::kUnavailable, 500)));
    f.Accept(1);
    f.recorder->Record(Stale("q" + std::to_string(i)));
    f.scheduler.RunFor(4s);
  }
  CHECK(f.outcomes.seen == Counts{{"created", 60}});
  CHECK(log.With("cannot send events").size() == 8);
  CHECK(log.With("events are sent again").size() == 8);
}

TEST_CASE("event recorder: a full queue rejects an event, which may be recorded later",
          "[client][events]") {
  Fixture f({.queue = 3});
  for (const char* name : {"a", "b", "c"}) CHECK(f.recorder->Record(Stale(name)));
  CHECK_FALSE(f.recorder->Record(Stale("d")));
  CHECK(f.outcomes.seen == Counts{{"queue_full", 1}});
  f.Accept(4);
  f.scheduler.RunFor(1s);
  CHECK(f.recorder->Record(Stale("d")));
  f.scheduler.RunFor(1s);
  CHECK(f.outcomes.seen == Counts{{"queue_full", 1}, {"created", 4}});
}

TEST_CASE("event recorder: an object with too many events is silenced", "[client][events]") {
  Fixture f;
  f.Accept(40);
  for (int i = 0; i < 40; ++i) {
    CHECK(f.recorder->Record(Stale("q")));
    f.scheduler.RunUntilIdle();
  }
  CHECK(f.outcomes.seen == Counts{{"created", 1}, {"repeated", 24}, {"silenced", 15}});
}

TEST_CASE("event recorder: many events are spread over time", "[client][events]") {
  Fixture f;
  f.Accept(500);
  for (int i = 0; i < 500; ++i) f.recorder->Record(Stale("q" + std::to_string(i)));
  f.scheduler.RunUntilIdle();
  CHECK(f.client.calls.size() == 100);
  f.scheduler.RunFor(10s);
  CHECK(f.client.calls.size() == 300);
  f.scheduler.RunFor(10s);
  CHECK(f.outcomes.seen == Counts{{"created", 500}});
}

TEST_CASE("event recorder: a stop sends queued events within two seconds", "[client][events]") {
  SECTION("the server answers") {
    Fixture f({.burst = 1, .per_second = 1});
    f.Accept(50);
    for (int i = 0; i < 50; ++i) f.recorder->Record(Stale("q" + std::to_string(i)));
    f.scheduler.RunUntilIdle();
    CHECK(f.client.calls.size() == 1);
    f.running.Cancel();
    f.scheduler.RunUntilIdle();
    CHECK(f.running.empty());
    CHECK(f.outcomes.seen == Counts{{"created", 50}});
  }
  SECTION("the server answers slowly; a request in hand is not lost") {
    Fixture f;
    for (int i = 0; i < 9; ++i) {
      auto slow = Answer::Whole("{}");
      slow.delay = 800ms;
      f.client.OnDo(slow);
    }
    for (int i = 0; i < 9; ++i) f.recorder->Record(Stale("q" + std::to_string(i)));
    f.scheduler.RunFor(100ms);
    f.running.Cancel();
    f.scheduler.RunFor(2500ms);
    CHECK(f.running.empty());
    CHECK(f.client.calls.size() == 4);
    CHECK(f.client.calls[0].request.body == f.client.calls[1].request.body);
    CHECK(f.client.calls[3].request.timeout == 400ms);
    CHECK(f.outcomes.seen == Counts{{"created", 3}, {"unsent", 6}});
  }
  SECTION("the server is away") {
    Fixture f;
    for (int i = 0; i < 9; ++i) f.recorder->Record(Stale("q" + std::to_string(i)));
    f.scheduler.RunUntilIdle();
    f.running.Cancel();
    f.scheduler.RunFor(2s);
    CHECK(f.running.empty());
    CHECK(f.outcomes.seen == Counts{{"unsent", 9}});
  }
}

}  // namespace event_recorder_test
