#include "tests/pkg/http/tls_attacker.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/pem.h>

#include <array>
#include <stdexcept>

namespace http::test {
namespace {

constexpr std::size_t kHead = 5;
constexpr std::size_t kKeyBytes = 16;
constexpr std::size_t kSaltBytes = 4;
constexpr std::size_t kNonceBytes = 8;
constexpr std::size_t kTagBytes = 16;

void Must(bool done) {
  if (!done) throw std::runtime_error("OpenSSL refuses");
}

unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string Number(std::uint64_t value, std::size_t bytes) {
  std::string text;
  while (bytes-- > 0) text += static_cast<char>(value >> (8 * bytes) & 0xFF);
  return text;
}

void Use(SSL_CTX* context, const CertificatePair& identity) {
  BIO* text = BIO_new_mem_buf(identity.cert_pem.data(), -1);
  X509* certificate = PEM_read_bio_X509(text, nullptr, nullptr, nullptr);
  Must(SSL_CTX_use_certificate(context, certificate) == 1);
  X509_free(certificate);
  BIO_free(text);
  text = BIO_new_mem_buf(identity.key_pem.data(), -1);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(text, nullptr, nullptr, nullptr);
  Must(SSL_CTX_use_PrivateKey(context, key) == 1);
  EVP_PKEY_free(key);
  BIO_free(text);
}

// The key block of a connection with AES-128-GCM and SHA-256 (RFC 5246 section 6.3, RFC 5288).
std::string KeyBlock(SSL* ssl) {
  std::array<unsigned char, 48> master{};
  SSL_SESSION_get_master_key(SSL_get0_session(ssl), master.data(), master.size());
  std::string seed = "key expansion" + std::string(64, '\0');
  SSL_get_server_random(ssl, Bytes(seed) + 13, 32);
  SSL_get_client_random(ssl, Bytes(seed) + 45, 32);
  EVP_KDF* kdf = EVP_KDF_fetch(nullptr, "TLS1-PRF", nullptr);
  EVP_KDF_CTX* derivation = EVP_KDF_CTX_new(kdf);
  char digest[] = "SHA256";
  const std::array<OSSL_PARAM, 4> parameters{
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, master.data(), master.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, seed.data(), seed.size()),
      OSSL_PARAM_construct_end()};
  std::string block(2 * (kKeyBytes + kSaltBytes), '\0');
  Must(EVP_KDF_derive(derivation, Bytes(block), block.size(), parameters.data()) == 1);
  EVP_KDF_CTX_free(derivation);
  EVP_KDF_free(kdf);
  return block;
}

}  // namespace

TlsAttacker::TlsAttacker(const Options& options)
    : context_(SSL_CTX_new(TLS_method())), in_(BIO_new(BIO_s_mem())), out_(BIO_new(BIO_s_mem())) {
  if (options.is_server) Use(context_, options.identity);
  if (options.tls12) {
    SSL_CTX_set_max_proto_version(context_, TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(context_, "ECDHE-ECDSA-AES128-GCM-SHA256");
  }
  ssl_ = SSL_new(context_);
  SSL_set_bio(ssl_, in_, out_);
  if (options.is_server) SSL_set_accept_state(ssl_);
  if (!options.is_server) SSL_set_connect_state(ssl_);
  // A long name makes a long hello.
  if (!options.is_server) SSL_set_tlsext_host_name(ssl_, std::string(250, 'x').c_str());
}

TlsAttacker::~TlsAttacker() {
  SSL_free(ssl_);
  SSL_CTX_free(context_);
}

void TlsAttacker::Give(std::string_view bytes) {
  BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
}

std::string TlsAttacker::Take() {
  std::string bytes(BIO_ctrl_pending(out_), '\0');
  if (!bytes.empty()) BIO_read(out_, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

bool TlsAttacker::ShakeHands() { return SSL_do_handshake(ssl_) == 1; }

void TlsAttacker::Say(std::string_view text) {
  Must(SSL_write(ssl_, text.data(), static_cast<int>(text.size())) > 0);
}

std::string TlsAttacker::Listen() {
  std::string text(std::size_t{64} << 10, '\0');
  const int bytes = SSL_read(ssl_, text.data(), static_cast<int>(text.size()));
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return text;
}

void TlsAttacker::UpdateKeys(int times, bool ask) {
  for (int i = 0; i < times; ++i) {
    Must(SSL_key_update(ssl_, ask ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED) == 1);
    Must(SSL_do_handshake(ssl_) == 1);
  }
}

void TlsAttacker::SendTickets(int times) {
  for (int i = 0; i < times; ++i) {
    Must(SSL_new_session_ticket(ssl_) == 1);
    Must(SSL_do_handshake(ssl_) == 1);
  }
}

std::string TlsAttacker::Seal(char type, std::string_view content) {
  std::string keys = KeyBlock(ssl_);
  const bool second = SSL_is_server(ssl_) == 1;  // the server's half of the block
  const std::string key = keys.substr(second ? kKeyBytes : 0, kKeyBytes);
  const std::string salt = keys.substr(2 * kKeyBytes + (second ? kSaltBytes : 0), kSaltBytes);
  // The record before the first one here was the Finished message.
  const std::string number = Number(++sealed_, kNonceBytes);
  const std::string nonce = salt + number;
  const std::string aad = number + type + "\x03\x03" + Number(content.size(), 2);
  std::string sealed(content.size() + kTagBytes, '\0');
  EVP_CIPHER_CTX* cipher = EVP_CIPHER_CTX_new();
  int bytes = 0;
  EVP_EncryptInit_ex(cipher, EVP_aes_128_gcm(), nullptr, Bytes(std::string_view(key)),
                     Bytes(std::string_view(nonce)));
  EVP_EncryptUpdate(cipher, nullptr, &bytes, Bytes(std::string_view(aad)),
                    static_cast<int>(aad.size()));
  EVP_EncryptUpdate(cipher, Bytes(sealed), &bytes, Bytes(content),
                    static_cast<int>(content.size()));
  EVP_EncryptFinal_ex(cipher, Bytes(sealed) + content.size(), &bytes);
  EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, kTagBytes, Bytes(sealed) + content.size());
  EVP_CIPHER_CTX_free(cipher);
  return type + std::string("\x03\x03") + Number(kNonceBytes + sealed.size(), 2) + number + sealed;
}

CertificatePair RsaCertificate(unsigned bits) {
  EVP_PKEY* key = EVP_RSA_gen(bits);
  X509* certificate = X509_new();
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  Must(X509_sign(certificate, key, EVP_sha256()) > 0);
  BIO* text = BIO_new(BIO_s_mem());
  CertificatePair pair;
  for (std::string* pem : {&pair.cert_pem, &pair.key_pem}) {
    if (pem == &pair.cert_pem) PEM_write_bio_X509(text, certificate);
    if (pem == &pair.key_pem) {
      PEM_write_bio_PrivateKey(text, key, nullptr, nullptr, 0, nullptr, nullptr);
    }
    pem->resize(BIO_ctrl_pending(text));
    BIO_read(text, pem->data(), static_cast<int>(pem->size()));
  }
  BIO_free(text);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return pair;
}

std::string InPieces(std::string_view records) {
  std::string pieces;
  while (records.size() > kHead) {
    const std::size_t length = std::size_t{static_cast<unsigned char>(records[3])} << 8 |
                               static_cast<unsigned char>(records[4]);
    const std::string_view content = records.substr(kHead, length);
    for (std::size_t at = 0; at < content.size();) {
      const std::size_t piece = at == 0 ? 4 : 1;
      pieces.append(records.substr(0, 3)).append(Number(piece, 2));
      pieces.append(content.substr(at, piece));
      at += piece;
    }
    records.remove_prefix(kHead + content.size());
  }
  return pieces;
}

}  // namespace http::test
