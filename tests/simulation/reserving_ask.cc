// What the server is asked before an entry ends that was not seen.

#include <algorithm>

#include "pkg/api/resource_version.h"
#include "tests/simulation/reserving_view.h"

namespace simulation {
namespace {

using accounting::ReservationList;
using controllers::UsageSource;
using std::chrono_literals::operator""s;

constexpr base::Duration kAsksAgain = 2s;

}  // namespace

// Whose time is over, and of which nobody has asked the server since.
ReservingController::Question ReservingController::DueToAsk(const quota::Quota& quota,
                                                            Memory& memory) const {
  Question question;
  const QuotaView view(*this, quota);
  const base::TimePoint now = context_.scheduler->Now();
  const auto strangers = memory.strangers.Oldest();
  question.strangers = strangers && now - *strangers >= StrangersHold() &&
                       now - memory.strangers_asked >= kAsksAgain;
  if (!memory.list) return question;
  const bool behind = IsBehind(*memory.list, view, &question.floors);
  if (!behind) memory.behind_since.reset();
  if (behind && !memory.behind_since) memory.behind_since = now;
  if (behind && now - *memory.behind_since < kAsksAgain) question.floors.clear();
  if (!question.floors.empty()) memory.behind_since.reset();
  for (const accounting::Reservation& entry : memory.list->entries()) {
    const auto seen = memory.first_seen.Of(entry);
    if (!seen || now - *seen < HoldOf(entry)) continue;
    const auto consider = [&](const quota::Uid& uid) {
      const Ended one{entry.by, entry.n, uid};
      const auto asked = memory.asked.find(one);
      const bool again = asked == memory.asked.end() || now - asked->second >= kAsksAgain;
      if (again && !memory.ended.contains(one)) question.ends.push_back(one);
    };
    if (entry.objects.empty()) consider({});
    for (const quota::Uid& uid : entry.objects) {
      if (IsOpen(entry, uid, view)) consider(uid);
    }
  }
  return question;
}

void ReservingController::DropEnded(const Memory& memory, ReservationList& list) const {
  for (const auto& [by, n, uid] : memory.ended) {
    const bool whole = uid == quota::Uid();
    (void)(whole ? list.Remove(by, n) : list.Remove(by, n, uid));
  }
}

// By who wrote it, or now: the longer.
base::Duration ReservingController::HoldOf(const accounting::Reservation& entry) const {
  if (entry.webhook.count() == 0) return options_.hold;
  return std::max<base::Duration>(options_.hold, accounting::HoldFor(entry.webhook));
}

// False: it does not answer.
base::Task<bool> ReservingController::AskServer(quota::Quota quota, Question question) {
  const base::TimePoint asked = context_.scheduler->Now();
  if (!options_.asks) {
    Memory* const memory = FindMemory(quota);
    if (memory != nullptr) memory->ended.insert(question.ends.begin(), question.ends.end());
    if (memory != nullptr) memory->strangers.Expire(asked, StrangersHold());
    co_return true;
  }
  const ReservationList list = Remember(quota).list.value_or(ReservationList());
  std::set<std::string> resources(question.floors.begin(), question.floors.end());
  bool all = question.strangers;
  for (const auto& [by, n, uid] : question.ends) {
    const accounting::Reservation* entry = list.Find(by, n);
    if (entry != nullptr && !entry->of.empty()) resources.insert(entry->of);
    all = all || (entry != nullptr && entry->of.empty());
  }
  for (const UsageSource& source : tracker_.SourcesOf(quota.hard)) {
    if (all && source.tracked != nullptr) resources.insert(source.evaluator->resource.ToString());
  }
  const auto answers = co_await ListAll(quota, std::move(resources));
  if (!answers) co_return false;
  TakeAnswers(quota, question, *answers, asked);
  co_return true;
}

base::Task<base::Result<ReservingController::Answers>> ReservingController::ListAll(
    quota::Quota quota, std::set<std::string> resources) {
  Answers answers;
  std::map<std::string, std::string> paths;
  for (const UsageSource& source : tracker_.SourcesOf(quota.hard)) {
    if (source.tracked == nullptr) continue;
    paths[source.evaluator->resource.ToString()] = source.tracked->resource().Path(quota.key.ns);
  }
  for (const std::string& resource : resources) {
    const auto path = paths.find(resource);
    if (path == paths.end()) continue;
    client::ApiRequest request{.path = path->second, .timeout = options_.write_timeout};
    const auto answer = co_await client::DoJson(*context_.client, std::move(request));
    if (!answer) co_return answer.error();
    const json::Value* items = answer->At({"items"});
    if (items == nullptr || !items->IsArray()) {
      co_return base::Error{.code = base::ErrorCode::kMalformed, .message = "no items"};
    }
    Listed& listed = answers[resource];
    listed.version = answer->StringAt({"metadata", "resourceVersion"});
    for (const json::Value& item : *items->AsArray()) {
      listed.objects[quota::Uid::FromText(item.StringAt({"metadata", "uid"}))] =
          item.StringAt({"metadata", "resourceVersion"});
    }
  }
  co_return answers;
}

// Nothing is stored that the view lacks.
bool ReservingController::IsComplete(const QuotaView& view, const std::string& resource,
                                     const Listed& listed) {
  return view.Follows(resource) && std::ranges::all_of(listed.objects, [&](const auto& object) {
           return view.HasShownVersion(resource, object.first, object.second);
         });
}

void ReservingController::TakeAnswers(const quota::Quota& quota, const Question& question,
                                      const Answers& answers, base::TimePoint asked) {
  Memory* const memory = FindMemory(quota);
  const quota::Quota* known = store_.Find(quota.key);
  if (memory == nullptr || known == nullptr) return;
  const QuotaView view(*this, *known);
  const base::TimePoint now = context_.scheduler->Now();
  bool all = true;
  for (const UsageSource& source : tracker_.SourcesOf(known->hard)) {
    const auto answer = answers.find(source.evaluator->resource.ToString());
    if (source.tracked == nullptr && source.known_absent) continue;
    all = all && answer != answers.end() && IsComplete(view, answer->first, answer->second);
  }
  if (question.strangers && all) memory->strangers.Expire(asked, StrangersHold());
  if (question.strangers && !all) memory->strangers_asked = now;
  if (!memory->list) return;
  for (const std::string& resource : question.floors) {
    const auto answer = answers.find(resource);
    const auto floor = memory->list->floor.find(resource);
    if (answer == answers.end() || floor == memory->list->floor.end()) continue;
    const std::string& version = answer->second.version;
    if (!api::IsOlderVersion(version, floor->second).value_or(false)) continue;
    memory->void_floors[resource] = floor->second;
    memory->list->floor.erase(floor);
    OnPutBack();
  }
  for (const Ended& one : question.ends) {
    const auto& [by, n, uid] = one;
    const accounting::Reservation* entry = memory->list->Find(by, n);
    if (entry == nullptr) continue;
    const auto answer = answers.find(entry->of);
    const bool answered = entry->of.empty() ? all : answer != answers.end();
    bool never = false;
    if (entry->objects.empty()) {
      never = answered && (entry->of.empty() || IsComplete(view, entry->of, answer->second));
    } else if (answered) {
      const auto at = answer->second.objects.find(uid);
      never = at == answer->second.objects.end() || at->second == entry->from ||
              api::IsOlderVersion(at->second, entry->from).value_or(false);
    }
    if (never) {
      memory->ended.insert(one);
    } else {
      memory->asked[one] = now;  // the watch has yet to show it
    }
  }
}

}  // namespace simulation
