#include <glog/logging.h>

#include <algorithm>
#include <string_view>

#include "pkg/http/openssl.h"
#include "pkg/http/tls.h"

namespace http {
namespace {

base::Error Invalid(std::string message) {
  return {.code = base::ErrorCode::kInvalidArgument, .message = std::move(message)};
}

base::Result<void> UseIdentity(SSL_CTX* context, const std::string& cert_pem,
                               const std::string& key_pem, const std::string& whose) {
  auto chain = openssl::ParseCertificates(cert_pem, whose + " certificate");
  if (!chain) return chain.error();
  auto key = openssl::ParseKey(key_pem, whose + " key");
  if (!key) return key.error();
  ERR_clear_error();
  if (SSL_CTX_use_certificate(context, chain->front().get()) != 1) {
    return Invalid(whose + " certificate: " + openssl::TakeError());
  }
  if (SSL_CTX_use_PrivateKey(context, key->get()) != 1) {
    return Invalid(whose + " key does not match the " + whose + " certificate (" +
                   openssl::TakeError() + ")");
  }
  for (std::size_t i = 1; i < chain->size(); ++i) {
    SSL_CTX_add1_chain_cert(context, (*chain)[i].get());
  }
  return {};
}

void Trust(SSL_CTX* context, const std::vector<openssl::Certificate>& roots) {
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  // Every given certificate is a trust anchor, self-signed or not, as in Go's clients.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  for (const openssl::Certificate& root : roots) X509_STORE_add_cert(store, root.get());
  ERR_clear_error();  // the same certificate twice is not an error
}

// OpenSSL allocates memory for a chain as soon as its length is announced.
constexpr long kMaxClientChainBytes = 32L << 10;

// Each handshake takes a signature, before anything is known about the client. With RSA its time
// grows with the third power of the length.
void WarnIfExpensive(const EVP_PKEY* key) {
  constexpr int kMostBits = 2048;
  const int bits = EVP_PKEY_get_bits(key);
  LOG_IF(WARNING, EVP_PKEY_is_a(key, "RSA") == 1 && bits > kMostBits)
      << "the server's RSA key makes TLS handshakes expensive, and a flood of them slow: use ECDSA "
         "P-256, or RSA with 2048 bits; bits="
      << bits;
}

constexpr unsigned char kAlpn[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

// Selects http/1.1 if it is offered. Without a common protocol the handshake continues without
// ALPN.
int SelectAlpn(SSL*, const unsigned char** out, unsigned char* out_length, const unsigned char* in,
               unsigned int in_length, void*) {
  unsigned char* selected = nullptr;
  if (SSL_select_next_proto(&selected, out_length, kAlpn, sizeof kAlpn, in, in_length) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = selected;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

TlsContext::TlsContext() : context_(SSL_CTX_new(TLS_method())) {
  SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
  // Idle connections hold no buffers. A write that is tried again may pass its bytes from another
  // address. SSL_MODE_AUTO_RETRY stays on. RecordGuard bounds what it repeats. Without it, TLS
  // inside of a proxy's TLS would wait for the socket while the outer stream holds bytes.
  SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context_, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_read_ahead(context_, 1);  // one system call for each record, not two
  SSL_CTX_set_msg_callback(context_, TlsStream::OnMessage);
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

base::Result<std::shared_ptr<const TlsContext>> TlsContext::ForClient(const TlsOptions& options) {
  const std::shared_ptr<TlsContext> made(new TlsContext);
  made->verifies_ = made->refuses_strangers_ = !options.insecure;
  SSL_CTX_set_alpn_protos(made->context_, kAlpn, sizeof kAlpn);
  if (options.ca_pem.empty()) {
    SSL_CTX_set_default_verify_paths(made->context_);
  } else {
    const auto roots = openssl::ParseRoots(options.ca_pem, "certificate authority");
    if (!roots) return roots.error();
    Trust(made->context_, roots->certificates);
  }
  if (options.cert_pem.empty() != options.key_pem.empty()) {
    return Invalid(options.cert_pem.empty() ? "client key given without a client certificate"
                                            : "client certificate given without a client key");
  }
  if (!options.cert_pem.empty()) {
    auto done = UseIdentity(made->context_, options.cert_pem, options.key_pem, "client");
    if (!done) return done.error();
  }
  return std::shared_ptr<const TlsContext>(made);
}

base::Result<std::shared_ptr<const TlsContext>> TlsContext::ForServer(const ServerTls& options) {
  const std::shared_ptr<TlsContext> made(new TlsContext);
  made->verifies_ = !options.client_ca_pem.empty();
  made->refuses_strangers_ = options.require_client_cert;
  if (made->refuses_strangers_ && !made->verifies_) {
    return Invalid("client certificates are required, but no CA for them is given");
  }
  SSL_CTX_set_alpn_select_cb(made->context_, SelectAlpn, nullptr);
  SSL_CTX_set_session_cache_mode(made->context_, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(made->context_, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(made->context_, 0);
  SSL_CTX_set_max_cert_list(made->context_, kMaxClientChainBytes);
  auto done = UseIdentity(made->context_, options.cert_pem, options.key_pem, "server");
  if (!done) return done.error();
  WarnIfExpensive(SSL_CTX_get0_privatekey(made->context_));
  if (!made->verifies_) return std::shared_ptr<const TlsContext>(made);

  const auto roots =
      openssl::ParseCertificates(options.client_ca_pem, "client certificate authority");
  if (!roots) return roots.error();
  Trust(made->context_, *roots);
  X509_STORE* store = SSL_CTX_get_cert_store(made->context_);
  STACK_OF(X509_OBJECT)* objects = X509_STORE_get0_objects(store);
  for (int i = 0; i < sk_X509_OBJECT_num(objects); ++i) {
    SSL_CTX_add_client_CA(made->context_, X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i)));
  }
  return std::shared_ptr<const TlsContext>(made);
}

}  // namespace http
