// Two replicas, one of which leads, each decide half of the requests.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/e2e/harness/crowd.h"
#include "tests/e2e/harness/proxy.h"

namespace e2e::admission_replicas_test {
namespace {

// The admin's certificate for both.
class OwnCertificate {
 public:
  OwnCertificate() {
    const KeyPair pair = authority_.Server("webhook");
    dir_.Write("tls.crt", ReadFile(pair.cert_path));
    dir_.Write("tls.key", ReadFile(pair.key_path));
  }
  // `lease` is the lease of the two replicas that share this certificate.
  [[nodiscard]] std::vector<std::string> Flags(const std::string& lease) const {
    return {"--manage-webhook=false", "--admission-cert-dir=" + dir_.path(), "--leader-elect=true",
            "--leader-elect-resource-name=" + lease, "--leader-elect-resource-namespace=default"};
  }
  [[nodiscard]] std::string CaPem() const { return ReadFile(authority_.cert_path()); }

 private:
  TempDir dir_;
  CertificateAuthority authority_{dir_.path(), "ca"};
};

// From now on the API server calls `url` for pods with the label half=<half>.
void Ask(Admission& a, const OwnCertificate& certificate, const std::string& url,
         const std::string& half) {
  const std::string name = FreshName("half-" + half);
  a.AlsoDelete(name);
  a.api().Create(ConfigurationPath(""), HandMadeConfiguration({.name = name,
                                                               .url = url,
                                                               .ca_pem = certificate.CaPem(),
                                                               .ns = a.scenario().ns(),
                                                               .object_label = half}));
  json::Value pod = Pod("asked-" + half);
  pod.Make({"metadata", "labels", "half"}) = half;
  Eventually("the API server asks about " + half, [&]() -> std::string {
    const Attempt attempt = a.Post("pods", pod, true);
    return attempt.exceeded() ? "" : attempt.Text();
  });
}

// Creations by 64 clients at once, half of which are decided by a daemon of this program.
void Race(const std::string& program) {
  constexpr std::size_t kLimit = 30;
  const OwnCertificate certificate;
  const std::string lease = FreshName("quota");
  Admission a({.more_flags = certificate.Flags(lease)});
  const std::string address = "127.0.0.1:" + std::to_string(FreePort());
  DaemonOptions options{.kubeconfig = a.scenario().server().Kubeconfig(),
                        .more_flags = certificate.Flags(lease),
                        .program = program};
  options.more_flags.insert(options.more_flags.end(),
                            {"--enforce=core", "--admission-bind-address=" + address,
                             "--admission-url=https://" + address});
  Daemon other(options);
  other.WaitUntilReady();
  a.Limit("q", {{"pods", "0"}});
  Ask(a, certificate, a.Url(), "a");
  Ask(a, certificate, "https://" + address + "/validate/core", "b");
  a.api().MergePatch(a.scenario().Path("resourcequotas", "q"),
                     HardPatch({{"pods", std::to_string(kLimit)}}));
  a.scenario().WaitUsed("q", {{"pods", "0"}});

  const HeadCount heads(a.scenario().server().Kubeconfig(), a.scenario().Path("pods"),
                        a.scenario().ResourceVersion("q"));
  Crowd crowd(a.scenario());
  crowd.LabelHalves();
  for (int round = 0; round < 10; ++round) {
    for (const Attempt& attempt : crowd.Round(80, 64)) {
      if (!attempt.ok() && !attempt.exceeded()) FAIL_CHECK(attempt.Text());
    }
  }
  const std::size_t left = crowd.Names().size();
  heads.WaitFor(left);
  CHECK(heads.most() <= kLimit);
  CHECK(heads.most() >= kLimit / 2);
  CHECK(a.Metric("quota_admission_decisions_total") > 100);
  CHECK(other.Metric("quota_admission_decisions_total").value_or(0) > 100);
  a.scenario().WaitUsed("q", {{"pods", std::to_string(left)}}, AfterAHold());
  (void)a.api().Do({.verb = "DELETE",
                    .path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/" + lease});
}

}  // namespace

TEST_CASE("admission: two replicas that share the requests admit no more than one replica",
          "[e2e][admission][load]") {
  Race("");
}

// A rolling update from a version that does not know reservations: QCM_OLDER_DAEMON is its program
// (older_daemon.sh).
TEST_CASE("admission: an older and a newer replica together admit no more than one replica",
          "[e2e][admission][older]") {
  const char* const program = std::getenv("QCM_OLDER_DAEMON");
  REQUIRE(program != nullptr);
  Race(program);
}

}  // namespace e2e::admission_replicas_test
