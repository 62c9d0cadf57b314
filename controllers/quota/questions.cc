#include "controllers/quota/questions.h"

#include <algorithm>

#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"

namespace controllers {
namespace {

using accounting::kAsksAgain;
using accounting::Reservation;
using accounting::ReservationList;

// Lists the resource in the namespace that `ns` of an entry means, if it is watched.
void AddList(const std::string& resource, std::string_view ns, const QuotaView& view,
             Question& question) {
  const auto served = view.Served(resource);
  if (!served) return;
  Lists& lists = question.lists[resource];
  lists.resource = *served;
  lists.namespaces.emplace(view.NamespaceOf(ns));
}

// True if the view has shown every object of the answer.
bool IsComplete(const QuotaView& view, const std::string& resource, const Answers& answers) {
  const auto answer = answers.find(resource);
  if (answer == answers.end() || !view.Follows(resource)) return false;
  return std::ranges::all_of(answer->second.objects, [&](const auto& object) {
    const auto& [uid, listed] = object;
    return view.HasShownVersion({.of = resource, .ns = listed.ns, .uid = uid}, listed.version);
  });
}

bool IsComplete(const QuotaView& view, const Answers& answers) {
  return std::ranges::all_of(view.resources(), [&](const std::string& resource) {
    return view.IsAbsent(resource) || IsComplete(view, resource, answers);
  });
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
  if (entry.webhook.count() == 0) return entries;
  return std::max<base::Duration>(entries, accounting::HoldFor(entry.webhook));
}

// A replica of an old version may store its object as late as we do, so its charges are held as
// long.
base::Duration Questions::Holds::OfStrangers() const {
  return std::max<base::Duration>(entries, accounting::kStrangersHold);
}

Question Questions::Due(base::TimePoint now, const ReservationList* list,
                        const accounting::FirstSeen& first_seen,
                        const accounting::Strangers& strangers, const Holds& holds,
                        const QuotaView& view) {
  Question question;
  const auto oldest = strangers.Oldest();
  question.strangers =
      oldest && now - *oldest >= holds.OfStrangers() && now - strangers_asked_ >= kAsksAgain;
  bool all = question.strangers;
  if (list != nullptr) {
    AddDueFloors(now, *list, view, question);
    AddDueEntries(now, *list, first_seen, holds, view, question);
    for (const auto& [by, n, uid] : question.ends) {
      const Reservation& entry = *list->Find(by, n);
      all = all || entry.of.empty();
      AddList(entry.of, entry.ns, view, question);
    }
  }
  // Usage without an object may belong to any object, so all resources are listed.
  if (!all) return question;
  for (const std::string& resource : view.resources()) {
    if (view.Tracked(resource) != nullptr) AddList(resource, "", view, question);
  }
  return question;
}

void Questions::AddDueEntries(base::TimePoint now, const ReservationList& list,
                              const accounting::FirstSeen& first_seen, const Holds& holds,
                              const QuotaView& view, Question& question) const {
  const auto consider = [&](const Reservation& entry, const quota::Uid& uid) {
    Question::Ended one{entry.by, entry.n, uid};
    const auto asked = asked_.find(one);
    const bool again = asked == asked_.end() || now - asked->second >= kAsksAgain;
    if (again && !ended_.contains(one)) question.ends.push_back(std::move(one));
  };
  for (const Reservation& entry : list.entries()) {
    const auto seen = first_seen.Of(entry);
    if (!seen || now - *seen < holds.Of(entry)) continue;
    if (entry.objects.empty()) consider(entry, {});
    for (const quota::Uid& uid : entry.objects) {
      if (accounting::IsOpen(entry, uid, view)) consider(entry, uid);
    }
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
  for (const std::string& resource : behind) AddList(resource, "", view, question);
  question.floors = std::move(behind);
}

Questions::Outcome Questions::Take(base::TimePoint now, const Question& question,
                                   const Answers& answers, base::TimePoint asked,
                                   ReservationList* list, accounting::Strangers& strangers,
                                   const Holds& holds, const QuotaView& view) {
  Outcome outcome;
  const bool all = IsComplete(view, answers);
  if (question.strangers && all) outcome.strangers = strangers.Expire(asked, holds.OfStrangers());
  if (question.strangers && !all) strangers_asked_ = now;
  if (list == nullptr) return outcome;
  outcome.put_back = TakeFloors(question, answers, *list);
  for (const Question::Ended& one : question.ends) {
    const auto& [by, n, uid] = one;
    const Reservation* entry = list->Find(by, n);
    if (entry == nullptr) continue;
    const auto answer = answers.find(entry->of);
    bool never = false;
    if (entry->objects.empty()) {
      never = entry->of.empty() ? all : IsComplete(view, entry->of, answers);
    } else if (answer != answers.end()) {
      never = WasNeverStored(*entry, uid, answer->second, view);
    }
    if (never && ended_.insert(one).second) ++outcome.ended;
    if (never) continue;
    asked_[one] = now;  // stored, but the watch has not shown it yet: ask again later
    const bool stored = !entry->objects.empty() && answer != answers.end();
    if (!stored || !accounting::IsOpen(*entry, uid, view)) continue;
    api::RaiseVersion(outcome.unseen[entry->of], answer->second.objects.at(uid).version);
  }
  return outcome;
}

// Removes floors that the server has not reached. Returns true if there was one: a writer raised it
// with a watch from before the server was restored.
bool Questions::TakeFloors(const Question& question, const Answers& answers,
                           ReservationList& list) {
  bool put_back = false;
  for (const std::string& resource : question.floors) {
    const auto answer = answers.find(resource);
    const auto floor = list.floor.find(resource);
    if (answer == answers.end() || floor == list.floor.end()) continue;
    if (!api::IsKnownOlder(answer->second.version, floor->second)) continue;
    void_floors_[resource] = floor->second;
    list.floor.erase(floor);
    put_back = true;
  }
  return put_back;
}

void Questions::Drop(ReservationList& list) const {
  for (const auto& [by, n, uid] : ended_) {
    const bool whole = uid == quota::Uid();
    (void)(whole ? list.Remove(by, n) : list.Remove(by, n, uid));
  }
}

void Questions::OnList(ReservationList* list) {
  const auto is_gone = [&](const Question::Ended& one) {
    return list == nullptr || list->Find(std::get<0>(one), std::get<1>(one)) == nullptr;
  };
  std::erase_if(ended_, is_gone);
  std::erase_if(asked_, [&](const auto& asked) { return is_gone(asked.first); });
  if (list == nullptr) {
    behind_since_.reset();
    return;
  }
  // The stored list has a removed floor until our next write.
  for (const auto& [resource, version] : void_floors_) {
    const auto floor = list->floor.find(resource);
    if (floor != list->floor.end() && floor->second == version) list->floor.erase(floor);
  }
}

}  // namespace controllers
