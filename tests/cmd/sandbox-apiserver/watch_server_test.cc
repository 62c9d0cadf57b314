#include "cmd/sandbox-apiserver/watch_server.h"

#include "tests/cmd/sandbox-apiserver/api_fixture.h"

namespace sandbox::watch_server_test {
namespace {

constexpr const char* kWatch = "/api/v1/namespaces/default/pods?watch=1";
using Names = std::vector<std::string>;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

}  // namespace

TEST_CASE_METHOD(ApiFixture, "watch: existing objects come first, then new events", "[sandbox]") {
  MakePod("a");
  RecordingWriter& watch = Open("GET", kWatch);
  CHECK(watch.started);
  CHECK(watch.TakeNames() == Names{"ADDED a"});
  MakePod("b");
  DeletePod("a");
  CHECK(watch.TakeNames() == Names{"ADDED b", "MODIFIED a", "DELETED a"});
}

TEST_CASE_METHOD(ApiFixture, "watch: a watch resumes at a version without loss", "[sandbox]") {
  MakePod("a");
  const std::string version = CurrentVersion();
  MakePod("b");
  DeletePod("a");
  RecordingWriter& watch = Open("GET", std::string(kWatch) + "&resourceVersion=" + version);
  CHECK(watch.TakeNames() == Names{"ADDED b", "MODIFIED a", "DELETED a"});
}

TEST_CASE_METHOD(ApiFixture, "watch: objects leave and enter a selection", "[sandbox]") {
  MakePod("a", R"({"x":"1"})");
  RecordingWriter& watch = Open("GET", std::string(kWatch) + "&labelSelector=x%3D1");
  CHECK(watch.TakeNames() == Names{"ADDED a"});
  const auto label = [this](const char* value) {
    Ask("PATCH", "/api/v1/namespaces/default/pods/a",
        std::string(R"({"metadata":{"labels":{"x":")") + value + "\"}}}",
        {{"Content-Type", "application/merge-patch+json"}});
  };
  label("2");
  const auto left = watch.TakeEvents();
  REQUIRE(left.size() == 1);
  CHECK(left[0].StringAt({"type"}) == "DELETED");
  CHECK(left[0].StringAt({"object", "metadata", "labels", "x"}) == "1");
  CHECK(left[0].StringAt({"object", "metadata", "resourceVersion"}) == CurrentVersion());
  label("1");
  CHECK(watch.TakeNames() == Names{"ADDED a"});
}

TEST_CASE_METHOD(ApiFixture, "watch: a watch ends cleanly at its deadline", "[sandbox]") {
  RecordingWriter& watch = Open("GET", std::string(kWatch) + "&timeoutSeconds=10");
  scheduler_.RunFor(milliseconds(9900));
  CHECK_FALSE(watch.finished);
  scheduler_.RunFor(milliseconds(200));
  CHECK(watch.finished);
  CHECK(Json(Ask("GET", "/sandbox/requests")).At({"openWatches"})->AsInt64() == 0);
}

TEST_CASE_METHOD(ApiFixture, "watch: bookmarks follow the server's version", "[sandbox]") {
  RecordingWriter& watch = Open(
      "GET", std::string(kWatch) + "&allowWatchBookmarks=true&resourceVersion=" + CurrentVersion());
  Ask("POST", "/api/v1/namespaces/default/configmaps",
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}})");
  scheduler_.RunFor(seconds(59));
  CHECK(watch.TakeEvents().empty());
  scheduler_.RunFor(seconds(2));
  const auto events = watch.TakeEvents();
  REQUIRE(events.size() == 1);
  CHECK(events[0].StringAt({"type"}) == "BOOKMARK");
  CHECK(events[0].StringAt({"object", "kind"}) == "Pod");
  CHECK(events[0].StringAt({"object", "metadata", "resourceVersion"}) == CurrentVersion());
}

TEST_CASE_METHOD(ApiFixture, "watch: bookmarks are sent only on request", "[sandbox]") {
  RecordingWriter& watch = Open("GET", kWatch);
  scheduler_.RunFor(minutes(5));
  CHECK(watch.TakeEvents().empty());
}

TEST_CASE_METHOD(ApiFixture, "watch: the streaming list ends with an annotated bookmark",
                 "[sandbox]") {
  MakePod("b");
  MakePod("a");
  const std::string list =
      "&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
  RecordingWriter& watch = Open("GET", kWatch + list);
  const auto events = watch.TakeEvents();
  REQUIRE(events.size() == 3);
  CHECK(events[0].StringAt({"object", "metadata", "name"}) == "a");
  CHECK(events[1].StringAt({"object", "metadata", "name"}) == "b");
  CHECK(events[2].StringAt({"type"}) == "BOOKMARK");
  CHECK(events[2].StringAt({"object", "metadata", "annotations", "k8s.io/initial-events-end"}) ==
        "true");
  CHECK(events[2].StringAt({"object", "metadata", "resourceVersion"}) == CurrentVersion());
  CHECK(Ask("GET", std::string(kWatch) + "&sendInitialEvents=true").status == 422);
  CHECK(Ask("GET", std::string(kWatch) + "&resourceVersionMatch=NotOlderThan").status == 422);
}

TEST_CASE_METHOD(ApiFixture, "watch: a version that is too old is an ERROR event", "[sandbox]") {
  const std::string old = CurrentVersion();
  MakePod("a");
  Inject(R"({"fault":"expire"})");
  RecordingWriter& watch = Open("GET", std::string(kWatch) + "&resourceVersion=" + old);
  CHECK(watch.response.status == 200);
  CHECK(watch.finished);
  const auto events = watch.TakeEvents();
  REQUIRE(events.size() == 1);
  CHECK(events[0].StringAt({"type"}) == "ERROR");
  CHECK(events[0].At({"object", "code"})->AsInt64() == 410);
  CHECK(events[0].StringAt({"object", "reason"}) == "Expired");
}

TEST_CASE_METHOD(ApiFixture, "watch: tables name their columns once", "[sandbox]") {
  MakePod("a");
  MakePod("b");
  RecordingWriter& watch =
      Open("GET", kWatch, "", {{"Accept", "application/json;as=Table;g=meta.k8s.io;v=v1"}});
  const auto events = watch.TakeEvents();
  REQUIRE(events.size() == 2);
  CHECK(events[0].StringAt({"object", "kind"}) == "Table");
  const json::Value* first = events[0].At({"object", "columnDefinitions"});
  CHECK((first != nullptr && first->AsArray() != nullptr));
  const json::Value* second = events[1].At({"object", "columnDefinitions"});
  CHECK((second == nullptr || second->AsArray() == nullptr || second->AsArray()->empty()));
}

TEST_CASE_METHOD(ApiFixture, "watch: a watch of metadata only", "[sandbox]") {
  MakePod("a");
  RecordingWriter& watch =
      Open("GET", kWatch, "",
           {{"Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}});
  const auto events = watch.TakeEvents();
  REQUIRE(events.size() == 1);
  CHECK(events[0].StringAt({"object", "kind"}) == "PartialObjectMetadata");
  CHECK(events[0].At({"object", "spec"}) == nullptr);
}

TEST_CASE_METHOD(ApiFixture, "watch: a fault ends matching watches, cleanly or by a reset",
                 "[sandbox]") {
  RecordingWriter& pods = Open("GET", kWatch);
  RecordingWriter& secrets = Open("GET", "/api/v1/secrets?watch=1");
  Inject(R"({"fault":"drop-watches","resource":"pods","reset":true})");
  CHECK((pods.aborted && pods.reset));
  CHECK_FALSE((secrets.aborted || secrets.finished));
  Inject(R"({"fault":"drop-watches","resource":"secrets"})");
  CHECK((secrets.finished && !secrets.aborted));
}

TEST_CASE_METHOD(ApiFixture, "watch: injected events are sent as given", "[sandbox]") {
  MakePod("a");
  RecordingWriter& watch = Open("GET", kWatch);
  watch.TakeEvents();
  Inject(R"({"fault":"send-event","resource":"pods","type":"BOGUS"})");
  CHECK(watch.TakeNames() == Names{"BOGUS injected"});
  Inject(R"({"fault":"send-event","resource":"pods","bytes":2000000})");
  CHECK(watch.response.body.size() > 2000000);
  watch.TakeEvents();
  Inject(R"({"fault":"send-event","resource":"pods","code":500})");
  CHECK(watch.TakeEvents().at(0).At({"object", "code"})->AsInt64() == 500);
  Inject(R"({"fault":"repeat-event","resource":"pods"})");
  CHECK(watch.TakeNames() == Names{"ADDED a"});
  Inject(R"({"fault":"send-event","resource":"pods","raw":"}{"})");
  CHECK(watch.response.body.ends_with("}{"));
}

TEST_CASE_METHOD(ApiFixture, "watch: delayed events keep their order", "[sandbox]") {
  RecordingWriter& watch = Open("GET", kWatch);
  Inject(R"({"fault":"delay-watch","resource":"pods","delay":"500ms"})");
  MakePod("a");
  scheduler_.RunFor(milliseconds(300));
  MakePod("b");
  CHECK(watch.TakeNames().empty());
  scheduler_.RunFor(milliseconds(300));
  CHECK(watch.TakeNames() == Names{"ADDED a"});
  scheduler_.RunFor(milliseconds(300));
  CHECK(watch.TakeNames() == Names{"ADDED b"});
  Ask("DELETE", "/sandbox/faults");
  MakePod("c");
  CHECK(watch.TakeNames() == Names{"ADDED c"});
}

class SmallHistory : public ApiFixture {
 protected:
  SmallHistory() : ApiFixture({.store = {.history = 2}}) {}
};

TEST_CASE_METHOD(SmallHistory, "watch: a watch that lags behind the history ends", "[sandbox]") {
  RecordingWriter& watch = Open("GET", "/api/v1/namespaces/default/configmaps?watch=1");
  const TypePtr type = handler_->store().objects().registry().Find("", "v1", "configmaps");
  for (const char* name : {"a", "b", "c", "d"}) {
    json::Value object;
    object.Make({"metadata", "name"}) = name;
    REQUIRE(handler_->store().Create({type, "default", "", ""}, object));
  }
  scheduler_.RunUntilIdle();
  CHECK((watch.finished && !watch.aborted));
  CHECK(watch.TakeNames().empty());
}

TEST_CASE_METHOD(ApiFixture, "watch: a watch that is up to date survives a loss of history",
                 "[sandbox]") {
  RecordingWriter& watch = Open("GET", kWatch);
  Ask("POST", "/api/v1/namespaces/default/configmaps",
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}})");
  Inject(R"({"fault":"expire"})");
  MakePod("a");
  CHECK_FALSE(watch.finished);
  CHECK(watch.TakeNames() == Names{"ADDED a"});
}

TEST_CASE_METHOD(ApiFixture, "watch: a fault refuses a watch before it begins", "[sandbox]") {
  Inject(R"({"fault":"answer","verb":"watch","resource":"pods","code":410})");
  const http::Response gone = Ask("GET", kWatch);
  CHECK(gone.status == 410);
  CHECK(Json(gone).StringAt({"reason"}) == "Expired");
  CHECK(Open("GET", kWatch).started);
}

}  // namespace sandbox::watch_server_test
