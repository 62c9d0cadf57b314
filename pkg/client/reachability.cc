#include "pkg/client/reachability.h"

namespace client {

void Reachability::OnAnswer() {
  last_answer_ = clock_.Now();
  unanswered_.reset();
  refused_.reset();
}

void Reachability::OnError(const base::Error& error) {
  if (error.Is(base::ErrorCode::kCancelled)) return;
  const bool refused = error.http_status == 401;
  if (error.http_status != 0 && !refused) return OnAnswer();
  Extend(unanswered_, error);
  if (!refused) return;
  if (refused_ && clock_.Now() - refused_->latest > kLongestGap) refused_.reset();
  Extend(refused_, error);
}

void Reachability::Extend(std::optional<Spell>& spell, const base::Error& error) {
  const base::TimePoint now = clock_.Now();
  if (!spell) spell = Spell{.began = now, .trouble = {.since = clock_.WallNow()}};
  spell->latest = now;
  spell->trouble.last = error;
}

std::optional<Reachability::Trouble> Reachability::Lasting(const std::optional<Spell>& spell) {
  if (!spell || spell->latest - spell->began < kPatience) return std::nullopt;
  return spell->trouble;
}

}  // namespace client
