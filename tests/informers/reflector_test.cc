#include "informers/reflector.h"

#include <catch2/catch.hpp>

#include "pkg/metrics/informer_metrics.h"
#include "tests/informers/collection.h"

namespace reflector_test {
namespace {

using namespace std::chrono_literals;
using namespace informers::testing;
using base::ErrorCode;
using Catch::Matchers::Contains;
using fake::Answer;

}  // namespace

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

}  // namespace reflector_test
