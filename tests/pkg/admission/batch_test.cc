#include "pkg/admission/batch.h"

#include <catch2/catch.hpp>

#include "tests/pkg/quota/quota_testing.h"

namespace admission::batch_test {
namespace {

using quota::List;

quota::Evaluator Things() {
  return {.resource = {"", "things"},
          .owns = [](std::string_view name) { return name == "things"; },
          .fields = {},
          .scopes = {},
          .facts_of = nullptr,
          .guard = {}};
}

quota::Quota HundredThings(const char* used) {
  quota::Quota quota;
  quota.key = {"ns", "q"};
  quota.hard = List({{"things", "100"}});
  quota.status = {.hard = quota.hard, .used = List({{"things", used}})};
  return quota;
}

// How a request for one thing is granted in a quota with a burst of three.
ReservePlan::From Grants(const char* used, std::string_view version) {
  const quota::Evaluator things = Things();
  quota::Request request;
  request.evaluator = &things;
  request.uid = {1};
  request.after.usage = List({{"things", "1"}});
  request.version = version;
  if (!version.empty()) request.before = quota::Subject();
  const quota::Quota quota = HundredThings(used);
  BatchQuotas quotas;
  BookedQuota booked{.quota = &quota};
  booked.burst = List({{"things", "3"}});
  const auto& by = quotas.Add("ns", {booked});
  const BatchPlan plan = PlanBatch({{&request, "ns", &by}}, quotas);
  REQUIRE(plan.verdicts[0].kind == quota::Verdict::Kind::kFits);
  REQUIRE(plan.grants.size() == 1);
  return plan.grants[0].from;
}

TEST_CASE("batch: a creation is granted from the burst, an update is not", "[admission]") {
  CHECK(Grants("5", "") == ReservePlan::From::kBurst);
  CHECK(Grants("5", "7") == ReservePlan::From::kWrite);
}

// The quota controller corrects such a status before it decides. Another book may not.
TEST_CASE("batch: a burst is ignored after somebody reset the status", "[admission]") {
  CHECK(Grants("0", "") == ReservePlan::From::kWrite);
}

// The first update adds 1 to the 4 that its version uses. If the object uses 1 by now, that pays
// for 2 of the 8 that the second update wants.
TEST_CASE("batch: a grant pays for another version only what it added", "[admission]") {
  const quota::Evaluator things = Things();
  const auto update = [&](std::string_view version, const char* before, const char* after) {
    quota::Request request;
    request.evaluator = &things;
    request.uid = {1};
    request.version = version;
    request.before = quota::Subject{.usage = List({{"things", before}})};
    request.after.usage = List({{"things", after}});
    return request;
  };
  const quota::Request first = update("7", "4", "5");
  const quota::Request second = update("9", "1", "8");
  const quota::Request again = update("9", "1", "8");
  const quota::Quota quota = HundredThings("10");
  BatchQuotas quotas;
  const auto& by = quotas.Add("ns", {BookedQuota{.quota = &quota}});
  const BatchPlan plan =
      PlanBatch({{&first, "ns", &by}, {&second, "ns", &by}, {&again, "ns", &by}}, quotas);
  REQUIRE(plan.grants.size() == 1);
  const std::vector<Grant>& grants = plan.grants[0].grants;
  REQUIRE(grants.size() == 2);
  CHECK(grants[0].added == List({{"things", "1"}}));
  CHECK(grants[1].added == List({{"things", "6"}}));
  // The third request is the second one again.
  const std::vector<PlannedGrants::Relying>& relying = plan.grants[0].relying;
  REQUIRE(relying.size() == 3);
  CHECK(relying[1].grant == 1);
  CHECK(relying[2].member == 2);
  CHECK(relying[2].grant == 1);
  CHECK(plan.grants[0].batch == 3);
}

// The entry adds 5 to the 1 that the quota counted when it was made. By now the quota has another
// scope and counts nothing of the stored object.
TEST_CASE("batch: a reservation that answers an update pays only what it added", "[admission]") {
  const quota::Evaluator things = Things();
  quota::Request request;
  request.evaluator = &things;
  request.uid = {1};
  request.version = "7";
  request.before = quota::Subject();
  const quota::Quota quota = HundredThings("11");
  accounting::ReservationList list;
  const quota::ResourceList usage = List({{"things", "6"}});
  list.Add({.by = "a",
            .n = 1,
            .of = "things",
            .usage = usage,
            .objects = {request.uid},
            .from = "7",
            .stored = List({{"things", "1"}})});
  const auto added_for = [&](const char* after) {
    request.after.usage = List({{"things", after}});
    BookedQuota booked{.quota = &quota, .list = &list};
    booked.answer = [&](const quota::Uid&, std::string_view) { return &usage; };
    BatchQuotas quotas;
    const auto& by = quotas.Add("ns", {booked});
    const BatchPlan plan = PlanBatch({{&request, "ns", &by}}, quotas);
    REQUIRE(!plan.grants.empty());
    return plan.grants.back().grants[0].added;  // the write, if there is one
  };
  CHECK(added_for("5").empty());
  CHECK(added_for("6") == List({{"things", "1"}}));
  CHECK(added_for("7") == List({{"things", "2"}}));
}

}  // namespace
}  // namespace admission::batch_test
