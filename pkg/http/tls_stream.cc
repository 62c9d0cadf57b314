#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <limits>
#include <optional>

#include "pkg/http/hello_guard.h"
#include "pkg/http/openssl.h"
#include "pkg/http/record_guard.h"
#include "pkg/http/tls.h"

namespace http {
namespace {

class OpenSslStream final : public TlsStream {
 public:
  OpenSslStream(std::shared_ptr<const TlsContext> context, std::shared_ptr<Stream> lower,
                std::string peer);
  ~OpenSslStream() override { SSL_free(ssl_); }

  void BeClientFor(const std::string& name);
  void BeServer();

  Attempt TryRead(std::span<char> into) override;
  [[nodiscard]] bool HasPending() const override { return SSL_has_pending(ssl_) == 1; }
  Attempt TryWrite(std::string_view bytes) override;
  Attempt TryHandshake() override;
  void TryGoodbye() override;
  [[nodiscard]] PeerIdentity Identity() const override;
  [[nodiscard]] bool flooded() const override { return flooded_; }
  void CountRecord();

 private:
  static BIO_METHOD* LowerBio();
  static int BioRead(BIO* bio, char* into, int size);
  static int BioWrite(BIO* bio, const char* bytes, int size);
  static long BioControl(BIO* bio, int command, long, void*);
  static int OnVerify(int trusted, X509_STORE_CTX* store);

  int Answer(BIO* bio, Attempt attempt);
  Attempt Outcome(int result, std::size_t bytes);
  base::Error Failure();
  [[nodiscard]] base::Error Refused(std::string_view why) const;
  [[nodiscard]] std::string WhyUntrusted(X509_STORE_CTX* store) const;

  std::shared_ptr<const TlsContext> context_;
  std::shared_ptr<Stream> lower_;
  std::optional<HelloGuard> guard_;  // only for a server
  RecordGuard records_;
  std::string peer_;
  std::string name_;  // the name that the certificate must have
  SSL* ssl_;
  Attempt::Kind lower_wants_ = Attempt::Kind::kWantRead;
  std::optional<base::Error> lower_error_;
  std::string untrusted_;  // why the peer's certificate is not trusted
  bool lower_ended_ = false;
  bool flooded_ = false;  // the peer has sent too much without data
  bool failed_ = false;   // OpenSSL must not be called again, not even to close
};

OpenSslStream::OpenSslStream(std::shared_ptr<const TlsContext> context,
                             std::shared_ptr<Stream> lower, std::string peer)
    : context_(std::move(context)),
      lower_(std::move(lower)),
      peer_(std::move(peer)),
      ssl_(SSL_new(context_->get())) {
  BIO* bio = BIO_new(LowerBio());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
  SSL_set_app_data(ssl_, this);
}

void OpenSslStream::BeClientFor(const std::string& name) {
  name_ = name;
  SSL_set_connect_state(ssl_);
  boost::system::error_code not_an_address;
  boost::asio::ip::make_address(name, not_an_address);
  // SNI is only for names, not for addresses (RFC 6066).
  if (not_an_address) SSL_set_tlsext_host_name(ssl_, name.c_str());
  if (!context_->verifies()) return;
  X509_VERIFY_PARAM* parameters = SSL_get0_param(ssl_);
  // As in Go: only subject alternative names, and no partial wildcards.
  X509_VERIFY_PARAM_set_hostflags(
      parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (not_an_address) {
    X509_VERIFY_PARAM_set1_host(parameters, name.data(), name.size());
  } else {
    X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str());
  }
  SSL_set_verify(ssl_, SSL_VERIFY_PEER, OnVerify);
}

void OpenSslStream::BeServer() {
  guard_.emplace();
  SSL_set_accept_state(ssl_);
  if (!context_->verifies()) return;
  const int required = context_->refuses_strangers() ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
  SSL_set_verify(ssl_, SSL_VERIFY_PEER | required, OnVerify);
}

// Remembers the reason. A server that does not require a certificate goes on without a client name.
int OpenSslStream::OnVerify(int trusted, X509_STORE_CTX* store) {
  if (trusted == 1) return 1;
  auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* stream = static_cast<OpenSslStream*>(SSL_get_app_data(ssl));
  stream->untrusted_ = stream->WhyUntrusted(store);
  return stream->context_->refuses_strangers() ? 0 : 1;
}

std::string OpenSslStream::WhyUntrusted(X509_STORE_CTX* store) const {
  const int error = X509_STORE_CTX_get_error(store);
  std::string why = X509_verify_cert_error_string(error);
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "host name mismatch: certificate is for " +
             openssl::SubjectNames(X509_STORE_CTX_get0_cert(store)) + ", not for " + name_;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return why + " (wrong CA?)";
    default:
      return why;
  }
}

BIO_METHOD* OpenSslStream::LowerBio() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream");
    BIO_meth_set_read(made, BioRead);
    BIO_meth_set_write(made, BioWrite);
    BIO_meth_set_ctrl(made, BioControl);
    return made;
  }();
  return method;
}

int OpenSslStream::BioRead(BIO* bio, char* into, int size) {
  auto* stream = static_cast<OpenSslStream*>(BIO_get_data(bio));
  const std::span<char> space(into, static_cast<std::size_t>(size));
  Attempt attempt = stream->lower_->TryRead(space);
  if (attempt.kind == Attempt::Kind::kDone && stream->guard_ &&
      !stream->guard_->Receive({into, attempt.bytes})) {
    attempt = Attempt::Failed(stream->Refused("its hello is too long"));
  }
  return stream->Answer(bio, std::move(attempt));
}

int OpenSslStream::BioWrite(BIO* bio, const char* bytes, int size) {
  auto* stream = static_cast<OpenSslStream*>(BIO_get_data(bio));
  const std::string_view text(bytes, static_cast<std::size_t>(size));
  if (stream->guard_ && !stream->guard_->Send(text)) {
    return stream->Answer(bio,
                          Attempt::Failed(stream->Refused("its hello has no supported key share")));
  }
  return stream->Answer(bio, stream->lower_->TryWrite(text));
}

long OpenSslStream::BioControl(BIO* bio, int command, long, void*) {
  const auto* stream = static_cast<const OpenSslStream*>(BIO_get_data(bio));
  if (command == BIO_CTRL_FLUSH) return 1;
  // Tells OpenSSL that a read of zero bytes was the end, not a failure.
  return command == BIO_CTRL_EOF && stream->lower_ended_ ? 1 : 0;
}

// Translates the lower stream's outcome for OpenSSL.
int OpenSslStream::Answer(BIO* bio, Attempt attempt) {
  BIO_clear_retry_flags(bio);
  switch (attempt.kind) {
    case Attempt::Kind::kDone:
      return static_cast<int>(attempt.bytes);
    case Attempt::Kind::kEnd:
      lower_ended_ = true;
      return 0;
    case Attempt::Kind::kWantRead:
      BIO_set_retry_read(bio);
      break;
    case Attempt::Kind::kWantWrite:
      BIO_set_retry_write(bio);
      break;
    case Attempt::Kind::kFailed:
      lower_error_ = std::move(attempt.error);
      return -1;
  }
  lower_wants_ = attempt.kind;
  return -1;
}

void OpenSslStream::CountRecord() {
  if (records_.OnRecord()) return;
  flooded_ = true;
  // As after the peer's close_notify, OpenSSL takes nothing more, whether it has arrived or not.
  SSL_set_shutdown(ssl_, SSL_get_shutdown(ssl_) | SSL_RECEIVED_SHUTDOWN);
}

Attempt OpenSslStream::TryRead(std::span<char> into) {
  std::size_t bytes = 0;
  // SSL_get_error() also reads this thread's queue, which may have errors of other connections.
  ERR_clear_error();
  const int result = SSL_read_ex(ssl_, into.data(), into.size(), &bytes);
  if (result == 1) records_.OnData(bytes);
  return Outcome(result, bytes);
}

Attempt OpenSslStream::TryWrite(std::string_view text) {
  std::size_t bytes = 0;
  ERR_clear_error();
  const int result = SSL_write_ex(ssl_, text.data(), text.size(), &bytes);
  return Outcome(result, bytes);
}

Attempt OpenSslStream::TryHandshake() {
  ERR_clear_error();
  Attempt attempt = Outcome(SSL_do_handshake(ssl_), 0);
  if (attempt.kind == Attempt::Kind::kDone) records_.OnHandshakeDone();
  return attempt;
}

void OpenSslStream::TryGoodbye() {
  // OpenSSL forbids a shutdown after a fatal error or within a handshake.
  if (failed_ || SSL_in_init(ssl_) != 0) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
}

Attempt OpenSslStream::Outcome(int result, std::size_t bytes) {
  if (flooded_) {
    failed_ = true;
    return Attempt::Failed(Refused("it sends too many records without data"));
  }
  if (result == 1) return Attempt::Done(bytes);
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return Attempt::Of(lower_wants_);
    case SSL_ERROR_ZERO_RETURN:
      return Attempt::Of(Attempt::Kind::kEnd);
    default:
      failed_ = true;
      return Attempt::Failed(Failure());
  }
}

base::Error OpenSslStream::Refused(std::string_view why) const {
  return {.code = base::ErrorCode::kTls, .message = peer_ + ": TLS: " + std::string(why)};
}

base::Error OpenSslStream::Failure() {
  if (lower_error_) return *lower_error_;
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  // A connection that ends without close_notify is lost, which says nothing about trust.
  if (lower_ended_ || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    ERR_clear_error();
    return {.code = base::ErrorCode::kUnavailable,
            .message = peer_ + ": connection closed by the peer"};
  }
  std::string why = openssl::TakeError();
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED && !untrusted_.empty()) why = untrusted_;
  if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST) {
    why += " (the peer does not speak TLS here)";
  }
  return {.code = base::ErrorCode::kTls, .message = peer_ + ": TLS: " + why};
}

PeerIdentity OpenSslStream::Identity() const {
  const X509* certificate = SSL_get0_peer_certificate(ssl_);
  if (certificate == nullptr || !context_->verifies() || !untrusted_.empty()) return {};
  auto names = openssl::SubjectEntries(certificate, NID_commonName);
  return {names.empty() ? std::string() : std::move(names.front()),
          openssl::SubjectEntries(certificate, NID_organizationName)};
}

}  // namespace

void TlsStream::OnMessage(int sent, int, int type, const void*, std::size_t, SSL* ssl, void*) {
  if (sent != 0 || (type != SSL3_RT_HEADER && type != SSL3_RT_HANDSHAKE)) return;
  static_cast<OpenSslStream*>(SSL_get_app_data(ssl))->CountRecord();
}

std::unique_ptr<TlsStream> TlsStream::Client(std::shared_ptr<const TlsContext> context,
                                             std::shared_ptr<Stream> lower, const std::string& name,
                                             std::string peer) {
  auto stream =
      std::make_unique<OpenSslStream>(std::move(context), std::move(lower), std::move(peer));
  stream->BeClientFor(name);
  return stream;
}

std::unique_ptr<TlsStream> TlsStream::Server(std::shared_ptr<const TlsContext> context,
                                             std::shared_ptr<Stream> lower, std::string peer) {
  auto stream =
      std::make_unique<OpenSslStream>(std::move(context), std::move(lower), std::move(peer));
  stream->BeServer();
  return stream;
}

}  // namespace http
