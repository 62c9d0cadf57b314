#include "controllers/usage/facts_reader.h"

#include <glog/logging.h>

#include <utility>

namespace controllers {

bool FactsReader::ByClass(std::string_view name) const {
  return evaluator_.classes && evaluator_.classes->concerns && evaluator_.classes->concerns(name);
}

void FactsReader::Limit(std::string_view name) {
  const bool may_count = evaluator_.owns(name) || ByClass(name);  // for some object
  if (!may_count || !limited_.Add(name)) return;
  CHECK(!unread_.contains(name)) << name << " was unread while nobody limited it";
  if (left_out_.any()) Add(name);
  if (!unread_.empty()) must_read_.Wake();
}

void FactsReader::Unlimit(std::string_view name) {
  if (!limited_.Remove(name)) return;
  if (const auto at = unread_.find(name); at != unread_.end()) unread_.erase(at);
}

void FactsReader::OnClasses() {
  for (const auto& [name, times] : limited_.All()) {
    if (left_out_.classes && ByClass(name)) Add(name);
  }
  if (!unread_.empty()) must_read_.Wake();
}

// A name that is unread already gets a new number: the reading that has begun may have passed the
// objects that lack it.
void FactsReader::Add(std::string_view name) {
  const auto [at, added] = unread_.try_emplace(std::string(name));
  at->second.number = ++last_;
  if (added) at->second.since = clock_.Now();
}

void FactsReader::Follow(const quota::Rules& rules, bool held) {
  if (std::exchange(rules_, rules) == rules || !evaluator_.by_rules || !held) return;
  other_rules_ = ++last_;
  must_read_.Wake();
}

base::Result<quota::ObjectFacts> FactsReader::Read(const json::Value& object,
                                                   const quota::ClassTable* classes) {
  base::Result<quota::ObjectFacts> facts = evaluator_.facts_of(
      object, {.now = clock_.WallNow(), .limited = limited_.AsFunction(), .rules = rules_});
  if (!facts) return facts;
  const quota::LimitedNames::LeftOut left_out = limited_.Bound(*facts, classes);
  left_out_.names = left_out_.names || left_out.names;
  left_out_.classes = left_out_.classes || left_out.classes;
  return facts;
}

bool FactsReader::OnReadingEnds() {
  if (other_rules_ <= begun_) other_rules_ = 0;
  return std::erase_if(unread_,
                       [this](const auto& entry) { return entry.second.number <= begun_; }) > 0;
}

std::optional<base::TimePoint> FactsReader::UnreadSince(std::string_view name) const {
  const auto at = unread_.find(name);
  return at == unread_.end() ? std::nullopt : std::optional(at->second.since);
}

}  // namespace controllers
