#include "informers/reflector.h"

#include <catch2/catch.hpp>

#include "pkg/metrics/informer_metrics.h"
#include "tests/fake/captured_log.h"
#include "tests/informers/collection.h"

using namespace std::chrono_literals;
using namespace informers::testing;
using base::ErrorCode;
using Catch::Matchers::Contains;
using fake::Answer;

TEST_CASE("reflector: lists, then watches from the list's version", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1", "a2"})));
  f.server.OnWatch(Answer::Open(Added("a3", "11") + Deleted("a1", "12")));
  f.Run();
  CHECK(f.store.names() == Names{"a2", "a3"});
  CHECK(f.state().synced);
  CHECK(f.state().resource_version == "12");
  CHECK_FALSE(f.state().trouble);
  CHECK(f.state().current_as_of == f.scheduler.Now());
  REQUIRE(f.server.watches.size() == 1);
  CHECK(f.server.watches[0].Query("resourceVersion") == "10");
  CHECK(f.server.watches[0].Query("allowWatchBookmarks") == "true");
  const int timeout = std::stoi(f.server.watches[0].Query("timeoutSeconds"));
  CHECK(timeout >= 300);
  CHECK(timeout < 600);
}

TEST_CASE("reflector: pages are requested one by one, never from an old state", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1"}, "t1")));
  f.server.OnList(Answer::Whole(List("10", {"a2"}, "t2")));
  f.server.OnList(Answer::Whole(List("10", {"a3"})));
  f.Run();
  CHECK(f.store.names() == Names{"a1", "a2", "a3"});
  REQUIRE(f.server.lists.size() == 3);
  CHECK(f.server.lists[1].Query("continue") == "t1");
  CHECK(f.server.lists[2].Query("continue") == "t2");
  for (const auto& list : f.server.lists) {
    CHECK(list.Query("limit") == "500");
    CHECK(list.Query("resourceVersion").empty());
  }
}

TEST_CASE("reflector: an empty list is synced", "[informers]") {
  Fixture f;
  const std::string items = GENERATE("[]", "null");
  f.server.OnList(Answer::Whole(R"({"items":)" + items +
                                R"(,"metadata":{"resourceVersion":"10"},"kind":"PodList"})"));
  f.Run();
  CHECK(f.state().synced);
  CHECK(f.store.ended == 1);
}

TEST_CASE("reflector: a 410 lists again and finds what was deleted meanwhile", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1", "a2"})));
  const Answer gone =
      GENERATE(Answer::Whole(ServerError(410, "Expired")), Answer::Refuse(ErrorCode::kExpired));
  f.server.OnWatch(gone);
  f.server.OnList(Answer::Whole(List("30", {"a2"})));
  f.RunFor(5s);
  CHECK(f.store.names() == Names{"a2"});
  CHECK(f.state().resource_version == "30");
  CHECK(f.state().failures == 0);  // a 410 is normal, not a failure
  CHECK(f.store.states == 1);
  CHECK(f.server.watches.back().Query("resourceVersion") == "30");
}

TEST_CASE("reflector: a list waits for its turn, but not without end", "[informers]") {
  Fixture f;
  base::Gate lists(f.scheduler);
  f.options.lists = &lists;
  f.server.OnList(Answer::Whole(List("10", {"a1", "a2"})));
  REQUIRE(lists.TryEnter());  // another collection is listed
  f.RunFor(1s);
  CHECK(f.server.lists.empty());
  CHECK(f.store.begun == 0);
  SECTION("the other list ends") {
    lists.Leave();
    f.Run();
    CHECK_FALSE(lists.busy());  // this list has ended, too
    CHECK(f.state().synced);
  }
  SECTION("the other list hangs") {
    f.RunFor(informers::kLongestTurn);
    CHECK(f.state().synced);
    CHECK(lists.busy());
    lists.Leave();
  }
  SECTION("it is stopped meanwhile") {
    CHECK(f.Stop());
    lists.Leave();
    CHECK(f.server.lists.empty());
  }
}

TEST_CASE("reflector: a list that fails half-way removes nothing", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1", "a2"})));
  f.server.OnWatch(Answer::Whole(ServerError(410, "Expired")));
  f.server.OnList(Answer::Whole(List("30", {"a1"}, "t1")));
  f.server.OnList(Answer::Refuse(ErrorCode::kUnavailable));
  f.RunFor(1700ms);
  REQUIRE(f.server.lists.size() == 3);
  CHECK(f.store.ended == 1);
  CHECK(f.store.names() == Names{"a1", "a2"});  // "a2" is unknown, not gone
  CHECK(f.state().trouble->code == ErrorCode::kUnavailable);
  CHECK(f.state().synced);  // it keeps its last known state
  f.server.OnList(Answer::Whole(List("40", {"a1"})));
  f.RunFor(10s);
  CHECK(f.store.names() == Names{"a1"});
  CHECK_FALSE(f.state().trouble);
}

TEST_CASE("reflector: an incomplete list is never read as an empty one", "[informers]") {
  Fixture f;
  const std::string body = GENERATE(
      std::string(""), std::string("<html>proxy says no</html>"), std::string("{}"),
      std::string(R"({"kind":"PodList","metadata":{"resourceVersion":"10"}})"),
      std::string(R"({"items":[],"metadata":{}})"),
      std::string(R"({"items":{},"metadata":{"resourceVersion":"10"}})"),
      std::string(R"({"items":"none","metadata":{"resourceVersion":"10"}})"),
      std::string(
          R"({"items":[{"metadata":{"name":"a1","uid":tru}}],"metadata":{"resourceVersion":"1"}})"),
      std::string(R"([])"), Status(403, "Forbidden"));
  INFO(body);
  f.server.OnList(Answer::Whole(body));
  f.Run();
  CHECK(f.store.ended == 0);
  CHECK_FALSE(f.state().synced);
  REQUIRE(f.state().trouble);
  CHECK_THAT(f.state().trouble->message, Contains("list pods.v1"));
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.RunFor(2s);
  CHECK(f.store.names() == Names{"a1"});
}

TEST_CASE("reflector: a forbidden collection keeps its last state, and is retried", "[informers]") {
  const ErrorCode code = GENERATE(ErrorCode::kUnauthorized, ErrorCode::kForbidden,
                                  ErrorCode::kNotFound, ErrorCode::kTls);
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.server.OnWatch(Answer::Whole("").EndingAfter(10s));
  f.server.OnWatch(Answer::Refuse(code));
  f.RunFor(10s);
  CHECK(f.store.names() == Names{"a1"});
  CHECK(f.store.ended == 1);
  CHECK(f.state().trouble->code == code);
  f.server.OnList(Answer::Whole(List("20", {"a1"})));
  f.RunFor(20s);
  CHECK_FALSE(f.state().trouble);
}

TEST_CASE("reflector: the next watch begins at the last bookmark", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.server.OnWatch(Answer::Whole(Bookmark("50")).EndingAfter(2s));
  f.RunFor(2s);
  REQUIRE(f.server.watches.size() == 2);
  CHECK(f.server.watches[1].Query("resourceVersion") == "50");
  CHECK(f.server.lists.size() == 1);
  CHECK(f.store.names() == Names{"a1"});
}

TEST_CASE("reflector: a watch that the server ends is opened again at once", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {})));
  const auto how = GENERATE(Answer::End::kClean, Answer::End::kBroken);
  f.server.OnWatch(Answer::Open(Added("a1", "11")).EndingAfter(300s, how));
  f.RunFor(10s);
  const base::TimePoint begin = f.server.watches[0].at;
  f.options.idle_timeout = 1h;
  f.RunFor(300s);
  REQUIRE(f.server.watches.size() >= 2);
  CHECK(f.server.watches[1].at - begin <= 300s);
  CHECK(f.server.watches[1].Query("resourceVersion") == "11");
  CHECK(f.server.lists.size() == 1);
  CHECK_FALSE(f.state().trouble);
}

TEST_CASE("reflector: watches that end at once back off, without a list", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  for (int i = 0; i < 1000; ++i) f.server.OnWatch(Answer::Whole(""));
  f.RunFor(60s);
  CHECK(f.server.watches.size() <= 8);
  CHECK(f.server.watches.size() >= 4);
  CHECK(f.server.lists.size() == 1);
  CHECK(f.state().trouble->code == ErrorCode::kUnavailable);
}

TEST_CASE("reflector: the first event ends the trouble", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {})));
  for (int i = 0; i < 3; ++i) f.server.OnWatch(Answer::Whole(""));
  f.server.OnWatch(Answer::Open(Bookmark("12")));
  f.RunFor(30s);
  CHECK_FALSE(f.state().trouble);
  CHECK(f.state().failures == 1);
}

TEST_CASE("reflector: a lasting watch ends the trouble without an event", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {})));
  for (int i = 0; i < 3; ++i) f.server.OnWatch(Answer::Whole(""));
  f.options.idle_timeout = 1h;
  f.RunFor(2s);
  while (f.server.watches.size() < 4) f.RunFor(100ms);  // the fourth stays open and silent
  CHECK(f.state().trouble);
  f.RunFor(500ms);
  CHECK(f.state().trouble);
  f.RunFor(1s);
  CHECK_FALSE(f.state().trouble);
  CHECK(f.state().failures == 1);
}

TEST_CASE("reflector: while the server refuses connections the version is kept", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  for (int i = 0; i < 4; ++i) f.server.OnWatch(Answer::Refuse(ErrorCode::kUnavailable));
  f.RunFor(60s);
  REQUIRE(f.server.watches.size() == 5);
  CHECK(f.server.watches[4].Query("resourceVersion") == "10");
  CHECK(f.server.watches[1].at - f.server.watches[0].at >= 800ms);
  CHECK(f.server.watches[2].at - f.server.watches[1].at >= 1600ms);
  CHECK(f.server.lists.size() == 1);
  CHECK_FALSE(f.state().trouble);
  CHECK(f.state().failures == 4);
}

TEST_CASE("reflector: a truncated last event is received again", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {})));
  const std::string event = Added("a2", "12");
  f.server.OnWatch(Answer::Whole(Added("a1", "11") + event.substr(0, 20)));
  f.server.OnWatch(Answer::Open(event));
  f.Run();
  CHECK(f.store.names() == Names{"a1", "a2"});
  CHECK(f.server.watches[1].Query("resourceVersion") == "11");
  CHECK(f.server.lists.size() == 1);
}

TEST_CASE("reflector: a malformed event causes a list", "[informers]") {
  const std::string frame = GENERATE(
      std::string("not json\n"), std::string("{\"type\":\"ADDED\",}"),
      std::string(R"({"type":"RENAMED","object":{}})"), std::string(R"({"type":"ADDED"})"),
      std::string(R"({"type":"ADDED","object":[]})"), std::string("[]"), std::string("{}"));
  INFO(frame);
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.server.OnWatch(Answer::Open(frame));
  f.Run();
  CHECK(f.state().trouble->code == ErrorCode::kMalformed);
  CHECK_THAT(f.state().trouble->message, Contains("pods"));
  CHECK(f.store.names() == Names{"a1"});
  f.server.OnList(Answer::Whole(List("20", {"a2"})));
  f.RunFor(2s);
  CHECK(f.store.names() == Names{"a2"});
}

TEST_CASE("reflector: a stream may be cut anywhere", "[informers]") {
  const std::string list = List("10", {"a1", "a2"});
  const std::string watch = Added("a3", "11") + Bookmark("12") + Deleted("a1", "13");
  const auto halves = [](const std::string& text, std::size_t at) {
    Answer answer;
    answer.pieces = {{text.substr(0, at), {}}, {text.substr(at), 1ms}};
    return answer;
  };
  for (std::size_t at = 0; at <= std::max(list.size(), watch.size()); ++at) {
    Fixture f;
    f.server.OnList(halves(list, std::min(at, list.size())));
    f.server.OnWatch(halves(watch, std::min(at, watch.size())).EndingAfter(1h));
    f.RunFor(10ms);
    REQUIRE(f.store.names() == Names{"a2", "a3"});
    REQUIRE(f.state().resource_version == "13");
    REQUIRE(f.state().failures == 0);
  }
}

TEST_CASE("reflector: no event is lost when the connection is lost at any byte", "[informers]") {
  const std::string list = List("10", {"a1", "a2"});
  const std::string watch = Added("a3", "11") + Deleted("a1", "12");
  const auto how = GENERATE(Answer::End::kClean, Answer::End::kBroken);
  for (std::size_t at = 0; at < list.size(); ++at) {
    Fixture f;
    f.server.OnList(Answer::Whole(list.substr(0, at)).EndingAfter(0s, how));
    f.Run();
    REQUIRE(f.store.ended == 0);
    f.server.OnList(Answer::Whole(List("20", {"a2"})));
    f.RunFor(2s);
    REQUIRE(f.store.names() == Names{"a2"});
  }
  const std::size_t first = Added("a3", "11").size() - 1;  // its line feed is not needed
  for (std::size_t at = 0; at < watch.size(); ++at) {
    Fixture f;
    f.server.OnList(Answer::Whole(list));
    f.server.OnWatch(Answer::Whole(watch.substr(0, at)).EndingAfter(0s, how));
    f.server.OnWatch(Answer::Open(at < first ? watch : Deleted("a1", "12")));
    f.RunFor(2s);
    REQUIRE(f.store.names() == Names{"a2", "a3"});
    REQUIRE(f.server.lists.size() == 1);
    const std::string resumed = f.server.watches[1].Query("resourceVersion");
    REQUIRE(resumed == (at < first ? "10" : at < watch.size() - 1 ? "11" : "12"));
  }
}

TEST_CASE("reflector: after a 429 it waits and resumes from the same version", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {})));
  f.server.OnWatch(Answer::Refuse({.code = ErrorCode::kTooManyRequests, .retry_after = 7s}));
  f.RunFor(6900ms);
  CHECK(f.server.watches.size() == 1);
  f.RunFor(200ms);
  CHECK(f.server.watches.size() == 2);
  CHECK(f.server.watches[1].Query("resourceVersion") == "10");
  CHECK(f.server.lists.size() == 1);
}

TEST_CASE("reflector: a watch that falls silent is opened again", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {})));
  f.server.OnWatch(Answer::Open(Added("a1", "11")));
  f.RunFor(149s);
  CHECK(f.server.watches.size() == 1);
  f.RunFor(2s);
  REQUIRE(f.server.watches.size() == 2);
  CHECK(f.server.watches[1].Query("resourceVersion") == "11");
  CHECK(f.server.open_bodies == 1);
  CHECK_FALSE(f.state().trouble);
}

TEST_CASE("reflector: a watch that exceeds its timeout is closed by the client", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {})));
  Answer talkative;
  for (int i = 0; i < 100; ++i) talkative.pieces.push_back({Bookmark(std::to_string(11 + i)), 60s});
  f.server.OnWatch(talkative);
  f.RunFor(299s);
  CHECK(f.server.watches.size() == 1);
  f.RunFor(331s);
  REQUIRE(f.server.watches.size() >= 2);
  const base::Duration lasted = f.server.watches[1].at - f.server.watches[0].at;
  const int timeout = std::stoi(f.server.watches[0].Query("timeoutSeconds"));
  CHECK(lasted == std::chrono::seconds(timeout + 30));
}

TEST_CASE("reflector: an expired continuation starts the list over", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1", "a2"}, "t1")));
  f.server.OnList(Answer::Refuse(ErrorCode::kExpired));
  f.server.OnList(Answer::Whole(List("20", {"a2"}, "t2")));
  f.server.OnList(Answer::Whole(List("20", {"a3"})));
  f.Run();  // without a delay
  CHECK(f.server.lists[2].Query("continue").empty());
  CHECK(f.store.names() == Names{"a2", "a3"});
  CHECK(f.store.begun == 2);
  CHECK(f.store.ended == 1);
  CHECK(f.state().resource_version == "20");
}

TEST_CASE("reflector: a list that expires over and over backs off", "[informers]") {
  Fixture f;
  for (int i = 0; i < 100; ++i) {
    f.server.OnList(Answer::Whole(List("10", {"a1"}, "t1")));
    f.server.OnList(Answer::Refuse(ErrorCode::kExpired));
  }
  f.Run();
  CHECK(f.server.lists.size() == 8);
  CHECK(f.state().trouble->code == ErrorCode::kExpired);
  CHECK(f.store.ended == 0);
}

TEST_CASE("reflector: a continue token that does not move is an error, not a loop", "[informers]") {
  Fixture f;
  for (int i = 0; i < 100; ++i) f.server.OnList(Answer::Whole(List("10", {"a1"}, "same")));
  f.Run();
  CHECK(f.server.lists.size() == 2);
  CHECK(f.state().trouble->code == ErrorCode::kMalformed);
}

TEST_CASE("reflector: an object above the bound makes its collection stale, never smaller",
          "[informers]") {
  Fixture f;
  f.options.max_object_bytes = 1000;
  const std::string huge = R"({"metadata":{"name":"huge","uid":"u","resourceVersion":"12"},"x":")" +
                           std::string(2000, 'x') + "\"}";
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.server.OnWatch(Answer::Open(Event("ADDED", huge)));
  f.Run();
  CHECK(f.state().trouble->code == ErrorCode::kTooLarge);
  f.server.OnList(Answer::Whole(ListBody("20", {Object("a2", "15"), huge})));
  f.RunFor(1700ms);
  CHECK(f.state().trouble->code == ErrorCode::kTooLarge);
  CHECK_THAT(f.state().trouble->message, Contains("after a/a2") && Contains("1000 bytes"));
  CHECK(f.store.ended == 1);
  CHECK(f.store.versions.contains("a1"));
  f.server.OnList(Answer::Whole(List("30", {"a2"})));  // the object was made smaller, or deleted
  f.RunFor(10s);
  CHECK(f.store.names() == Names{"a2"});
  CHECK_FALSE(f.state().trouble);
}

TEST_CASE("reflector: an object without uid or name is left out and counted", "[informers]") {
  Fixture f;
  const std::string odd = R"({"metadata":{"name":"odd","resourceVersion":"11"}})";
  f.server.OnList(Answer::Whole(ListBody("10", {Object("a1", "1"), odd, "7", R"({"spec":{}})"})));
  f.server.OnWatch(Answer::Open(Event("ADDED", odd) + Event("DELETED", odd) + Added("a2", "12")));
  f.Run();
  CHECK(f.store.names() == Names{"a1", "a2"});
  CHECK(f.state().skipped == 5);
  CHECK(f.state().resource_version == "12");
  CHECK_FALSE(f.state().trouble);
}

TEST_CASE("reflector: only metadata is requested if no other field is wanted", "[informers]") {
  Fixture f;
  f.options.protobuf = false;
  const bool metadata = GENERATE(true, false);
  if (metadata) f.options.fields = {"metadata.labels"};
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.Run();
  const std::string list = f.server.lists[0].request.accept;
  const std::string watch = f.server.watches[0].request.accept;
  if (metadata) {
    CHECK(list ==
          "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
          "application/json");
    CHECK(watch ==
          "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
          "application/json");
  } else {
    CHECK(list == "application/json");
    CHECK(watch == "application/json");
  }
}

TEST_CASE("reflector: a server that was restored behind our version causes a list", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("1000", {"a1", "a2"})));
  const base::Error behind{
      .code = ErrorCode::kTimeout, .retry_after = 1s, .too_large_resource_version = true};
  SECTION("as it says itself") {
    f.server.current = "500";
    f.server.OnWatch(Answer::Refuse(behind));
  }
  SECTION("as it says again and again") {
    f.server.current = "unknown";
    for (int i = 0; i < 3; ++i) f.server.OnWatch(Answer::Refuse(behind));
  }
  SECTION("after it was away") {
    f.server.current = "500";
    f.server.OnWatch(Answer::Refuse(ErrorCode::kUnavailable));
    f.server.OnWatch(Answer::Open(""));  // silent
  }
  SECTION("to just our version, after it was away, while the sink knows later states") {
    f.server.current = "1000";
    f.store.ahead = true;
    f.server.OnWatch(Answer::Refuse(ErrorCode::kUnavailable));
    f.server.OnWatch(Answer::Open(""));
  }
  SECTION("after a silence") {
    f.server.current = "500";
    f.server.OnWatch(Answer::Open(""));
    f.RunFor(149s);
    CHECK(f.server.probes.empty());
  }
  SECTION("as somebody else has noticed") {
    f.RunFor(10s);
    CHECK(f.server.watches.size() == 1);
    f.reflector->Relist();
  }
  SECTION("as somebody else notices while it looks for itself") {
    f.server.current = "1000";  // the server has come as far again
    f.server.while_probed = [&] { f.reflector->Relist(); };
    f.server.OnWatch(Answer::Refuse(ErrorCode::kUnavailable));
    f.server.OnWatch(Answer::Open(""));
  }
  f.server.OnList(Answer::Whole(List("500", {"a1"})));
  f.RunFor(30s);  // three pauses between attempts, each up to twice the one before
  CHECK(f.store.names() == Names{"a1"});
  CHECK(f.server.watches.back().Query("resourceVersion") == "500");
  CHECK(f.server.lists.size() == 2);
}

TEST_CASE("reflector: a watch is opened anew from its version when somebody asks", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("1000", {"a1"})));
  f.server.OnWatch(Answer::Open(""));
  f.RunFor(20s);
  REQUIRE(f.server.watches.size() == 1);
  f.reflector->Reopen();
  f.RunFor(1s);
  REQUIRE(f.server.watches.size() == 2);
  CHECK(f.server.watches.back().Query("resourceVersion") == "1000");
  CHECK(f.server.lists.size() == 1);
  f.RunFor(20s);
  CHECK(f.server.watches.size() == 2);
}

TEST_CASE("reflector: a server that only lags behind our version causes no list", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("1000", {"a1"})));
  f.server.OnWatch(Answer::Refuse(
      {.code = ErrorCode::kTimeout, .retry_after = 1s, .too_large_resource_version = true}));
  f.server.current = "1000";
  f.RunFor(5s);
  CHECK(f.server.lists.size() == 1);
  CHECK(f.server.watches.back().Query("resourceVersion") == "1000");
}

TEST_CASE("reflector: it reports its state only when it changes", "[informers]") {
  Fixture f;
  for (int i = 0; i < 3; ++i) f.server.OnList(Answer::Refuse(ErrorCode::kForbidden));
  f.Run();
  CHECK(f.store.states == 1);
  f.RunFor(5s);
  CHECK(f.store.states == 1);  // still the same trouble
  CHECK(f.state().failures == 3);
  f.server.OnList(Answer::Whole(List("10", {})));
  f.RunFor(60s);
  CHECK(f.store.states == 2);  // recovered and synced at once
}

TEST_CASE("reflector: a cancellation at any step ends it at once and leaves no stream open",
          "[informers]") {
  const auto script = [](Fixture& f) {
    f.server.OnList(Answer::Whole(List("10", {"a1"}, "t1")));
    f.server.OnList(Answer::Refuse(ErrorCode::kExpired));
    f.server.OnList(Answer::Whole(List("10", {"a1"}, "t1")));
    f.server.OnList(Answer::Whole(List("10", {"a2"})));
    f.server.OnWatch(Answer::Open(Added("a3", "11")).EndingAfter(2s));
    f.server.OnWatch(Answer::Refuse(ErrorCode::kUnavailable));
    f.server.OnWatch(Answer::Whole(ServerError(410, "Expired")));
    f.server.OnList(Answer::Whole(List("30", {"a1"})));
    f.Start();
  };
  std::size_t steps = 0;
  for (bool ended = false; !ended; ++steps) {
    Fixture f;
    script(f);
    // Runs `steps` handlers, moving time whenever nothing is ready.
    for (std::size_t i = 0; i < steps; ++i) {
      f.io.restart();
      if (f.io.poll_one() > 0) continue;
      ended = f.scheduler.NextDeadline() - f.scheduler.Now() > 100s;  // the last, silent watch
      if (ended) break;
      f.scheduler.RunFor(f.scheduler.NextDeadline() - f.scheduler.Now());
    }
    REQUIRE(f.Stop());
    // A stop does not complete a list.
    if (f.store.ended == 1) REQUIRE(f.store.versions.contains("a2"));
    if (f.store.ended == 2) REQUIRE(f.store.names() == Names{"a1"});
    REQUIRE(f.state().failures <= 2);  // a stop is not a failure
  }
  CHECK(steps > 15);
}

TEST_CASE("reflector: its metrics show its state", "[informers]") {
  metrics::Registry registry;
  metrics::InformerMetrics metrics(registry, {"quota", "", "v1", "pods"});
  Fixture f;
  f.options.metrics = &metrics;
  f.server.OnList(Answer::Refuse(ErrorCode::kForbidden));
  f.Run();
  const std::string labels = R"({group="",name="quota",resource="pods",version="v1"} )";
  CHECK_THAT(registry.Expose(), Contains("informer_failing" + labels + "1\n"));
  f.server.OnList(Answer::Whole(ListBody("10", {Object("a1", "1"), "{}"})));
  f.server.OnWatch(Answer::Open(Added("a2", "11") + Bookmark("12")));
  f.RunFor(2s);
  const std::string text = registry.Expose();
  CHECK_THAT(text, Contains("informer_failing" + labels + "0\n"));
  CHECK_THAT(text, Contains("informer_synced" + labels + "1\n"));
  CHECK_THAT(text, Contains("informer_lists_total" + labels + "1\n"));
  CHECK_THAT(text, Contains("informer_events_total" + labels + "2\n"));
  CHECK_THAT(text, Contains("informer_failures_total" + labels + "1\n"));
  CHECK_THAT(text, Contains("informer_skipped_objects_total" + labels + "1\n"));
  CHECK_THAT(text, Contains("informer_store_resource_version" + labels + "12\n"));
  CHECK_THAT(text, Contains("informer_processing_latency_seconds_count" + labels + "2\n"));
}

TEST_CASE("reflector: a selected part of a collection is listed and watched as such",
          "[informers]") {
  Fixture f;
  f.options.field_selector = "metadata.name=a1";
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.Run();
  REQUIRE(f.server.lists.size() == 1);
  CHECK(f.server.lists[0].Query("fieldSelector") == "metadata.name=a1");
  REQUIRE(f.server.watches.size() == 1);
  CHECK(f.server.watches[0].Query("fieldSelector") == "metadata.name=a1");
}

TEST_CASE("reflector: a namespace and labels are selected by the server", "[informers]") {
  Fixture f;
  f.options.ns = "team-a";
  f.options.label_selector = "app=web,!canary";
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.Run();
  REQUIRE(f.server.lists.size() == 1);
  REQUIRE(f.server.watches.size() == 1);
  for (const auto& seen : {f.server.lists[0], f.server.watches[0]}) {
    CHECK_THAT(seen.request.path, Contains("/namespaces/team-a/"));
    CHECK(seen.Query("labelSelector") == "app=web,!canary");
  }
}

TEST_CASE("reflector: a failure that lasts is logged every five minutes", "[informers]") {
  fake::CapturedLog log;
  Fixture f;
  for (int i = 0; i < 1000; ++i) f.server.OnList(Answer::Refuse(ErrorCode::kUnauthorized));
  f.Run();
  f.scheduler.RunFor(21min);
  CHECK(f.state().failures > 30);
  // A retry comes up to a minute after it is due.
  const std::size_t logged = log.With("cannot follow").size();
  CHECK(logged >= 4);
  CHECK(logged <= 5);
}

TEST_CASE("reflector: each failure is logged once until it is over", "[informers]") {
  fake::CapturedLog log;
  Fixture f;
  for (int i = 0; i < 3; ++i) {
    f.server.OnList(Answer::Refuse(ErrorCode::kTooManyRequests));
    f.server.OnList(Answer::Refuse(ErrorCode::kUnavailable));
  }
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.Run();
  f.scheduler.RunFor(30min);
  CHECK(f.state().failures == 6);
  CHECK(f.state().synced);
  CHECK(log.With("cannot follow").size() == 2);
  CHECK(log.With("following again").size() == 1);
}
