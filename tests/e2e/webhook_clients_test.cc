// With --admission-client-ca, only clients with a certificate of that CA may call the webhook.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/https.h"

namespace e2e::webhook_clients_test {
namespace {

// The API server's certificate, as an admin creates it, and a stranger's.
struct Callers {
  TempDir dir;
  CertificateAuthority authority{dir.path(), "callers"};
  CertificateAuthority other_authority{dir.path(), "others"};
  KeyPair api_server = authority.Client("api-server", "/CN=kube-apiserver-webhook-client");
  KeyPair stranger = other_authority.Client("stranger", "/CN=kube-apiserver-webhook-client");
  KeyPair server = authority.Server("some-server");  // by the right CA, but for the wrong purpose

  [[nodiscard]] std::vector<std::string> Flags() const {
    return {"--admission-client-ca=" + authority.cert_path()};
  }
};

HttpsAnswer Ask(const Admission& a, const KeyPair* client) {
  return Call({.port = a.port(),
               .method = "POST",
               .path = "/validate/core",
               .body = "{}",
               .headers = {{"Content-Type", "application/json"}},
               .client = client});
}

}  // namespace

TEST_CASE("admission: clients without a certificate of the clients' CA are refused",
          "[e2e][admission][access]") {
  const Callers callers;
  Admission a({.more_flags = callers.Flags()});
  CHECK(Ask(a, &callers.api_server).status == 400);  // accepted; its body is not a review
  for (const KeyPair* client :
       std::vector<const KeyPair*>{nullptr, &callers.stranger, &callers.server}) {
    const HttpsAnswer answer = Ask(a, client);
    CHECK(answer.status == 0);
    CHECK_FALSE(answer.error.empty());
  }
  a.daemon().WaitForLog("refused a client without a trusted certificate");
  CHECK(a.daemon().Probe("/readyz") == 200);
  CHECK(a.daemon().Probe("/livez") == 200);
}

TEST_CASE("admission: the clients' CA is reread when its file changes",
          "[e2e][admission][access]") {
  const Callers callers;
  const TempDir dir;
  const std::string path = dir.Write("ca.crt", ReadFile(callers.authority.cert_path()));
  Admission a({.more_flags = {"--admission-client-ca=" + path}});
  CHECK(Ask(a, &callers.stranger).status == 0);
  dir.Write("ca.crt", ReadFile(callers.other_authority.cert_path()));
  Eventually(
      "the new CA is in use",
      [&]() -> std::string { return Ask(a, &callers.stranger).status == 400 ? "" : "the old one"; },
      Stretched(20s));
  CHECK(Ask(a, &callers.api_server).status == 0);
}

TEST_CASE("admission: versions before TLS 1.2 are refused", "[e2e][admission][access]") {
  const Admission a;
  CHECK(ShakesHands(a.port(), "-tls1_2"));
  CHECK(ShakesHands(a.port(), "-tls1_3"));
  CHECK_FALSE(ShakesHands(a.port(), "-tls1_1"));
  CHECK_FALSE(ShakesHands(a.port(), "-tls1"));
}

TEST_CASE("admission: only an API server with a client certificate is served",
          "[e2e][admission][access][real-only]") {
  const Callers callers;
  const auto with =
      StartServer({.admission_config = ConfigWithClient(callers.dir, callers.api_server)});
  {
    Admission a(*with, {.more_flags = callers.Flags()});
    a.Limit("q", {{"pods", "1"}});
    CHECK(a.Post("pods", Pod("first")).ok());
    const Attempt second = a.Post("pods", Pod("second"));
    INFO(second.Text());
    CHECK(second.exceeded());
    CHECK(a.daemon().Probe("/readyz") == 200);
  }
  Admission b({.more_flags = callers.Flags()});  // the shared server has none
  b.Limit("q", {{"pods", "1"}});
  const Attempt refused = b.Post("pods", Pod("first"));
  INFO(refused.Text());
  CHECK_FALSE(refused.ok());
  CHECK_FALSE(refused.exceeded());
  CHECK(refused.message.find("failed calling webhook") != std::string::npos);
  CHECK(b.daemon().Probe("/readyz") == 200);
  CHECK(b.Count("pods") == 0);
}

}  // namespace e2e::webhook_clients_test
