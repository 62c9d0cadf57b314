#include "controllers/usage/unread_names.h"

namespace controllers {

// Stays until the process ends: then a new name costs a list that may be unneeded.
void UnreadNames::OnLeftOut(quota::LimitedNames::LeftOut left_out) {
  left_out_.names = left_out_.names || left_out.names;
  left_out_.classes = left_out_.classes || left_out.classes;
}

void UnreadNames::OnLimited(std::string_view name, base::TimePoint now) {
  if (left_out_.any()) Add(name, now);
}

void UnreadNames::OnUnlimited(std::string_view name) {
  if (const auto at = unread_.find(name); at != unread_.end()) unread_.erase(at);
}

void UnreadNames::OnClasses(std::string_view name, base::TimePoint now) {
  if (left_out_.classes) Add(name, now);
}

bool UnreadNames::OnReadingEnds() {
  return std::erase_if(unread_,
                       [this](const auto& entry) { return entry.second.number <= begun_; }) > 0;
}

std::optional<base::TimePoint> UnreadNames::Since(std::string_view name) const {
  const auto at = unread_.find(name);
  return at == unread_.end() ? std::nullopt : std::optional(at->second.since);
}

// A name that is unread already gets a new number: the reading that has begun may have passed the
// objects that lack it.
void UnreadNames::Add(std::string_view name, base::TimePoint now) {
  const auto [at, added] = unread_.try_emplace(std::string(name));
  at->second.number = ++last_;
  if (added) at->second.since = now;
}

}  // namespace controllers
