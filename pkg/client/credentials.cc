#include "pkg/client/credentials.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "pkg/api/time.h"
#include "pkg/base/base64.h"

namespace client {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

constexpr std::chrono::seconds kPluginTimeout{60};
// A user may have to find a phone, or to log in on a page.
constexpr std::chrono::hours kUserTimeout{1};
// So a plugin does not run for each request.
constexpr std::chrono::seconds kBetweenRuns{10};

std::string Bearer(const std::string& token) { return token.empty() ? "" : "Bearer " + token; }

}  // namespace

base::Task<Result<Credential>> StaticCredentials::Get(base::TimePoint) {
  Credential credential;
  credential.authorization = authorization_;
  co_return credential;
}

bool StaticCredentials::Reject(std::uint64_t) { return false; }

base::Task<Result<Credential>> TokenFileCredentials::Get(base::TimePoint) {
  const Result<std::string> token = file_.Get(clock_.Now());
  if (!token) co_return token.error();
  Credential credential;
  credential.authorization = Bearer(*token);
  credential.generation = file_.generation();
  co_return credential;
}

bool TokenFileCredentials::Reject(std::uint64_t generation) {
  // A late rejection of an older token: the current one was not rejected.
  if (generation != file_.generation()) return true;
  file_.Expire();
  const Result<std::string> reread = file_.Get(clock_.Now());
  return reread && generation != file_.generation();
}

struct ExecCredentials::Flight {
  std::optional<Result<void>> result;  // set at the end of the run
  std::vector<base::Alarm*> waiting;
};

bool ExecCredentials::Usable() const {
  if (!known_) return false;
  const bool current = !credential_.expiration || scheduler_.WallNow() < *credential_.expiration;
  return current || scheduler_.Now() < kept_until_;
}

bool ExecCredentials::IsDueAhead() const {
  if (!credential_.expiration || scheduler_.Now() - launched_ < kBetweenRuns) return false;
  const auto left = *credential_.expiration - scheduler_.WallNow();
  return left > left.zero() && left <= ahead_;
}

base::Task<Result<Credential>> ExecCredentials::Get(base::TimePoint deadline) {
  while (!Usable()) {
    if (!flight_ && failure_ && scheduler_.Now() < failed_until_) co_return *failure_;
    if (!flight_) Launch();
    const Result<void> refreshed = co_await WaitFor(flight_, deadline);
    if (!refreshed) co_return refreshed.error();
  }
  if (!flight_ && IsDueAhead()) Launch();
  Credential credential;
  credential.authorization = Bearer(credential_.token);
  credential.generation = generation_;
  co_return credential;
}

bool ExecCredentials::Reject(std::uint64_t generation) {
  // A late rejection of an older credential: the current one was not rejected, or is on its way.
  if (generation != generation_ || !known_) return true;
  const base::TimePoint now = scheduler_.Now();
  // The plugin has just given it, and would give the same again.
  if (now < kept_until_ || now < no_rejection_until_) return false;
  no_rejection_until_ = now + kBetweenRuns;
  known_ = false;
  return true;
}

base::Task<void> ExecCredentials::Close() {
  running_.Cancel();
  co_await running_.Join();
  // A cancelled run does not land, and one that never began cannot.
  if (flight_) Land(Error{.code = ErrorCode::kCancelled, .message = "exec credential plugin"});
}

void ExecCredentials::Launch() {
  flight_ = std::make_shared<Flight>();
  launched_ = scheduler_.Now();
  running_.Spawn("exec plugin", [this] { return RunOnce(); });
}

base::Task<void> ExecCredentials::RunOnce() {
  Result<ExecCredential> fresh = co_await run_();
  const Result<void> accepted = fresh ? Accept(std::move(*fresh)) : fresh.error();
  failure_.reset();
  if (!accepted) failure_ = accepted.error();
  failed_until_ = scheduler_.Now() + kBetweenRuns;
  Land(accepted);
}

void ExecCredentials::Land(Result<void> result) {
  const std::shared_ptr<Flight> flight = std::exchange(flight_, nullptr);
  CHECK(flight != nullptr) << "an exec credential plugin has ended twice";
  flight->result = std::move(result);
  for (base::Alarm* alarm : flight->waiting) alarm->Wake();
}

base::Task<Result<void>> ExecCredentials::WaitFor(std::shared_ptr<Flight> flight,
                                                  base::TimePoint deadline) {
  const std::unique_ptr<base::Alarm> alarm = scheduler_.NewAlarm();
  const auto leave = [&flight](base::Alarm* own) { std::erase(flight->waiting, own); };
  const std::unique_ptr<base::Alarm, decltype(leave)> place(alarm.get(), leave);
  flight->waiting.push_back(alarm.get());
  co_await alarm->WaitUntil(deadline);
  if (flight->result) co_return *flight->result;
  const bool late = scheduler_.Now() >= deadline;
  co_return Error{.code = late ? ErrorCode::kTimeout : ErrorCode::kCancelled,
                  .message = "waiting for the exec credential plugin"};
}

Result<void> ExecCredentials::Accept(ExecCredential fresh) {
  if (!fresh.cert_pem.empty()) {
    const Result<void> used = tls_.UseClientCertificate(fresh.cert_pem, fresh.key_pem);
    if (!used) return used.error().Wrap("exec credential plugin");
  }
  const bool expired = fresh.expiration && *fresh.expiration <= scheduler_.WallNow();
  // Logged when it begins, not for each run.
  LOG_IF(WARNING, expired && kept_until_ == base::TimePoint())
      << "the exec credential plugin gave a credential that has expired by our clock; it is used "
         "expiration="
      << api::FormatTime(*fresh.expiration);
  kept_until_ = expired ? scheduler_.Now() + kBetweenRuns : base::TimePoint();
  credential_ = std::move(fresh);
  known_ = true;
  ++generation_;
  return {};
}

std::unique_ptr<CredentialSource> NewCredentialSource(base::asio::any_io_executor executor,
                                                      base::Scheduler& scheduler, TlsMaterial& tls,
                                                      ClusterConfig config) {
  if (config.server.scheme != "https") return std::make_unique<StaticCredentials>("");
  // If a kubeconfig has a token and a token file, the token is used until the file is read
  // (client-go v0.36.3, tools/clientcmd/client_config.go).
  if (!config.token_file.empty()) {
    return std::make_unique<TokenFileCredentials>(
        scheduler, TokenFile(std::move(config.token_file), std::move(config.token)));
  }
  if (!config.token.empty()) return std::make_unique<StaticCredentials>(Bearer(config.token));
  if (!config.username.empty() || !config.password.empty()) {
    return std::make_unique<StaticCredentials>(
        "Basic " + base::EncodeBase64(config.username + ":" + config.password));
  }
  if (!config.exec) return std::make_unique<StaticCredentials>("");
  const bool user = config.plugin_input != PluginInput::kDaemon;
  const std::chrono::seconds timeout = user ? kUserTimeout : kPluginTimeout;
  // A user is asked only when nothing else is left.
  const std::chrono::seconds ahead = user ? std::chrono::seconds(0) : ExecCredentials::kAhead;
  const auto run = [executor, config = std::move(config), timeout] {
    return RunExecPlugin(executor, config, timeout);
  };
  return std::make_unique<ExecCredentials>(executor, scheduler, tls, run, ahead);
}

}  // namespace client
