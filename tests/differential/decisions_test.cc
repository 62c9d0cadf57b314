// Requests against upstream's own admission plugin: the refusal with its text, and otherwise what
// each quota uses after it.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/api/status.h"
#include "pkg/api/time.h"
#include "pkg/quota/decision.h"
#include "tests/differential/comparison.h"
#include "tests/differential/core_evaluators.h"
#include "tests/differential/random_requests.h"
#include "tests/differential/settings.h"

namespace differential::decisions_test {
namespace {

// Before all deletions: departures.h has the time of a removal.
constexpr std::string_view kNow = "2024-05-01T09:00:00Z";

api::GroupResource ResourceOf(const json::Value& object) {
  static const std::map<std::string_view, api::GroupResource> resources = {
      {"Pod", {"", "pods"}},
      {"Service", {"", "services"}},
      {"PersistentVolumeClaim", {"", "persistentvolumeclaims"}},
      {"ResourceClaim", {"resource.k8s.io", "resourceclaims"}},
      {"ConfigMap", {"", "configmaps"}}};
  return resources.at(object.StringAt({"kind"}));
}

// The amount that the word says. A sum of upstream's may be a binary amount beyond the cap at which
// Parse() stops; ours prints it without a suffix.
std::optional<quantity::Quantity> AmountIn(std::string_view word) {
  const auto amount = quantity::Quantity::Parse(word);
  if (!amount) return std::nullopt;
  const auto cap = quantity::Quantity::FromInt(std::numeric_limits<std::int64_t>::max());
  if (amount->format() != quantity::Format::kBinarySI || *amount != cap) return *amount;
  const std::size_t power = std::string_view("KMGTPE").find(word[word.size() - 2]) + 1;
  const auto number = quantity::Quantity::Parse(word.substr(0, word.size() - 2));
  return number->Mul(quantity::Int128{1} << (10 * power));
}

// The text with its amounts in canonical form: upstream repeats the source text of some.
std::string Canonical(std::string_view text) {
  std::string canonical;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(",= "), text.size());
    const std::string_view word = text.substr(0, end);
    const auto amount = AmountIn(word);
    canonical += canonical.ends_with('=') && amount ? amount->ToString() : std::string(word);
    canonical += text.substr(end, 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return canonical;
}

class DecisionComparison : public Comparison {
 public:
  void Compare(const std::string& text, const json::Value& answer) {
    what_ = text;
    const json::Value question = *json::Parse(text);
    if (answer.At({"handled"}) == nullptr) {
      Differ("upstream cannot decide it: " + json::Write(answer) + " of " + what_);
      return;
    }
    if (answer.At({"handled"})->AsBool() == false) return;  // the webhook is not called, either
    const json::Value& object = *question.At({"object"});
    const quota::Evaluator& evaluator = EvaluatorOf(ResourceOf(object));
    const quota::ClassTable classes = DeviceClasses(evaluator);
    quota::Request request{.evaluator = &evaluator, .classes = &classes, .object = &object};
    const json::Value* old = question.At({"old"});
    const bool stored = old != nullptr && old->At({"metadata", "resourceVersion"}) != nullptr;
    if (stored) request.before.emplace();
    const bool read =
        Read(object, request, request.after) && (!stored || Read(*old, request, *request.before));
    if (read) CompareDecision(request, question, answer);
  }

  // Number of decisions of each kind.
  std::map<quota::Verdict::Kind, std::size_t> met;

 private:
  static bool Read(const json::Value& object, const quota::Request& request,
                   quota::Subject& subject) {
    const auto facts = request.evaluator->facts_of(
        object, {.now = *api::ParseTime(kNow), .rules = UpstreamRules()});
    if (!facts) return false;  // beyond the limit: objects_test.cc compares that
    subject = facts->now;
    const auto usage = request.classes->Resolve(facts->now);
    if (usage) subject.usage = *usage;
    return usage.has_value();
  }

  void CompareDecision(const quota::Request& request, const json::Value& question,
                       const json::Value& answer) {
    std::vector<quota::Quota> quotas;
    for (const json::Value& one : question.ArrayAt({"quotas"})) {
      quotas.push_back(*quota::ParseQuota(one));
    }
    std::vector<quota::Standing> standings;
    standings.reserve(quotas.size());
    for (const quota::Quota& one : quotas) {
      standings.push_back({.quota = &one, .used = one.status.used});
    }
    const quota::Verdict verdict = quota::Decide(request, standings);
    ++met[verdict.kind];
    std::string ours;
    if (verdict.kind == quota::Verdict::Kind::kRefused) {
      const std::string_view name = request.object->StringAt({"metadata", "name"});
      ours = api::Forbidden(request.evaluator->resource, name, verdict.message).message;
    }
    const std::string_view theirs = answer.StringAt({"refusal"});
    if (IsFreeUpdate(request, verdict, theirs)) {
      departures.Add(Departure::kFreeUpdate);
    } else if (std::ranges::any_of(
                   quotas, [&](const auto& one) { return IsUncounted(request, one, theirs); })) {
      departures.Add(Departure::kUncounted);
    } else if (Canonical(ours) != Canonical(theirs)) {
      Differ("ours '" + ours + "', upstream '" + std::string(theirs) + "': " + what_);
    } else if (ours.empty()) {
      quota::Apply(verdict.needs, standings);
      for (const quota::Standing& standing : standings) CompareUsed(standing, answer);
    }
  }

  void CompareUsed(const quota::Standing& standing, const json::Value& answer) {
    const std::string about = " in used of quota " + standing.quota->key.name + " after " + what_;
    const json::Object& theirs = *answer.At({"used", standing.quota->key.name})->AsObject();
    if (theirs.size() != standing.used.size()) Differ("other names" + about);
    for (const auto& [resource, amount] : standing.used) {
      const json::Value* used = theirs.Find(resource);
      if (used == nullptr) {
        Differ(resource + about + " only here");
      } else {
        CompareAmount(resource + about, amount, *used);
      }
    }
  }

  std::string what_;
};

TEST_CASE("decisions: random requests are decided as upstream decides them", "[differential]") {
  Random random(TheSettings().seed);
  DecisionComparison comparison;
  AskAll(
      TheSettings().count,
      [&] {
        json::Object question = RandomRequest(random);
        question.Set("now", kNow);
        return json::Write(std::move(question));
      },
      [&](const std::string& question, const json::Value& answer) {
        comparison.Compare(question, answer);
      });
  using Kind = quota::Verdict::Kind;
  std::cout << "decisions: " << comparison.met[Kind::kFree] << " free, "
            << comparison.met[Kind::kFits] << " fit, " << comparison.met[Kind::kRefused]
            << " refused; departures: " << comparison.departures.ToString() << std::endl;
  INFO(comparison.first_differences());
  CHECK(comparison.differences() == 0);
  for (const Kind kind : {Kind::kFree, Kind::kFits, Kind::kRefused}) {
    CHECK(comparison.met[kind] > TheSettings().count / 50);
  }
}

}  // namespace
}  // namespace differential::decisions_test
