#pragma once

// Internal to pkg/http; only this and certificate.cc use OpenSSL. TLS 1.2 or newer, HTTP/1.1 by
// ALPN. A client checks the chain and the name or IP address (only subject alternative names, as in
// Go). A certificate that it does not trust becomes one kTls error that names the server and the
// reason.
//
// A TlsStream works over any Stream and holds no buffers of its own while it is idle.

#include <memory>
#include <string>
#include <vector>

#include "pkg/http/client.h"
#include "pkg/http/server.h"
#include "pkg/http/stream.h"

using SSL = struct ssl_st;
using SSL_CTX = struct ssl_ctx_st;

namespace http {

// Certificates and trust, shared by the connections that use them.
class TlsContext {
 public:
  // Errors of both: kInvalidArgument, naming the PEM that does not parse or match.
  static base::Result<std::shared_ptr<const TlsContext>> ForClient(const TlsOptions& options);
  static base::Result<std::shared_ptr<const TlsContext>> ForServer(const ServerTls& options);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  [[nodiscard]] SSL_CTX* get() const { return context_; }
  [[nodiscard]] bool verifies() const { return verifies_; }
  [[nodiscard]] bool refuses_strangers() const { return refuses_strangers_; }

 private:
  TlsContext();
  SSL_CTX* context_;
  bool verifies_ = false;           // checks the peer's certificate
  bool refuses_strangers_ = false;  // and refuses a peer that it does not trust
};

struct PeerIdentity {
  std::string common_name;
  std::vector<std::string> organizations;
};

class TlsStream : public Stream {
 public:
  // The client's side. The certificate must be for `name`, a host name or an IP address; a host
  // name is also sent as SNI. `peer` is "host:port", for messages.
  static std::unique_ptr<TlsStream> Client(std::shared_ptr<const TlsContext> context,
                                           std::shared_ptr<Stream> lower, const std::string& name,
                                           std::string peer);
  static std::unique_ptr<TlsStream> Server(std::shared_ptr<const TlsContext> context,
                                           std::shared_ptr<Stream> lower, std::string peer);
  // The subject of the peer's verified certificate; empty if there is none.
  [[nodiscard]] virtual PeerIdentity Identity() const = 0;
  // True if the stream has failed because the peer sent too much without data (record_guard.h).
  [[nodiscard]] virtual bool flooded() const = 0;

  // OpenSSL's message callback of every context.
  static void OnMessage(int sent, int version, int type, const void* bytes, std::size_t size,
                        SSL* ssl, void* unused);
};

}  // namespace http
