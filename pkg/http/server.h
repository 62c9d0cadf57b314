#pragma once

// An HTTP/1.1 server, plain or TLS, with keep-alive, bounds and deadlines. One handler gets every
// request; it answers once, or streams.
//
// Promises: a client that is slow, silent, sends half a request or more than the bounds gets its
// own answer (400, 408, 413, 429, 431) or a closed connection, and nobody else waits for it. Many
// of them take no more connections and no more memory than the bounds, and others get theirs all
// the same. Stop() stops accepting, lets requests in hand finish until the deadline, then closes.
//
// Single-threaded: everything runs on the executor's thread.

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/http/message.h"

namespace http {

struct ServerTls {
  std::string cert_pem;
  std::string key_pem;
  std::string client_ca_pem;  // "" : no client certificate is asked for
  bool require_client_cert = false;
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // "" : every address
  std::uint16_t port = 0;             // 0: any free one, see port()
  std::optional<ServerTls> tls;
  std::size_t max_body_bytes = std::size_t{8} << 20;
  std::size_t max_header_bytes = std::size_t{64} << 10;
  // Beyond this one that is slow, or new, or waits for its next request, is closed for each that
  // comes (crowd.h says which); while every one has a request in hand, others wait to be accepted.
  std::size_t max_connections = 4096;
  // Of bodies, of long headers, of what handlers keep (ResponseWriter::Keep), of answers and of
  // handshakes, of all connections together. Beyond it a request is told 429 before its body is
  // read, or in the midst of it, and a client that does not read its answer is closed. What a
  // connection takes by itself, 20 kB where it speaks TLS, is bounded by their number: one that
  // only waits is never in the way of a request. 0: no bound.
  std::size_t max_held_bytes = 0;
  std::chrono::milliseconds header_timeout{30'000};
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds idle_timeout{95'000};  // above the 90 s of kube-apiserver's client
  std::chrono::milliseconds write_timeout{30'000};
  // Beyond these the next answer says `Connection: close`, so that clients which keep connections
  // are spread over all replicas again; no request is lost by it. 0: no bound. Ages vary by up to a
  // tenth, so that connections made together do not end together.
  std::size_t max_requests_per_connection = 0;
  std::chrono::milliseconds max_connection_age{0};
};

// What the connection is known by.
struct Peer {
  std::string address;             // "127.0.0.1:41234"
  std::string client_common_name;  // subject of a verified client certificate; "" without one
  std::vector<std::string> client_organizations;
};

// Answers one request. Exactly one of Send() and Start() is called, once.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;
  virtual base::Task<base::Result<void>> Send(Response response) = 0;
  // A chunked body of unknown length follows, flushed by each Write(). Errors: the client has gone.
  virtual base::Task<base::Result<void>> Start(int status, Headers headers) = 0;
  virtual base::Task<base::Result<void>> Write(std::string bytes) = 0;
  virtual base::Task<base::Result<void>> Finish() = 0;  // the clean end of a chunked body
  // The request's body counts against ServerOptions::max_held_bytes until the answer. Instead of
  // it, so many bytes do that the handler keeps. False: that is too much, and it should keep none.
  virtual bool Keep(std::size_t /*bytes*/) { return true; }
  // Closes the connection without a clean end; `reset` sends RST. For fault injection.
  virtual void Abort(bool reset) = 0;
};

// The writer outlives the returned task. Cancelled when the server is stopped or, while streaming,
// when the client has gone.
using Handler = std::function<base::Task<void>(Request request, Peer peer, ResponseWriter& writer)>;

struct ServerStats {
  std::size_t connections = 0;  // now
  std::size_t held_bytes = 0;   // now; see ServerOptions::max_held_bytes
  // Connections and requests that were turned away so far.
  std::uint64_t crowded = 0;    // closed to make room for another connection
  std::uint64_t no_memory = 0;  // 429, or an answer that nobody read
  std::uint64_t slow = 0;       // 408, or a handshake that did not end in time
  std::uint64_t too_large = 0;  // 413, 431
  std::uint64_t malformed = 0;  // 400
};

class Server {
 public:
  virtual ~Server() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  [[nodiscard]] virtual ServerStats stats() const = 0;
  // Accepts until stopped; returns when the last connection is closed.
  virtual base::Task<void> Run() = 0;
  // Every answer from now on says `Connection: close`; new connections and requests are still
  // answered. To be called while clients learn that this server goes, ahead of Stop().
  virtual void Drain() = 0;
  // Stops accepting; requests in hand get `grace` to finish. Streams, which would never end by
  // themselves, are cancelled at once. May be called more than once.
  virtual void Stop(std::chrono::milliseconds grace) = 0;
  // New connections use this certificate. Errors: kInvalidArgument, the old one stays.
  virtual base::Result<void> SetTls(ServerTls tls) = 0;
};

// Binds and listens at once. Errors: kInvalidArgument for certificates and addresses that do not
// parse, kUnavailable when the address is in use.
base::Result<std::unique_ptr<Server>> NewServer(base::asio::any_io_executor executor,
                                                ServerOptions options, Handler handler);

// "host:port", ":8080", "[::1]:9443" as flags write them. Errors: kInvalidArgument.
struct BindAddress {
  std::string address;
  std::uint16_t port = 0;
};
base::Result<BindAddress> ParseBindAddress(std::string_view text);

// A self-signed certificate (ECDSA P-256) for these host names and addresses, valid for a year.
struct CertificatePair {
  std::string cert_pem;
  std::string key_pem;
};
base::Result<CertificatePair> MakeSelfSigned(const std::vector<std::string>& hosts);

}  // namespace http
