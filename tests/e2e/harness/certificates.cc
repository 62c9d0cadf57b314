#include "tests/e2e/harness/certificates.h"

#include <fstream>
#include <stdexcept>
#include <vector>

#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/process.h"
#include "tests/e2e/harness/shifted_clock.h"
#include "tests/e2e/harness/wait.h"

namespace e2e {
namespace {

const std::vector<std::string> kNewKey{
    "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout"};

// A real cluster's certificates are older and last longer than any clock error.
constexpr std::chrono::seconds kBackdate = 24h;
constexpr const char* kLife = "800";  // days

void OpenSsl(std::vector<std::string> arguments) {
  const auto program = FindProgram("openssl");
  if (program.empty()) throw std::runtime_error("the openssl program is not installed");
  arguments.insert(arguments.begin(), program);
  ShiftedClock yesterday;
  yesterday.Set(-kBackdate);
  const auto env =
      ShiftedClock::Built() ? yesterday.Environment() : std::map<std::string, std::string>();
  const auto result = RunProgram({.argv = arguments, .env = env}, Stretched(30s));
  if (result.exit_code != 0) throw std::runtime_error("openssl failed: " + result.output);
}

}  // namespace

CertificateAuthority::CertificateAuthority(std::string folder, const std::string& name)
    : folder_(std::move(folder)),
      ca_{folder_ + "/" + name + ".crt", folder_ + "/" + name + ".key"} {
  std::vector<std::string> arguments{"req", "-x509"};
  arguments.insert(arguments.end(), kNewKey.begin(), kNewKey.end());
  const std::vector<std::string> rest{ca_.key_path, "-out",  ca_.cert_path, "-days",
                                      kLife,        "-subj", "/CN=" + name};
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  OpenSsl(arguments);
}

KeyPair CertificateAuthority::Server(const std::string& name, int days) {
  return Issue(name, "/CN=" + name,
               "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth\n", days);
}

KeyPair CertificateAuthority::Client(const std::string& name, const std::string& subject) {
  return Issue(name, subject, "extendedKeyUsage=clientAuth\n", std::stoi(kLife));
}

KeyPair CertificateAuthority::Issue(const std::string& name, const std::string& subject,
                                    const std::string& extensions, int days) {
  const std::string base = folder_ + "/" + name;
  KeyPair pair{base + ".crt", base + ".key"};
  std::ofstream(base + ".ext") << extensions;
  std::vector<std::string> arguments{"req"};
  arguments.insert(arguments.end(), kNewKey.begin(), kNewKey.end());
  const std::vector<std::string> rest{pair.key_path, "-out", base + ".csr", "-subj", subject};
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  OpenSsl(arguments);
  OpenSsl({"x509", "-req", "-in", base + ".csr", "-CA", ca_.cert_path, "-CAkey", ca_.key_path,
           "-CAcreateserial", "-days", std::to_string(days > 0 ? days + 1 : days), "-extfile",
           base + ".ext", "-out", pair.cert_path});
  return pair;
}

}  // namespace e2e
