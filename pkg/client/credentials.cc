#include "pkg/client/credentials.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>

#include "pkg/base/base64.h"

namespace client {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

constexpr std::chrono::seconds kPluginTimeout{60};

std::string Bearer(const std::string& token) { return token.empty() ? "" : "Bearer " + token; }

}  // namespace

base::Task<Result<Credential>> StaticCredentials::Get() {
  Credential credential;
  credential.authorization = authorization_;
  co_return credential;
}

bool StaticCredentials::Reject(std::uint64_t) { return false; }

base::Task<Result<Credential>> TokenFileCredentials::Get() {
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
  std::optional<Result<void>> result;  // not set if the run was abandoned
  bool over = false;
  std::vector<base::Alarm*> waiting;
};

bool ExecCredentials::Usable() const {
  return known_ && (!credential_.expiration || scheduler_.WallNow() < *credential_.expiration);
}

base::Task<Result<Credential>> ExecCredentials::Get() {
  while (!Usable()) {
    Result<void> refreshed;
    if (flight_) {
      refreshed = co_await WaitFor(flight_);
    } else {
      refreshed = co_await RunOnce();
    }
    if (!refreshed) co_return refreshed.error();
  }
  Credential credential;
  credential.authorization = Bearer(credential_.token);
  credential.generation = generation_;
  co_return credential;
}

bool ExecCredentials::Reject(std::uint64_t generation) {
  // Ignores a late rejection of an older credential.
  if (generation == generation_) known_ = false;
  return true;
}

base::Task<Result<void>> ExecCredentials::RunOnce() {
  const auto flight = std::make_shared<Flight>();
  flight_ = flight;
  // The waiters must wake up however the run ends, even by a cancellation.
  const auto land = [this](Flight* ended) {
    ended->over = true;
    flight_.reset();
    for (base::Alarm* alarm : ended->waiting) alarm->Wake();
  };
  const std::unique_ptr<Flight, decltype(land)> landing(flight.get(), land);
  Result<ExecCredential> fresh = co_await run_();
  Result<void> accepted;
  if (fresh) {
    accepted = Accept(std::move(*fresh));
  } else {
    accepted = fresh.error();
  }
  // A cancelled run must not fail the waiters: the next one starts another run.
  if (accepted || !accepted.error().Is(ErrorCode::kCancelled)) flight->result = accepted;
  co_return accepted;
}

base::Task<Result<void>> ExecCredentials::WaitFor(std::shared_ptr<Flight> flight) {
  const std::unique_ptr<base::Alarm> alarm = scheduler_.NewAlarm();
  const auto leave = [&flight](base::Alarm* own) { std::erase(flight->waiting, own); };
  const std::unique_ptr<base::Alarm, decltype(leave)> place(alarm.get(), leave);
  flight->waiting.push_back(alarm.get());
  co_await alarm->WaitUntil(scheduler_.Now() + 2 * kPluginTimeout);
  if (flight->result) co_return *flight->result;
  if (flight->over) co_return Result<void>();  // abandoned: the caller checks again
  co_return Error{.code = ErrorCode::kCancelled, .message = "waiting for the exec plugin"};
}

Result<void> ExecCredentials::Accept(ExecCredential fresh) {
  if (fresh.expiration && *fresh.expiration <= scheduler_.WallNow()) {
    return Error{.code = ErrorCode::kUnauthorized,
                 .message = "exec credential plugin: the credential it gave has expired already"};
  }
  if (!fresh.cert_pem.empty()) {
    const Result<void> used = tls_.UseClientCertificate(fresh.cert_pem, fresh.key_pem);
    if (!used) return used.error().Wrap("exec credential plugin");
  }
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
  return std::make_unique<ExecCredentials>(scheduler, tls, [executor, config = std::move(config)] {
    return RunExecPlugin(executor, config, kPluginTimeout);
  });
}

}  // namespace client
