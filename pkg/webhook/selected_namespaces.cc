#include "pkg/webhook/selected_namespaces.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "pkg/api/names.h"

namespace webhook {
namespace {

using Names = std::set<std::string, std::less<>>;

Names StringsOf(const json::Array& values) {
  Names texts;
  for (const json::Value& value : values) {
    if (value.AsString() != nullptr) texts.insert(*value.AsString());
  }
  return texts;
}

// The parts of a selector.
struct Terms {
  std::optional<Names> named;  // In
  Names without_names;         // NotIn
  Names keys;                  // Exists
  Names without_keys;          // DoesNotExist
};

// Returns false if we never write such a requirement.
bool Read(const json::Value& expression, Terms& terms) {
  const std::string key(expression.StringAt({"key"}));
  const std::string_view relation = expression.StringAt({"operator"});
  if (key == api::kNamespaceLabel) {
    Names names = StringsOf(expression.ArrayAt({"values"}));
    if (relation == "In" && !terms.named) {
      terms.named = std::move(names);
      return true;
    }
    terms.without_names.merge(names);
    return relation == "NotIn";
  }
  if (relation != "Exists" && relation != "DoesNotExist") return false;
  (relation == "Exists" ? terms.keys : terms.without_keys).insert(key);
  return true;
}

// Without the last one if that exempts namespaces. An equal one before it may be a label key.
std::span<const json::Value> ExpressionsOf(const json::Value& webhook,
                                           const json::Value& not_exempt) {
  const std::span<const json::Value> all =
      webhook.ArrayAt({"namespaceSelector", "matchExpressions"});
  const bool exempts = !all.empty() && !not_exempt.IsNull() && all.back() == not_exempt;
  return exempts ? all.first(all.size() - 1) : all;
}

}  // namespace

std::optional<Selected> SelectedBy(const json::Value& webhook, const json::Value& not_exempt) {
  const json::Value* labels = webhook.At({"namespaceSelector", "matchLabels"});
  if (labels != nullptr && labels->IsObject() && !labels->AsObject()->empty()) return std::nullopt;
  Terms terms;
  for (const json::Value& expression : ExpressionsOf(webhook, not_exempt)) {
    if (!Read(expression, terms)) return std::nullopt;
  }
  if (terms.keys.size() == 1 && !terms.named) {
    return Selected{.namespaces = {.all_but = false, .label_keys = std::move(terms.keys)},
                    .without_keys = std::move(terms.without_keys),
                    .without_names = std::move(terms.without_names)};
  }
  if (!terms.keys.empty() || !terms.without_keys.empty()) return std::nullopt;
  if (!terms.named) return Selected{.namespaces = {.names = std::move(terms.without_names)}};
  if (!terms.without_names.empty()) return std::nullopt;
  return Selected{.namespaces = {.all_but = false, .names = *std::move(terms.named)}};
}

Selected AtMostSelectedBy(const json::Value& webhook, const json::Value& not_exempt) {
  Terms terms;
  for (const json::Value& expression : ExpressionsOf(webhook, not_exempt)) {
    (void)Read(expression, terms);
  }
  if (terms.named) return {.namespaces = {.all_but = false, .names = *std::move(terms.named)}};
  if (terms.keys.empty()) return {};
  return {.namespaces = {.all_but = false, .label_keys = {*terms.keys.begin()}}};
}

Namespaces Union(const std::vector<Selected>& all, const Names& exempt) {
  Namespaces covered{.all_but = false};
  for (const Selected& one : all) {
    if (one.namespaces.all_but) return one.namespaces;
    covered.names.insert(one.namespaces.names.begin(), one.namespaces.names.end());
  }
  const auto closes = [&](const Selected& one) {
    return std::ranges::includes(covered.label_keys, one.without_keys) &&
           std::ranges::all_of(one.without_names, [&](const std::string& ns) {
             return covered.names.contains(ns) || exempt.contains(ns);
           });
  };
  for (bool more = true; more;) {
    more = false;
    for (const Selected& one : all) {
      if (one.namespaces.label_keys.empty() || !closes(one)) continue;
      more = covered.label_keys.insert(*one.namespaces.label_keys.begin()).second || more;
    }
  }
  return covered;
}

Namespaces Intersection(const Namespaces& a, const Namespaces& b, const Names& exempt) {
  if (a.all_but && b.all_but) {
    Namespaces both = a;
    both.names.insert(b.names.begin(), b.names.end());
    return both;
  }
  const Namespaces& these = a.all_but ? b : a;
  const Namespaces& others = a.all_but ? a : b;
  Namespaces both{.all_but = false};
  for (const std::string& ns : these.names) {
    if (others.Contain(ns)) both.names.insert(ns);
  }
  const bool others_are_all = others.all_but && std::ranges::includes(exempt, others.names);
  for (const std::string& key : these.label_keys) {
    if (others_are_all || others.label_keys.contains(key)) both.label_keys.insert(key);
  }
  return both;
}

}  // namespace webhook
