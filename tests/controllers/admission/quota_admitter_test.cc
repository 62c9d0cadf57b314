// How the admitter decides one review: its need, its reservation and its answer.

#include <memory>

#include "pkg/quota/object_counter.h"
#include "tests/controllers/admission/admitter_fixture.h"

namespace quota_admitter_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;
using admission::Answer;
using admission::QuotaAdmitterOptions;
using admission::Review;
using Kind = Answer::Kind;

TEST_CASE("quota admitter: a request that fits is admitted and reserved", "[admission]") {
  AdmitterFixture f;
  f.Store("old", "1");
  f.PutQuota("q", {{"things", "2"}, {"cpu", "4"}});
  CHECK(f.Get(Create("a", "3")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=4,things=2");
  CHECK(f.Reserved() == 1);
  CHECK(f.cluster.writes.size() == 1);

  const Answer refused = f.Get(Create("b", "1"));
  CHECK(refused.kind == Kind::kRefused);
  CHECK(refused.code == 403);
  CHECK(refused.reason == "Forbidden");
  CHECK(refused.message ==
        "exceeded quota: q, requested: cpu=1,things=1, used: cpu=4,things=2, "
        "limited: cpu=4,things=2");
  CHECK(refused.causes ==
        std::vector<api::StatusCause>{{.reason = "QuotaExceeded",
                                       .message = "requested: 1, used: 4, limited: 4",
                                       .field = "ResourceQuota/q/cpu"},
                                      {.reason = "QuotaExceeded",
                                       .message = "requested: 1, used: 2, limited: 2",
                                       .field = "ResourceQuota/q/things"}});
  CHECK(f.cluster.writes.size() == 1);
}

TEST_CASE("quota admitter: a refusal by no quota has a cause without a field", "[admission]") {
  AdmitterFixture f;
  f.PutQuota("q", {{"cpu", "9"}});
  CHECK(f.Get(Create("a", "-1")).causes ==
        std::vector<api::StatusCause>{
            {.reason = "Uncountable",
             .message = "it cannot be counted: spec.cpu: must not be negative"}});
  Review lost = Create("b", "1");
  lost.operation = admission::Operation::kUpdate;
  CHECK(
      f.Get(lost).causes ==
      std::vector<api::StatusCause>{
          {.reason = "Uncountable",
           .message = "unable to get previous usage since prior version of object was not found"}});
  f.FailWrites("q", {.code = base::ErrorCode::kForbidden, .message = "no right"});
  CHECK(f.Get(Create("c", "1")).causes ==
        std::vector<api::StatusCause>{{.reason = "NotReserved", .message = "no right"}});
}

TEST_CASE("quota admitter: in an exempt namespace nothing is refused or charged", "[admission]") {
  QuotaAdmitterOptions options;
  options.exempt_namespaces = fixture::NamesOf({"team-a"});
  AdmitterFixture f(options);
  f.PutQuota("q", {{"things", "0"}});
  CHECK(f.Get(Create("a", "3")).kind == Kind::kAllowed);
  CHECK(f.cluster.writes.empty());
}

TEST_CASE("quota admitter: a refusal has the reason of the quota API", "[admission]") {
  AdmitterFixture f;
  f.api.refusal_reason = "QuotaExceeded";
  f.Store("old", "1");
  f.PutQuota("q", {{"cpu", "1"}});
  CHECK(f.Get(Create("a", "1")).reason == "QuotaExceeded");
}

TEST_CASE("quota admitter: an amount that cannot be counted is refused unless it is stored",
          "[admission]") {
  AdmitterFixture f;
  const json::Value good = f.Store("good", "1");
  const json::Value bad = f.Store("bad", "-1");
  f.PutQuota("q", {{"cpu", "9"}});
  const Answer refused = f.Get(Create("a", "-1"));
  CHECK(refused.kind == Kind::kRefused);
  CHECK(refused.code == 403);
  CHECK(refused.message == "it cannot be counted: spec.cpu: must not be negative");
  CHECK(f.Get(Update(good, "-1")).kind == Kind::kRefused);
  CHECK(f.Get(Update(bad, "-2")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=1");
  CHECK(f.Get(Update(bad, "2")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=3");
}

TEST_CASE("quota admitter: an amount that cannot be read is refused unless it is stored",
          "[admission]") {
  AdmitterFixture f;
  const json::Value good = f.Store("good", "1");
  const json::Value bad = f.Store("bad", "much");
  f.PutQuota("q", {{"cpu", "9"}, {"things", "9"}});
  const Answer refused = f.Get(Create("a", "more"));
  CHECK(refused.kind == Kind::kRefused);
  CHECK(refused.code == 403);
  CHECK(refused.message == "it cannot be counted: spec.cpu: more");
  CHECK(f.Get(Update(good, "more")).kind == Kind::kRefused);
  CHECK(f.Get(Update(bad, "more")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "things=2");
}

json::Value Sized(json::Value thing, const json::Object& sizes) {
  thing.Make({"spec", "sizes"}) = sizes;
  return thing;
}

TEST_CASE("quota admitter: an ignored amount is refused by its name, whatever else is wrong",
          "[admission]") {
  AdmitterFixture f;
  f.cluster.Put(kThings, Sized(Thing("s"), {{"disk", "?"}, {"iops", "50"}}));
  const json::Value stored = *f.cluster.Find(kThings, "team-a", "s");
  const auto update = [&](const json::Object& sizes) {
    Review review = Update(stored, "");
    review.object = Sized(std::move(review.object), sizes);
    return f.Get(std::move(review));
  };
  Review creation = Create("new");
  creation.object = Sized(std::move(creation.object), {{"disk", "?"}});
  f.PutQuota("q", {{"iops", "90"}});
  SECTION("a limited name") {
    CHECK(f.Used("q") == "iops=50");
    const Answer worse = update({{"disk", "?"}, {"iops", "?"}});
    CHECK(worse.kind == Kind::kRefused);
    CHECK(worse.message == "it cannot be counted: spec.sizes[disk]: is no amount");
    CHECK(update({{"disk", "1"}, {"iops", "?"}}).kind == Kind::kRefused);
    CHECK(update({{"disk", "??"}, {"iops", "40"}}).kind == Kind::kAllowed);
  }
  SECTION("a name that no quota limits") {
    CHECK(f.Get(creation).kind == Kind::kAllowed);
    CHECK(update({{"disk", "!"}, {"iops", "50"}}).kind == Kind::kAllowed);
  }
  SECTION("a name is limited while the request waits") {
    f.FailWrites("q", {.code = base::ErrorCode::kUnavailable, .message = "down"});
    creation.object.Make({"spec", "sizes", "iops"}) = "1";
    f.Ask(creation);
    f.RunFor(std::chrono::milliseconds(10));
    REQUIRE_FALSE(f.answers.back().has_value());
    json::Value grown = MakeQuota("q", {{"iops", "90"}, {"disk", "9"}});
    grown.Make({"status"}) = json::Object{{"hard", json::Object{{"iops", "90"}, {"disk", "9"}}},
                                          {"used", json::Object{{"iops", "50"}, {"disk", "0"}}}};
    f.cluster.Put(kQuotas, grown);
    f.cluster.fault = nullptr;
    f.RunFor(std::chrono::seconds(3));
    REQUIRE(f.answers.back().has_value());
    CHECK(f.answers.back()->code == 503);
    CHECK(f.Get(creation).code == 403);
  }
  SECTION("one of two is mended") {
    f.cluster.Put(kThings, Sized(Thing("u"), {{"disk", "?"}, {"iops", "?"}}));
    f.RunFor(std::chrono::milliseconds(500));
    Review mends = Update(*f.cluster.Find(kThings, "team-a", "u"), "");
    mends.object = Sized(std::move(mends.object), {{"disk", "5"}, {"iops", "?"}});
    CHECK(f.Get(mends).kind == Kind::kAllowed);
  }
}

TEST_CASE("quota admitter: an object with very many names is read under those of its quotas",
          "[admission]") {
  AdmitterFixture f;
  Review many = Create("a", "5");
  many.object.Make({"spec", "many"}) = true;
  f.PutQuota("q", {{"things", "9"}, {"cpu", "3"}});
  CHECK(f.Get(many).kind == Kind::kRefused);
  f.PutQuota("q", {{"things", "9"}});
  f.FailWrites("q", {.code = base::ErrorCode::kUnavailable, .message = "down"});
  f.Ask(many);
  f.RunFor(std::chrono::milliseconds(10));
  REQUIRE_FALSE(f.answers.back().has_value());
  // A name is limited while the request waits, and its use of it was not read.
  json::Value grown = MakeQuota("q", {{"things", "9"}, {"cpu", "3"}});
  grown.Make({"status"}) = json::Object{{"hard", json::Object{{"things", "9"}, {"cpu", "3"}}},
                                        {"used", json::Object{{"things", "0"}, {"cpu", "0"}}}};
  f.cluster.Put(kQuotas, grown);
  f.cluster.fault = nullptr;
  f.RunFor(std::chrono::seconds(3));
  REQUIRE(f.answers.back().has_value());
  CHECK(f.answers.back()->code == 503);
  CHECK(f.answers.back()->message == "failed quota: q: its limits have just changed");
  CHECK(f.Get(many).code == 403);
}

TEST_CASE("quota admitter: a request that needs nothing is admitted without a write",
          "[admission]") {
  AdmitterFixture f;
  f.Store("old", "2");
  const json::Value stored = f.Store("a", "3");
  f.PutQuota("q", {{"cpu", "1"}});
  REQUIRE(f.Used("q") == "cpu=5");
  CHECK(f.Get(Update(stored, "3")).kind == Kind::kAllowed);
  CHECK(f.Get(Update(stored, "1")).kind == Kind::kAllowed);
  CHECK(f.Get(Create("b")).kind == Kind::kAllowed);
  CHECK(f.Get(Create("c", "9", "other")).kind == Kind::kAllowed);
  CHECK(f.Get(Create("c", "9", "")).kind == Kind::kAllowed);
  CHECK(f.cluster.writes.empty());
  CHECK(f.counts.batches == 0);
}

TEST_CASE("quota admitter: only requests that the guard names are decided", "[admission]") {
  AdmitterFixture f;
  const json::Value stored = f.Store("a", "1");
  f.PutQuota("q", {{"cpu", "1"}});
  Review review = Update(stored, "9");
  for (const char* subresource : {"status", "scale"}) {
    review.subresource = subresource;
    CHECK(f.Get(review).kind == Kind::kAllowed);
  }
  review.subresource = "resize";
  CHECK(f.Get(review).kind == Kind::kRefused);
  review.subresource = "";
  CHECK(f.Get(review).kind == Kind::kRefused);
  review.operation = admission::Operation::kDelete;
  CHECK(f.Get(review).kind == Kind::kAllowed);
  Review unknown = Create("b", "9");
  unknown.resource.resource = "others";
  CHECK(f.Get(unknown).kind == Kind::kAllowed);
  CHECK(f.admitter().FieldsOf({"", "things"}) ==
        std::vector<std::string>{"spec.cpu", "spec.extra", "spec.sizes"});
  CHECK(f.admitter().FieldsOf({"", "others"}).empty());
}

// A request may name kinds that do not exist.
TEST_CASE("quota admitter: nothing is remembered about kinds that are only counted",
          "[admission]") {
  AdmitterFixture f;
  const auto kept = std::make_shared<int>();
  f.cluster.Serve({"example.com", "v1", "numbers"}, "Number");
  f.api.counted_resource = quota::AnyCountedKind;
  f.api.object_counter = [kept](const api::GroupResource& resource) {
    quota::Evaluator counter = quota::CountObjects(resource, {});
    counter.owns = [kept, owns = counter.owns](std::string_view name) { return owns(name); };
    return std::optional(std::move(counter));
  };
  f.cluster.Put(kQuotas, MakeQuota("q", {{"count/numbers.example.com", "2"}}));
  f.RunFor(15s);  // the kind is discovered and listed
  REQUIRE(f.Used("q") == "count/numbers.example.com=0");
  f.cluster.writes.clear();
  const auto create = [&f](const std::string& kind, const std::string& uid) {
    Review review = Create(uid);
    review.resource = {"example.com", "v1", kind};
    return f.Get(std::move(review));
  };
  const auto before = kept.use_count();
  for (int i = 0; i < 100; ++i) {
    CHECK(create("kind" + std::to_string(i), "a").kind == Kind::kAllowed);
  }
  CHECK(f.cluster.writes.empty());
  CHECK(create("numbers", "a").kind == Kind::kAllowed);
  CHECK(create("numbers", "b").kind == Kind::kAllowed);
  CHECK(create("numbers", "c").message ==
        "exceeded quota: q, requested: count/numbers.example.com=1, used: "
        "count/numbers.example.com=2, limited: count/numbers.example.com=2");
  CHECK(kept.use_count() == before);
}

json::Value Deleted(json::Value thing) {
  thing.Make({"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
  return thing;
}

// A finalizer may delay its deletion for years.
TEST_CASE("quota admitter: growth of an object that is being deleted is charged", "[admission]") {
  AdmitterFixture f;
  f.cluster.Put(kThings, Deleted(Thing("a", "1")));
  f.PutQuota("q", {{"cpu", "4"}});
  const auto going = [&f](const std::string& to) {
    Review review = Update(*f.cluster.Find(kThings, "team-a", "a"), to);
    review.object = Deleted(std::move(review.object));
    return review;
  };
  CHECK(f.Get(going("9")).message ==
        "exceeded quota: q, requested: cpu=8, used: cpu=1, limited: cpu=4");
  CHECK(f.Get(going("3")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=3");
}

TEST_CASE("quota admitter: removing a finalizer of a deleted object always passes", "[admission]") {
  AdmitterFixture f;
  f.cluster.Put(kThings, Deleted(Thing("a", "5")));
  f.PutQuota("exceeded", {{"cpu", "1"}});
  REQUIRE(f.Used("exceeded") == "cpu=5");
  f.PutQuota("unknown", {{"cpu", "1"}, {"things", "9"}});
  f.leads = false;  // somebody else wrote the limits, and has not counted yet
  f.WriteStatus("unknown", {{"cpu", "1"}, {"things", "9"}}, {});
  f.RunFor(100ms);
  REQUIRE(f.Used("unknown").empty());
  Review review = Update(*f.cluster.Find(kThings, "team-a", "a"), "5");
  review.object = Deleted(std::move(review.object));
  CHECK(f.Get(review).kind == Kind::kAllowed);
  CHECK(f.Get(Create("b", "1")).kind == Kind::kRefused);
  CHECK(f.cluster.writes.empty());
}

TEST_CASE("quota admitter: an update without its old object is refused", "[admission]") {
  AdmitterFixture f;
  const json::Value stored = f.Store("a", "1");
  f.PutQuota("q", {{"cpu", "9"}});
  Review review = Update(stored, "2");
  review.old_object = json::Value();
  const Answer answer = f.Get(review);
  CHECK(answer.code == 403);
  CHECK(answer.message ==
        "unable to get previous usage since prior version of object was not found");
}

TEST_CASE("quota admitter: an invalid amount is an error, not zero", "[admission]") {
  AdmitterFixture f;
  f.PutQuota("q", {{"cpu", "9"}});
  const Answer answer = f.Get(Create("a", "much"));
  CHECK(answer.kind == Kind::kRefused);
  CHECK(answer.code == 403);
  CHECK(answer.message.find("spec.cpu") != std::string::npos);
}

TEST_CASE("quota admitter: a dry run is judged and charges nothing", "[admission]") {
  AdmitterFixture f;
  f.Store("old");
  f.PutQuota("q", {{"things", "2"}});
  Review review = Create("a");
  review.dry_run = true;
  CHECK(f.Get(review).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "things=1");
  CHECK(f.cluster.writes.empty());
  f.Store("second");
  f.RunFor(1s);
  REQUIRE(f.Used("q") == "things=2");
  CHECK(f.Get(review).kind == Kind::kRefused);
}

TEST_CASE("quota admitter: using the last tenth of a limit adds a warning", "[admission]") {
  QuotaAdmitterOptions options;
  SECTION("by default") {
    AdmitterFixture f(options);
    f.StoreMany(17);
    f.PutQuota("q", {{"things", "20"}});
    CHECK(f.Get(Create("a")).warnings.empty());
    const Answer answer = f.Get(Create("b"));
    CHECK(answer.warnings == std::vector<std::string>{"quota nearly used up: q: things 19 of 20"});
    CHECK(f.counts.warnings == 1);
  }
  SECTION("switched off") {
    options.warn_near_limits = false;
    AdmitterFixture f(options);
    f.StoreMany(19);
    f.PutQuota("q", {{"things", "20"}});
    CHECK(f.Get(Create("a")).warnings.empty());
  }
}

}  // namespace
}  // namespace quota_admitter_test
