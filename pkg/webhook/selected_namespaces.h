#pragma once

// The namespaces that the namespaceSelectors of a stored configuration select. No I/O; any thread.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pkg/json/value.h"
#include "pkg/webhook/webhook_configuration.h"

namespace webhook {

// What the selector of one webhook selects: all namespaces but some, some names, or the namespaces
// with one label, without those with other labels or some names.
struct Selected {
  Namespaces namespaces;  // at most one label key
  // Beside that label; of all namespaces: namespaces.names.
  std::set<std::string, std::less<>> without_keys = {};
  std::set<std::string, std::less<>> without_names = {};
};

// The namespaces that the webhook selects, except those with exempt labels; nullopt if we never
// write such a selector. `not_exempt` is ConfigurationOptions::NotExempt().
std::optional<Selected> SelectedBy(const json::Value& webhook, const json::Value& not_exempt);
// The namespaces that the webhook may select: requirements that we do not know select fewer.
Selected AtMostSelectedBy(const json::Value& webhook, const json::Value& not_exempt);

// Namespaces that at least one of these selectors selects. `exempt` may be left out everywhere. All
// namespaces with a label are selected if those that its selector leaves out are selected by
// others.
Namespaces Union(const std::vector<Selected>& all,
                 const std::set<std::string, std::less<>>& exempt);
// Namespaces in both. What cannot be compared by names and label keys alone is left out.
Namespaces Intersection(const Namespaces& a, const Namespaces& b,
                        const std::set<std::string, std::less<>>& exempt);

}  // namespace webhook
