// Requests for machines, volumes and buckets, by the rules of pkg/quota/ironcore: classes that are
// missing, states that are forged, updates that need nothing.

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "pkg/admission/quota_admitter.h"
#include "pkg/base/manual_scheduler.h"
#include "pkg/quota/ironcore/ironcore_quota.h"
#include "tests/pkg/admission/fake_book.h"
#include "tests/pkg/quota/quota_testing.h"

namespace admission::ironcore_admission_test {
namespace {

using namespace std::chrono_literals;
using quota::List;
using Kind = Answer::Kind;

constexpr const char* kCount = "count/machines.compute.ironcore.dev";

const api::GroupVersionResource kMachines{"compute.ironcore.dev", "v1alpha1", "machines"};
const api::GroupVersionResource kVolumes{"storage.ironcore.dev", "v1alpha1", "volumes"};
const api::GroupVersionResource kBuckets{"storage.ironcore.dev", "v1alpha1", "buckets"};

json::Value Object(const json::Object& spec, const std::string& uid, const std::string& state) {
  json::Value object(json::Object{{"metadata", json::Object{{"name", "o"}, {"uid", uid}}}});
  object.AsObject()->Set("spec", spec);
  if (!state.empty()) object.Make({"status", "state"}) = state;
  return object;
}

json::Value Machine(const std::string& of, const std::string& state = "") {
  json::Object spec;
  if (!of.empty()) spec.Set("machineClassRef", json::Object{{"name", of}});
  return Object(spec, "m", state);
}

json::Value Volume(const std::string& storage) {
  return Object({{"volumeClassRef", json::Object{{"name", "fast"}}},
                 {"resources", json::Object{{"storage", storage}}}},
                "v", "");
}

Review Create(json::Value object, const api::GroupVersionResource& resource = kMachines) {
  return {.uid = "call",
          .resource = resource,
          .subresource = "",
          .operation = Operation::kCreate,
          .ns = "ns",
          .name = "o",
          .object = std::move(object)};
}

Review Update(json::Value from, json::Value to,
              const api::GroupVersionResource& resource = kMachines) {
  Review review = Create(std::move(to), resource);
  review.operation = Operation::kUpdate;
  from.Make({"metadata", "resourceVersion"}) = "7";
  review.old_object = std::move(from);
  return review;
}

quota::ClassUsage Class(const char* cpu, const char* memory) {
  return quota::ClassUsage(List({{"requests.cpu", cpu}, {"requests.memory", memory}}));
}

struct Cloud {
  Cloud() {
    book.classes = quota::ClassTable(quota::MissingClass::kUnknown, "machine class");
    book.classes.Set("small", Class("2", "4Gi"));
  }
  ~Cloud() {
    calls.Spawn("stop", [this] { return admitter.Stop(); });
    scheduler.RunFor(1min);
  }

  Answer Get(Review review) {
    std::optional<Answer> answer;
    calls.Spawn("call", [this, &answer, review = std::move(review)]() -> base::Task<void> {
      co_await base::DeferCancellation();
      const base::TimePoint deadline = scheduler.Now() + 5s;
      answer = co_await admitter.Admit(review, deadline);
    });
    scheduler.RunFor(1s);
    REQUIRE(answer.has_value());
    return *answer;
  }
  // "" if it is admitted, else "403 why".
  std::string Ask(Review review) {
    const Answer answer = Get(std::move(review));
    if (answer.kind == Kind::kAllowed) return "";
    return std::to_string(answer.code) + " " + answer.message;
  }
  [[nodiscard]] std::string Used(const std::string& name) const {
    return book.Get(name).status.used.ToString();
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  quota::QuotaApi api = quota::IroncoreQuotaApi();
  FakeBook book{scheduler};
  QuotaAdmitter admitter{io.get_executor(), scheduler, api, book, book, NoObserver()};
  base::TaskGroup calls{io.get_executor()};
};

quota::ScopeSelector OfClass(const std::string& name) {
  return {{.scope = "MachineClass", .op = quota::ScopeOperator::kIn, .values = {name}}};
}

TEST_CASE("ironcore admission: a machine takes what its class says, up to the limit",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.book.Put("total", List({{"requests.cpu", "5"}}), List({{"requests.cpu", "1"}}));
  CHECK(cloud.Ask(Create(Machine("small"))).empty());
  CHECK(cloud.Used("total") == "requests.cpu=3");
  json::Value other = Machine("small");
  other.Make({"metadata", "uid"}) = "m2";
  CHECK(cloud.Ask(Create(other)).empty());  // up to the limit, and not beyond it
  other.Make({"metadata", "uid"}) = "m3";
  const Answer refused = cloud.Get(Create(other));
  CHECK(refused.code == 403);
  CHECK(refused.reason == "Forbidden");
  CHECK(refused.message ==
        "exceeded quota: total, requested: requests.cpu=2, used: requests.cpu=5, "
        "limited: requests.cpu=5");
  CHECK(cloud.book.class_reads == 0);
}

TEST_CASE("ironcore admission: a missing class stops what a quota would have to measure by it",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.book.Put("total", List({{"requests.cpu", "50"}}), List({{"requests.cpu", "1"}}));
  CHECK(cloud.Ask(Create(Machine("x"))) ==
        "403 failed quota: total: machine class \"x\" not found");
  CHECK(cloud.book.class_reads == 1);
  CHECK(cloud.Ask(Create(Machine("small"))).empty());
  CHECK(cloud.Ask(Create(Volume("1Gi"), kVolumes)).empty());
  CHECK(cloud.book.class_reads == 1);
}

TEST_CASE("ironcore admission: where no quota measures by class, classes are not looked up",
          "[admission][ironcore]") {
  Cloud cloud;
  CHECK(cloud.Ask(Create(Machine("x"))).empty());
  cloud.book.Put("count", List({{kCount, "5"}, {"requests.storage", "1Gi"}}),
                 List({{kCount, "0"}, {"requests.storage", "0"}}));
  cloud.book.Put("others", List({{"requests.cpu", "1"}}), List({{"requests.cpu", "1"}})).selector =
      OfClass("small");
  cloud.book.Put("new", List({{"requests.cpu", "1"}}), {}).status = {};  // nothing enforced yet
  CHECK(cloud.Ask(Create(Machine("x"))).empty());
  CHECK(cloud.Used("count") == "count/machines.compute.ironcore.dev=1,requests.storage=0");
  CHECK(cloud.book.class_reads == 0);
  cloud.book.Put("x", List({{"requests.memory", "1"}}), List({{"requests.memory", "0"}})).selector =
      OfClass("x");
  CHECK(cloud.Ask(Create(Machine("x"))) == "403 failed quota: x: machine class \"x\" not found");
}

TEST_CASE("ironcore admission: a class that is younger than our watch is read live",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.book.Put("total", List({{"requests.cpu", "5"}}), List({{"requests.cpu", "1"}}));
  cloud.book.live_class = [](const std::string& name) -> base::Result<quota::ClassUsage> {
    return name == "young" ? Class("4", "1Gi") : Class("99", "1Gi");
  };
  CHECK(cloud.Ask(Create(Machine("young"))).empty());
  CHECK(cloud.Used("total") == "requests.cpu=5");
  json::Value second = Machine("younger");
  second.Make({"metadata", "uid"}) = "m2";
  CHECK(cloud.Ask(Create(second))
            .starts_with("403 exceeded quota: total, requested: requests.cpu=99"));
}

TEST_CASE("ironcore admission: a class that cannot be asked for is answered so, and not passed",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.book.Put("total", List({{"requests.cpu", "5"}}), List({{"requests.cpu", "1"}}));
  cloud.book.live_class = [](const std::string&) -> base::Result<quota::ClassUsage> {
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "connection refused"};
  };
  const Answer answer = cloud.Get(Create(Machine("x")));
  CHECK(answer.kind == Kind::kUnavailable);
  CHECK(answer.message == "read machine class x: connection refused");
  CHECK(cloud.book.attempts == 0);
}

TEST_CASE(
    "ironcore admission: a quota that comes while a write is under way has the class read, too",
    "[admission][ironcore]") {
  Cloud cloud;
  cloud.book.Put("count", List({{kCount, "5"}}), List({{kCount, "0"}}));
  cloud.book.fault = [&](const quota::Quota&) -> std::optional<base::Error> {
    if (cloud.book.attempts > 1) return std::nullopt;
    cloud.book.Put("young", List({{"requests.cpu", "5"}}), List({{"requests.cpu", "0"}}));
    return base::Error{.code = base::ErrorCode::kConflict, .message = "changed meanwhile"};
  };
  SECTION("a class that is there is charged") {
    cloud.book.live_class = [](const std::string&) { return Class("4", "1Gi"); };
    CHECK(cloud.Ask(Create(Machine("x"))).empty());
    CHECK(cloud.Used("young") == "requests.cpu=4");
  }
  SECTION("one that is not is looked for once") {
    CHECK(cloud.Ask(Create(Machine("x"))) ==
          "403 failed quota: young: machine class \"x\" not found");
  }
  SECTION("of one that cannot be asked for nothing is said") {
    cloud.book.live_class = [](const std::string&) -> base::Result<quota::ClassUsage> {
      return base::Error{.code = base::ErrorCode::kUnavailable, .message = "connection refused"};
    };
    CHECK(cloud.Ask(Create(Machine("x"))) == "503 read machine class x: connection refused");
  }
  CHECK(cloud.book.class_reads == 1);
}

TEST_CASE("ironcore admission: a bad capability stops only what is measured by it",
          "[admission][ironcore]") {
  Cloud cloud;
  quota::ClassUsage odd(List({{"requests.cpu", "1"}}));
  odd.unknown["requests.memory"] = "capabilities[memory]: is missing";
  cloud.book.classes.Set("odd", odd);
  cloud.book.Put("cpu", List({{"requests.cpu", "5"}}), List({{"requests.cpu", "1"}}));
  CHECK(cloud.Ask(Create(Machine("odd"))).empty());
  CHECK(cloud.Used("cpu") == "requests.cpu=2");
  cloud.book.Put("memory", List({{"requests.memory", "5Gi"}}), List({{"requests.memory", "0"}}));
  json::Value second = Machine("odd");
  second.Make({"metadata", "uid"}) = "m2";
  CHECK(cloud.Ask(Create(second)) ==
        "403 failed quota: memory: machine class \"odd\": capabilities[memory]: is missing");
  CHECK(cloud.Used("cpu") == "requests.cpu=2");
}

TEST_CASE("ironcore admission: an update that leaves class and state alone passes, class or not",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.book.Put("total", List({{"requests.cpu", "1"}}), List({{"requests.cpu", "9"}}));
  cloud.book.Put("unknown", List({{"requests.cpu", "1"}}), {});
  json::Value labelled = Machine("x", "Running");
  labelled.Make({"metadata", "labels", "a"}) = "b";
  CHECK(cloud.Ask(Update(Machine("x", "Running"), labelled)).empty());
  CHECK(cloud.Ask(Update(Machine("small"), Machine("small"))).empty());
  CHECK(cloud.Ask(Update(Machine(""), Machine(""))).empty());
  json::Value going = Machine("x");
  going.Make({"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
  CHECK(cloud.Ask(Update(going, going)).empty());
  CHECK(cloud.book.class_reads == 0);
  CHECK(cloud.book.attempts == 0);
}

// Possible where definitions are lax.
TEST_CASE("ironcore admission: a class that changes is charged to each quota by itself",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.book.classes.Set("large", Class("16", "64Gi"));
  cloud.book.Put("large", List({{"requests.cpu", "16"}}), List({{"requests.cpu", "0"}})).selector =
      OfClass("large");
  cloud.book.Put("total", List({{"requests.cpu", "20"}}), List({{"requests.cpu", "2"}}));
  CHECK(cloud.Ask(Update(Machine("small"), Machine("x"))) ==
        "403 failed quota: total: machine class \"x\" not found");
  CHECK(cloud.Ask(Update(Machine("small"), Machine("large"))).empty());
  CHECK(cloud.Used("large") == "requests.cpu=16");
  CHECK(cloud.Used("total") == "requests.cpu=16");
  CHECK(cloud.Ask(Update(Machine("large"), Machine("small"))).empty());
  CHECK(cloud.book.writes == 2);
}

TEST_CASE("ironcore admission: nobody says by a machine's own write that it is terminated",
          "[admission][ironcore]") {
  Cloud cloud;
  const std::string forged =
      "403 it cannot be counted: status.state: Terminated is written to the subresource status "
      "only";
  CHECK(cloud.Ask(Create(Machine("small", "Terminated"))).empty());  // no quota, no matter
  cloud.book.Put("total", List({{"requests.cpu", "5"}}), List({{"requests.cpu", "0"}}));
  CHECK(cloud.Ask(Create(Machine("small", "Terminated"))) == forged);
  CHECK(cloud.Ask(Update(Machine("small", "Running"), Machine("small", "Terminated"))) == forged);
  CHECK(cloud.Ask(Update(Machine("small"), Machine("small", "Terminated"))) == forged);
  CHECK(cloud.book.attempts == 0);
  CHECK(cloud.Ask(Create(Machine("small", "Shutdown"))).empty());
  CHECK(cloud.Used("total") == "requests.cpu=2");
  Review status = Update(Machine("small", "Running"), Machine("small", "Terminated"));
  status.subresource = "status";
  CHECK(cloud.Ask(status).empty());
  // What is terminated already uses nothing, whatever else changes.
  CHECK(cloud.Ask(Update(Machine("small", "Terminated"), Machine("small", "Terminated"))).empty());
  CHECK(cloud.Ask(Update(Machine("small", "Terminated"), Machine("small", "Running"))).empty());
  CHECK(cloud.Used("total") == "requests.cpu=2");
}

TEST_CASE("ironcore admission: a volume that grows is charged the difference",
          "[admission][ironcore]") {
  Cloud cloud;
  cloud.book.Put("storage", List({{"requests.storage", "100Gi"}}),
                 List({{"requests.storage", "50Gi"}}));
  CHECK(cloud.Ask(Update(Volume("50Gi"), Volume("70Gi"), kVolumes)).empty());
  CHECK(cloud.Used("storage") == "requests.storage=70Gi");
  json::Value second = Volume("90Gi");
  second.Make({"metadata", "uid"}) = "v2";
  json::Value old = Volume("50Gi");
  old.Make({"metadata", "uid"}) = "v2";
  CHECK(cloud.Ask(Update(old, second, kVolumes))
            .starts_with("403 exceeded quota: storage, requested: requests.storage=40Gi"));
  CHECK(cloud.Ask(Update(Volume("70Gi"), Volume("60Gi"), kVolumes)).empty());
  CHECK(cloud.Ask(Create(Volume("-1Gi"), kVolumes)) ==
        "403 it cannot be counted: spec.resources[storage]: must not be negative");
}

TEST_CASE("ironcore admission: a bucket without a class needs none", "[admission][ironcore]") {
  Cloud cloud;
  cloud.book.Put("b", List({{"requests.iops", "1"}}), List({{"requests.iops", "1"}}));
  CHECK(cloud.Ask(Create(Object({}, "b", ""), kBuckets)).empty());
  CHECK(cloud.book.class_reads == 0);
}

TEST_CASE("ironcore admission: what any kind is counted by is decided, too",
          "[admission][ironcore]") {
  Cloud cloud;
  const api::GroupVersionResource networks{"networking.ironcore.dev", "v1alpha1", "networks"};
  const char* name = "count/networks.networking.ironcore.dev";
  cloud.book.Put("n", List({{name, "1"}}), List({{name, "1"}}));
  CHECK(cloud.Ask(Create(Object({}, "n", ""), networks)) ==
        "403 exceeded quota: n, requested: count/networks.networking.ironcore.dev=1, used: "
        "count/networks.networking.ironcore.dev=1, limited: "
        "count/networks.networking.ironcore.dev=1");
}

}  // namespace
}  // namespace admission::ironcore_admission_test
