#pragma once

// One call over TLS to a port of this machine, as a webhook's caller or a scraper of metrics makes
// it, with whatever credentials. Blocking; any thread.

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
  std::string server_name{};  // to be verified; "": 127.0.0.1
  const KeyPair* client = nullptr;
};

struct HttpsAnswer {
  int status = 0;  // 0: none
  std::string body;
  http::Headers headers;
  std::string error;  // why there is none
};

HttpsAnswer Call(const HttpsCall& call);

// The program openssl as a client that speaks no TLS but this: "-tls1_1". True if the port shakes
// hands with it.
bool ShakesHands(std::uint16_t port, const std::string& version);

}  // namespace e2e
