#pragma once

// An HTTP/1.1 client for one server: a keep-alive pool, TLS with verification, an optional proxy
// (http CONNECT, https CONNECT, socks5), gzip. It knows nothing about Kubernetes.
//
// Guarantees: every wait has a deadline. If the server closed a pooled connection meanwhile, the
// request is sent again on a new connection, but only where that is safe (no byte of the answer was
// read, and the method is GET, HEAD or OPTIONS, or no byte of the request had left). If a
// connection is silent until the deadline, the idle ones are not used again. A body above its bound
// is refused (kTooLarge), also while it is decoded. A cancelled coroutine closes its connection and
// returns kCancelled.
//
// Single-threaded: all calls are on the executor's thread. The client must outlive its streams.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/http/message.h"

namespace http {

struct TlsOptions {
  std::string ca_pem;    // trusted roots, at least one readable; "" means the system's
  std::string cert_pem;  // client certificate (chain), with key_pem; both "" for none
  std::string key_pem;
  std::string server_name;  // SNI and the verified name; "" means the URL's host
  bool insecure = false;    // skip verification of the server
};

struct ClientOptions {
  Url server;  // its path is not used: a request's target is complete
  TlsOptions tls;
  std::optional<Url> proxy;
  bool gzip = true;  // accept gzip bodies and decode them; Open(…, false) never does
  // Of an answer to Do(), decoded, unless the request says otherwise (Request::max_answer_bytes).
  // etcd stores at most 1.5 MiB for an object.
  std::size_t max_body_bytes = std::size_t{8} << 20;
  // Of an answer of 400 or more to Do(). A longer one is cut.
  std::size_t max_refusal_bytes = std::size_t{256} << 10;
  // Of all answers to Do() that are being received. Above it a request fails with kUnavailable.
  std::size_t max_held_bytes = std::size_t{64} << 20;
  // The pool keeps as many as were needed at once, up to this; unused ones are closed by age.
  std::size_t max_idle_connections = 256;
  std::chrono::milliseconds idle_timeout{85'000};  // less than the 90 s after which servers close
  // For name look-up, TCP, proxy and TLS together.
  std::chrono::milliseconds connect_timeout{10'000};
};

// The body of a response as it arrives. Destroying it early closes the connection; reading it to
// the end returns the connection to the pool.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  // Returns the next decoded bytes; nullopt at the regular end of the body. Errors: kTimeout after
  // `timeout` without a byte, kUnavailable if the connection ends in mid-body, kMalformed for bad
  // gzip.
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
  // The whole exchange within `timeout`, including the body.
  virtual base::Task<base::Result<Response>> Do(Request request,
                                                std::chrono::milliseconds timeout) = 0;
  // Returns after the response's headers, within `timeout`; the caller then reads the body.
  virtual base::Task<base::Result<StreamedResponse>> Open(Request request, bool accept_gzip,
                                                          std::chrono::milliseconds timeout) = 0;
  // Closes idle connections: credentials or trust have changed, or the program ends.
  virtual void CloseIdle() = 0;
  // Later requests use these certificates, on new connections. Errors: kInvalidArgument; the old
  // ones stay in use.
  virtual base::Result<void> SetTls(TlsOptions tls) = 0;
};

// Errors: kInvalidArgument, naming the certificate or key that does not parse or match.
base::Result<std::unique_ptr<Client>> NewClient(base::asio::any_io_executor executor,
                                                ClientOptions options);

}  // namespace http
