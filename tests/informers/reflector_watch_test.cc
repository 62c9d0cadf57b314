// Watches that end, break, fall silent, or lose their place in the history.
#include <catch2/catch.hpp>

#include "informers/reflector.h"
#include "tests/informers/collection.h"

namespace reflector_watch_test {
namespace {

using namespace std::chrono_literals;
using namespace informers::testing;
using base::ErrorCode;
using Catch::Matchers::Contains;
using fake::Answer;

}  // namespace

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

}  // namespace reflector_watch_test
