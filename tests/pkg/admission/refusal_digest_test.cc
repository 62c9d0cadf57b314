#include "pkg/admission/refusal_digest.h"

#include <catch2/catch.hpp>

namespace refusal_digest_test {

namespace {

using admission::Owner;
using admission::Refusal;
using admission::RefusalDigest;
using base::TimePoint;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;
using Texts = std::vector<std::string>;

const TimePoint kStart = TimePoint(std::chrono::hours(1000));

const client::ObjectReference kQuotaType{
    .api_version = "v1", .kind = "ResourceQuota", .ns = "", .name = "", .uid = ""};

Owner ReplicaSet(const std::string& name) {
  return {.api_version = "apps/v1", .kind = "ReplicaSet", .name = name, .uid = "u-" + name};
}

Refusal Of(const std::string& pod, std::optional<Owner> owner = std::nullopt,
           const std::string& quota = "compute") {
  return {.quota = {"team-a", quota},
          .ns = "team-a",
          .quota_uid = "u-" + quota,
          .exceeded = {"pods"},
          .owner = std::move(owner),
          .message = "pods \"" + pod + "\" is forbidden: exceeded quota: " + quota};
}

Texts Said(const RefusalDigest::Events& events) {
  Texts said;
  for (const client::Event& event : events) {
    CHECK(event.type == client::EventType::kWarning);
    CHECK(event.reason == "RefusedByQuota");
    CHECK(event.about.ns == "team-a");
    said.push_back(event.about.api_version + " " + event.about.kind + " " + event.about.name + " " +
                   event.about.uid + ": " + event.message);
  }
  return said;
}

const std::string kQuota = "v1 ResourceQuota compute u-compute: ";
const std::string kOwner = "apps/v1 ReplicaSet web u-web: ";

}  // namespace

TEST_CASE("refusals: the first one causes events on quota and owner at once", "[admission]") {
  RefusalDigest digest;
  const std::string text = "pods \"web-1\" is forbidden: exceeded quota: compute";
  CHECK(Said(digest.Add(kQuotaType, Of("web-1", ReplicaSet("web")), kStart)) ==
        Texts{kQuota + text, kOwner + text});
  CHECK(digest.NextDue() == kStart + 1min);
}

TEST_CASE("refusals: those of the next minute are one event with their number", "[admission]") {
  RefusalDigest digest;
  digest.Add(kQuotaType, Of("web-1", ReplicaSet("web")), kStart);
  for (int i = 2; i <= 18; ++i) {
    CHECK(digest.Add(kQuotaType, Of("web-" + std::to_string(i), ReplicaSet("web")), kStart + 3s * i)
              .empty());
  }
  CHECK(digest.TakeDue(kStart + 59s).empty());
  const std::string text =
      "refused 17 requests within a minute, the last one: pods \"web-18\" is forbidden: exceeded "
      "quota: compute";
  CHECK(Said(digest.TakeDue(kStart + 1min)) == Texts{kQuota + text, kOwner + text});
  CHECK(digest.NextDue() == kStart + 2min);
  // A single refusal has its own message.
  digest.Add(kQuotaType, Of("web-19"), kStart + 70s);
  CHECK(Said(digest.TakeDue(kStart + 2min)) ==
        Texts{kQuota + "pods \"web-19\" is forbidden: exceeded quota: compute"});
}

TEST_CASE("refusals: a quota that only would refuse has an event reason of its own",
          "[admission]") {
  RefusalDigest digest;
  Refusal would = Of("web-1", ReplicaSet("web"));
  would.quota.ns.clear();
  would.message = "pods \"web-1\" would be forbidden: exceeded cluster quota: compute";
  would.mode = quota::ClusterSpec::Enforcement::kWarn;
  const auto events = digest.Add(kQuotaType, would, kStart);
  REQUIRE(events.size() == 2);
  for (const client::Event& event : events) {
    CHECK(event.reason == "WouldBeRefusedByQuota");
    CHECK(event.message == would.message);
  }
  CHECK(events[0].about.ns.empty());
  CHECK(events[1].about.ns == "team-a");  // the owner's
  // A real refusal in the same minute has an event of its own.
  CHECK(digest.Add(kQuotaType, Of("web-2"), kStart + 1s).size() == 1);
  digest.Add(kQuotaType, would, kStart + 2s);
  digest.Add(kQuotaType, would, kStart + 3s);
  const auto gathered = digest.TakeDue(kStart + 1min);
  REQUIRE(gathered.size() == 2);
  CHECK(gathered[0].message ==
        "would have refused 2 requests within a minute, the last one: " + would.message);
}

TEST_CASE("refusals: after a minute without one the next event is sent at once", "[admission]") {
  RefusalDigest digest;
  digest.Add(kQuotaType, Of("web-1", ReplicaSet("web")), kStart);
  CHECK(digest.TakeDue(kStart + 1min).empty());
  CHECK(digest.size() == 0);
  CHECK(digest.NextDue() == std::nullopt);
  CHECK(digest.Add(kQuotaType, Of("web-2"), kStart + 61s).size() == 1);
  // Also if nobody called TakeDue().
  CHECK(digest.Add(kQuotaType, Of("web-3"), kStart + 5min).size() == 1);
  CHECK(digest.size() == 1);
}

TEST_CASE("refusals: each owner and each quota has its own events", "[admission]") {
  RefusalDigest digest;
  digest.Add(kQuotaType, Of("web-1", ReplicaSet("web")), kStart);
  const std::string text = "pods \"db-1\" is forbidden: exceeded quota: ";
  CHECK(Said(digest.Add(kQuotaType, Of("db-1", ReplicaSet("db")), kStart + 1s)) ==
        Texts{"apps/v1 ReplicaSet db u-db: " + text + "compute"});
  CHECK(Said(digest.Add(kQuotaType, Of("db-1", ReplicaSet("db"), "objects"), kStart + 1s)) ==
        Texts{"v1 ResourceQuota objects u-objects: " + text + "objects",
              "apps/v1 ReplicaSet db u-db: " + text + "objects"});
}

TEST_CASE("refusals: a workload has one event in a minute, however many quotas refuse",
          "[admission]") {
  RefusalDigest digest;
  const Owner web{.api_version = "apps/v1", .kind = "Deployment", .name = "web", .uid = "u-web"};
  const std::string workload = "apps/v1 Deployment web u-web: ";
  const std::string text = "pods \"web-1\" is forbidden: exceeded quota: ";
  CHECK(Said(digest.AddWorkload(web, Of("web-1"), kStart)) == Texts{workload + text + "compute"});
  CHECK(digest.AddWorkload(web, Of("web-1", {}, "objects"), kStart + 1s).empty());
  CHECK(digest.AddWorkload(web, Of("web-1"), kStart + 2s).empty());
  CHECK(Said(digest.TakeDue(kStart + 1min)) ==
        Texts{workload + "refused 2 requests within a minute, the last one: " + text + "compute"});
  Owner invalid = web;
  invalid.name = "NO name";
  CHECK(digest.AddWorkload(invalid, Of("web-1"), kStart + 2min).empty());
}

TEST_CASE("refusals: an invalid owner gets no event", "[admission]") {
  RefusalDigest digest;
  for (const char* name :
       {"", "Upper", "a b", "a/b", "-a", "a-", ".a", "a..b", "a.-b", "a-.b", "\xC3\xA4"}) {
    CAPTURE(name);
    const auto events = digest.Add(kQuotaType, Of("p", ReplicaSet(name)), kStart);
    for (const client::Event& event : events) CHECK(event.about.kind == "ResourceQuota");
  }
  CHECK(digest.size() == 1);
}

TEST_CASE("refusals: the objects with events and the stored text are bounded", "[admission]") {
  RefusalDigest digest({.most = 3});
  std::size_t events = 0;
  for (int i = 0; i < 100; ++i) {
    Refusal refusal = Of("p", ReplicaSet("w" + std::to_string(i)));
    refusal.message = std::string(100'000, 'x');
    events += digest.Add(kQuotaType, refusal, kStart).size();
  }
  CHECK(events == 3);
  CHECK(digest.size() == 3);
  const auto due = digest.TakeDue(kStart + 1min);
  REQUIRE(due.size() == 1);  // the quota; each owner was refused once
  CHECK(due.front().message.size() < 2'000);
  CHECK(digest.Add(kQuotaType, Of("p", ReplicaSet("later")), kStart + 1min).size() == 1);
}

TEST_CASE("refusals: gathered refusals are sent at the end", "[admission]") {
  RefusalDigest digest;
  digest.Add(kQuotaType, Of("web-1"), kStart);
  CHECK(digest.TakeAll().empty());
  digest.Add(kQuotaType, Of("web-1"), kStart);
  digest.Add(kQuotaType, Of("web-2"), kStart);
  digest.Add(kQuotaType, Of("web-3"), kStart);
  CHECK(Said(digest.TakeAll()) ==
        Texts{kQuota +
              "refused 2 requests within a minute, the last one: pods \"web-3\" is forbidden: "
              "exceeded quota: compute"});
  CHECK(digest.NextDue() == std::nullopt);
}

}  // namespace refusal_digest_test
