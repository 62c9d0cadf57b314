#include "pkg/webhook/client_authority.h"

#include <glog/logging.h>

#include <algorithm>

#include "pkg/client/files.h"
#include "pkg/http/certificate.h"

namespace webhook {
namespace {

constexpr std::chrono::seconds kRereadPeriod{10};

}  // namespace

base::Result<std::unique_ptr<ClientAuthority>> ClientAuthority::New(base::Scheduler& scheduler,
                                                                    std::string path) {
  std::unique_ptr<ClientAuthority> authority(new ClientAuthority(scheduler, std::move(path)));
  auto pem = authority->Read();
  if (!pem) return pem.error();
  authority->pem_ = std::move(*pem);
  return base::Result<std::unique_ptr<ClientAuthority>>(std::move(authority));
}

base::Result<std::string> ClientAuthority::Read() const {
  const auto invalid = [](std::string message) {
    return base::Error{.code = base::ErrorCode::kInvalidArgument, .message = std::move(message)};
  };
  auto pem = client::ReadFile(path_);
  if (!pem) return invalid(pem.error().message);
  const auto read = http::ReadCertificates(*pem, path_);
  if (!read) return read.error();
  const base::WallTime now = scheduler_.WallNow();
  // A bundle may contain an expired CA beside its successor.
  const bool all_ended =
      std::ranges::all_of(*read, [&](const auto& one) { return one.not_after <= now; });
  if (all_ended) return invalid(path_ + ": every certificate in it has expired");
  return pem;
}

void ClientAuthority::Look() {
  auto pem = Read();
  const std::string trouble = pem ? "" : pem.error().message;
  if (std::exchange(trouble_, trouble) != trouble) {
    LOG_IF(WARNING, !pem) << "CA of the webhook's clients: " << trouble
                          << "; the last good one stays in use";
    LOG_IF(INFO, pem.has_value()) << "CA of the webhook's clients: recovered";
  }
  if (!pem || *pem == pem_) return;
  pem_ = std::move(*pem);
  LOG(INFO) << "CA of the webhook's clients was reloaded file=" << path_;
  if (listener_) listener_();
}

base::Task<void> ClientAuthority::Run() {
  co_await base::DeferCancellation();
  const std::unique_ptr<base::Alarm> alarm = scheduler_.NewAlarm();
  while (!co_await base::Stopping()) {
    Look();
    co_await alarm->WaitUntil(scheduler_.Now() + kRereadPeriod);
  }
}

}  // namespace webhook
