#include "pkg/quota/usage/object_usage.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/api/names.h"
#include "pkg/base/text.h"
#include "pkg/quota/count_name.h"
#include "pkg/quota/quantity_field.h"
#include "pkg/quota/usage/field_walk.h"

namespace quota::usage {
namespace {

using Steps = FieldPath::Steps;

// Of what the fields are read: the status may be that of another object.
struct Source {
  const json::Value* object;
  const json::Value* status_of;  // null: there is no status

  [[nodiscard]] const json::Value* Of(const FieldPath& path) const {
    return path.IsInStatus() ? status_of : object;
  }
};

// A text for scopes and for countsWhile: that of a string, a number or a boolean; nullopt for
// others. It is a part of `value`.
std::optional<std::string_view> TextOf(const json::Value* value) {
  if (value == nullptr) return std::nullopt;
  if (const std::string* text = value->AsString()) return *text;
  if (const json::Number* number = value->AsNumber()) return number->text;
  if (const auto flag = value->AsBool()) return *flag ? "true" : "false";
  return std::nullopt;
}

// The text of a field that is one value; nullopt if it is absent, or is a list or an object.
std::optional<std::string_view> TextAt(const Source& source, const FieldPath& path) {
  std::optional<std::string_view> text;
  FieldWalk walk(0);  // one value is in no list
  const auto visited = walk.Visit(source.Of(path), path.steps(),
                                  [&](const json::Value* value) -> base::Result<void> {
                                    text = TextOf(value);
                                    return {};
                                  });
  return visited ? text : std::nullopt;
}

base::Result<Quantity> AmountIn(const json::Value* value,
                                const std::optional<Quantity>& otherwise) {
  if (value == nullptr) {
    if (otherwise) return *otherwise;
    return NoAmount(": is missing");
  }
  auto amount = QuantityFrom(*value, "");
  if (amount && amount->Sign() < 0) return NoAmount(": must not be negative");
  return amount;
}

// The sum of the values.
base::Result<Quantity> SumOf(FieldWalk& walk, const json::Value* node, Steps steps,
                             const std::optional<Quantity>& otherwise) {
  Quantity sum;
  auto summed = walk.Visit(node, steps, [&](const json::Value* value) -> base::Result<void> {
    const auto amount = AmountIn(value, otherwise);
    if (!amount) return amount.error();
    sum = sum.Add(*amount);
    return {};
  });
  if (!summed) return summed.error();
  return sum;
}

// A saturated amount, and one with a fraction, keeps its own format.
Quantity InFormat(const Quantity& amount, const std::optional<quantity::Format>& format) {
  if (!format || !amount.IsInteger() || amount.IsSaturated()) return amount;
  return Quantity::FromNanos(amount.nanos(), *format);
}

// Visits what `path` and `times` of one amount have in common. The first steps in which they are
// alike lead through the same elements of lists.
class Common {
 public:
  Common(const Source& source, const FieldPath& path, const Amount& amount)
      : path_(path), amount_(amount), root_(source.Of(path)) {
    if (!amount.times) return;
    const Steps a = path.steps();
    const Steps b = amount.times->steps();
    steps_ = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    times_root_ = source.Of(*amount.times);
  }

  // Calls each(const json::Value* node) for the nodes at the end of the common steps.
  base::Result<void> Visit(FieldWalk& walk, const auto& each) const {
    return walk.Visit(root_, path_.steps().first(steps_), each);
  }
  [[nodiscard]] Steps RestOfPath() const { return path_.steps().subspan(steps_); }
  [[nodiscard]] Steps RestOfTimes() const { return amount_.times->steps().subspan(steps_); }
  // How often the amount at the node counts. Without `times`: once.
  base::Result<Quantity> TimesOf(FieldWalk& walk, const json::Value* node) const {
    if (!amount_.times) return Quantity::FromInt(1);
    return SumOf(walk, steps_ == 0 ? times_root_ : node, RestOfTimes(), amount_.times_otherwise);
  }

 private:
  const FieldPath& path_;
  const Amount& amount_;
  const json::Value* root_;
  const json::Value* times_root_ = nullptr;
  std::size_t steps_ = 0;
};

base::Result<Quantity> ProductIn(const Source& source, const Amount& amount, std::size_t most) {
  FieldWalk walk(most);
  if (!amount.times) {
    return SumOf(walk, source.Of(*amount.path), amount.path->steps(), amount.otherwise);
  }
  const Common common(source, *amount.path, amount);
  Quantity sum;
  auto summed = common.Visit(walk, [&](const json::Value* node) -> base::Result<void> {
    const auto one = SumOf(walk, node, common.RestOfPath(), amount.otherwise);
    if (!one) return one.error();
    const auto times = common.TimesOf(walk, node);
    if (!times) return times.error();
    sum = sum.Add(one->Mul(*times));
    return {};
  });
  if (!summed) return summed.error();
  return sum;
}

// How many units of a class an object uses at the node, kMost if that does not fit.
base::Result<quantity::Int128> UnitsOf(FieldWalk& walk, const json::Value* node,
                                       const Common& common) {
  const auto times = common.TimesOf(walk, node);
  if (!times) return times.error();
  if (times->IsSaturated()) return quantity::kMost;
  if (times->IsInteger()) return times->nanos() / quantity::kNanosPerOne;
  // Without `times` it is one.
  return FieldWalk::Below(common.RestOfTimes(), NoAmount(": the number of a class must be whole"));
}

quantity::Int128 SumOf(quantity::Int128 a, quantity::Int128 b) {
  quantity::Int128 sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? quantity::kMost : sum;
}

// The units by class, each class once. Who uses none of a class does not depend on it.
std::vector<ClassUnits> Summed(std::vector<ClassUnits> classes) {
  std::erase_if(classes, [](const ClassUnits& one) { return one.units == 0; });
  if (classes.size() < 2) return classes;
  std::ranges::sort(classes, {}, &ClassUnits::name);
  std::vector<ClassUnits> summed;
  for (ClassUnits& one : classes) {
    if (!summed.empty() && summed.back().name == one.name) {
      summed.back().units = SumOf(summed.back().units, one.units);
    } else {
      summed.push_back(std::move(one));
    }
  }
  return summed;
}

base::Error NamesNoClass(const AmountOfClass& of) {
  const std::string& called = of.display_name;
  if (called.empty()) return NoAmount(": must name an object of " + of.resource.ToString());
  const bool vowel = std::string_view("AEIOUaeiou").find(called[0]) != std::string_view::npos;
  return NoAmount((vowel ? ": must name an " : ": must name a ") + called);
}

// Adds the units of the classes that the object names. No name is "", as in API types whose strings
// are not pointers; so is the name in a reference that is no object.
base::Result<void> AddUnits(const Source& source, const Amount& amount, std::size_t most,
                            Facts& facts) {
  FieldWalk walk(most, InNoObject::kIsAbsent);
  FieldWalk numbers(most);
  const Common common(source, amount.of_class->path, amount);
  std::vector<ClassUnits> classes;
  auto added = common.Visit(walk, [&](const json::Value* node) -> base::Result<void> {
    const auto units = UnitsOf(numbers, node, common);
    if (!units) return units.error();
    return walk.Visit(node, common.RestOfPath(),
                      [&](const json::Value* value) -> base::Result<void> {
                        const std::string* name = value == nullptr ? nullptr : value->AsString();
                        const bool none = value == nullptr || (name != nullptr && name->empty());
                        if (none && amount.of_class->optional) return {};
                        if (name == nullptr || !api::IsDns1123Subdomain(*name)) {
                          return NamesNoClass(*amount.of_class);
                        }
                        classes.push_back({*name, *units});
                        return {};
                      });
  });
  if (!added) return added;
  classes = Summed(std::move(classes));
  if (classes.size() > kMostClasses) {
    return NoAmount(amount.of_class->path.ToString() + ": has too many names: at most " +
                    std::to_string(kMostClasses) + " classes are looked up for one object");
  }
  facts.classes = std::move(classes);
  return {};
}

// A long text is cut between two characters.
std::string Cut(std::string_view text) {
  if (text.size() <= kMostScopeValue) return std::string(text);
  return std::string(base::Beginning(text, kMostScopeValue)) + "…";
}

bool Counts(const UsageDefinition& definition, const Source& source) {
  if (!definition.counts_while) return true;
  const CountsWhile& counts = *definition.counts_while;
  const auto text = TextAt(source, counts.path);
  const bool found = text && base::IsOneOf(*text, counts.values);
  return found == counts.in;
}

bool ReadsStatus(const Amount& amount) {
  return (amount.path && amount.path->IsInStatus()) ||
         (amount.of_class && amount.of_class->path.IsInStatus()) ||
         (amount.times && amount.times->IsInStatus());
}

// What a request says that only a write of the status may say, "status.phase: <what is wrong>"; ""
// if it says no such thing. `trusted` has the stored status.
std::string ClaimIn(const UsageDefinition& definition, const json::Value& object,
                    const Source& trusted) {
  if (!definition.counts_while || !definition.counts_while->status_subresource_only) return "";
  const Source claimed{&object, &object};
  if (Counts(definition, claimed) || !Counts(definition, trusted)) return "";
  const FieldPath& path = definition.counts_while->path;
  const auto text = TextAt(claimed, path);
  return path.ToString() + ": " + (text ? Cut(*text) + " " : "") +
         "is written to the subresource status only";
}

// `reasons`, if not null, gets why names are unknown or ignored. Without a status, amounts in it
// use nothing.
ObjectFacts FactsIn(const UsageDefinition& definition, const std::string& count_name,
                    const Source& source, Explanation* reasons) {
  ObjectFacts facts;
  const auto add_unknown = [&](const std::string& name, const base::Error& why) {
    if (facts.flaw.empty()) facts.flaw = why.message;
    const bool ignored = definition.invalid != InvalidAmount::kUnknown;
    if (!ignored) facts.now.unread.push_back(name);
    if (definition.invalid == InvalidAmount::kIgnore) facts.ignored.push_back(name);
    if (reasons != nullptr) (ignored ? reasons->ignored : reasons->unknown)[name] = why.message;
  };
  facts.now.usage.Set(count_name, Quantity::FromInt(1));
  for (const ScopeOfField& scope : definition.scopes) {
    if (const auto text = TextAt(source, scope.path); text && !text->empty()) {
      facts.now.attributes.emplace_back(scope.name, Cut(*text));
    }
  }
  std::ranges::sort(facts.now.attributes);
  if (!Counts(definition, source)) return facts;
  std::optional<base::Error> no_classes;
  bool has_classes = false;
  const std::size_t most = MostElements(definition);
  for (const Amount& amount : definition.amounts) {
    if (source.status_of == nullptr && ReadsStatus(amount)) continue;
    if (amount.of_class) {
      if (std::exchange(has_classes, true)) continue;  // all names have the same units
      if (auto added = AddUnits(source, amount, most, facts.now); !added) {
        no_classes = added.error();
      }
      continue;
    }
    const auto product = ProductIn(source, amount, most);
    if (product) {
      facts.now.usage.Set(amount.name, InFormat(*product, amount.format));
    } else {
      add_unknown(amount.name, product.error());
    }
  }
  if (no_classes) {
    for (const Amount& amount : definition.amounts) {
      if (amount.of_class) add_unknown(amount.name, *no_classes);
    }
  }
  std::ranges::sort(facts.now.unread);
  std::ranges::sort(facts.ignored);
  return facts;
}

}  // namespace

std::size_t MostElements(const UsageDefinition& definition) {
  const std::size_t names = std::max<std::size_t>(1, definition.amounts.size());
  return std::min(kMostElements, kMostElementsInAll / names);
}

ObjectUsage::ObjectUsage(UsageDefinition definition)
    : definition_(std::move(definition)), count_name_(CountName(definition_.resource)) {}

ObjectFacts ObjectUsage::FactsOf(const json::Value& object) const {
  return FactsIn(definition_, count_name_, {&object, &object}, nullptr);
}

ObjectFacts ObjectUsage::FactsToAdmit(const json::Value& object, const json::Value* stored) const {
  const Source trusted{&object, stored};
  ObjectFacts facts = FactsIn(definition_, count_name_, trusted, nullptr);
  if (std::string claim = ClaimIn(definition_, object, trusted); !claim.empty()) {
    facts.flaw = std::move(claim);
    facts.now.unread.clear();  // refused whatever is limited
    facts.ignored.clear();
  }
  return facts;
}

ClassUsage ObjectUsage::UsageOfClass(const json::Value& object) const {
  ClassUsage one;
  const std::size_t most = MostElements(definition_);
  for (const Amount& amount : definition_.amounts) {
    if (!amount.of_class) continue;
    FieldWalk walk(most, InNoObject::kIsAbsent);
    const auto sum = SumOf(walk, &object, amount.of_class->field.steps(), amount.otherwise);
    if (sum) {
      one.amounts.Set(amount.name, InFormat(*sum, amount.format));
    } else {
      one.unknown[amount.name] = sum.error().message;
    }
  }
  return one;
}

Explanation ObjectUsage::Explain(const json::Value& object) const {
  const Source source{&object, &object};
  Explanation explanation;
  FactsIn(definition_, count_name_, source, &explanation);
  if (Counts(definition_, source)) return explanation;
  const FieldPath& path = definition_.counts_while->path;
  const auto text = TextAt(source, path);
  explanation.idle = path.ToString();
  explanation.idle += text ? " is " + std::string(*text) : " is not set";
  return explanation;
}

}  // namespace quota::usage
