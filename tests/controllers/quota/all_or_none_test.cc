// A request that quotas of two quota APIs limit reserves in all of them, or in none.

#include <catch2/catch.hpp>
#include <deque>
#include <memory>

#include "pkg/json/value.h"
#include "pkg/webhook/handler.h"
#include "tests/controllers/quota/controller_fixture.h"

namespace all_or_none_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;

const api::GroupVersionResource kShares{"example.io", "v1", "shares"};

// Counts pods like core, for quotas of another kind.
quota::QuotaApi SharesApi() {
  quota::QuotaApi api = quota::CoreQuotaApi();
  api.name = "shares";
  api.resource = kShares;
  api.kind = "Share";
  api.form.reservations_in_status = true;
  api.fields = quota::QuotaFields(api.form);
  return api;
}

class LastAnswer final : public http::ResponseWriter {
 public:
  base::Task<base::Result<void>> Send(http::Response sent) override {
    response = std::move(sent);
    co_return base::Result<void>();
  }
  base::Task<base::Result<void>> Start(int, http::Headers) override { co_return base::Error{}; }
  base::Task<base::Result<void>> Write(std::string) override { co_return base::Error{}; }
  base::Task<base::Result<void>> Finish() override { co_return base::Error{}; }
  void Abort(bool) override {}
  bool Keep(std::size_t) override { return true; }

  std::optional<http::Response> response;
};

// Two controllers and their admitter behind one handler.
struct TwoApis : ControllerFixture {
  TwoApis() {
    cluster.Serve(kShares, "Share");
    controllers::TrackingContext context{.executor = io.get_executor(),
                                         .scheduler = &scheduler,
                                         .client = &cluster,
                                         .reflector = {.seed = 1},
                                         .events = &events};
    controllers::QuotaControllerOptions options;
    options.seed = 1;
    second.emplace(context, shares, *served, shared, recorder, options);
    running.Spawn("second", [this] { return second->Run(); });
    admission::QuotaAdmitterOptions options_of_admitter;
    options_of_admitter.may_call = [this](const std::string& quota_api, const api::GroupResource&,
                                          std::string_view) {
      return quota_api != "shares" || shares_may_be_called;
    };
    admitter.emplace(io.get_executor(), scheduler, admission::NoObserver(), options_of_admitter);
    Enforce(*admitter, api, *controller);
    Enforce(*admitter, shares, *second);
    handler = webhook::NewHandler(*admitter, admission::NoObserver(), scheduler);
  }
  ~TwoApis() {
    running.Cancel();
    calls.Spawn("stop", [this] { return admitter->Stop(); });
    RunFor(1min);
  }

  void PutQuotas(const json::Object& core, const json::Object& others) {
    cluster.Put(kQuotas, MakeQuota("quota", core));
    cluster.Put(kShares, MakeQuota("share", others));
    RunFor(1s);
  }
  // The webhook of this quota API is called for the creation of a pod, which is not stored. The one
  // of both is called "core.shares".
  LastAnswer& Call(const std::string& quota_api, const std::string& name, bool dry_run = false) {
    json::Value pod = MakePod(name);
    pod.Make({"metadata", "uid"}) = "uid-of-" + name;
    const json::Value review = json::Object{
        {"apiVersion", "admission.k8s.io/v1"},
        {"kind", "AdmissionReview"},
        {"request",
         json::Object{
             {"uid", "call"},
             {"resource", json::Object{{"group", ""}, {"version", "v1"}, {"resource", "pods"}}},
             {"namespace", "team-a"},
             {"name", name},
             {"operation", "CREATE"},
             {"dryRun", dry_run},
             {"object", pod}}}};
    LastAnswer& answer = answers.emplace_back();
    calls.Spawn("call",
                [this, &answer, quota_api, body = json::Write(review)]() -> base::Task<void> {
                  http::Request request{.method = "POST",
                                        .target = "/validate/" + quota_api + "?timeout=10s",
                                        .headers = {{"Content-Type", "application/json"}},
                                        .body = body};
                  co_await handler(std::move(request), http::Peer(), answer);
                });
    return answer;
  }
  [[nodiscard]] std::string UsedShare() const {
    const json::Value* share = cluster.Find(kShares, "team-a", "share");
    return std::string(share->StringAt({"status", "used", "pods"}));
  }
  [[nodiscard]] static bool Allowed(const LastAnswer& answer) {
    return answer.response && answer.response->body.find(R"("allowed":true)") != std::string::npos;
  }

  quota::QuotaApi shares = SharesApi();
  std::optional<controllers::QuotaController> second;
  std::optional<admission::QuotaAdmitter> admitter;
  bool shares_may_be_called = true;
  http::Handler handler;
  base::TaskGroup running{io.get_executor()};
  base::TaskGroup calls{io.get_executor()};
  std::deque<LastAnswer> answers;
};

TEST_CASE("all or none: a refusal by one quota API reserves nothing in another", "[quota]") {
  TwoApis f;
  f.PutQuotas({{"pods", "10"}}, {{"pods", "1"}});
  f.cluster.Put(kPods, MakePod("there"));
  f.RunFor(1s);
  REQUIRE(f.Used("quota") == "pods=1");
  REQUIRE(f.UsedShare() == "1");
  const std::size_t writes = f.cluster.writes.size();
  const LastAnswer& core = f.Call("core", "p");
  const LastAnswer& share = f.Call("shares", "p");
  f.RunFor(200ms);
  CHECK_FALSE((f.Allowed(core) && f.Allowed(share)));
  CHECK(f.Used("quota") == "pods=1");
  CHECK(f.UsedShare() == "1");
  CHECK(f.cluster.writes.size() == writes);  // all were asked before any reserved
}

TEST_CASE("all or none: of many requests at once, only those that all admit are reserved",
          "[quota]") {
  TwoApis f;
  f.PutQuotas({{"pods", "20"}}, {{"pods", "5"}});
  for (int i = 0; i < 16; ++i) {
    f.Call("core", "p" + std::to_string(i));
    f.Call("shares", "p" + std::to_string(i));
  }
  f.RunFor(500ms);
  int admitted = 0;
  for (std::size_t i = 0; i < f.answers.size(); i += 2) {
    if (f.Allowed(f.answers[i]) && f.Allowed(f.answers[i + 1])) ++admitted;
  }
  CHECK(admitted == 5);
  CHECK(f.UsedShare() == "5");
  CHECK(f.Used("quota") == "pods=5");
}

TEST_CASE("all or none: an admitted request is reserved once in each quota API", "[quota]") {
  TwoApis f;
  f.PutQuotas({{"pods", "2"}}, {{"pods", "3"}});
  const LastAnswer& core = f.Call("core", "p");
  const LastAnswer& share = f.Call("shares", "p");
  f.RunFor(200ms);
  CHECK(f.Allowed(core));
  CHECK(f.Allowed(share));
  CHECK(f.Used("quota") == "pods=1");
  CHECK(f.UsedShare() == "1");
}

TEST_CASE("all or none: an outage of one quota API affects only what its webhook is called for",
          "[quota]") {
  TwoApis f;
  f.PutQuotas({{"pods", "10"}}, {{"pods", "10"}});
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.path.find("shares") == std::string::npos) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "nobody is there"};
  };
  f.cluster.CutWatches(kShares);
  f.RunFor(10s);
  const LastAnswer& unknown = f.Call("core", "p");
  f.RunFor(6s);
  CHECK_FALSE(f.Allowed(unknown));
  f.shares_may_be_called = false;
  const LastAnswer& unaffected = f.Call("core", "q");
  f.RunFor(200ms);
  CHECK(f.Allowed(unaffected));
  // The call itself shows that the API server has a rule of both.
  const LastAnswer& of_both = f.Call("core.shares", "r");
  f.RunFor(6s);
  CHECK_FALSE(f.Allowed(of_both));
  f.RunFor(30s);
  CHECK(f.Used("quota") == "pods=0");
}

TEST_CASE("all or none: a dry run is decided by all quota APIs, and reserves nothing", "[quota]") {
  TwoApis f;
  f.PutQuotas({{"pods", "2"}}, {{"pods", "0"}});
  CHECK_FALSE((f.Call("core", "p", true), f.RunFor(200ms), f.Allowed(f.answers.back())));
  f.PutQuotas({{"pods", "2"}}, {{"pods", "1"}});
  CHECK((f.Call("core", "p", true), f.RunFor(200ms), f.Allowed(f.answers.back())));
  CHECK(f.Used("quota") == "pods=0");
  CHECK(f.UsedShare() == "0");
}

TEST_CASE("all or none: no reservation stays if the caller gives up", "[quota]") {
  TwoApis f;
  f.PutQuotas({{"pods", "2"}}, {{"pods", "3"}});
  f.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
    if (request.verb != "PATCH" || request.path.find("shares") == std::string::npos) return {};
    return base::Error{.code = base::ErrorCode::kTimeout, .message = "no answer"};
  };
  f.Call("core", "p");
  f.RunFor(100ms);
  REQUIRE(f.Used("quota") == "pods=1");
  f.calls.Cancel();  // the connection is cut
  f.RunFor(1s);
  f.cluster.fault = nullptr;
  f.RunFor(3s);
  CHECK(f.Used("quota") == "pods=0");
  CHECK(f.UsedShare() == "0");
}

// An API server that has not learnt of the newest webhook configuration makes only one of the
// calls.
TEST_CASE("all or none: a call decides for all quota APIs even if it is the only one", "[quota]") {
  TwoApis f;
  f.PutQuotas({{"pods", "5"}}, {{"pods", "2"}});
  f.RunFor(1min);  // the rules are stored for long
  const std::string only = GENERATE("core", "shares", "core.shares");
  for (const char* const name : {"p", "q", "r"}) {
    f.Call(only, name);
    f.RunFor(200ms);
  }
  CHECK(f.Allowed(f.answers[0]));
  CHECK(f.Allowed(f.answers[1]));
  CHECK_FALSE(f.Allowed(f.answers[2]));
  CHECK(f.Used("quota") == "pods=2");
  CHECK(f.UsedShare() == "2");
}

TEST_CASE("all or none: a quota that appears while another quota API is read decides, too",
          "[quota]") {
  TwoApis f;
  f.PutQuotas({{"pods", "10"}}, {{"secrets", "5"}});
  const auto is_of_shares = [](const client::ApiRequest& request) {
    return request.path.find("/shares") != std::string::npos;
  };
  // So each review reads the shares.
  f.cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
    const bool watches =
        std::ranges::any_of(request.query, [](const auto& one) { return one.first == "watch"; });
    if (!watches || !is_of_shares(request)) return std::nullopt;
    return base::Error{.code = base::ErrorCode::kUnavailable, .message = "no watch"};
  };
  f.cluster.CutWatches(kShares);
  f.RunFor(5s);
  const LastAnswer& first = f.Call("core.shares", "p");
  f.RunFor(100ms);
  REQUIRE(f.Allowed(first));
  f.RunFor(200ms);  // the shares are read again
  f.cluster.stall = [&](const client::ApiRequest& request) {
    return is_of_shares(request) ? base::Duration(150ms) : base::Duration();
  };
  const LastAnswer& repeated = f.Call("core.shares", "p");
  f.RunFor(10ms);
  f.cluster.Put(kQuotas, MakeQuota("later", {{"pods", "0"}}));
  f.RunFor(300ms);
  REQUIRE(f.Used("later") == "pods=0");
  REQUIRE(repeated.response);
  CHECK_FALSE(f.Allowed(repeated));
  f.cluster.ForgetFunctions();
}

TEST_CASE("all or none: the second call for a creation writes nothing", "[quota]") {
  TwoApis f;
  f.PutQuotas({{"pods", "100"}}, {{"pods", "100"}});
  const std::size_t before = f.cluster.writes.size();
  const bool together = GENERATE(false, true);
  f.Call("core", "p");
  if (!together) f.RunFor(100ms);
  f.Call("shares", "p");
  f.RunFor(200ms);
  CHECK(f.Allowed(f.answers[0]));
  CHECK(f.Allowed(f.answers[1]));
  CHECK(f.cluster.writes.size() == before + 2);  // one of each quota
}

// Quota APIs share the rules of one webhook, so the one that is called may have no quota itself.
TEST_CASE("all or none: a webhook without quotas of its own decides for the other quota APIs",
          "[quota]") {
  TwoApis f;
  const bool core = GENERATE(false, true);
  f.cluster.Put(core ? kQuotas : kShares, MakeQuota(core ? "quota" : "share", {{"pods", "1"}}));
  f.RunFor(1s);
  const char* const other = core ? "shares" : "core";
  f.Call(other, "p");
  f.RunFor(200ms);
  f.Call(other, "q");
  f.RunFor(200ms);
  CHECK(f.Allowed(f.answers[0]));
  CHECK_FALSE(f.Allowed(f.answers[1]));
  CHECK((core ? f.Used("quota") : "pods=" + f.UsedShare()) == "pods=1");
}

}  // namespace
}  // namespace all_or_none_test
