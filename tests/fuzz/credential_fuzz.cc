// What an exec credential plugin prints: a credential, or an error that does not quote it.

#include "pkg/client/exec_plugin.h"
#include "pkg/json/value.h"
#include "tests/fuzz/target.h"

namespace {

FUZZ_TARGET(credential) {
  for (const char* version :
       {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}) {
    const auto credential = client::ParseExecCredential(input, version);
    const auto document = json::Parse(input);
    if (!credential) {
      fuzz::Require(credential.error().Is(base::ErrorCode::kMalformed), "its output is malformed");
      const std::string_view token = document ? document->StringAt({"status", "token"}) : "";
      fuzz::Require(token.size() < 8 ||
                        credential.error().message.find(token) == std::string::npos ||
                        std::string_view(version).find(token) != std::string_view::npos,
                    "a token is never told");
      continue;
    }
    fuzz::Require(document.has_value(), "a credential is JSON");
    fuzz::RequireSame(document->StringAt({"apiVersion"}), version, "of the version asked for");
    fuzz::Require(credential->cert_pem.empty() == credential->key_pem.empty(), "both or none");
    fuzz::Require(!credential->token.empty() || !credential->cert_pem.empty(), "something");
  }
}

}  // namespace
