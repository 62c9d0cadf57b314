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

using quota::usage::NamedPath;
using quota::usage::SchemaDocument;
using quota::usage::StoredDefinition;

constexpr std::chrono::seconds kReadTimeout{5};
constexpr std::chrono::minutes kIdle{1};

// Reasons of a definition that was in force while its kind was served.
constexpr std::array<std::string_view, 4> kInForce = {"Counting", "NotLimited", kNotCountedYet,
                                                      "Forbidden"};

base::Duration Longer(base::Duration wait, base::Duration most) {
  return std::clamp<base::Duration>(2 * wait, PathChecks::kSoonest, most);
}

}  // namespace

PathChecks::PathChecks(client::ApiClient& client, base::Scheduler& scheduler,
                       std::function<void()> changed)
    : client_(client),
      scheduler_(scheduler),
      changed_(std::move(changed)),
      due_(scheduler.NewAlarm()) {}

PathChecks::Check PathChecks::NewCheck(const StoredDefinition& stored, base::TimePoint now) {
  Check check{.definition = *stored.definition, .since = now};
  quota::usage::Verdict recorded = quota::usage::RecordedVerdict(stored);
  check.accepted = base::IsOneOf(recorded.reason, kInForce);
  if (recorded.reason == quota::usage::kPathNotInSchema) {
    check.recorded = std::move(recorded.message);
  }
  return check;
}

void PathChecks::Follow(
    const quota::usage::DefinitionSet::Stored& stored,
    const std::function<DefinitionKinds(const quota::usage::UsageDefinition&)>& kinds_of) {
  std::erase_if(checks_, [&](const auto& one) {
    const auto at = stored.find(one.first);
    return at == stored.end() || at->second.definition != one.second.definition;
  });
  for (const auto& [name, one] : stored) {
    if (!one.definition) continue;
    auto at = checks_.find(name);
    if (at == checks_.end()) at = checks_.emplace(name, NewCheck(one, scheduler_.Now())).first;
    Ask(at->second, kinds_of(*one.definition));
  }
  std::set<std::string> used;
  for (const auto& [name, check] : checks_) {
    for (const Question& question : check.questions) used.insert(question.kind.Document());
  }
  std::erase_if(documents_, [&](const auto& one) { return !used.contains(one.first); });
}

// Of another version, or another kind, nothing is known yet.
void PathChecks::Ask(Check& check, const DefinitionKinds& kinds) {
  if (check.kinds == kinds) return;
  check.kinds = kinds;
  std::vector<Question> questions;
  check.whole = true;
  const auto add = [&](const auto& kind, const std::vector<NamedPath>& paths) {
    if (paths.empty()) return;
    if (!kind) {
      check.whole = false;
      return;
    }
    const auto same = std::ranges::find(check.questions, *kind, &Question::kind);
    if (same != check.questions.end()) {
      questions.push_back(*same);
      return;
    }
    if (check.questions.empty()) check.since = scheduler_.Now();
    questions.push_back({.kind = *kind, .paths = paths});
    documents_.insert_or_assign(kind->Document(), Document{.etag = "", .next = scheduler_.Now()});
    due_->Wake();
  };
  add(kinds.objects, PathsInObjects(check.definition));
  add(kinds.of_class, PathsInClass(check.definition));
  check.questions = std::move(questions);
}

const PathChecks::Check* PathChecks::Find(std::string_view name) const {
  const auto at = checks_.find(name);
  return at == checks_.end() ? nullptr : &at->second;
}

std::string PathChecks::WrongIn(const Check& check) {
  for (const Question& question : check.questions) {
    if (!question.wrong.empty()) return question.wrong;
  }
  return check.recorded;
}

std::string PathChecks::WhyNot(std::string_view name) const {
  const Check* check = Find(name);
  return check == nullptr || check->accepted ? "" : WrongIn(*check);
}

std::string PathChecks::Lost(std::string_view name) const {
  const Check* check = Find(name);
  return check != nullptr && check->accepted ? WrongIn(*check) : "";
}

bool PathChecks::IsPending(std::string_view name) const {
  const Check* check = Find(name);
  if (check == nullptr || check->accepted || !check->recorded.empty()) return false;
  return scheduler_.Now() - check->since < kPatience &&
         std::ranges::any_of(check->questions, [](const Question& one) { return !one.known; });
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
  const auto is_about = [&](const Question& one) { return one.kind.Document() == path; };
  if (std::ranges::none_of(check.questions, is_about)) return;
  const bool lost = check.accepted && !WrongIn(check).empty();
  for (Question& question : check.questions) {
    if (question.kind.Document() != path) continue;
    auto why = schemas.WhyNot(question.kind, question.paths);
    if (!why) continue;
    question.known = true;
    question.wrong = std::move(*why);
  }
  const bool known = check.whole && std::ranges::all_of(check.questions, &Question::known);
  if (known) check.recorded.clear();
  const std::string wrong = WrongIn(check);
  if (known && wrong.empty()) check.accepted = true;
  LOG_IF(WARNING, check.accepted && !lost && !wrong.empty())
      << "a path of a UsageDefinition in force is not in the schema any more definition=" << name
      << " path=" << json::Quote(wrong);
}

void PathChecks::Plan(const std::string& path, Document& document) {
  bool wrong = false;
  bool known = true;
  for (const auto& [name, check] : checks_) {
    for (const Question& question : check.questions) {
      if (question.kind.Document() != path) continue;
      wrong = wrong || !question.wrong.empty() || !check.recorded.empty();
      known = known && question.known;
    }
  }
  document.wait = wrong   ? Longer(document.wait, kWhileWrong)
                  : known ? base::Duration(kRarely)
                          : Longer(document.wait, kRarely);
  document.next = scheduler_.Now() + document.wait;
}

}  // namespace controllers
