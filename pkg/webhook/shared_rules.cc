#include "pkg/webhook/shared_rules.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace webhook {
namespace {

// Returns the union of namespaces that selectors can still name; nullopt if they cannot. Each label
// key repeats the names.
std::optional<Namespaces> UnionOf(const std::vector<GuardedResource>& rules) {
  const auto everywhere = [](const GuardedResource& rule) { return rule.namespaces.all_but; };
  const auto all = std::ranges::find_if(rules, everywhere);
  if (all != rules.end()) return all->namespaces;
  Namespaces where{.all_but = false};
  for (const GuardedResource& rule : rules) {
    where.names.insert(rule.namespaces.names.begin(), rule.namespaces.names.end());
    where.label_keys.insert(rule.namespaces.label_keys.begin(), rule.namespaces.label_keys.end());
  }
  const bool many = where.label_keys.size() > kMostLabelKeys ||
                    where.names.size() * (1 + where.label_keys.size()) > kMostNamespaces;
  if (many) return std::nullopt;
  return where;
}

GuardedResource QuestionOf(GuardedResource rule) {
  rule.quota_api.clear();
  rule.namespaces = {};
  return rule;
}

}  // namespace

std::string Together(const std::set<std::string>& quota_apis) {
  std::string together;
  for (const std::string& quota_api : quota_apis) {
    together.append(together.empty() ? "" : ".").append(quota_api);
  }
  return together;
}

std::vector<std::string> QuotaApisIn(std::string_view together) {
  std::vector<std::string> quota_apis;
  for (std::size_t begin = 0; begin <= together.size();) {
    const std::size_t end = std::min(together.find('.', begin), together.size());
    quota_apis.emplace_back(together.substr(begin, end - begin));
    begin = end + 1;
  }
  return quota_apis;
}

bool AsksFor(const GuardedResource& stored, const GuardedResource& wanted) {
  GuardedResource question = QuestionOf(stored);
  const bool about_every_update = stored.updates && stored.update_condition.empty();
  if (about_every_update && wanted.updates) question.update_condition = wanted.update_condition;
  return question == QuestionOf(wanted);
}

std::vector<GuardedResource> Shared(const std::vector<GuardedResource>& rules) {
  std::map<GuardedResource, std::vector<GuardedResource>> by_question;
  for (const GuardedResource& rule : rules) by_question[QuestionOf(rule)].push_back(rule);
  std::vector<GuardedResource> stored;
  for (auto& [question, alike] : by_question) {
    std::optional<Namespaces> where = alike.size() > 1 ? UnionOf(alike) : std::nullopt;
    if (!where) {
      std::ranges::move(alike, std::back_inserter(stored));
      continue;
    }
    std::set<std::string> quota_apis;
    for (const GuardedResource& rule : alike) quota_apis.insert(rule.quota_api);
    GuardedResource& one = stored.emplace_back(question);
    one.quota_api = Together(quota_apis);
    one.namespaces = *std::move(where);
  }
  return stored;
}

}  // namespace webhook
