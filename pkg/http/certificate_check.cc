// Reading and checking of certificates: the other half of certificate.h.

#include <boost/asio/ip/address.hpp>
#include <ctime>

#include "pkg/base/unix_time.h"
#include "pkg/http/certificate.h"
#include "pkg/http/openssl.h"

namespace http {
namespace {

using openssl::Certificate;
using Store = std::unique_ptr<X509_STORE, openssl::Freer<X509_STORE_free>>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, openssl::Freer<X509_STORE_CTX_free>>;
// Owns only the stack, not the certificates in it.
using Stack =
    std::unique_ptr<STACK_OF(X509), decltype([](STACK_OF(X509) * stack) { sk_X509_free(stack); })>;

base::Error Error(base::ErrorCode code, std::string message) {
  return {.code = code, .message = std::move(message)};
}

std::optional<base::WallTime> TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  return base::FromUnixTime(timegm(&parts));
}

std::string CommonName(const X509* certificate) {
  std::vector<std::string> names = openssl::SubjectEntries(certificate, NID_commonName);
  return names.empty() ? std::string() : std::move(names.front());
}

base::Result<CertificateInfo> Describe(X509* certificate, std::string_view what) {
  const auto not_before = TimeOf(X509_get0_notBefore(certificate));
  const auto not_after = TimeOf(X509_get0_notAfter(certificate));
  if (!not_before || !not_after) {
    return Error(base::ErrorCode::kInvalidArgument,
                 std::string(what) + ": a certificate whose dates do not parse");
  }
  CertificateInfo info{.pem = openssl::ToPem(certificate),
                       .not_before = *not_before,
                       .not_after = *not_after,
                       .hosts = {},
                       .common_name = CommonName(certificate),
                       .is_ca = X509_check_ca(certificate) > 0};
  for (openssl::SubjectHost& host : openssl::SubjectHosts(certificate)) {
    info.hosts.push_back(std::move(host.text));
  }
  return info;
}

void Demand(X509_VERIFY_PARAM* wanted, const ServerCheck& check) {
  X509_VERIFY_PARAM_set_purpose(wanted, X509_PURPOSE_SSL_SERVER);
  // As in Go's clients, a trusted certificate need not be self-signed.
  X509_VERIFY_PARAM_set_flags(wanted, X509_V_FLAG_PARTIAL_CHAIN);
  if (check.at) {
    X509_VERIFY_PARAM_set_time(wanted, std::chrono::system_clock::to_time_t(*check.at));
  } else {
    X509_VERIFY_PARAM_set_flags(wanted, X509_V_FLAG_NO_CHECK_TIME);
  }
  if (check.host.empty()) return;
  boost::system::error_code not_an_address;
  boost::asio::ip::make_address(check.host, not_an_address);
  if (!not_an_address) {
    X509_VERIFY_PARAM_set1_ip_asc(wanted, check.host.c_str());
    return;
  }
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  X509_VERIFY_PARAM_set1_host(wanted, check.host.data(), check.host.size());
}

}  // namespace

base::Result<std::vector<CertificateInfo>> ReadCertificates(const std::string& pem,
                                                            std::string_view what) {
  const auto certificates = openssl::ParseCertificates(pem, what);
  if (!certificates) return certificates.error();
  std::vector<CertificateInfo> infos;
  for (const Certificate& certificate : *certificates) {
    auto info = Describe(certificate.get(), what);
    if (!info) return info.error();
    infos.push_back(std::move(*info));
  }
  return infos;
}

base::Result<void> CheckKey(const std::string& cert_pem, const std::string& key_pem) {
  const auto certificates = openssl::ParseCertificates(cert_pem, "certificate");
  if (!certificates) return certificates.error();
  const auto key = openssl::ParseKey(key_pem, "private key");
  if (!key) return key.error();
  ERR_clear_error();
  const bool one_pair = X509_check_private_key(certificates->front().get(), key->get()) == 1;
  ERR_clear_error();
  if (one_pair) return {};
  return Error(base::ErrorCode::kInvalidArgument, "the private key does not match the certificate");
}

base::Result<void> CheckServer(const std::string& chain_pem, const std::string& roots_pem,
                               const ServerCheck& check) {
  const auto chain = openssl::ParseCertificates(chain_pem, "certificate");
  if (!chain) return chain.error();
  const auto roots = openssl::ParseCertificates(roots_pem, "certificate authority");
  if (!roots) return roots.error();
  const Store store(X509_STORE_new());
  for (const Certificate& root : *roots) X509_STORE_add_cert(store.get(), root.get());
  const Stack others(sk_X509_new_null());
  for (const Certificate& other : *chain) sk_X509_push(others.get(), other.get());
  const StoreContext context(X509_STORE_CTX_new());
  ERR_clear_error();
  if (X509_STORE_CTX_init(context.get(), store.get(), chain->front().get(), others.get()) != 1) {
    return Error(base::ErrorCode::kInternal, "check a certificate: " + openssl::TakeError());
  }
  Demand(X509_STORE_CTX_get0_param(context.get()), check);
  const bool accepted = X509_verify_cert(context.get()) == 1;
  const int reason = X509_STORE_CTX_get_error(context.get());
  ERR_clear_error();
  if (accepted) return {};
  std::string message = X509_verify_cert_error_string(reason);
  if (reason == X509_V_ERR_HOSTNAME_MISMATCH || reason == X509_V_ERR_IP_ADDRESS_MISMATCH) {
    message = "the certificate is for " + openssl::SubjectNames(chain->front().get()) +
              ", not for " + check.host;
  }
  return Error(base::ErrorCode::kTls, std::move(message));
}

}  // namespace http
