#include "controllers/usage/server_rules.h"

#include <glog/logging.h>

#include "pkg/client/server_version.h"
#include "pkg/json/value.h"

namespace controllers {

base::Task<void> ServerRules::Refresh() {
  const bool fresh = !answered_.empty() && scheduler_.Now() - last_answer_ < kAsksAgain;
  if (fresh) co_return;
  const auto version = co_await client::ReadServerVersion(client_);
  if (version) {
    trouble_.Solve();
    Take(*version);
    co_return;
  }
  const base::Error& error = version.error();
  if (!error.Is(base::ErrorCode::kCancelled) && trouble_.Meet(error.message, scheduler_.Now())) {
    LOG(WARNING) << "the server's version is not known; counting by "
                 << (answered_.empty() ? "the oldest rules" : "the same rules as before")
                 << " error=" << json::Quote(error.message);
  }
}

void ServerRules::Take(const api::KubernetesVersion& version) {
  last_answer_ = scheduler_.Now();
  const bool first = answered_.empty();
  const auto oldest = first ? version : answered_.begin()->first;
  answered_.insert_or_assign(version, last_answer_);
  std::erase_if(answered_, [&](const auto& one) { return last_answer_ - one.second > kMixed; });
  const api::KubernetesVersion& now = answered_.begin()->first;
  rules_ = quota::RulesOf(now);
  if (first || now != oldest) LOG(INFO) << "counting as Kubernetes " << now.ToString() << " does";
}

}  // namespace controllers
