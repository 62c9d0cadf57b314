#include "pkg/client/exec_plugin.h"

#include <glog/logging.h>
#include <unistd.h>

#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/api/time.h"
#include "pkg/base/base64.h"
#include "pkg/client/process.h"
#include "pkg/json/value.h"

namespace client {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

Error MalformedOutput(std::string_view what) {
  return {.code = ErrorCode::kMalformed, .message = "its output " + std::string(what)};
}

std::string UrlText(const http::Url& url) {
  return url.scheme + "://" + url.Authority() + url.path;
}

json::Value ClusterInfo(const ClusterConfig& config) {
  json::Object cluster;
  cluster.Set("server", UrlText(config.server));
  if (!config.tls.server_name.empty()) cluster.Set("tls-server-name", config.tls.server_name);
  if (config.tls.insecure) cluster.Set("insecure-skip-tls-verify", true);
  if (!config.tls.ca_pem.empty()) {
    cluster.Set("certificate-authority-data", base::EncodeBase64(config.tls.ca_pem));
  }
  if (!config.proxy_url.empty()) cluster.Set("proxy-url", config.proxy_url);
  if (config.disable_compression) cluster.Set("disable-compression", true);
  if (!config.exec_config.IsNull()) cluster.Set("config", config.exec_config);
  return cluster;
}

// A year that does not fit into a WallTime means "never": it is read as the last leap year that
// fits.
Result<base::WallTime> ParseExpiration(std::string_view text) {
  constexpr std::string_view kLastYear = "2260";
  const std::string_view year = text.substr(0, 4);
  const bool all_digits = year.find_first_not_of("0123456789") == std::string_view::npos;
  if (year.size() < 4 || !all_digits || year <= kLastYear) return api::ParseTime(text);
  return api::ParseTime(std::string(kLastYear).append(text.substr(4)));
}

// True if the plugin reads our standard input.
bool IsInteractive(const ClusterConfig& config) {
  return config.plugin_input == PluginInput::kTerminal && config.exec->interactive_mode != "Never";
}

Error WithHint(const Error& error, const ExecEntry& exec) {
  Error wrapped = error.Wrap("exec credential plugin");
  if (error.Is(ErrorCode::kNotFound) && !exec.install_hint.empty()) {
    wrapped.message += "; " + exec.install_hint;
  }
  // kNotFound means that the program does not exist. It must not look like an answer of the server.
  if (error.Is(ErrorCode::kNotFound)) wrapped.code = ErrorCode::kInvalidArgument;
  return wrapped;
}

}  // namespace

std::string ExecInfo(const ClusterConfig& config) {
  json::Object spec;
  if (config.exec->provide_cluster_info) spec.Set("cluster", ClusterInfo(config));
  spec.Set("interactive", IsInteractive(config));
  json::Object info;
  info.Set("apiVersion", config.exec->api_version);
  info.Set("kind", "ExecCredential");
  info.Set("spec", std::move(spec));
  return json::Write(info);
}

Result<ExecCredential> ParseExecCredential(std::string_view output, std::string_view api_version) {
  const Result<json::Value> document = json::Parse(output);
  if (!document || !document->IsObject()) return MalformedOutput("is not a JSON object");
  if (api::Kind(*document) != "ExecCredential") return MalformedOutput("is not an ExecCredential");
  if (api::ApiVersion(*document) != api_version) {
    return MalformedOutput("has another apiVersion than the kubeconfig asks for (" +
                           std::string(api_version) + ")");
  }
  ExecCredential credential;
  credential.token = document->StringAt({"status", "token"});
  credential.cert_pem = document->StringAt({"status", "clientCertificateData"});
  credential.key_pem = document->StringAt({"status", "clientKeyData"});
  if (credential.cert_pem.empty() != credential.key_pem.empty()) {
    return MalformedOutput("has one of clientCertificateData and clientKeyData without the other");
  }
  if (credential.token.empty() && credential.cert_pem.empty()) {
    return MalformedOutput("has neither a token nor a client certificate in its status");
  }
  if (credential.token.find_first_of("\r\n") != std::string::npos) {
    return MalformedOutput("has a token with a line break");
  }
  const json::Value* expiration = document->At({"status", "expirationTimestamp"});
  if (expiration != nullptr && !expiration->IsNull()) {
    const auto time = ParseExpiration(document->StringAt({"status", "expirationTimestamp"}));
    if (!time) return MalformedOutput("has an expirationTimestamp that is not an RFC 3339 time");
    credential.expiration = *time;
  }
  return credential;
}

base::Task<Result<ExecCredential>> RunExecPlugin(base::asio::any_io_executor executor,
                                                 ClusterConfig config,
                                                 std::chrono::milliseconds timeout) {
  const ExecEntry& exec = *config.exec;
  ProcessOptions options;
  options.timeout = timeout;
  options.arguments = {exec.command};
  options.arguments.insert(options.arguments.end(), exec.args.begin(), exec.args.end());
  for (const auto& [name, value] : exec.env) {
    options.environment.push_back(std::string(name).append("=").append(value));
  }
  options.environment.push_back("KUBERNETES_EXEC_INFO=" + ExecInfo(config));
  options.shares_stdin = IsInteractive(config);
  options.shares_terminal = config.plugin_input != PluginInput::kDaemon;
  // A user at a terminal may have to act, for example open a page to log in.
  const bool watched = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  options.shares_stderr = options.shares_terminal || watched;
  Result<ProcessResult> ran = co_await RunProcess(executor, std::move(options));
  if (!ran) co_return WithHint(ran.error(), exec);
  LOG_IF(WARNING, !ran->errors.empty())
      << "exec credential plugin wrote to standard error command=" << json::Quote(exec.command)
      << " exit_status=" << ran->exit_status << " stderr=" << json::Quote(ran->errors);
  if (ran->exit_status != 0) {
    co_return Error{.code = ErrorCode::kUnauthorized,
                    .message = "exec credential plugin: " + exec.command +
                               " failed with exit status " + std::to_string(ran->exit_status)};
  }
  Result<ExecCredential> credential = ParseExecCredential(ran->output, exec.api_version);
  if (!credential) co_return credential.error().Wrap("exec credential plugin: " + exec.command);
  co_return credential;
}

}  // namespace client
