#include "pkg/client/reachability.h"

namespace client {

void Reachability::OnAnswer() {
  last_end_ = clock_.Now();
  unanswered_.reset();
  refused_.reset();
}

void Reachability::OnError(const base::Error& error) {
  if (error.Is(base::ErrorCode::kCancelled)) return;
  const bool refused = error.http_status == 401;
  if (error.http_status != 0 && !refused) return OnAnswer();
  last_end_ = clock_.Now();
  Extend(unanswered_, error);
  if (!refused) return;
  if (refused_ && last_end_ - refused_->latest > kLongestGap) refused_.reset();
  Extend(refused_, error);
}

void Reachability::Extend(std::optional<Spell>& spell, const base::Error& error) {
  if (!spell) spell = Spell{.began = last_end_, .trouble = {.since = clock_.WallNow()}};
  spell->latest = last_end_;
  spell->trouble.last = error;
}

std::optional<Reachability::Trouble> Reachability::Lasting(const std::optional<Spell>& spell) {
  if (!spell || spell->latest - spell->began < kPatience) return std::nullopt;
  return spell->trouble;
}

}  // namespace client
