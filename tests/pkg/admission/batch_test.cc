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
  const auto& by = quotas.Add(0, "ns", {booked});
  const BatchPlan plan = PlanBatch({{"ns", {{0, &request, &by}}}}, quotas);
  REQUIRE(plan.decisions[0].Is(quota::Verdict::Kind::kFits));
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
  const auto& by = quotas.Add(0, "ns", {BookedQuota{.quota = &quota}});
  const BatchPlan plan = PlanBatch(
      {{"ns", {{0, &first, &by}}}, {"ns", {{0, &second, &by}}}, {"ns", {{0, &again, &by}}}},
      quotas);
  REQUIRE(plan.grants.size() == 1);
  const std::vector<Grant>& grants = plan.grants[0].grants;
  REQUIRE(grants.size() == 2);
  CHECK(grants[0].added == List({{"things", "1"}}));
  CHECK(grants[1].added == List({{"things", "6"}}));
  // The third request is the second one again.
  REQUIRE(plan.grants[0].relying.size() == 1);
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
    const auto& by = quotas.Add(0, "ns", {booked});
    const BatchPlan plan = PlanBatch({{"ns", {{0, &request, &by}}}}, quotas);
    REQUIRE(!plan.grants.empty());
    return plan.grants.back().grants[0].added;  // the write, if there is one
  };
  CHECK(added_for("5").empty());
  CHECK(added_for("6") == List({{"things", "1"}}));
  CHECK(added_for("7") == List({{"things", "2"}}));
}

// The quotas of two quota APIs, with these limits, judge two requests for one thing each.
BatchPlan OfTwoApis(const char* first_limit, const char* second_limit, bool dry_run = false) {
  static const quota::Evaluator things = Things();
  static quota::Quota one;
  static quota::Quota other;
  one = HundredThings("0");
  one.status.hard = List({{"things", first_limit}});
  other = HundredThings("0");
  other.key.name = "other";
  other.status.hard = List({{"things", second_limit}});
  std::vector<quota::Request> requests(2);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].evaluator = &things;
    requests[i].uid = {i + 1};
    requests[i].after.usage = List({{"things", "1"}});
    requests[i].dry_run = dry_run;
  }
  BatchQuotas quotas;
  const auto& by_one = quotas.Add(0, "ns", {BookedQuota{.quota = &one}});
  const auto& by_other = quotas.Add(1, "ns", {BookedQuota{.quota = &other}});
  std::vector<BatchRequest> asked;
  for (const quota::Request& request : requests) {
    asked.push_back({"ns", {{0, &request, &by_one}, {1, &request, &by_other}}});
  }
  return PlanBatch(asked, quotas);
}

TEST_CASE("batch: what one quota API refuses adds nothing to another", "[admission]") {
  const bool first_refuses = GENERATE(false, true);
  const BatchPlan plan = first_refuses ? OfTwoApis("1", "9") : OfTwoApis("9", "1");
  CHECK(plan.decisions[0].Is(quota::Verdict::Kind::kFits));
  CHECK(plan.decisions[0].judgements.size() == 2);
  REQUIRE(plan.decisions[1].Is(quota::Verdict::Kind::kRefused));
  REQUIRE(plan.decisions[1].judgements.size() == 1);
  CHECK(plan.decisions[1].judgements[0].source == (first_refuses ? 0 : 1));
  REQUIRE(plan.grants.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(plan.grants[i].source == i);
    CHECK(plan.grants[i].Added() == List({{"things", "1"}}));
    CHECK(plan.grants[i].members == std::vector<std::size_t>{0});
  }
}

TEST_CASE("batch: a dry run is judged by all quota APIs and adds to none", "[admission]") {
  const BatchPlan plan = OfTwoApis("1", "1", true);
  CHECK(plan.decisions[0].Is(quota::Verdict::Kind::kFits));
  CHECK(plan.decisions[1].Is(quota::Verdict::Kind::kFits));
  CHECK(plan.grants.empty());
  CHECK(OfTwoApis("1", "0", true).decisions[0].Is(quota::Verdict::Kind::kRefused));
}

}  // namespace
}  // namespace admission::batch_test
