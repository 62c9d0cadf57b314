#include "pkg/admission/batch.h"

#include <catch2/catch.hpp>

#include "tests/pkg/quota/quota_testing.h"

namespace admission::batch_test {
namespace {

using quota::List;

// How a request for one thing is granted in a quota with a burst of three.
ReservePlan::From Grants(const char* used, std::string_view version) {
  quota::Evaluator things{.resource = {"", "things"},
                          .owns = [](std::string_view name) { return name == "things"; },
                          .fields = {},
                          .scopes = {},
                          .facts_of = nullptr,
                          .guard = {}};
  quota::Request request;
  request.evaluator = &things;
  request.uid = {1, 1};
  request.after.usage = List({{"things", "1"}});
  request.version = version;
  if (!version.empty()) request.before = quota::Subject();
  quota::Quota quota;
  quota.key = {"ns", "q"};
  quota.hard = List({{"things", "100"}});
  quota.status = {.hard = quota.hard, .used = List({{"things", used}})};
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

}  // namespace
}  // namespace admission::batch_test
