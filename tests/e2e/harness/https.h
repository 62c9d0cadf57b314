#pragma once

// One call over TLS to a port of this machine with any credentials, like a webhook call or a
// scrape. Blocking; any thread.

#include <cstdint>
#include <string>

#include "pkg/http/message.h"
#include "tests/e2e/harness/certificates.h"

namespace e2e {

struct HttpsCall {
  std::uint16_t port = 0;
  std::string method = "GET";
  std::string path = "/";
  std::string body{};
  http::Headers headers{};
  std::string ca_pem{};       // "": the server is not verified
  std::string server_name{};  // the name to verify; "": 127.0.0.1
  const KeyPair* client = nullptr;
};

struct HttpsAnswer {
  int status = 0;  // 0: no answer
  std::string body;
  http::Headers headers;
  std::string error;  // why there is no answer
};

HttpsAnswer Call(const HttpsCall& call);

// Runs openssl as a client with only this TLS version: "-tls1_1". True if the handshake succeeds.
bool ShakesHands(std::uint16_t port, const std::string& version);

}  // namespace e2e
