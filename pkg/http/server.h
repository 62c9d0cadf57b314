#pragma once

// An HTTP/1.1 server, plain or TLS, with keep-alive, bounds and deadlines. One handler gets every
// request, and answers once or streams.
//
// Guarantees: a client that is slow, silent, sends half a request or exceeds the bounds gets an
// answer (400, 408, 413, 429, 431) or a closed connection, and nobody else waits for it. Many such
// clients cannot use more connections or memory than the bounds, and do not lock out others. Stop()
// stops accepting, lets current requests finish until the deadline, then closes.
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
  std::string client_ca_pem;  // "": client certificates are not requested
  bool require_client_cert = false;
};

// Which answers wait, so that clients keep their connections (see idle_limit.h).
struct IdleBounds {
  std::size_t most = 0;                        // idle connections of an address; 0: no bound
  std::chrono::milliseconds longest_wait{40};  // of an answer
  // A client that neither sent a request nor got an answer for this time has no more requests yet.
  std::chrono::milliseconds quiet{10};
  // A connection counts as idle for this time.
  std::chrono::milliseconds lately{200};
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // "": every address
  std::uint16_t port = 0;             // 0: any free port, see port()
  std::optional<ServerTls> tls;
  std::size_t max_body_bytes = std::size_t{8} << 20;
  std::size_t max_header_bytes = std::size_t{64} << 10;
  // Above this number, each new connection closes one that is slow, new or idle (see crowd.h).
  // While every connection has a request being handled, new ones wait to be accepted.
  std::size_t max_connections = 4096;
  // Bounds the bytes of bodies, long headers, data kept by handlers (ResponseWriter::Keep), answers
  // and handshakes of all connections together. Above it a request is answered 429, before its body
  // is read or in the middle of it, and a client that does not read its answer is closed. The fixed
  // cost of a connection, 20 kB with TLS, is bounded by max_connections: idle connections never
  // block a request. 0: no bound.
  std::size_t max_held_bytes = 0;
  // The part of max_held_bytes for connections without a good answer yet, until their requests are
  // complete. 0: all of it.
  std::size_t max_unproven_bytes = 0;
  std::chrono::milliseconds header_timeout{30'000};
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds idle_timeout{95'000};  // more than the 90 s of kube-apiserver's client
  std::chrono::milliseconds write_timeout{30'000};
  IdleBounds idle;
  // Above these bounds the next answer says `Connection: close`, so that clients which keep
  // connections are spread over all replicas again. No request is lost. 0: no bound. Ages vary by
  // up to a tenth, so that connections opened together do not end together.
  std::size_t max_requests_per_connection = 0;
  std::chrono::milliseconds max_connection_age{0};
};

// The client of a connection.
struct Peer {
  std::string address;             // "127.0.0.1:41234"
  std::string client_common_name;  // subject of a verified client certificate; "" if there is none
  std::vector<std::string> client_organizations;
};

// Answers one request. The handler must call either Send() or Start(), once.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;
  virtual base::Task<base::Result<void>> Send(Response response) = 0;
  // Begins a chunked body of unknown length; each Write() is flushed. Errors: the client has
  // disconnected.
  virtual base::Task<base::Result<void>> Start(int status, Headers headers) = 0;
  virtual base::Task<base::Result<void>> Write(std::string bytes) = 0;
  virtual base::Task<base::Result<void>> Finish() = 0;  // the regular end of a chunked body
  // Replaces the request's body by `bytes` in the count against ServerOptions::max_held_bytes,
  // until the answer: the handler keeps that many bytes. False: that is too much, and it should
  // keep none.
  virtual bool Keep(std::size_t /*bytes*/) { return true; }
  // Closes the connection without a regular end; `reset` sends RST. For fault injection.
  virtual void Abort(bool reset) = 0;
};

// The writer outlives the returned task. The task is cancelled when the server stops or, while
// streaming, when the client disconnects.
using Handler = std::function<base::Task<void>(Request request, Peer peer, ResponseWriter& writer)>;

struct ServerStats {
  std::size_t connections = 0;  // current
  std::size_t held_bytes = 0;   // current; see ServerOptions::max_held_bytes
  // Connections and requests refused since the start:
  std::uint64_t crowded = 0;    // closed to make room for another connection
  std::uint64_t no_memory = 0;  // 429, or an answer that the client did not read
  std::uint64_t slow = 0;       // 408, or a handshake that took too long
  std::uint64_t too_large = 0;  // 413, 431
  std::uint64_t malformed = 0;  // 400, or too many TLS records without data
};

class Server {
 public:
  virtual ~Server() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  [[nodiscard]] virtual ServerStats stats() const = 0;
  // Accepts connections until stopped; returns when the last one is closed.
  virtual base::Task<void> Run() = 0;
  // While draining, every answer says `Connection: close`. New connections and requests are still
  // answered. For a server that will stop, or should not be used for a time, so that clients go to
  // another one as soon as they know of it.
  virtual void Drain(bool drain) = 0;
  // Stops accepting. Current requests get `grace` to finish. Streams, which would never end by
  // themselves, are cancelled at once. May be called more than once.
  virtual void Stop(std::chrono::milliseconds grace) = 0;
  // Uses this certificate for new connections. Errors: kInvalidArgument; the old one is kept.
  virtual base::Result<void> SetTls(ServerTls tls) = 0;
};

// Binds and listens at once. Errors: kInvalidArgument if a certificate or address does not parse,
// kUnavailable if the address is in use.
base::Result<std::unique_ptr<Server>> NewServer(base::asio::any_io_executor executor,
                                                ServerOptions options, Handler handler);

// Parses "host:port", ":8080" or "[::1]:9443", as in flags. Errors: kInvalidArgument.
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
