// Flags of the sandbox.

#include "cmd/sandbox-apiserver/flags.h"

#include <gflags/gflags.h>

#include <fstream>
#include <iterator>

#include "cmd/command_line/command_line.h"
#include "pkg/base/duration.h"

DEFINE_string(bind_address, "127.0.0.1:0", "Where to listen; port 0 is any free one.");
DEFINE_bool(tls, true, "Serve HTTPS. Without --tls-cert-file, a certificate is made at the start.");
DEFINE_string(tls_cert_file, "", "Certificate to serve with, PEM.");
DEFINE_string(tls_private_key_file, "", "Its key, PEM.");
DEFINE_string(client_ca_file, "",
              "CA of client certificates, which are accepted in addition to tokens.");
DEFINE_string(kubeconfig_out, "",
              "File to write a kubeconfig for this server to, once it listens.");
DEFINE_string(token, "", "The administrator's bearer token. Empty: a random one.");
DEFINE_bool(anonymous, false, "Allow requests without credentials.");
DEFINE_string(bookmark_interval, "1m", "How often a watch gets a bookmark.");
DEFINE_int32(history, 10000, "Events kept for each resource; watches of older versions get 410.");

namespace sandbox_apiserver {
namespace {

using command_line::BadFlag;

constexpr std::string_view kUsage =
    "sandbox-apiserver is an API server in memory, for first runs and tests. It stores nothing on\n"
    "disk, and every client with a token may do everything: it is not for production.\n\n"
    "Usage: sandbox-apiserver [flags]\n\n";

base::Error Bad(std::string message) {
  return {.code = base::ErrorCode::kInvalidArgument, .message = std::move(message)};
}

base::Result<std::string> ReadFile(const std::string& flag, const std::string& path) {
  std::ifstream file(path);
  if (!file) return BadFlag(flag, "cannot read " + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

base::Result<void> ReadCertificates(sandbox::ApiServerOptions& server) {
  if (FLAGS_tls_cert_file.empty() != FLAGS_tls_private_key_file.empty()) {
    return Bad("flags --tls-cert-file and --tls-private-key-file must be given together");
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
  const auto parsed = command_line::Parse({.name = "sandbox-apiserver",
                                           .version = QCM_VERSION,
                                           .usage = kUsage,
                                           .flags_folder = "cmd/sandbox-apiserver/"},
                                          argc, argv);
  if (!parsed) return parsed.error();
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
