// Bad requests to the webhook's own port, and its certificate.
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <functional>

#include "pkg/base/base64.h"
#include "pkg/base/task_group.h"
#include "pkg/http/client.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/proxy.h"

namespace e2e::admission_reviews_test {
namespace {

// A client of the daemon's port, like an API server.
class Caller {
 public:
  explicit Caller(Admission& a) {
    http::ClientOptions options;
    options.server = {.scheme = "https", .host = "127.0.0.1", .port = a.port()};
    const json::Value configuration = a.api().Get(ConfigurationPath());
    options.tls.ca_pem =
        base::DecodeBase64(
            configuration.At({"webhooks"})->AsArray()->at(0).StringAt({"clientConfig", "caBundle"}))
            .value();
    client_ = http::NewClient(io_.get_executor(), options).value();
  }

  http::Response Send(const std::string& method, const std::string& target,
                      const std::string& body) {
    http::Response answer;
    base::TaskGroup group(io_.get_executor());
    group.Spawn("call", [&] { return Ask(method, target, body, answer); });
    Run(group);
    return answer;
  }

  // Sends all at once by POST; `on_answer` gets each answer as it comes.
  void SendAll(const std::string& target, const std::vector<std::string>& bodies,
               const std::function<void(const http::Response&)>& on_answer) {
    base::TaskGroup group(io_.get_executor());
    for (const std::string& body : bodies) {
      group.Spawn("call", [&]() -> base::Task<void> {
        http::Response answer;
        co_await Ask("POST", target, body, answer);
        on_answer(answer);
      });
    }
    Run(group);
  }

 private:
  // Status 0 if nobody answers.
  base::Task<void> Ask(std::string method, std::string target, std::string body,
                       http::Response& answer) {
    answer.status = 0;
    http::Request request{
        .method = std::move(method), .target = std::move(target), .headers = {}, .body = {}};
    request.body = std::move(body);
    request.headers.Set("Content-Type", "application/json");
    const auto timeout = Stretched(10s);
    auto response = co_await client_->Do(std::move(request), timeout);
    if (response) answer = std::move(*response);
  }

  void Run(const base::TaskGroup& group) {
    io_.restart();
    while (!group.empty() && io_.run_one() > 0) {
    }
  }

  base::asio::io_context io_{1};
  std::unique_ptr<http::Client> client_;
};

// A review about the creation of this pod.
std::string Review(const std::string& ns, const json::Value& pod) {
  json::Value review = Json(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",
      "request":{"uid":"e2e","kind":{"group":"","version":"v1","kind":"Pod"},
      "resource":{"group":"","version":"v1","resource":"pods"},"operation":"CREATE"}})");
  review.Make({"request", "namespace"}) = ns;
  review.Make({"request", "object"}) = pod;
  return json::Write(review);
}

// A client that announces a kilobyte, sends less, and waits.
class HalfABody {
 public:
  HalfABody(const Admission& a, int number)
      : log_(dir_.path() + "/answer-" + std::to_string(number)),
        process_({.argv = {"/bin/bash", "-c", Script(a.port())}, .log_path = log_}) {}

  // "HTTP/1.1 408 …", or the message about a closed connection; "" while it waits.
  [[nodiscard]] std::string Answer() const { return ReadFile(log_); }

 private:
  static std::string Script(std::uint16_t port) {
    return "exec openssl s_client -quiet -connect 127.0.0.1:" + std::to_string(port) +
           R"( 2>/dev/null < <(printf 'POST /validate/core HTTP/1.1\r\nHost: x\r\n)"
           R"(Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"half'; )"
           "exec tail -f /dev/null)";
  }

  TempDir dir_;
  std::string log_;
  Process process_;
};

}  // namespace

TEST_CASE("admission: a request that is not a review gets an error and delays no other",
          "[e2e][admission]") {
  Admission a;
  a.Limit("q", {{"pods", "1000"}});
  Caller caller(a);
  const std::string path = "/validate/core";
  std::vector<std::unique_ptr<HalfABody>> halves;
  halves.reserve(20);
  for (int i = 0; i < 20; ++i) halves.push_back(std::make_unique<HalfABody>(a, i));

  const json::Value pod = Pod("p");
  CHECK(caller.Send("POST", path, "this is no JSON").status == 400);
  CHECK(caller.Send("POST", path, "").status == 400);
  CHECK(caller.Send("POST", path, R"({"kind":"Pod","apiVersion":"v1"})").status == 400);
  CHECK(caller.Send("POST", path, Review(a.scenario().ns(), json::Value())).status == 400);
  std::string old = Review(a.scenario().ns(), pod);
  old.replace(old.find("admission.k8s.io/v1"), 19, "admission.k8s.io/v0");
  CHECK(caller.Send("POST", path, old).status == 400);
  CHECK(caller.Send("POST", "/validate/nothing", Review(a.scenario().ns(), pod)).status == 404);
  CHECK(caller.Send("POST", "/", "{}").status == 404);
  const http::Response wrong_method = caller.Send("GET", path, "");
  CHECK(wrong_method.status == 405);
  CHECK(wrong_method.headers.Get("Allow") == "POST");
  CHECK(caller.Send("POST", path, std::string(std::size_t{17} << 20, 'x')).status == 413);
  // A good one, by the same client.
  CHECK(caller.Send("POST", path, Review(a.scenario().ns(), pod)).status == 200);

  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) CHECK(a.Post("pods", Pod("p" + std::to_string(i))).ok());
  CHECK(std::chrono::steady_clock::now() - begun < Stretched(5s));
  for (const auto& half : halves) CHECK(half->Answer().find("200") == std::string::npos);
  CHECK(a.Metric("quota_admission_decisions_total") >= 26);
  // A client that never finishes is disconnected.
  Eventually(
      "those who sent half a body are answered",
      [&]() -> std::string {
        for (const auto& half : halves) {
          if (half->Answer().find("408") == std::string::npos) return half->Answer() + " so far";
        }
        return "";
      },
      Stretched(25s));
  CHECK(a.daemon().Running());
  a.scenario().WaitUsed("q", {{"pods", "20"}}, AfterAHold());
}

// An API server that has not learnt of the newest webhook configuration makes only one of the
// calls.
TEST_CASE("admission: the call for ClusterQuotas alone charges and limits each creation",
          "[e2e][admission][cluster]") {
  Admission a({.more_flags = {"--enforce=core,cluster"}});
  ClusterQuotas quotas(a.api());
  const std::string team = FreshName("team");
  const TeamNamespace ns(a.api(), team);
  quotas.Create(team, SelectTeam(team, R"("hard":{"pods":"3"})"));
  quotas.WaitUsed(team, {{"pods", "0"}});
  a.api().Create(PathOf("resourcequotas", ns.name()), Quota("q", {{"pods", "2"}}));
  const auto stored = [&] { return a.api().Get(PathOf("resourcequotas", ns.name(), "q")); };
  Eventually("both quotas are enforced", [&] { return Unenforced(stored(), {{"pods", "2"}}); });
  Caller caller(a);
  const auto allows = [&](int number) {
    json::Value pod = Pod("p" + std::to_string(number));
    pod.Make({"metadata", "uid"}) = "5f1c8b9e-0000-4000-8000-00000000000" + std::to_string(number);
    const http::Response answer = caller.Send("POST", "/validate/cluster", Review(ns.name(), pod));
    REQUIRE(answer.status == 200);
    return answer.body.find("\"allowed\":true") != std::string::npos;
  };
  CHECK(allows(1));
  CHECK(allows(2));
  CHECK(ToQuantities(stored().At({"status", "used"})) == Quantities{{"pods", "2"}});
  quotas.WaitUsed(team, {{"pods", "2"}});
  CHECK_FALSE(allows(3));  // by the quota of the namespace
  a.api().MergePatch(PathOf("resourcequotas", ns.name(), "q"), HardPatch({{"pods", "9"}}));
  Eventually("the new limit is enforced", [&] { return Unenforced(stored(), {{"pods", "9"}}); });
  CHECK(allows(4));
  CHECK_FALSE(allows(5));  // by the ClusterQuota
}

// Both quota APIs share the rule of one webhook.
TEST_CASE("admission: a pod under a ResourceQuota and a ClusterQuota is reviewed once",
          "[e2e][admission][cluster]") {
  Admission a({.more_flags = {"--enforce=core,cluster"}});
  ClusterQuotas quotas(a.api());
  const std::string team = FreshName("team");
  TeamNamespace both(a.api(), team);
  TeamNamespace alone(a.api(), team);
  quotas.Create(team, SelectTeam(team, R"("hard":{"pods":"3"})"));
  quotas.WaitUsed(team, {{"pods", "0"}});
  a.api().Create(PathOf("resourcequotas", both.name()), Quota("q", {{"pods", "1"}}));
  const auto stored = [&] { return a.api().Get(PathOf("resourcequotas", both.name(), "q")); };
  Eventually("both quotas are enforced", [&] { return Unenforced(stored(), {{"pods", "1"}}); });
  const double before = a.Metric("quota_admission_decisions_total");
  CHECK(both.Try("one").ok());
  CHECK(a.Metric("quota_admission_decisions_total") == before + 1);
  CHECK(both.Try("two").exceeded());  // by the quota of the namespace
  CHECK(alone.Try("three").ok());
  CHECK(alone.Try("four").ok());
  CHECK(alone.Try("five").code == 403);  // by the ClusterQuota
  CHECK(a.Metric("quota_admission_decisions_total") == before + 5);
  quotas.WaitUsed(team, {{"pods", "3"}});
}

TEST_CASE("admission: the full queue of a namespace refuses the newest and serves the others",
          "[e2e][admission]") {
  TcpProxy proxy(SharedServer().port());
  Admission a({.kubeconfig = SharedServer().Kubeconfig(proxy.port()),
               .more_flags = {"--admission-queue-limit=16"}});  // a quarter for each namespace
  a.Limit("q", {{"pods", "1000"}});
  Caller caller(a);
  std::vector<std::string> reviews;
  for (int i = 0; i < 12; ++i) {
    json::Value pod = Pod("p" + std::to_string(i));
    pod.Make({"metadata", "uid"}) = "5f1c8b9e-0000-4000-8000-0000000000" + std::to_string(10 + i);
    reviews.push_back(Review(a.scenario().ns(), pod));
  }
  proxy.Stall(true);  // every admission waits for a write
  int turned_away = 0;
  int allowed = 0;
  caller.SendAll("/validate/core", reviews, [&](const http::Response& answer) {
    if (answer.status == 200 && answer.body.find("\"allowed\":true") != std::string::npos)
      ++allowed;
    if (answer.status != 429) return;
    CHECK(answer.headers.Get("Retry-After") == "1");
    CHECK(answer.body.find("too many requests of namespace " + a.scenario().ns() +
                           " wait for quota decisions") != std::string::npos);
    if (++turned_away == 8) proxy.Stall(false);
  });
  CHECK(turned_away == 8);
  CHECK(allowed == 4);
  CHECK(a.Post("pods", Pod("after")).ok());
}

TEST_CASE("admission: no request fails while the certificate is replaced under load",
          "[e2e][admission]") {
  TempDir dir;
  CertificateAuthority authority(dir.path(), "ca");
  const auto write = [&](const std::string& name, int days) {
    const KeyPair pair = authority.Server(name, days);
    dir.Write("tls.key", ReadFile(pair.key_path));
    dir.Write("tls.crt", ReadFile(pair.cert_path));
  };
  dir.Write("ca.crt", ReadFile(authority.cert_path()));
  write("first", 2);
  Admission a({.more_flags = {"--admission-cert-dir=" + dir.path()}});
  a.Limit("q", {{"pods", "20"}});
  const char* const expiry = "quota_admission_certificate_expiry_timestamp_seconds";
  const double before = a.Metric(expiry);
  CHECK(before > 0);
  write("second", 1);
  int asked = 0;
  Eventually("the new certificate is in use", [&]() -> std::string {
    const Attempt attempt = a.Post("pods", Pod("p" + std::to_string(asked++)));
    if (!attempt.ok() && !attempt.exceeded()) throw std::runtime_error(attempt.Text());
    return a.Metric(expiry) < before ? "" : std::to_string(asked) + " requests were answered";
  });
  CHECK(asked > 1);
  // A new connection gets the new certificate, and trusts it.
  Caller caller(a);
  CHECK(caller.Send("POST", "/validate/core", "{}").status == 400);
  for (int i = 0; i < 10; ++i) {
    const Attempt attempt = a.Post("pods", Pod("later-" + std::to_string(i)));
    if (!attempt.ok() && !attempt.exceeded()) FAIL_CHECK(attempt.Text());
  }
}

}  // namespace e2e::admission_reviews_test
