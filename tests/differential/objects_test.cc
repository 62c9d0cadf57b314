// Objects against upstream's own evaluators: usage by value, format and text; names; scopes; what a
// limited object must specify. Also that both of upstream's encodings give the same facts.

#include <algorithm>
#include <catch2/catch.hpp>
#include <charconv>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "informers/object_decoder.h"
#include "pkg/api/time.h"
#include "pkg/json/projection.h"
#include "pkg/quota/class_table.h"
#include "tests/differential/comparison.h"
#include "tests/differential/core_evaluators.h"
#include "tests/differential/random_objects.h"
#include "tests/differential/settings.h"

namespace differential::objects_test {
namespace {

using quota::ScopeOperator;

std::string RandomQuestion(Random& random, json::Object (*make)(Random&)) {
  json::Array names;
  json::Array selectors;
  for (int i = 0; i < 3; ++i) {
    names.emplace_back(RandomQuotaName(random));
    selectors.emplace_back(RandomSelector(random));
  }
  return json::Write(json::Object{{"object", make(random)},
                                  {"now", RandomNow(random)},
                                  {"names", std::move(names)},
                                  {"limited", RandomLimitedNames(random)},
                                  {"selectors", std::move(selectors)}});
}

quota::ScopeRequirement RequirementFrom(const json::Value& selector) {
  static const std::map<std::string_view, ScopeOperator> operators = {
      {"In", ScopeOperator::kIn},
      {"NotIn", ScopeOperator::kNotIn},
      {"Exists", ScopeOperator::kExists},
      {"DoesNotExist", ScopeOperator::kDoesNotExist}};
  quota::ScopeRequirement requirement{.scope = std::string(selector.StringAt({"scopeName"})),
                                      .op = operators.at(selector.StringAt({"operator"}))};
  if (const json::Value* values = selector.At({"values"})) {
    std::vector<std::string> listed;
    for (const json::Value& value : *values->AsArray()) listed.push_back(*value.AsString());
    requirement.values = quota::ScopeValues(std::move(listed));
  }
  return requirement;
}

std::string FromHex(std::string_view digits) {
  std::string bytes;
  for (; digits.size() >= 2; digits.remove_prefix(2)) {
    unsigned char byte = 0;
    std::from_chars(digits.data(), digits.data() + 2, byte, 16);
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

class ObjectComparison : public Comparison {
 public:
  explicit ObjectComparison(const api::GroupResource& resource)
      : evaluator_(EvaluatorOf(resource)),
        projection_(Fields(evaluator_)),
        decoder_(
            {.resource = {resource.group, "v1", resource.resource}, .fields = evaluator_.fields}),
        classes_(DeviceClasses(evaluator_)) {}

  void Compare(const std::string& text, const json::Value& answer) {
    const auto question = json::Parse(text);
    REQUIRE(question.has_value());
    what_ = text;
    if (answer.At({"error"}) != nullptr) {
      Differ("upstream cannot read it: " + json::Write(answer) + " of " + what_);
      return;
    }
    // Decoded like in the reflector: only the evaluator's fields.
    const auto object = json::ParseProjected(json::Write(*question->At({"object"})), projection_);
    const auto now = api::ParseTime(question->StringAt({"now"}));
    REQUIRE(object.has_value());
    REQUIRE(now.has_value());
    CompareNames(*question->At({"names"})->AsArray(), *answer.At({"owned"}));
    CompareMissing(*object, *question->At({"limited"})->AsArray(), answer.StringAt({"missing"}));
    CompareForms(*answer.At({"served"}), *now);
    CompareVersions(*answer.At({"served"}), *now);
    const auto facts = evaluator_.facts_of(*object, OptionsAt(*now));
    if (!facts) {
      Differ(what_ + ": " + facts.error().message);
      return;
    }
    const bool removal = IsBeingRemoved(*object, *now) && facts->later;
    if (removal) departures.Add(Departure::kRemoval);
    const auto usage = classes_.Resolve(removal ? facts->later->facts : facts->now);
    if (!usage) {
      Differ(what_ + ": " + usage.error().message);
      return;
    }
    CompareUsage(*usage, *answer.At({"usage"})->AsObject());
    const json::Array& selectors = *question->At({"selectors"})->AsArray();
    for (std::size_t i = 0; i < selectors.size(); ++i) {
      CompareScope(RequirementFrom(selectors[i]), facts->now.attributes,
                   *(*answer.At({"matched"})->AsArray())[i].AsString());
    }
  }

  // Number of objects decoded from both encodings.
  [[nodiscard]] std::size_t forms() const { return forms_; }
  // Number of objects read in a version other than v1.
  [[nodiscard]] std::size_t versions() const { return versions_; }

 private:
  static std::vector<std::string> Fields(const quota::Evaluator& evaluator) {
    std::vector<std::string> fields = evaluator.fields;
    fields.insert(fields.end(), evaluator.guard.fields.begin(), evaluator.guard.fields.end());
    return fields;
  }

  // The facts of the object as it is served, decoded from JSON and from protobuf.
  void CompareForms(const json::Value& served, base::WallTime now) {
    if (decoder_.accept_list().find("protobuf") == std::string::npos) {
      Differ(evaluator_.resource.ToString() + " is not asked for as protobuf");
      return;
    }
    json::Skimmer skimmer = decoder_.NewSkimmer();
    const auto from_json =
        decoder_.Decode(informers::WireForm::kJson, json::Write(*served.At({"json"})), skimmer);
    const auto from_protobuf = decoder_.Decode(informers::WireForm::kProtobuf,
                                               FromHex(served.StringAt({"protobuf"})), skimmer);
    if (!from_json || !from_protobuf) {
      Differ((from_json ? from_protobuf : from_json).error().message + ": " + what_);
      return;
    }
    ++forms_;
    const auto by_json = evaluator_.facts_of(*from_json, OptionsAt(now));
    const auto by_protobuf = evaluator_.facts_of(*from_protobuf, OptionsAt(now));
    const bool same = by_json.has_value() == by_protobuf.has_value() &&
                      (by_json ? Same(*by_json, *by_protobuf)
                               : by_json.error().message == by_protobuf.error().message);
    if (!same) {
      Differ("other facts of " + json::Write(*from_protobuf) + " than of " +
             json::Write(*from_json) + ": " + what_);
    }
  }

  // The facts of the object as it is served in each version of its kind.
  void CompareVersions(const json::Value& served, base::WallTime now) {
    const json::Value* versions = served.At({"versions"});
    if (versions == nullptr) return;
    const auto facts_in = [&](const json::Value& object) {
      return evaluator_.facts_of(*json::ParseProjected(json::Write(object), projection_),
                                 OptionsAt(now));
    };
    const auto in_v1 = facts_in(*served.At({"json"}));
    for (const auto& [version, object] : *versions->AsObject()) {
      ++versions_;
      const auto facts = facts_in(object);
      const bool same = facts.has_value() == in_v1.has_value() && (!facts || Same(*facts, *in_v1));
      if (!same) Differ("other facts of " + version + " " + json::Write(object) + ": " + what_);
    }
  }

  static quota::ReadOptions OptionsAt(base::WallTime now) {
    return {.now = now, .rules = UpstreamRules()};
  }

  static bool Same(const quota::ObjectFacts& a, const quota::ObjectFacts& b) {
    const bool later =
        a.later.has_value() == b.later.has_value() &&
        (!a.later || (a.later->at == b.later->at && a.later->facts == b.later->facts));
    return a.now == b.now && later && a.tie == b.tie && a.flaw == b.flaw;
  }

  [[nodiscard]] bool Owns(const std::string& name) const {
    const auto& source = evaluator_.classes;
    return evaluator_.owns(name) || (source && source->owns && source->owns(name, classes_));
  }

  void CompareNames(const json::Array& names, const json::Value& owned) {
    std::set<std::string> theirs;
    if (owned.IsArray()) {
      for (const json::Value& name : *owned.AsArray()) theirs.insert(*name.AsString());
    }
    for (const json::Value& name : names) {
      const bool ours = Owns(*name.AsString());
      if (ours != theirs.contains(*name.AsString())) {
        Differ(evaluator_.resource.ToString() + (ours ? " owns " : " does not own ") +
               *name.AsString() + ", unlike upstream");
      }
    }
  }

  void CompareMissing(const json::Value& object, const json::Array& limited,
                      std::string_view theirs) {
    std::vector<std::string> names;
    for (const json::Value& name : limited) names.push_back(*name.AsString());
    const auto& constraints = evaluator_.guard.constraints;
    const std::string ours = constraints ? constraints(object, names) : "";
    if (ours != theirs) {
      Differ("missing: ours '" + ours + "', upstream '" + std::string(theirs) + "': " + what_);
    }
  }

  void CompareUsage(const quota::ResourceList& ours, const json::Object& theirs) {
    for (const auto& [name, amount] : ours) {
      if (const json::Value* found = theirs.Find(name)) {
        CompareAmount(name + " of " + what_, amount, *found);
      } else {
        Differ(name + "=" + amount.ToString() + " only here: " + what_);
      }
    }
    for (const auto& [name, amount] : theirs) {
      if (ours.Find(name) == nullptr) Differ(name + " only upstream: " + what_);
    }
  }

  void CompareScope(const quota::ScopeRequirement& requirement,
                    const std::vector<quota::Attribute>& attributes, const std::string& theirs) {
    const bool known =
        std::ranges::find(evaluator_.scopes, requirement.scope) != evaluator_.scopes.end();
    if (known && IsOperatorOnPredicate(requirement)) {
      departures.Add(Departure::kPredicate);
      return;
    }
    const bool error = known && IsNoLabelSelector(requirement);
    if (error) departures.Add(Departure::kLabelSelector);
    const bool ours = quota::Matches({requirement}, attributes, evaluator_.scopes);
    const std::string expected = error ? "error" : (ours ? "yes" : "no");
    if (expected != theirs) {
      Differ(requirement.scope + ": ours " + expected + ", upstream " + theirs + ": " + what_);
    }
  }

  const quota::Evaluator& evaluator_;
  json::Projection projection_;
  informers::ObjectDecoder decoder_;
  quota::ClassTable classes_;
  std::size_t forms_ = 0;
  std::size_t versions_ = 0;
  std::string what_;
};

void CompareObjects(const api::GroupResource& resource, json::Object (*make)(Random&),
                    std::size_t percent) {
  const std::size_t count = TheSettings().count * percent / 100;
  Random random(TheSettings().seed + percent);
  ObjectComparison comparison(resource);
  AskAll(
      count, [&] { return RandomQuestion(random, make); },
      [&](const std::string& question, const json::Value& answer) {
        comparison.Compare(question, answer);
      });
  std::cout << resource.ToString() << ": " << count << " objects, " << comparison.forms()
            << " from both forms, " << comparison.versions()
            << " in other versions; departures: " << comparison.departures.ToString() << std::endl;
  INFO(comparison.first_differences());
  CHECK(comparison.differences() == 0);
  CHECK((comparison.versions() > 0) == (resource.resource == "resourceclaims"));
}

// The shares add up to the count.
TEST_CASE("pods: random pods are counted as upstream counts them", "[differential]") {
  CompareObjects({"", "pods"}, RandomPod, 60);
}

TEST_CASE("services: random services are counted as upstream counts them", "[differential]") {
  CompareObjects({"", "services"}, RandomService, 10);
}

TEST_CASE("claims: random claims are counted as upstream counts them", "[differential]") {
  CompareObjects({"", "persistentvolumeclaims"}, RandomVolumeClaim, 16);
}

TEST_CASE("device claims: random claims are counted as upstream counts them", "[differential]") {
  CompareObjects({"resource.k8s.io", "resourceclaims"}, RandomDeviceClaim, 12);
}

TEST_CASE("object counters: random objects are counted as upstream counts them", "[differential]") {
  CompareObjects({"", "configmaps"}, RandomConfigMap, 2);
}

}  // namespace
}  // namespace differential::objects_test
