#pragma once

// A certificate authority for one test run, made by the openssl program.

#include <string>

namespace e2e {

struct KeyPair {
  std::string cert_path;
  std::string key_path;
};

class CertificateAuthority {
 public:
  // Stores files in `folder`, with names that begin with `name`.
  CertificateAuthority(std::string folder, const std::string& name);

  // A certificate for 127.0.0.1 and localhost. `days` -1 makes an expired one.
  KeyPair Server(const std::string& name, int days = 800);
  // A certificate with this subject, e.g. "/O=system:masters/CN=admin".
  KeyPair Client(const std::string& name, const std::string& subject);
  [[nodiscard]] const std::string& cert_path() const { return ca_.cert_path; }

 private:
  KeyPair Issue(const std::string& name, const std::string& subject, const std::string& extensions,
                int days);
  std::string folder_;
  KeyPair ca_;
};

}  // namespace e2e
