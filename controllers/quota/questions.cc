#include "controllers/quota/questions.h"

#include <algorithm>
#include <utility>

#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"
#include "pkg/base/text.h"

namespace controllers {
namespace {

using accounting::kAsksAgain;
using accounting::Reservation;
using accounting::ReservationList;

// Objects in more namespaces than this are not looked up one by one.
constexpr std::size_t kMostLists = 64;
// A collection of at most this size is listed: a few pages.
constexpr std::size_t kFewObjects = 1'000;
// A kube-apiserver sends a bookmark each minute.
constexpr std::chrono::seconds kBookmarkComes{75};

// Returns what to ask about the resource; null if it is not watched.
Lists* AddLists(const std::string& resource, const QuotaView& view, Question& question) {
  const auto served = view.Served(resource);
  if (!served) return nullptr;
  Lists& lists = question.lists[resource];
  lists.resource = *served;
  return &lists;
}

bool IsSmall(const std::string& resource, const QuotaView& view) {
  return view.SizeOf(resource) <= kFewObjects;
}

// An entry whose hold is over, or one object of it that is still open.
struct Held {
  const Reservation* entry = nullptr;
  quota::Uid uid;         // none for an entry without objects
  base::TimePoint since;  // the end of the hold
  bool looked_up = true;  // by a list of its namespace
  [[nodiscard]] Question::Ended name() const { return {entry->by, entry->n, uid}; }
};

std::vector<Held> HeldTooLong(base::TimePoint now, const ReservationList* list,
                              const accounting::FirstSeen& first_seen,
                              const Questions::Holds& holds, const QuotaView& view) {
  std::vector<Held> all;
  if (list == nullptr) return all;
  std::map<std::string_view, std::set<std::string_view>> namespaces;  // by resource
  for (const Reservation& entry : list->entries()) {
    const auto seen = first_seen.Of(entry);
    if (!seen || now - *seen < holds.Of(entry)) continue;
    const base::TimePoint since = *seen + holds.Of(entry);
    if (entry.objects.empty()) all.push_back({&entry, {}, since, false});
    for (const quota::Uid& uid : entry.objects) {
      if (!accounting::IsOpen(entry, uid, view)) continue;
      namespaces[entry.of].insert(view.NamespaceOf(entry.ns));
      all.push_back({&entry, uid, since});
    }
  }
  for (Held& one : all) {
    one.looked_up = one.looked_up && namespaces[one.entry->of].size() <= kMostLists;
  }
  return all;
}

// The resources whose objects may use an entry without objects.
std::vector<std::string> MayUse(const Reservation& entry, const QuotaView& view) {
  if (!entry.of.empty()) return {entry.of};
  std::set<std::string> resources;
  for (const auto& [name, amount] : entry.usage) {
    for (std::string& resource : view.ResourcesOf(name)) resources.insert(std::move(resource));
  }
  return {resources.begin(), resources.end()};
}

// True if the request of an entry was not stored. It cannot be stored later either, because its
// hold is over. The view must have shown the version that it started from: until then the entry is
// all that accounts for the object.
bool WasNeverStored(const Reservation& entry, const quota::Uid& uid, const Listed& listed,
                    const QuotaView& view) {
  const auto at = listed.objects.find(uid);
  if (at == listed.objects.end()) return true;
  const std::string& version = at->second.version;
  if (version != entry.from && !api::IsKnownOlder(version, entry.from)) return false;
  return !view.Follows(entry.of) ||
         view.HasShownVersion({.of = entry.of, .ns = at->second.ns, .uid = uid}, version);
}

}  // namespace

// The longer of the hold that its writer recorded and our own.
base::Duration Questions::Holds::Of(const Reservation& entry) const {
  if (entry.webhook.count() == 0) return usual;
  return std::max<base::Duration>(usual, accounting::HoldFor(entry.webhook));
}

base::TimePoint Questions::ShownUntil(const std::vector<std::string>& resources,
                                      const QuotaView& view) const {
  base::TimePoint all = base::TimePoint::max();
  for (const std::string& resource : resources) {
    const auto known = collections_.find(resource);
    const base::TimePoint asked =
        known == collections_.end() ? base::TimePoint::min() : known->second.shown;
    all = std::min(all, std::max(asked, view.ShownUntil(resource)));
  }
  return all;
}

Questions::Outcome Questions::Settle(base::TimePoint now, const ReservationList* list,
                                     const accounting::FirstSeen& first_seen,
                                     accounting::ExternalCharges& external, const Holds& holds,
                                     const QuotaView& view) {
  Outcome outcome;
  std::erase_if(collections_, [&](const auto& one) { return view.Ignores(one.first); });
  for (auto& [resource, collection] : collections_) {
    const bool reached =
        collection.asked && view.Follows(resource) && view.Reaches(resource, collection.version);
    if (reached) collection.shown = *std::exchange(collection.asked, std::nullopt);
  }
  for (const Held& one : HeldTooLong(now, list, first_seen, holds, view)) {
    if (one.looked_up || ShownUntil(MayUse(*one.entry, view), view) < one.since) continue;
    if (ended_.insert(one.name()).second) ++outcome.ended;
  }
  outcome.external = external.Expire(now, holds.usual, [&](std::string_view name) {
    return std::min(now, ShownUntil(view.ResourcesOf(name), view));
  });
  return outcome;
}

Question Questions::Due(base::TimePoint now, const ReservationList* list,
                        const accounting::FirstSeen& first_seen,
                        const accounting::ExternalCharges& external, const Holds& holds,
                        const QuotaView& view) {
  Question question;
  for (const accounting::ExternalCharges::Part& part : external.parts()) {
    const base::TimePoint over = part.since + holds.usual;
    if (over > now) break;
    for (const auto& [name, amount] : part.usage) {
      AddCollections(now, view.ResourcesOf(name), over, view, question);
    }
  }
  if (list != nullptr) AddDueFloors(now, *list, view, question);
  for (const Held& one : HeldTooLong(now, list, first_seen, holds, view)) {
    if (ended_.contains(one.name())) continue;
    if (!one.looked_up) {
      AddCollections(now, MayUse(*one.entry, view), one.since, view, question);
      continue;
    }
    const auto asked = asked_.find(one.name());
    if (asked != asked_.end() && now - asked->second < kAsksAgain) continue;
    Lists* const lists = AddLists(one.entry->of, view, question);
    if (lists == nullptr) continue;
    lists->namespaces.emplace(view.NamespaceOf(one.entry->ns));
    lists->objects.insert(one.uid);
    question.ends.push_back(one.name());
  }
  return question;
}

// Adds the collections of which not everything is shown that was stored at `since`.
void Questions::AddCollections(base::TimePoint now, const std::vector<std::string>& resources,
                               base::TimePoint since, const QuotaView& view,
                               Question& question) const {
  for (const std::string& resource : resources) {
    const bool added = base::IsOneOf(resource, question.collections);
    if (added || ShownUntil({resource}, view) >= since) continue;
    if (view.Tracked(resource) == nullptr) continue;
    const auto known = collections_.find(resource);
    const bool asked = known != collections_.end() && known->second.asked;
    const bool answered = asked && !known->second.version.empty();
    const bool few = IsSmall(resource, view);
    // While a large watch lags, its events bring it to the version. A list would only add load.
    const base::Duration patience =
        answered && !few ? base::Duration(kBookmarkComes) : base::Duration(kAsksAgain);
    if (asked && now - known->second.told < patience) continue;
    Lists* const lists = AddLists(resource, view, question);
    if (lists == nullptr) continue;
    lists->whole = few || answered;
    lists->within = view.NamespaceOf("");
    question.large = question.large || (lists->whole && !few);
    question.collections.push_back(resource);
  }
}

void Questions::AddDueFloors(base::TimePoint now, const ReservationList& list,
                             const QuotaView& view, Question& question) {
  std::vector<std::string> behind;
  if (!accounting::IsBehind(list, view, &behind)) {
    behind_since_.reset();
    return;
  }
  if (!behind_since_) behind_since_ = now;
  if (now - *behind_since_ < kAsksAgain) return;
  behind_since_.reset();
  for (const std::string& resource : behind) {
    Lists* const lists = AddLists(resource, view, question);
    if (lists == nullptr) continue;
    lists->whole = lists->whole || IsSmall(resource, view);
    lists->within = view.NamespaceOf("");
    question.floors.push_back(resource);
  }
}

Questions::Outcome Questions::Take(base::TimePoint now, const Question& question,
                                   const Answers& answers, base::TimePoint asked,
                                   ReservationList* list, bool same, const QuotaView& view) {
  Outcome outcome;
  TakeCollections(now, question, answers, asked, outcome);
  if (list == nullptr) return outcome;
  outcome.replaced = same && ReplaceFloors(question, answers, *list);
  for (const Question::Ended& one : question.ends) {
    const auto& [by, n, uid] = one;
    const Reservation* entry = list->Find(by, n);
    if (entry == nullptr) continue;
    const auto answer = answers.find(entry->of);
    const bool never = answer != answers.end() && WasNeverStored(*entry, uid, answer->second, view);
    if (never && ended_.insert(one).second) ++outcome.ended;
    if (never) continue;
    asked_[one] = now;  // stored, but the watch has not shown it yet: ask again later
    if (answer == answers.end() || !accounting::IsOpen(*entry, uid, view)) continue;
    api::RaiseVersion(outcome.unseen[entry->of], answer->second.objects.at(uid).version);
  }
  return outcome;
}

void Questions::TakeCollections(base::TimePoint now, const Question& question,
                                const Answers& answers, base::TimePoint asked, Outcome& outcome) {
  for (const std::string& resource : question.collections) {
    Collection& collection = collections_[resource];
    collection.asked = asked;
    collection.told = now;
    collection.version.clear();
    const auto answer = answers.find(resource);
    if (answer == answers.end()) continue;
    if (!question.lists.at(resource).whole) {
      collection.version = answer->second.version;
    } else if (!answer->second.unshown.empty()) {
      collection.version = answer->second.unshown;
      api::RaiseVersion(outcome.unseen[resource], collection.version);
    } else {
      collection.shown = *std::exchange(collection.asked, std::nullopt);
    }
  }
}

// An entry is dropped only after its object is stored, so the answer knows the object. Every watch
// reaches the version of an object. It reaches the version of a collection, too, but perhaps only
// with a bookmark, so that one is used only if the collection is too large to be listed.
bool Questions::ReplaceFloors(const Question& question, const Answers& answers,
                              ReservationList& list) {
  bool replaced = false;
  for (const std::string& resource : question.floors) {
    const auto answer = answers.find(resource);
    const auto floor = list.floor.find(resource);
    if (answer == answers.end() || floor == list.floor.end()) continue;
    if (!api::IsKnownOlder(answer->second.version, floor->second)) continue;
    const bool whole = question.lists.at(resource).whole;
    floor->second = whole ? answer->second.newest : answer->second.version;
    if (!api::IsDecimalVersion(floor->second)) list.floor.erase(floor);
    replaced = true;
  }
  return replaced;
}

void Questions::Drop(ReservationList& list) const {
  for (const auto& [by, n, uid] : ended_) {
    const bool whole = uid == quota::Uid();
    (void)(whole ? list.Remove(by, n) : list.Remove(by, n, uid));
  }
}

void Questions::OnList(const ReservationList* list) {
  const auto is_gone = [&](const Question::Ended& one) {
    return list == nullptr || list->Find(std::get<0>(one), std::get<1>(one)) == nullptr;
  };
  std::erase_if(ended_, is_gone);
  std::erase_if(asked_, [&](const auto& asked) { return is_gone(asked.first); });
  if (list == nullptr) behind_since_.reset();
}

}  // namespace controllers
