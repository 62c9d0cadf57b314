// Lists of reservations that the daemon did not write for this quota: copies, invented ones, and
// those of a later version.
#include <catch2/catch.hpp>

#include "pkg/quota/quota.h"
#include "tests/e2e/harness/admission.h"

namespace e2e::reservation_lists_test {
namespace {

using Catch::Matchers::Contains;

constexpr int kCopies = 30;

// The text of a list of this quota, as its owner may write it.
std::string Invented(Scenario& s, const std::string& quota, const std::string& members) {
  const json::Value stored = s.GetQuota(quota);
  return R"({"format":1,"uid":")" + std::string(stored.StringAt({"metadata", "uid"})) + "\"," +
         members + "}";
}

void Annotate(Scenario& s, const std::string& quota, const std::string& text) {
  const json::Object annotations{{std::string(quota::kReservations), text}};
  s.api().MergePatch(s.Path("resourcequotas", quota),
                     json::Object{{"metadata", json::Object{{"annotations", annotations}}}});
}

// What `kubectl get -o yaml` shows, with another name and namespace, and with a floor of a cluster
// that is older than this one.
json::Value CopyOf(const json::Value& quota, const std::string& ns, const std::string& name) {
  std::string list(quota.StringAt({"metadata", "annotations", quota::kReservations}));
  const std::string end = R"("writes":)";
  list.insert(list.find(end), R"("floor":{"pods":"900000000000"},)");
  return json::Object{
      {"apiVersion", "v1"},
      {"kind", "ResourceQuota"},
      {"metadata",
       json::Object{{"name", name},
                    {"namespace", ns},
                    {"annotations", json::Object{{std::string(quota::kReservations), list}}}}},
      {"spec", *quota.At({"spec"})}};
}

// Waits until all copies are counted and have lists of their own.
void WaitCounted(Api& api, const std::string& ns) {
  for (int i = 0; i < kCopies; ++i) {
    const std::string path = PathOf("resourcequotas", ns, "copy-" + std::to_string(i));
    Eventually(path + " is counted", [&]() -> std::string {
      const json::Value quota = api.Get(path);
      const std::string list(quota.StringAt({"metadata", "annotations", quota::kReservations}));
      const bool own = list.find(quota.StringAt({"metadata", "uid"})) != std::string::npos;
      const bool counted = !quota.StringAt({"status", "used", "pods"}).empty() &&
                           quota.StringAt({"status", "hard", "pods"}) == "9";
      return own && counted ? "" : json::Write(quota);
    });
  }
}

}  // namespace

TEST_CASE("reservation lists: copies of a quota are counted, and nothing is listed again",
          "[e2e][admission]") {
  Admission a;
  Scenario& s = a.scenario();
  a.Limit("q", {{"pods", "9"}});
  REQUIRE(a.Post("pods", Pod("first")).ok());
  REQUIRE_FALSE(s.ReservationsOf("q").empty());
  const json::Value original = s.GetQuota("q");
  const std::string other = FreshName("copies");
  a.api().Create("/api/v1/namespaces", Namespace(other));
  const double lists = a.Metric("informer_lists_total");
  for (const std::string& ns : {s.ns(), other}) {
    for (int i = 0; i < kCopies; ++i) {
      a.api().Create(PathOf("resourcequotas", ns),
                     CopyOf(original, ns, "copy-" + std::to_string(i)));
    }
    WaitCounted(a.api(), ns);
  }
  CHECK(a.Metric("informer_lists_total") == lists);
  CHECK_THAT(a.daemon().Log(), !Contains("was restored"));
  a.api().Delete("/api/v1/namespaces/" + other);
}

TEST_CASE("reservation lists: an invented floor disturbs its quota only", "[e2e][admission]") {
  Admission a;
  Scenario& s = a.scenario();
  a.Limit("q", {{"pods", "9"}});
  REQUIRE(a.Post("pods", Pod("first")).ok());
  const double lists = a.Metric("informer_lists_total");
  for (int i = 0; i < 3; ++i) {
    Annotate(s, "q",
             Invented(s, "q",
                      R"("writes":9,"used":{"pods":"1"},"floor":{"pods":"90000000000)" +
                          std::to_string(i) + "\"}"));
    const std::string pod = "another-" + std::to_string(i);
    REQUIRE(a.Post("pods", Pod(pod)).ok());
    s.Delete("pods", pod);
    s.WaitUsed("q", {{"pods", "1"}}, AfterAHold());
  }
  CHECK(a.Metric("informer_lists_total") == lists);
  CHECK_THAT(a.daemon().Log(), !Contains("was restored"));
}

TEST_CASE("reservation lists: a list of a later format is left alone", "[e2e][admission]") {
  Admission a;
  Scenario& s = a.scenario();
  a.Limit("q", {{"pods", "9"}});
  REQUIRE(a.Post("pods", Pod("first")).ok());
  std::string later = Invented(s, "q", R"("pool":{"size":3})");
  later.replace(later.find(":1,"), 3, ":2,");
  Annotate(s, "q", later);
  Eventually("the daemon reports it", [&]() -> std::string {
    return a.Metric("quota_lists_of_later_format") == 1 ? "" : a.daemon().MetricsText();
  });
  const Attempt refused = a.Post("pods", Pod("second"));
  INFO(refused.Text());
  CHECK_FALSE(refused.ok());
  CHECK_THAT(refused.message, Contains("is written by a later version"));
  CHECK(s.ReservationsOf("q") == later);
  CHECK_THAT(a.daemon().Log(), Contains("wrote it in format 2"));
  // Nobody writes it any more.
  Eventually(
      "the daemon reserves again",
      [&]() -> std::string {
        const Attempt attempt = a.Post("pods", Pod("third"));
        return attempt.ok() ? "" : attempt.Text();
      },
      Stretched(std::chrono::seconds(90)));
  CHECK_THAT(s.ReservationsOf("q"), Contains(R"("format":1)"));
}

}  // namespace e2e::reservation_lists_test
