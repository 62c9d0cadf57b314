// What the admitter decides of one review: what it needs, what is charged for it, what is said.

#include <memory>

#include "pkg/quota/object_counter.h"
#include "tests/pkg/admission/admitter_fixture.h"

namespace admission::quota_admitter_test {
namespace {

using namespace std::chrono_literals;
using quota::List;
using Kind = Answer::Kind;

TEST_CASE("quota admitter: what fits is admitted, written and held", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "2"}, {"cpu", "4"}}), List({{"things", "1"}, {"cpu", "1"}}));
  CHECK(f.Get(Create("a", "3")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=4,things=2");
  CHECK(f.book.writes == 1);

  const Answer refused = f.Get(Create("b", "1"));
  CHECK(refused.kind == Kind::kRefused);
  CHECK(refused.code == 403);
  CHECK(refused.reason == "Forbidden");
  CHECK(refused.message ==
        "exceeded quota: q, requested: cpu=1,things=1, used: cpu=4,things=2, "
        "limited: cpu=4,things=2");
  CHECK(f.book.attempts == 1);
}

TEST_CASE("quota admitter: in an exempt namespace nothing is refused, nor charged", "[admission]") {
  QuotaAdmitterOptions options;
  options.exempt_namespaces = {"ns"};
  AdmitterFixture f(options);
  f.book.Put("q", List({{"things", "0"}}), List({{"things", "0"}}));
  CHECK(f.Get(Create("a", "3")).kind == Kind::kAllowed);
  CHECK(f.book.attempts == 0);
}

TEST_CASE("quota admitter: the quota API says by what reason it refuses", "[admission]") {
  AdmitterFixture f;
  f.api.refusal_reason = "QuotaExceeded";
  f.book.Put("q", List({{"cpu", "1"}}), List({{"cpu", "1"}}));
  CHECK(f.Get(Create("a", "1")).reason == "QuotaExceeded");
}

TEST_CASE("quota admitter: an amount that would count as nothing is refused unless it is there",
          "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"cpu", "9"}}), List({{"cpu", "0"}}));
  f.api.evaluators[0].facts_of = [](const json::Value& object,
                                    base::WallTime now) -> base::Result<quota::ObjectFacts> {
    if (!object.StringAt({"spec", "cpu"}).starts_with("-")) return FactsOfThing(object, now);
    return quota::ObjectFacts{.flaw = "spec.cpu: must not be negative"};
  };
  const Answer refused = f.Get(Create("a", "-1"));
  CHECK(refused.kind == Kind::kRefused);
  CHECK(refused.code == 403);
  CHECK(refused.message == "it cannot be counted: spec.cpu: must not be negative");
  CHECK(f.Get(Update("a", "1", "-1")).kind == Kind::kRefused);
  CHECK(f.Get(Update("a", "-1", "-2")).kind == Kind::kAllowed);
  CHECK(f.Get(Update("a", "-1", "2")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=2");
}

TEST_CASE("quota admitter: what needs nothing is admitted without a write", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"cpu", "1"}}), List({{"cpu", "5"}}));
  CHECK(f.Get(Update("a", "3", "3")).kind == Kind::kAllowed);
  CHECK(f.Get(Update("a", "3", "1")).kind == Kind::kAllowed);
  CHECK(f.Get(Create("b")).kind == Kind::kAllowed);
  Review elsewhere = Create("c", "9");
  elsewhere.ns = "other";
  CHECK(f.Get(elsewhere).kind == Kind::kAllowed);
  Review cluster_scoped = Create("c", "9");
  cluster_scoped.ns = "";
  CHECK(f.Get(cluster_scoped).kind == Kind::kAllowed);
  CHECK(f.book.attempts == 0);
  CHECK(f.counts.batches == 0);
}

TEST_CASE("quota admitter: only what the guard names is decided", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"cpu", "1"}}), List({{"cpu", "1"}}));
  Review review = Update("a", "1", "9");
  for (const char* subresource : {"status", "scale"}) {
    review.subresource = subresource;
    CHECK(f.Get(review).kind == Kind::kAllowed);
  }
  review.subresource = "resize";
  CHECK(f.Get(review).kind == Kind::kRefused);
  review.subresource = "";
  CHECK(f.Get(review).kind == Kind::kRefused);
  review.operation = Operation::kDelete;
  CHECK(f.Get(review).kind == Kind::kAllowed);
  Review unknown = Create("b", "9");
  unknown.resource.resource = "others";
  CHECK(f.Get(unknown).kind == Kind::kAllowed);
  CHECK(f.admitter.FieldsOf({"", "things"}) == std::vector<std::string>{"spec.cpu", "spec.extra"});
  CHECK(f.admitter.FieldsOf({"", "others"}).empty());
}

// Who asks may name what there is not.
TEST_CASE("quota admitter: nothing is kept of kinds that are only counted", "[admission]") {
  AdmitterFixture f;
  const auto kept = std::make_shared<int>();
  f.api.object_counter = [kept](const api::GroupResource& resource) {
    quota::Evaluator counter = quota::CountObjects(resource, {});
    counter.owns = [kept, owns = counter.owns](std::string_view name) { return owns(name); };
    return std::optional(std::move(counter));
  };
  f.book.Put("q", List({{"count/numbers.example.com", "2"}}),
             List({{"count/numbers.example.com", "0"}}));
  const auto create = [&f](const std::string& kind, const std::string& uid) {
    Review review = Create(uid);
    review.resource = {"example.com", "v1", kind};
    return f.Get(std::move(review));
  };
  for (int i = 0; i < 100; ++i) {
    CHECK(create("kind" + std::to_string(i), "a").kind == Kind::kAllowed);
  }
  CHECK(f.book.attempts == 0);
  CHECK(create("numbers", "a").kind == Kind::kAllowed);
  CHECK(create("numbers", "b").kind == Kind::kAllowed);
  CHECK(create("numbers", "c").message ==
        "exceeded quota: q, requested: count/numbers.example.com=1, used: "
        "count/numbers.example.com=2, limited: count/numbers.example.com=2");
  f.api.object_counter = nullptr;
  CHECK(kept.use_count() == 1);
}

// A finalizer may keep it for years.
TEST_CASE("quota admitter: what is being deleted is charged for what it grows by", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"cpu", "4"}}), List({{"cpu", "1"}}));
  const auto going = [](const std::string& from, const std::string& to) {
    Review review = Update("a", from, to);
    for (json::Value* object : {&review.object, &review.old_object}) {
      object->Make({"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
    }
    return review;
  };
  CHECK(f.Get(going("1", "9")).message ==
        "exceeded quota: q, requested: cpu=8, used: cpu=1, limited: cpu=4");
  CHECK(f.Get(going("1", "3")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=3");
}

TEST_CASE("quota admitter: the finalizers of what is being deleted may go, whatever the quota says",
          "[admission]") {
  AdmitterFixture f;
  f.book.Put("exceeded", List({{"cpu", "1"}}), List({{"cpu", "5"}}));
  f.book.Put("unknown", List({{"cpu", "1"}, {"things", "9"}}), {});
  Review review = Update("a", "5", "5");
  for (json::Value* object : {&review.object, &review.old_object}) {
    object->Make({"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
  }
  CHECK(f.Get(review).kind == Kind::kAllowed);
  CHECK(f.book.attempts == 0);
}

TEST_CASE("quota admitter: an update without its old object is refused", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"cpu", "9"}}), List({{"cpu", "1"}}));
  Review review = Update("a", "1", "2");
  review.old_object = json::Value();
  const Answer answer = f.Get(review);
  CHECK(answer.code == 403);
  CHECK(answer.message ==
        "unable to get previous usage since prior version of object was not found");
}

TEST_CASE("quota admitter: an amount that cannot be read is no zero", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"cpu", "9"}}), List({{"cpu", "1"}}));
  const Answer answer = f.Get(Create("a", "much"));
  CHECK(answer.kind == Kind::kRefused);
  CHECK(answer.code == 500);
  CHECK(answer.message.find("spec.cpu") != std::string::npos);
}

TEST_CASE("quota admitter: a dry run is judged and charges nothing", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"things", "2"}}), List({{"things", "1"}}));
  Review review = Create("a");
  review.dry_run = true;
  CHECK(f.Get(review).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "things=1");
  CHECK(f.book.attempts == 0);
  f.book.Touch("q", [](quota::Quota& quota) { quota.status.used = List({{"things", "2"}}); });
  CHECK(f.Get(review).kind == Kind::kRefused);
}

TEST_CASE("quota admitter: many calls for one stored write reserve once", "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"cpu", "100"}}), List({{"cpu", "1"}}));
  SECTION("one after the other") {
    for (int i = 0; i < 4; ++i) CHECK(f.Get(Update("a", "1", "3")).kind == Kind::kAllowed);
    CHECK(f.Used("q") == "cpu=3");
  }
  SECTION("all at once") {
    for (int i = 0; i < 8; ++i) f.Ask(Update("a", "1", "3"));
    f.scheduler.RunFor(1s);
    CHECK(f.Count(Kind::kAllowed) == 8);
    CHECK(f.Used("q") == "cpu=3");
  }
}

TEST_CASE("quota admitter: what was admitted from a larger version pays for no more than it added",
          "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"cpu", "7"}}), List({{"cpu", "3"}}));
  const auto update = [](const std::string& version, const std::string& from,
                         const std::string& to) {
    Review review = Update("a", from, to);
    review.old_object.Make({"metadata", "resourceVersion"}) = version;
    return review;
  };
  // The API server read the object before another write made it smaller, and asks again after it.
  CHECK(f.Get(update("7", "7", "10")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=6");
  CHECK(f.Get(update("8", "3", "10")).kind == Kind::kRefused);
  CHECK(f.Get(update("8", "3", "6")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=6");
  CHECK(f.Get(update("8", "3", "8")).kind == Kind::kRefused);
  CHECK(f.Get(update("8", "3", "7")).kind == Kind::kAllowed);
  CHECK(f.Used("q") == "cpu=7");
}

// Thing() is stored in version 7. The API server's store refuses such a write, and it asks anew.
TEST_CASE("quota admitter: an update of a version that is no more reserves nothing",
          "[admission]") {
  AdmitterFixture f;
  f.book.Put("q", List({{"cpu", "3"}}), List({{"cpu", "3"}}));
  const quota::Uid uid = quota::Uid::FromText("a");
  Review late = Update("a", "1", "3");
  SECTION("that it is no more is known") {
    f.book.versions[uid] = "8";
    CHECK(f.Get(late).kind == Kind::kAllowed);
    CHECK(f.Used("q") == "cpu=3");
    CHECK(f.book.attempts == 0);
    late.dry_run = true;  // nothing is stored, so nothing asks anew
    CHECK(f.Get(late).kind == Kind::kRefused);
  }
  SECTION("it becomes known while the request waits") {
    f.book.Touch("q", [](quota::Quota& quota) { quota.status.hard = List({{"cpu", "9"}}); });
    f.book.fault = [&](const quota::Quota&) -> std::optional<base::Error> {
      f.book.versions[uid] = "8";
      return base::Error{.code = base::ErrorCode::kConflict, .message = "moved"};
    };
    CHECK(f.Get(late).kind == Kind::kAllowed);
    CHECK(f.Used("q") == "cpu=3");
    CHECK(f.book.attempts == 1);
  }
  SECTION("as far as is known it is the newest") {
    f.book.versions[uid] = "7";
    CHECK(f.Get(late).kind == Kind::kRefused);
  }
}

TEST_CASE("quota admitter: who is refused by one quota has nothing reserved by others",
          "[admission]") {
  AdmitterFixture f;
  f.book.Put("roomy", List({{"things", "10"}}), List({{"things", "0"}}));
  f.book.Put("tight", List({{"things", "1"}}), List({{"things", "0"}}));
  f.Ask(Create("a"));
  f.scheduler.RunFor(1ms);
  // The write of `roomy` succeeds, that of `tight` meets a version that has no room any more.
  f.book.Touch("tight", [](quota::Quota& quota) { quota.status.used = List({{"things", "1"}}); });
  f.scheduler.RunFor(1s);
  CHECK(f.Count(Kind::kRefused) == 1);
  CHECK(f.answers[0]->message.starts_with("exceeded quota: tight"));
  CHECK(f.book.Outstanding("roomy").empty());
  CHECK(f.book.releases == 1);
}

TEST_CASE("quota admitter: the last tenth of a limit is announced", "[admission]") {
  QuotaAdmitterOptions options;
  SECTION("by default") {
    AdmitterFixture f(options);
    f.book.Put("q", List({{"things", "20"}}), List({{"things", "17"}}));
    CHECK(f.Get(Create("a")).warnings.empty());
    const Answer answer = f.Get(Create("b"));
    CHECK(answer.warnings == std::vector<std::string>{"quota nearly used up: q: things 19 of 20"});
    CHECK(f.counts.warnings == 1);
  }
  SECTION("unless it is switched off") {
    options.warn_near_limits = false;
    AdmitterFixture f(options);
    f.book.Put("q", List({{"things", "20"}}), List({{"things", "19"}}));
    CHECK(f.Get(Create("a")).warnings.empty());
  }
}

}  // namespace
}  // namespace admission::quota_admitter_test
