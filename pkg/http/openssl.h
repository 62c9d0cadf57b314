#pragma once

// Internal to this folder: owners of OpenSSL's objects, and PEM conversion.

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"

namespace http::openssl {

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Bio = std::unique_ptr<BIO, Freer<BIO_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freer<X509_EXTENSION_free>>;
using GeneralNames = std::unique_ptr<GENERAL_NAMES, Freer<GENERAL_NAMES_free>>;

// Errors: kInvalidArgument, "<what>: …". An empty list is an error.
base::Result<std::vector<Certificate>> ParseCertificates(const std::string& pem,
                                                         std::string_view what);
// A client's CA bundle: blocks of other types are left out, and so are unreadable certificates.
struct Roots {
  std::vector<Certificate> certificates;  // at least one
  std::vector<std::string> skipped;       // why, one for each unreadable certificate
};
// Errors: kInvalidArgument, "<what>: …", if no certificate is readable.
base::Result<Roots> ParseRoots(const std::string& pem, std::string_view what);
base::Result<Key> ParseKey(const std::string& pem, std::string_view what);

// Returns the newest error of this thread's queue as text, and empties the queue.
std::string TakeError();
// Returns the content of a memory BIO.
std::string TextOf(BIO* bio);
// Empty if memory is short.
std::string ToPem(const X509* certificate);

struct SubjectHost {
  std::string_view kind;  // "DNS" or "IP"
  std::string text;
};
std::vector<SubjectHost> SubjectHosts(const X509* certificate);
// The names of a certificate: "DNS:localhost, IP:127.0.0.1".
std::string SubjectNames(const X509* certificate);
// All values of one kind of name in the subject, in UTF-8.
std::vector<std::string> SubjectEntries(const X509* certificate, int nid);

}  // namespace http::openssl
