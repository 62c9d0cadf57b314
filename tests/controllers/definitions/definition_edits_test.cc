// UsageDefinitions that are edited while they are in force, and many of them.

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <utility>

#include "tests/controllers/definitions/definitions_fixture.h"

namespace definition_controller_test {
namespace {

const std::string kBucketDocument = "/openapi/v3/apis/example.com/v1";

struct InForce : Definitions {
  InForce() {
    cluster.documents[kBucketDocument] =
        DocumentOf(KindOf("Bucket", kSize) + "," + KindOf("Disk", kSize));
    Put("buckets", "example.com/bytes", ".spec.size");
    Start();
    scheduler.RunFor(20s);
    CHECK(Defined() == "buckets=v1");
  }
  [[nodiscard]] bool Owns(const std::string& name) const {
    return defined.contains("buckets") && defined.at("buckets").owns(name);
  }
};

TEST_CASE("edits: a mistyped one does not end the limit", "[controllers]") {
  InForce f;
  const std::string path = GENERATE(".spec.siez", "spec.size");
  CAPTURE(path);
  f.Put("buckets", "example.com/bytes", path, 2);
  f.scheduler.RunFor(60s);
  CHECK(f.Owns("example.com/bytes"));
  CHECK(f.changes == 1);
  CHECK_THAT(f.Ready(), Catch::StartsWith("False Path") &&
                            Catch::EndsWith("; in force is still generation 1"));
  f.Put("buckets", "example.com/bytes", ".spec.size", 3);
  f.scheduler.RunFor(20s);
  CHECK(f.changes == 1);
  CHECK_THAT(f.Ready(), Catch::StartsWith("True NotLimited"));
  f.Put("buckets", "example.com/bytes", path, 4);
  f.scheduler.RunFor(20s);
  f.Delete("buckets");
  f.scheduler.RunFor(20s);
  CHECK(f.Defined().empty());
}

// The status has what is in force.
TEST_CASE("edits: a mistyped one does not end the limit at a restart", "[controllers]") {
  InForce f;
  f.leads = GENERATE(true, false);
  const bool readable = GENERATE(true, false);
  CAPTURE(f.leads, readable);
  const auto former = [&] {
    const json::Value* object = f.cluster.Find(DefinitionResource(), "", "buckets.example.com");
    const json::Value* in_force = object->At({"status", "inForce"});
    return in_force == nullptr ? "" : json::Write(*in_force);
  };
  CHECK(former().empty());
  const bool leads = std::exchange(f.leads, true);
  f.Put("buckets", "example.com/bytes", readable ? ".spec.siez" : "spec.size", 2);
  f.scheduler.RunFor(60s);
  CHECK(former() == R"x({"generation":1,"spec":"{\"resource\":{\"group\":\"example.com\",)x"
                    R"x(\"resource\":\"buckets\"},\"usage\":[{\"name\":\"example.com/bytes\",)x"
                    R"x(\"path\":\".spec.size\"}]}"})x");
  f.leads = leads;
  for (int i = 0; i < 2; ++i) {
    f.Stop();
    f.defined.clear();
    f.Start();
    f.scheduler.RunFor(20s);
    CHECK(f.Defined() == "buckets=v1");
    CHECK(f.Owns("example.com/bytes"));
    CHECK_THAT(f.Ready(), Catch::StartsWith("False Path") &&
                              Catch::EndsWith("; in force is still generation 1"));
  }
  f.leads = true;
  f.Put("buckets", "example.com/more-bytes", ".spec.size", 3);
  f.scheduler.RunFor(20s);
  CHECK(f.Owns("example.com/more-bytes"));
  CHECK(former().empty());
}

TEST_CASE("edits: a status whose former generation cannot be read is none", "[controllers]") {
  InForce f;
  f.Put("buckets", "example.com/bytes", ".spec.siez", 2);
  f.scheduler.RunFor(60s);
  f.Stop();
  f.defined.clear();
  json::Value stored = *f.cluster.Find(DefinitionResource(), "", "buckets.example.com");
  json::Value& text = stored.Make({"status", "inForce", "spec"});
  json::Value spec = json::Parse(*text.AsString()).value();
  SECTION("no spec") { text = json::Value(); }
  SECTION("no JSON") { text = "spec"; }
  SECTION("an object") { text = spec; }
  SECTION("another kind") {
    spec.Make({"resource", "resource"}) = "disks";
    text = json::Write(spec);
  }
  SECTION("a wrong path") {
    spec.Make({"usage"}).AsArray()->at(0).Make({"path"}) = "size";
    text = json::Write(spec);
  }
  f.cluster.Put(DefinitionResource(), stored);
  f.Start();
  f.scheduler.RunFor(20s);
  CHECK(f.Defined().empty());
  CHECK_THAT(f.Ready(), Catch::StartsWith("False PathNotInSchema"));
}

TEST_CASE("edits: one that waits for a schema does not end the limit", "[controllers]") {
  InForce f;
  f.cluster.documents.clear();
  f.Put("buckets", "example.com/more-bytes", ".spec.size", 2);
  f.scheduler.RunFor(1s);
  CHECK(f.Owns("example.com/bytes"));
  f.cluster.documents[kBucketDocument] = DocumentOf(KindOf("Bucket", kSize));
  f.scheduler.RunFor(20s);
  CHECK(f.Owns("example.com/more-bytes"));
  CHECK(f.changes == 2);
}

// The schema cannot be read for longer than an edit waits for it.
struct EditedUnchecked : InForce {
  explicit EditedUnchecked(const std::string& path) {
    cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path.find("openapi") == std::string::npos) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kTimeout, .message = "no answer"};
    };
    Put("buckets", "example.com/more-bytes", path, 2);
    scheduler.RunFor(controllers::PathChecks::kPatience + 2s);
    CHECK(Owns("example.com/more-bytes"));
    CHECK(changes == 2);
  }
};

TEST_CASE("edits: a mistyped one does not end the limit if its schema is read late",
          "[controllers]") {
  EditedUnchecked f(".spec.siez");
  f.cluster.ForgetFunctions();
  f.scheduler.RunFor(20s);
  CHECK(f.Owns("example.com/bytes"));
  CHECK_FALSE(f.Owns("example.com/more-bytes"));
  CHECK(f.changes == 3);
  CHECK_THAT(f.Ready(), Catch::StartsWith("False PathNotInSchema") &&
                            Catch::EndsWith("; in force is still generation 1"));
  f.Put("buckets", "example.com/more-bytes", ".spec.size", 3);
  f.scheduler.RunFor(20s);
  CHECK(f.Owns("example.com/more-bytes"));
  CHECK_THAT(f.Ready(), Catch::StartsWith("True NotLimited"));
}

// The leader has put it in force while it could not read the schema.
TEST_CASE("edits: a replica that does not lead takes a mistyped one back with the leader",
          "[controllers]") {
  EditedUnchecked f(".spec.siez");
  const bool restarts = GENERATE(true, false);
  const bool reads = GENERATE(true, false);
  CAPTURE(restarts, reads);
  f.leads = false;
  const auto say = [&](const std::string& status, const std::string& reason) {
    json::Value stored = *f.cluster.Find(DefinitionResource(), "", "buckets.example.com");
    const bool holds = status == "True";
    stored.Make({"status", "observedGeneration"}) = 2;
    stored.Make({"status", "version"}) = "v1";
    stored.Make({"status", "conditions"}) = json::Array{
        json::Object{{"type", "Ready"}, {"status", status}, {"reason", reason}, {"message", "m"}}};
    json::Value former;
    if (!holds) {
      former =
          json::Object{{"generation", 1},
                       {"spec", R"({"resource":{"group":"example.com","resource":"buckets"},)"
                                R"("usage":[{"name":"example.com/bytes","path":".spec.size"}]})"}};
    }
    stored.Make({"status", "inForce"}) = former;
    f.cluster.Put(DefinitionResource(), stored);
    f.scheduler.RunFor(5s);
  };
  say("True", "Counting");
  if (restarts) {
    f.running->Cancel();
    f.scheduler.RunFor(60s);
    f.defined.clear();
    f.Start();
    f.scheduler.RunFor(10s);
  }
  CHECK(f.Owns("example.com/more-bytes"));
  if (reads) f.cluster.ForgetFunctions();
  say("False", "PathNotInSchema");
  f.scheduler.RunFor(20s);
  CHECK(f.Owns("example.com/bytes"));
  CHECK_FALSE(f.Owns("example.com/more-bytes"));
}

TEST_CASE("edits: a second mistyped one does not end the limit either", "[controllers]") {
  EditedUnchecked f(".spec.siez");
  f.Put("buckets", "example.com/other-bytes", ".spec.szie", 3);
  f.scheduler.RunFor(controllers::PathChecks::kPatience + 2s);
  CHECK(f.Owns("example.com/other-bytes"));
  f.cluster.ForgetFunctions();
  f.scheduler.RunFor(20s);
  CHECK(f.Owns("example.com/bytes"));
  CHECK_THAT(f.Ready(), Catch::EndsWith("; in force is still generation 1"));
}

TEST_CASE("edits: one that is taken back before its check is in force at once", "[controllers]") {
  EditedUnchecked f(".spec.siez");
  f.Put("buckets", "example.com/bytes", ".spec.size", 3);
  f.scheduler.RunFor(1s);
  CHECK(f.Owns("example.com/bytes"));
  // It was in force before, so no later schema ends it.
  f.cluster.ForgetFunctions();
  f.cluster.documents[kBucketDocument] = DocumentOf(KindOf("Bucket", kOther));
  f.scheduler.RunFor(20s);
  CHECK(f.Owns("example.com/bytes"));
  CHECK_THAT(f.Ready(), Catch::StartsWith("False PathLost"));
}

TEST_CASE("edits: one that takes a name of another definition does not end the limit",
          "[controllers]") {
  InForce f;
  f.Put("disks", "example.com/disk-bytes", ".spec.size", 1, "2025-01-01T00:00:00Z");
  f.scheduler.RunFor(20s);
  f.Put("buckets", "example.com/disk-bytes", ".spec.size", 2);
  f.scheduler.RunFor(20s);
  CHECK(f.Owns("example.com/bytes"));
  CHECK_THAT(f.Ready(), Catch::StartsWith("False NameTaken") &&
                            Catch::EndsWith("in force is still generation 1"));
  // What is in force keeps its names only while no older definition has them.
  f.Put("disks", "example.com/bytes", ".spec.size", 2, "2025-01-01T00:00:00Z");
  f.scheduler.RunFor(20s);
  CHECK(f.Owns("example.com/disk-bytes"));
  CHECK(f.defined.at("disks").owns("example.com/bytes"));
}

TEST_CASE("edits: another definition of the same name inherits nothing", "[controllers]") {
  InForce f;
  json::Value other = *f.cluster.Find(DefinitionResource(), "", "buckets.example.com");
  f.Delete("buckets");
  other.Make({"metadata", "uid"}) = "another";
  other.Make({"spec", "usage"}) =
      json::Array{json::Object{{"name", "example.com/bytes"}, {"path", "spec.size"}}};
  f.cluster.Put(DefinitionResource(), other);
  f.scheduler.RunFor(20s);
  CHECK(f.Defined().empty());
}

TEST_CASE("edits: while nothing changes nothing is judged", "[controllers]") {
  InForce f;
  f.judged = 0;
  f.scheduler.RunFor(10min);
  CHECK(f.judged <= 5);  // after answers about the schema
  f.judged = 0;
  f.Put("disks", "example.com/disk-bytes", ".spec.size");
  f.scheduler.RunFor(20s);
  CHECK(f.judged > 0);
  CHECK(f.judged <= 60);
}

// The definition of a resource with the longest paths.
json::Value Large(const std::string& resource, const std::string& created) {
  json::Array usage;
  for (std::size_t i = 0; i < quota::usage::kMostNames; ++i) {
    std::string path = ".spec.a" + std::to_string(i);
    for (int step = 0; step < 14; ++step) path += "." + std::string(60, 'b');
    usage.push_back(json::Object{{"name", "example.com/" + resource + "-" + std::to_string(i)},
                                 {"path", path}});
  }
  json::Value object;
  object.Make({"metadata"}) = json::Object{{"name", resource + ".example.com"},
                                           {"uid", "uid-of-" + resource},
                                           {"generation", 1},
                                           {"creationTimestamp", created}};
  object.Make({"spec", "resource"}) =
      json::Object{{"group", "example.com"}, {"resource", resource}};
  object.Make({"spec", "usage"}) = std::move(usage);
  return object;
}

TEST_CASE("edits: the memory of all definitions together has a bound", "[controllers]") {
  Definitions f;
  for (int i = 0; i < 100; ++i) {
    f.cluster.Put(
        DefinitionResource(),
        Large("r" + std::to_string(i), i < 50 ? "2026-01-01T00:00:00Z" : "2025-01-01T00:00:00Z"));
  }
  f.Start();
  f.scheduler.RunFor(5min);
  const std::size_t most = f.defined.size();
  CHECK(most > 20);
  CHECK(most < 80);
  // The oldest; of the same age by name.
  CHECK(f.defined.contains("r50"));
  CHECK_FALSE(f.defined.contains("r9"));
  CHECK_THAT(f.Ready("r9.example.com"), Catch::StartsWith("False TooMany: older definitions take"));
  // One that goes makes room.
  f.Delete("r50");
  f.scheduler.RunFor(5min);
  CHECK(f.defined.size() == most);
  CHECK_FALSE(f.defined.contains("r50"));
}

TEST_CASE("edits: what an edit has replaced takes room until the paths of the edit are known",
          "[controllers]") {
  quota::usage::DefinitionSet set;
  // Puts all with this path, and returns how many of them may be in force.
  const auto edit = [&](const std::string& path, std::optional<quota::usage::Verdict> of_paths) {
    for (int i = 0; i < 100; ++i) {
      json::Value object = Large("r" + std::to_string(i), "2026-01-01T00:00:00Z");
      object.Make({"spec", "countsWhile"}) =
          json::Object{{"path", path}, {"notIn", json::Array{"Released"}}};
      set.Put(object);
    }
    const auto verdicts =
        set.Judge(quota::BuiltInEvaluator, [&](const std::string&) { return of_paths; });
    return std::ranges::count_if(verdicts,
                                 [](const auto& one) { return one.second.reason.empty(); });
  };
  const quota::usage::Verdict right;
  const auto most = edit(".status.phase", right);
  CHECK(most > 20);
  CHECK(edit(".status.state", std::nullopt) < most);
  CHECK(edit(".status.state", std::nullopt) < most);
  CHECK(edit(".status.state", right) < most);
  CHECK(edit(".status.state", right) == most);
}

TEST_CASE("edits: a small definition is not kept out by large ones that are younger",
          "[controllers]") {
  Definitions f;
  for (int i = 0; i < 100; ++i) {
    f.cluster.Put(DefinitionResource(), Large("r" + std::to_string(i), "2026-01-01T00:00:00Z"));
  }
  f.Put("buckets", "example.com/bytes", ".spec.size", 1, "2025-01-01T00:00:00Z");
  f.Start();
  f.scheduler.RunFor(20s);
  CHECK(f.defined.contains("buckets"));
}

}  // namespace
}  // namespace definition_controller_test
