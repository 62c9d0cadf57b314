#include "cmd/quota-controller-manager/server_contact.h"

#include <glog/logging.h>

#include <string>
#include <utility>

#include "pkg/api/time.h"
#include "pkg/json/value.h"

namespace manager {
namespace {

// How long nothing is answered before this asks. The lease is read every 4.4 s at the latest.
constexpr std::chrono::seconds kNothingAnswered{5};
constexpr std::chrono::seconds kContactPeriod{1};
constexpr std::chrono::seconds kContactTimeout{5};

std::string Reason(const client::Reachability::Trouble& trouble) {
  const bool refused = trouble.last.Is(base::ErrorCode::kUnauthorized);
  std::string reason = refused ? "the API server has refused our credentials since "
                               : "the API server has not answered since ";
  reason += api::FormatTime(trouble.since);
  return reason.append(": ").append(base::ToString(trouble.last.code));
}

}  // namespace

void ServerContact::AddChecks(debug::Health& health) {
  health.AddReadiness("apiserver", [this]() -> std::optional<debug::Failure> {
    const auto trouble = reachability_.Unanswered();
    if (!trouble) return std::nullopt;
    return debug::Failure{.reason = Reason(*trouble), .detail = trouble->last.message};
  });
}

void ServerContact::Tell() {
  const bool lost = reachability_.Unanswered().has_value();
  if (std::exchange(lost_, lost) != lost) callbacks_.on_contact(!lost);
}

base::Task<void> ServerContact::Run() {
  co_await base::DeferCancellation();
  while (!co_await base::Stopping()) {
    // A replica that is not ready must know at once when it can be.
    const base::Duration quiet = lost_ ? kContactPeriod : kNothingAnswered;
    if (scheduler_.Now() - reachability_.last_answer() >= quiet) {
      client::ApiRequest request;
      request.path = "/version";  // everybody may read it, and it costs the server little
      request.timeout = kContactTimeout;
      (void)co_await client_.Do(std::move(request));
    }
    Tell();
    if (const auto refused = reachability_.Refused()) {
      LOG(ERROR) << "the API server answers nothing but 401: our credentials have ended, stopping "
                    "so that the next start reads them again since="
                 << api::FormatTime(refused->since)
                 << " error=" << json::Quote(refused->last.message);
      callbacks_.on_refused();
      co_return;
    }
    co_await scheduler_.Sleep(kContactPeriod);
  }
}

}  // namespace manager
