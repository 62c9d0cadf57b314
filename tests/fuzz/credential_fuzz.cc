// The output of an exec credential plugin: a credential, or an error that does not quote it.

#include "pkg/client/exec_plugin.h"
#include "pkg/json/value.h"
#include "tests/fuzz/target.h"

namespace {

// The message is the same whatever the secrets are.
void CheckTold(json::Value document, std::string_view version, const std::string& message) {
  for (const char* name : {"token", "clientKeyData"}) {
    json::Value* const status = document.IsObject() ? document.AsObject()->Find("status") : nullptr;
    json::Value* const secret =
        status != nullptr && status->IsObject() ? status->AsObject()->Find(name) : nullptr;
    if (secret == nullptr || !secret->IsString() || secret->AsString()->empty()) continue;
    const bool broken = secret->AsString()->find_first_of("\r\n") != std::string::npos;
    *secret = broken ? "other\n" : "other";
    const auto again = client::ParseExecCredential(json::Write(document), version);
    fuzz::Require(!again, "the same with another secret");
    fuzz::RequireSame(again.error().message, message, "a secret is never told");
  }
}

FUZZ_TARGET(credential) {
  for (const char* version :
       {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}) {
    const auto credential = client::ParseExecCredential(input, version);
    const auto document = json::Parse(input);
    if (!credential) {
      fuzz::Require(credential.error().Is(base::ErrorCode::kMalformed), "its output is malformed");
      if (document) CheckTold(*document, version, credential.error().message);
      continue;
    }
    fuzz::Require(document.has_value(), "a credential is JSON");
    fuzz::RequireSame(document->StringAt({"apiVersion"}), version, "of the version asked for");
    fuzz::Require(credential->cert_pem.empty() == credential->key_pem.empty(), "both or none");
    fuzz::Require(!credential->token.empty() || !credential->cert_pem.empty(), "something");
  }
}

}  // namespace
