// Every flag of the sandbox, and nothing but flags.

#include "cmd/sandbox-apiserver/flags.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include "pkg/base/duration.h"

DEFINE_string(bind_address, "127.0.0.1:0", "Where to listen; port 0 is any free one.");
DEFINE_bool(tls, true, "Serve HTTPS. Without --tls-cert-file a certificate is made at the start.");
DEFINE_string(tls_cert_file, "", "Certificate to serve with, PEM.");
DEFINE_string(tls_private_key_file, "", "Its key, PEM.");
DEFINE_string(client_ca_file, "", "CA of client certificates that are accepted beside tokens.");
DEFINE_string(kubeconfig_out, "", "Write a kubeconfig for this server there, once it listens.");
DEFINE_string(token, "", "The administrator's bearer token. Empty: one is made up.");
DEFINE_bool(anonymous, false, "Let requests without credentials in.");
DEFINE_string(bookmark_interval, "1m", "How often a watch gets a bookmark.");
DEFINE_int32(history, 10000, "Events kept for each resource; watches of older versions get 410.");

// Declared by gflags' sources, not by its header: what it calls after reporting a wrong flag.
namespace GFLAGS_NAMESPACE {
extern void (*gflags_exitfunc)(int);
}

namespace sandbox_apiserver {
namespace {

constexpr std::string_view kUsage =
    "sandbox-apiserver is an API server in memory, for first runs and tests. It keeps nothing, "
    "and\n"
    "whoever has a token may do everything: it is not for production.\n\n"
    "Usage: sandbox-apiserver [flags]\n\n";

std::string WithDashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

void PrintHelp() {
  std::vector<gflags::CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  std::cout << kUsage;
  for (const gflags::CommandLineFlagInfo& flag : flags) {
    if (flag.filename.find("sandbox-apiserver/flags.cc") == std::string::npos) continue;
    std::cout << "  --" << WithDashes(flag.name) << "=" << flag.default_value << "\n      "
              << flag.description << "\n";
  }
  std::cout << "  --version\n      Print the version and exit.\n"
            << "  --help\n      Print this and exit.\n";
}

// gflags would print every flag of every library, and end with 1.
void HandleHelpAndVersion(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-help" || argument == "-h") {
      PrintHelp();
      std::exit(0);
    }
    if (argument == "--version" || argument == "-version") {
      std::cout << "sandbox-apiserver " << QCM_VERSION << "\n";
      std::exit(0);
    }
  }
}

base::Error Bad(std::string message) {
  return {.code = base::ErrorCode::kInvalidArgument, .message = std::move(message)};
}

base::Error BadFlag(const std::string& name, const std::string& why) {
  return Bad("flag --" + WithDashes(name) + ": " + why);
}

base::Result<std::string> ReadFile(const std::string& flag, const std::string& path) {
  std::ifstream file(path);
  if (!file) return BadFlag(flag, "cannot read " + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

base::Result<void> ReadCertificates(sandbox::ApiServerOptions& server) {
  if (FLAGS_tls_cert_file.empty() != FLAGS_tls_private_key_file.empty()) {
    return Bad("flags --tls-cert-file and --tls-private-key-file go together");
  }
  if (!FLAGS_tls_cert_file.empty()) {
    base::Result<std::string> cert = ReadFile("tls_cert_file", FLAGS_tls_cert_file);
    if (!cert) return cert.error();
    base::Result<std::string> key = ReadFile("tls_private_key_file", FLAGS_tls_private_key_file);
    if (!key) return key.error();
    server.certificate = http::CertificatePair{*std::move(cert), *std::move(key)};
  }
  if (FLAGS_client_ca_file.empty()) return {};
  base::Result<std::string> ca = ReadFile("client_ca_file", FLAGS_client_ca_file);
  if (!ca) return ca.error();
  server.client_ca_pem = *std::move(ca);
  return {};
}

}  // namespace

base::Result<Flags> ParseFlags(int argc, char** argv) {
  HandleHelpAndVersion(argc, argv);
  GFLAGS_NAMESPACE::gflags_exitfunc = [](int) { std::exit(2); };
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc > 1) return Bad("unexpected argument \"" + std::string(argv[1]) + "\"");
  Flags flags;
  base::Result<http::BindAddress> bind = http::ParseBindAddress(FLAGS_bind_address);
  if (!bind) return BadFlag("bind_address", bind.error().message);
  flags.server.bind = *bind;
  const auto interval = base::ParseDuration(FLAGS_bookmark_interval);
  if (!interval) return BadFlag("bookmark_interval", interval.error().message);
  if (interval->count() <= 0) return BadFlag("bookmark_interval", "must be longer than 0");
  if (FLAGS_history < 0) return BadFlag("history", "must not be negative");
  if (base::Result<void> read = ReadCertificates(flags.server); !read) return read.error();
  flags.server.tls = FLAGS_tls;
  flags.server.token = FLAGS_token;
  flags.server.handler.auth.anonymous = FLAGS_anonymous;
  flags.server.handler.watches.bookmark_interval = *interval;
  flags.server.handler.store.history = static_cast<std::size_t>(FLAGS_history);
  flags.kubeconfig_out = FLAGS_kubeconfig_out;
  return flags;
}

}  // namespace sandbox_apiserver
