#pragma once

// A server with answers of the test, for behaviour that no API server has.
//
// Runs on its own thread, where it also calls the answer function.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "pkg/http/message.h"
#include "tests/e2e/harness/certificates.h"

namespace e2e {

class StubServer {
 public:
  using Answer = std::function<http::Response(const http::Request&)>;
  // Plain HTTP without `tls`.
  explicit StubServer(Answer answer, const KeyPair* tls = nullptr);
  ~StubServer();

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] int requests() const;
  [[nodiscard]] int writes() const;  // requests other than GET

 private:
  class Runner;
  std::unique_ptr<Runner> runner_;
};

// A Status of Failure as API servers send it.
http::Response StatusAnswer(int code, const std::string& reason, const std::string& message);

}  // namespace e2e
