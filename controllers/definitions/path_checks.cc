#include "controllers/definitions/path_checks.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "controllers/quota/events/status_conditions.h"
#include "pkg/base/text.h"

namespace controllers {
namespace {

using quota::usage::SchemaDocument;
using quota::usage::StoredDefinition;

constexpr std::chrono::seconds kReadTimeout{5};
constexpr std::chrono::minutes kIdle{1};

// Reasons of a definition that was in force, in a status without its versions.
constexpr std::array<std::string_view, 5> kInForce = {"Counting", "NotLimited", kNotCountedYet,
                                                      "Forbidden", quota::usage::kPathLost};
// Reasons of one that was not: the versions in the status are those of a former generation.
constexpr std::array<std::string_view, 5> kNotInForce = {"NameTaken", "PathInvalid", "TooMany",
                                                         quota::usage::kNotSupported,
                                                         quota::usage::kPathNotInSchema};

base::Duration Longer(base::Duration wait, base::Duration most) {
  return std::clamp<base::Duration>(2 * wait, PathChecks::kSoonest, most);
}

// What the status says of the paths of this generation if they are wrong; "": nothing.
std::string RecordedMistake(const StoredDefinition& stored) {
  quota::usage::Verdict recorded = quota::usage::RecordedVerdict(stored);
  const bool wrong = recorded.reason == quota::usage::kPathNotInSchema;
  return wrong ? std::move(recorded.message) : "";
}

}  // namespace

bool WasInForce(const StoredDefinition& stored) {
  const std::string reason = quota::usage::RecordedVerdict(stored).reason;
  const bool has_versions =
      quota::usage::IsObserved(stored) && !quota::usage::VersionsIn(stored.status).objects.empty();
  return base::IsOneOf(reason, kInForce) || (has_versions && !base::IsOneOf(reason, kNotInForce));
}

const PathChecks::Question* PathChecks::Reading::chosen() const {
  if (questions.empty()) return nullptr;
  const auto right = std::ranges::find(questions, "", &Question::wrong);
  return right == questions.end() ? &questions.front() : &*right;
}

bool PathChecks::Reading::IsAccepted() const {
  const Question* const question = chosen();
  return question == nullptr || question->kind.version == accepted_in;
}

bool PathChecks::Reading::IsUnknown() const {
  const Question* const question = chosen();
  return question != nullptr && !question->known;
}

bool PathChecks::Check::IsKnown() const {
  const bool has_class = quota::usage::ClassOf(*definition) != nullptr;
  return !objects.questions.empty() && !objects.IsUnknown() &&
         (!has_class || (!of_class.questions.empty() && !of_class.IsUnknown()));
}

std::string PathChecks::Check::Wrong() const {
  for (const Reading* reading : {&objects, &of_class}) {
    const Question* const question = reading->chosen();
    if (question != nullptr && !question->wrong.empty()) return question->wrong;
  }
  return recorded;
}

PathChecks::PathChecks(client::ApiClient& client, base::Scheduler& scheduler,
                       std::function<void()> changed)
    : client_(client),
      scheduler_(scheduler),
      changed_(std::move(changed)),
      due_(scheduler.NewAlarm()) {}

PathChecks::Check PathChecks::NewCheck(const StoredDefinition& stored,
                                       quota::usage::DefinitionVersions last, base::TimePoint now) {
  Check check{.definition = stored.definition, .since = now};
  // A former text of the definition that was still in force, or may be again, is back.
  if (stored.definition == stored.in_force || stored.definition == stored.former) {
    check.accepted = true;
    check.objects.accepted_in = std::move(last.objects);
    check.of_class.accepted_in = std::move(last.of_class);
    return check;
  }
  if (!quota::usage::IsObserved(stored)) return check;
  quota::usage::DefinitionVersions versions = quota::usage::VersionsIn(stored.status);
  check.accepted = WasInForce(stored);
  check.objects.accepted_in = std::move(versions.objects);
  check.of_class.accepted_in = std::move(versions.of_class);
  check.recorded = RecordedMistake(stored);
  return check;
}

void PathChecks::Follow(const quota::usage::DefinitionSet::Stored& stored,
                        const KindsOf& kinds_of) {
  std::erase_if(checks_, [&](const auto& one) {
    const auto at = stored.find(one.first);
    return at == stored.end() || at->second.definition != one.second.definition;
  });
  for (const auto& [name, one] : stored) {
    if (!one.definition) continue;
    DefinitionKinds kinds = kinds_of(one);
    auto at = checks_.find(name);
    const bool is_new = at == checks_.end();
    if (is_new) {
      at = checks_.emplace(name, NewCheck(one, kinds.last, scheduler_.Now())).first;
    }
    Check& check = at->second;
    if (kinds.told != check.told && (check.told || !check.accepted || is_new)) {
      check.told = kinds.told;
      check.accepted = WasInForce(one);
      check.recorded = RecordedMistake(one);
    }
    if (kinds.told) {
      check.objects.accepted_in = std::move(kinds.last.objects);
      check.of_class.accepted_in = std::move(kinds.last.of_class);
    }
    Ask(check, check.objects, std::move(kinds.objects));
    Ask(check, check.of_class, std::move(kinds.of_class));
  }
  std::set<std::string> used;
  for (const auto& [name, check] : checks_) {
    for (const Reading* reading : {&check.objects, &check.of_class}) {
      for (const Question& question : reading->questions) used.insert(question.kind.Document());
    }
  }
  std::erase_if(documents_, [&](const auto& one) { return !used.contains(one.first); });
}

// Of another version, or another kind, nothing is known yet.
void PathChecks::Ask(Check& check, Reading& reading, std::vector<quota::usage::ServedKind> kinds) {
  const auto stays =
      std::ranges::find(kinds, reading.accepted_in, &quota::usage::ServedKind::version);
  if (check.accepted && stays != kinds.end()) kinds = std::vector{*stays};
  if (std::ranges::equal(reading.questions, kinds, {}, &Question::kind)) return;
  std::vector<Question> questions;
  for (quota::usage::ServedKind& kind : kinds) {
    const auto same = std::ranges::find(reading.questions, kind, &Question::kind);
    if (same != reading.questions.end()) {
      questions.push_back(std::move(*same));
      continue;
    }
    check.since = scheduler_.Now();
    documents_.insert_or_assign(kind.Document(), Document{.etag = "", .next = scheduler_.Now()});
    due_->Wake();
    questions.push_back({.kind = std::move(kind)});
  }
  reading.questions = std::move(questions);
}

const PathChecks::Check* PathChecks::Find(std::string_view name) const {
  const auto at = checks_.find(name);
  return at == checks_.end() ? nullptr : &at->second;
}

bool PathChecks::IsDecided(std::string_view name) const {
  const Check* check = Find(name);
  return check != nullptr &&
         ((check->accepted && !check->told) || (!check->accepted && !check->Wrong().empty()));
}

std::string PathChecks::WhyNot(std::string_view name) const {
  const Check* check = Find(name);
  return check == nullptr || check->accepted ? "" : check->Wrong();
}

std::string PathChecks::Lost(std::string_view name) const {
  const Check* check = Find(name);
  return check != nullptr && check->accepted ? check->Wrong() : "";
}

quota::usage::DefinitionVersions PathChecks::VersionsFor(std::string_view name) const {
  const Check* check = Find(name);
  if (check == nullptr) return {};
  const auto version = [](const Reading& reading) {
    return reading.questions.empty() ? "" : reading.chosen()->kind.version;
  };
  return {.objects = version(check->objects), .of_class = version(check->of_class)};
}

bool PathChecks::IsPending(std::string_view name) const {
  const Check* check = Find(name);
  if (check == nullptr || !check->recorded.empty()) return false;
  if (check->accepted && check->objects.IsAccepted() && check->of_class.IsAccepted()) return false;
  return scheduler_.Now() - check->since < kPatience &&
         (check->objects.IsUnknown() || check->of_class.IsUnknown());
}

bool PathChecks::AnyPending() const {
  return std::ranges::any_of(checks_, [this](const auto& one) { return IsPending(one.first); });
}

base::Task<void> PathChecks::Run() {
  co_await base::DeferCancellation();
  while (!co_await base::Stopping()) {
    const base::TimePoint now = scheduler_.Now();
    const auto first =
        std::ranges::min_element(documents_, {}, [](const auto& one) { return one.second.next; });
    if (first != documents_.end() && first->second.next <= now) {
      co_await Read(first->first);
    } else {
      co_await due_->WaitUntil(first == documents_.end() ? now + kIdle : first->second.next);
    }
  }
}

base::Task<void> PathChecks::Read(std::string path) {
  client::ApiRequest request{
      .path = path, .timeout = kReadTimeout, .if_none_match = documents_.at(path).etag};
  const std::string asked_of = request.if_none_match;
  const auto answer = co_await client_.Do(std::move(request));
  const auto at = documents_.find(path);
  if (at == documents_.end()) co_return;
  // A question that came meanwhile has reset the tag, and the next turn reads again.
  if (at->second.etag != asked_of) co_return;
  if (!answer) {
    if (!answer.error().Is(base::ErrorCode::kCancelled))
      OnFailure(path, at->second, answer.error());
  } else if (answer->status != 304) {
    auto schemas = SchemaDocument::Read(answer->body);
    if (schemas) {
      at->second.etag = answer->headers.Get("ETag");
      for (auto& [name, check] : checks_) Answer(name, check, *schemas, path);
      changed_();
    } else {
      OnFailure(path, at->second, schemas.error());
    }
  }
  Plan(path, at->second);
}

// A server needs a moment until it describes a new CRD, so only what lasts is worth a line.
void PathChecks::OnFailure(const std::string& path, Document& document, const base::Error& error) {
  if (document.wait < kWhileWrong || std::exchange(document.complained, true)) return;
  LOG(WARNING) << "a schema cannot be read, so paths of UsageDefinitions are not checked document="
               << path << " error=" << json::Quote(error.message);
}

void PathChecks::Answer(const std::string& name, Check& check, SchemaDocument& schemas,
                        const std::string& path) {
  const bool lost = check.accepted && !check.Wrong().empty();
  bool concerned = false;
  const auto answer = [&](Reading& reading, auto paths_in) {
    for (Question& question : reading.questions) {
      if (question.kind.Document() != path) continue;
      concerned = true;
      auto why = schemas.WhyNot(question.kind, paths_in(*check.definition));
      if (!why) continue;
      question.known = true;
      question.wrong = std::move(*why);
    }
  };
  answer(check.objects, quota::usage::PathsInObjects);
  answer(check.of_class, quota::usage::PathsInClass);
  if (!concerned) return;
  const bool known = check.IsKnown();
  if (known) check.recorded.clear();
  const std::string wrong = check.Wrong();
  if (known && wrong.empty()) {
    check.accepted = true;
    check.told = false;
    for (Reading* reading : {&check.objects, &check.of_class}) {
      if (!reading->questions.empty()) reading->accepted_in = reading->chosen()->kind.version;
    }
  }
  LOG_IF(WARNING, check.accepted && !lost && !wrong.empty())
      << "a path of a UsageDefinition in force is not in the schema any more definition=" << name
      << " path=" << json::Quote(wrong);
}

void PathChecks::Plan(const std::string& path, Document& document) {
  bool wrong = false;
  bool known = true;
  for (const auto& [name, check] : checks_) {
    for (const Reading* reading : {&check.objects, &check.of_class}) {
      for (const Question& question : reading->questions) {
        if (question.kind.Document() != path) continue;
        wrong = wrong || !question.wrong.empty() || !check.recorded.empty();
        known = known && question.known;
      }
    }
  }
  document.wait = wrong   ? Longer(document.wait, kWhileWrong)
                  : known ? base::Duration(kRarely)
                          : Longer(document.wait, kRarely);
  document.next = scheduler_.Now() + document.wait;
}

}  // namespace controllers
