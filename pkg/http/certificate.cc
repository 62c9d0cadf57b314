#include "pkg/http/certificate.h"

#include <boost/asio/ip/address.hpp>
#include <ctime>

#include "pkg/http/openssl.h"

namespace http {
namespace openssl {
namespace {

// Prevents a terminal prompt: an encrypted key is an error.
int NoPassphrase(char*, int, int, void*) { return 0; }

base::Error Invalid(std::string_view what, std::string_view why) {
  std::string message(what);
  message.append(": ").append(why);
  return {.code = base::ErrorCode::kInvalidArgument, .message = std::move(message)};
}

std::string AddressText(const ASN1_OCTET_STRING* address) {
  const unsigned char* bytes = ASN1_STRING_get0_data(address);
  if (ASN1_STRING_length(address) == 4) {
    boost::asio::ip::address_v4::bytes_type v4;
    std::copy_n(bytes, v4.size(), v4.begin());
    return boost::asio::ip::address_v4(v4).to_string();
  }
  if (ASN1_STRING_length(address) == 16) {
    boost::asio::ip::address_v6::bytes_type v6;
    std::copy_n(bytes, v6.size(), v6.begin());
    return boost::asio::ip::address_v6(v6).to_string();
  }
  return "?";
}

}  // namespace

base::Result<std::vector<Certificate>> ParseCertificates(const std::string& pem,
                                                         std::string_view what) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<Certificate> certificates;
  ERR_clear_error();
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr)) {
    certificates.emplace_back(certificate);
  }
  // OpenSSL reports the end of the text as an error, too.
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string why = TakeError();
  if (!at_end) return Invalid(what, "a PEM certificate does not parse (" + why + ")");
  if (certificates.empty()) return Invalid(what, "no PEM certificate found");
  return certificates;
}

base::Result<Key> ParseKey(const std::string& pem, std::string_view what) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  ERR_clear_error();
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr));
  if (!key) return Invalid(what, "no usable PEM private key (" + TakeError() + ")");
  return key;
}

std::string TextOf(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return std::string(bytes, static_cast<std::size_t>(size));
}

std::string ToPem(const X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(bio.get(), certificate) != 1) return {};
  return TextOf(bio.get());
}

std::string TakeError() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : "unknown error";
}

std::vector<SubjectHost> SubjectHosts(const X509* certificate) {
  const GeneralNames names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<SubjectHost> hosts;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      const unsigned char* bytes = ASN1_STRING_get0_data(name->d.dNSName);
      const auto size = static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName));
      hosts.push_back({"DNS", std::string(reinterpret_cast<const char*>(bytes), size)});
    } else if (name->type == GEN_IPADD) {
      hosts.push_back({"IP", AddressText(name->d.iPAddress)});
    }
  }
  return hosts;
}

std::string SubjectNames(const X509* certificate) {
  std::string text;
  for (const SubjectHost& host : SubjectHosts(certificate)) {
    text += (text.empty() ? "" : ", ") + std::string(host.kind) + ":" + host.text;
  }
  return text.empty() ? "no name at all" : text;
}

std::vector<std::string> SubjectEntries(const X509* certificate, int nid) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  std::vector<std::string> values;
  for (int i = -1; (i = X509_NAME_get_index_by_NID(subject, nid, i)) >= 0;) {
    unsigned char* utf8 = nullptr;
    const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i));
    const int length = ASN1_STRING_to_UTF8(&utf8, value);
    if (length < 0) continue;
    values.emplace_back(reinterpret_cast<char*>(utf8), static_cast<std::size_t>(length));
    OPENSSL_free(utf8);
  }
  return values;
}

}  // namespace openssl

namespace {

using openssl::Certificate;
using openssl::Key;

bool AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const openssl::Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool AddHosts(X509* certificate, const std::vector<std::string>& hosts) {
  std::string value;
  for (const std::string& host : hosts) {
    boost::system::error_code not_an_address;
    boost::asio::ip::make_address(host, not_an_address);
    // OpenSSL would read more names from such a text.
    if (host.find_first_of(",: \n") != std::string::npos && not_an_address) return false;
    value += (value.empty() ? "" : ",") + std::string(not_an_address ? "DNS:" : "IP:") + host;
  }
  return value.empty() || AddExtension(certificate, certificate, NID_subject_alt_name, value);
}

bool AddSubject(X509* certificate, const CertificateSpec& spec) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  const auto add = [subject](const char* field, const std::string& value) {
    return X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8,
                                      reinterpret_cast<const unsigned char*>(value.data()),
                                      static_cast<int>(value.size()), -1, 0) == 1;
  };
  bool done = spec.common_name.empty() || add("CN", spec.common_name);
  for (const std::string& organization : spec.organizations) {
    done = done && add("O", organization);
  }
  return done;
}

bool SetSerial(X509* certificate) {
  unsigned char serial[16];
  if (RAND_bytes(serial, sizeof serial) != 1) return false;
  // A serial number must be positive (RFC 5280, section 4.1.2.2).
  serial[0] &= 0x7f;
  const std::unique_ptr<BIGNUM, openssl::Freer<BN_free>> number(
      BN_bin2bn(serial, sizeof serial, nullptr));
  return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool SetLifetime(X509* certificate, const CertificateSpec& spec) {
  const base::WallTime now = spec.now.value_or(base::RealClock().WallNow());
  const std::time_t from = std::chrono::system_clock::to_time_t(now + spec.valid_from);
  const std::time_t until = std::chrono::system_clock::to_time_t(now + spec.valid_until);
  return ASN1_TIME_set(X509_getm_notBefore(certificate), from) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), until) != nullptr;
}

// Sets what the key may be used for.
bool AddPurpose(X509* certificate, const CertificateSpec& spec) {
  const bool only_signs = spec.is_ca && spec.hosts.empty();
  std::string constraints = "critical,CA:FALSE";
  std::string usage = "critical,digitalSignature";
  if (spec.is_ca) constraints = only_signs ? "critical,CA:TRUE,pathlen:0" : "critical,CA:TRUE";
  if (spec.is_ca || spec.issuer == nullptr) usage += ",keyCertSign";
  if (only_signs) usage = "critical,keyCertSign,cRLSign";
  const bool only_serves = !spec.is_ca && !spec.hosts.empty();
  return AddExtension(certificate, certificate, NID_basic_constraints, constraints) &&
         AddExtension(certificate, certificate, NID_key_usage, usage) &&
         (!only_serves || AddExtension(certificate, certificate, NID_ext_key_usage, "serverAuth"));
}

// Sets everything except the issuer and the signature.
bool Describe(X509* certificate, EVP_PKEY* key, const CertificateSpec& spec) {
  return X509_set_version(certificate, 2) == 1 && SetSerial(certificate) &&
         SetLifetime(certificate, spec) && X509_set_pubkey(certificate, key) == 1 &&
         AddSubject(certificate, spec) && AddPurpose(certificate, spec) &&
         AddExtension(certificate, certificate, NID_subject_key_identifier, "hash") &&
         AddHosts(certificate, spec.hosts);
}

bool Sign(X509* certificate, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key) {
  X509* signer = issuer != nullptr ? issuer : certificate;
  EVP_PKEY* signing_key = issuer_key != nullptr ? issuer_key : key;
  return X509_set_issuer_name(certificate, X509_get_subject_name(signer)) == 1 &&
         AddExtension(certificate, signer, NID_authority_key_identifier, "keyid") &&
         X509_sign(certificate, signing_key, EVP_sha256()) > 0;
}

std::string KeyToPem(EVP_PKEY* key) {
  // This kind of buffer is wiped when it is freed.
  const openssl::Bio bio(BIO_new(BIO_s_secmem()));
  if (PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return {};
  }
  return openssl::TextOf(bio.get());
}

}  // namespace

base::Result<CertificatePair> MakeCertificate(const CertificateSpec& spec) {
  Certificate issuer;
  Key issuer_key;
  if (spec.issuer != nullptr) {
    auto certificates = openssl::ParseCertificates(spec.issuer->cert_pem, "issuer certificate");
    if (!certificates) return certificates.error();
    issuer = std::move(certificates->front());
    auto key = openssl::ParseKey(spec.issuer->key_pem, "issuer key");
    if (!key) return key.error();
    issuer_key = std::move(*key);
  }
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  ERR_clear_error();
  if (!key || !certificate || !Describe(certificate.get(), key.get(), spec) ||
      !Sign(certificate.get(), key.get(), issuer.get(), issuer_key.get())) {
    return base::Error{.code = base::ErrorCode::kInvalidArgument,
                       .message = "make a certificate: " + openssl::TakeError()};
  }
  return CertificatePair{openssl::ToPem(certificate.get()), KeyToPem(key.get())};
}

base::Result<CertificatePair> MakeSelfSigned(const std::vector<std::string>& hosts) {
  CertificateSpec spec;
  // X.509 allows at most 64 characters.
  spec.common_name = hosts.empty() ? "self-signed" : hosts.front().substr(0, 64);
  spec.hosts = hosts;
  spec.is_ca = true;  // so that clients can use it as its own CA bundle
  return MakeCertificate(spec);
}

}  // namespace http
