#pragma once

// An HTTP/1.1 client for one server: a keep-alive pool, TLS with verification, an optional proxy
// (http CONNECT, https CONNECT, socks5), gzip. It knows nothing of Kubernetes.
//
// Promises: every wait has a deadline; a pooled connection that the server closed meanwhile costs a
// repeated attempt on a fresh connection only where that is safe (no byte of the answer was read,
// and the method is GET, HEAD or OPTIONS, or no byte of the request had left); bodies above the
// bound are refused (kTooLarge).
// A coroutine that is cancelled closes its connection and returns kCancelled.
//
// Single-threaded: all calls on the executor's thread. The client must outlive its streams.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/http/message.h"

namespace http {

struct TlsOptions {
  std::string ca_pem;    // trusted roots; "" means the system's
  std::string cert_pem;  // client certificate (chain), with key_pem; both "" for none
  std::string key_pem;
  std::string server_name;  // SNI and the name checked; "" means the host of the URL
  bool insecure = false;    // skip verification of the server
};

struct ClientOptions {
  Url server;  // its path is not used: a request's target is complete
  TlsOptions tls;
  std::optional<Url> proxy;
  bool gzip = true;  // ask for and decode gzip bodies; never on requests opened with Open(…, false)
  std::size_t max_body_bytes = std::size_t{256} << 20;  // Do() only; decoded size
  // As many are kept as were needed at once, up to this; those that are not needed end by age.
  std::size_t max_idle_connections = 256;
  std::chrono::milliseconds idle_timeout{85'000};     // below the 90 s after which servers close
  std::chrono::milliseconds connect_timeout{10'000};  // name look-up, TCP, proxy and TLS together
};

// The body of a response as it arrives. Destroying it early closes the connection; reading it to
// the end returns the connection to the pool.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  // The next bytes, decoded; nullopt at the clean end of the body. Errors: kTimeout after `timeout`
  // without a byte, kUnavailable when the connection ends in mid-body, kMalformed for bad gzip.
  virtual base::Task<base::Result<std::optional<std::string>>> Read(
      std::chrono::milliseconds timeout) = 0;
};

struct StreamedResponse {
  int status = 0;
  Headers headers;
  std::unique_ptr<BodyStream> body;
};

class Client {
 public:
  virtual ~Client() = default;
  // The whole exchange, body included, within `timeout`.
  virtual base::Task<base::Result<Response>> Do(Request request,
                                                std::chrono::milliseconds timeout) = 0;
  // Until the headers of the response, within `timeout`; the body is then read by the caller.
  virtual base::Task<base::Result<StreamedResponse>> Open(Request request, bool accept_gzip,
                                                          std::chrono::milliseconds timeout) = 0;
  // Closes idle connections: credentials or trust have changed, or the program ends.
  virtual void CloseIdle() = 0;
  // Requests from now on use these certificates, on new connections. Errors: kInvalidArgument, the
  // old ones stay in use.
  virtual base::Result<void> SetTls(TlsOptions tls) = 0;
};

// Errors: kInvalidArgument for certificates or keys that do not parse or do not match, naming
// which.
base::Result<std::unique_ptr<Client>> NewClient(base::asio::any_io_executor executor,
                                                ClientOptions options);

}  // namespace http
