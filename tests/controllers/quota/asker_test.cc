// What a kind whose lists hang costs the quotas of other kinds.

#include "controllers/quota/asker.h"

#include "tests/controllers/quota/cluster_quotas_fixture.h"

namespace asker_test {
namespace {

using namespace std::chrono_literals;
using fixture::kClusterQuotas;
using fixture::kPods;

constexpr int kHanging = 40;

// Many quotas of widgets, of which somebody else has charged one that is never stored, beside the
// quota "z" of pods.
struct AskerFixture : cluster_quotas_test::ClusterFixture {
  AskerFixture() {
    cluster.Serve({"example.com", "v1", "widgets"}, "Widget");
    for (int i = 0; i < kHanging; ++i) {
      PutNamespace("ns-" + TeamOf(i), TeamOf(i));
      PutQuota(TeamOf(i), json::Object{{"hard", json::Object{{"count/widgets.example.com", "9"}}}},
               TeamOf(i));
    }
    PutNamespace("other", "z");
    PutPod("p0", "other");
    PutPod("p1", "other");
    PutQuota("z", json::Object{{"hard", json::Object{{"pods", "9"}}}}, "z");
    Start();
    scheduler.RunFor(60s);
  }
  ~AskerFixture() {
    Stop();
    cluster.ForgetFunctions();
  }
  AskerFixture(const AskerFixture&) = delete;
  AskerFixture& operator=(const AskerFixture&) = delete;

  static std::string TeamOf(int i) { return "a" + std::to_string(i); }
  void Charge() {
    for (int i = 0; i < kHanging; ++i) {
      json::Value quota = *cluster.Find(kClusterQuotas, "", TeamOf(i));
      quota.Make({"status", "used", "count/widgets.example.com"}) = "1";
      cluster.Put(kClusterQuotas, std::move(quota));
    }
  }
  void Hang() {
    cluster.stall = [](const client::ApiRequest& request) {
      // Not a watch, nor what a reflector asks before it begins one.
      const bool lists = std::ranges::count(request.query, std::pair<std::string, std::string>(
                                                               "limit", "500")) > 0;
      const bool hangs = lists && request.path.find("/widgets") != std::string::npos;
      return hangs ? base::Duration(300s) : base::Duration();
    };
  }
  [[nodiscard]] bool IsCharged(int i) {
    return Member(TeamOf(i), {"used", "count/widgets.example.com"}) == "1";
  }
};

}  // namespace

TEST_CASE_METHOD(AskerFixture, "asker: a kind whose lists hang delays no other quota",
                 "[controllers]") {
  Hang();
  Charge();
  scheduler.RunFor(20s);  // the hold of the charges ends meanwhile, and the first questions hang
  for (int i = 0; i < 60; ++i) {
    const std::string name = "new-" + std::to_string(i);
    PutPod(name, "other");
    scheduler.RunFor(2s);
    REQUIRE(UsedPods("z") == "3");
    cluster.Delete(kPods, "other", name);
    scheduler.RunFor(2s);
    REQUIRE(UsedPods("z") == "2");
  }
  CHECK(IsCharged(0));  // unknown is not gone
}

TEST_CASE_METHOD(AskerFixture, "asker: charges end soon after the kind can be listed again",
                 "[controllers]") {
  Hang();
  Charge();
  scheduler.RunFor(90s);
  for (int i = 0; i < kHanging; ++i) REQUIRE(IsCharged(i));
  cluster.stall = nullptr;
  // A question waits for 15 s, and what is due for long is looked at each five seconds.
  scheduler.RunFor(controllers::Asker::kRests + 21s);
  for (int i = 0; i < kHanging; ++i) CHECK_FALSE(IsCharged(i));
}

TEST_CASE_METHOD(AskerFixture, "asker: many charges end at about the same time", "[controllers]") {
  Charge();
  scheduler.RunFor(20s);
  for (int i = 0; i < kHanging; ++i) CHECK_FALSE(IsCharged(i));
}

TEST_CASE_METHOD(AskerFixture, "asker: a reservation of a kind that is gone costs few recounts",
                 "[controllers]") {
  cluster.StopServing({"example.com", "v1", "widgets"});
  for (int i = 0; i < kHanging; ++i) {
    json::Value quota = *cluster.Find(kClusterQuotas, "", TeamOf(i));
    const std::string uid(quota.StringAt({"metadata", "uid"}));
    quota.Make({"status", "used", "count/widgets.example.com"}) = "1";
    quota.Make({"status", "reservations"}) =
        R"({"format":1,"uid":")" + uid +
        R"(","reservations":[{"by":"other","n":1,"of":"widgets.example.com",)"
        R"("usage":{"count/widgets.example.com":"1"},"objects":"AAAAAAAAAAE"}],"writes":1,)"
        R"("used":{"count/widgets.example.com":"1"}})";
    cluster.Put(kClusterQuotas, std::move(quota));
  }
  scheduler.RunFor(5min);
  const auto recounts = [this] {
    int all = 0;
    for (const auto& [result, count] : recorder.reconciles) all += static_cast<int>(count);
    return all;
  };
  const int before = recounts();
  scheduler.RunFor(60s);
  const int made = recounts() - before;
  CHECK(made <= kHanging * 13);
  CHECK(IsCharged(0));  // unknown is not gone
}

TEST_CASE_METHOD(AskerFixture, "asker: a controller stops while questions hang", "[controllers]") {
  Hang();
  Charge();
  scheduler.RunFor(20s);
  running->Cancel();
  scheduler.RunFor(1s);
  CHECK(running->empty());
}

}  // namespace asker_test
