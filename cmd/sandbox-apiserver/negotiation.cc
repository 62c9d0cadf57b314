#include "cmd/sandbox-apiserver/negotiation.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "pkg/base/text.h"

namespace sandbox {
namespace {

struct Clause {
  std::string type;
  std::map<std::string, std::string, std::less<>> parameters;
  double weight = 1.0;

  [[nodiscard]] std::string_view Get(std::string_view name) const {
    auto found = parameters.find(name);
    return found == parameters.end() ? std::string_view{} : std::string_view(found->second);
  }
};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(Trim(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

Clause ParseClause(std::string_view text) {
  Clause clause;
  const std::vector<std::string_view> parts = Split(text, ';');
  clause.type = base::ToLower(parts[0]);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string_view::npos) continue;
    std::string name = base::ToLower(Trim(parts[i].substr(0, equals)));
    std::string value(Trim(parts[i].substr(equals + 1)));
    if (name == "q") clause.weight = std::strtod(value.c_str(), nullptr);
    clause.parameters[std::move(name)] = std::move(value);
  }
  return clause;
}

std::vector<Clause> ParseAccept(std::string_view accept) {
  std::vector<Clause> clauses;
  for (std::string_view part : Split(accept, ',')) {
    if (!part.empty()) clauses.push_back(ParseClause(part));
  }
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const Clause& a, const Clause& b) { return a.weight > b.weight; });
  return clauses;
}

bool IsJson(std::string_view type) {
  return type == "application/json" || type == "*/*" || type == "application/*";
}

// Returns the form that as=, g= and v= request; nullopt if it is not served.
std::optional<Form> FormOf(const Clause& clause, Shape shape) {
  const std::string_view as = clause.Get("as");
  if (as.empty()) return Form::kObject;
  if (clause.Get("g") != "meta.k8s.io" || clause.Get("v") != "v1") return std::nullopt;
  if (as == "Table") return Form::kTable;
  const bool list = shape == Shape::kList;
  if (as == (list ? "PartialObjectMetadataList" : "PartialObjectMetadata")) return Form::kMetadata;
  return std::nullopt;
}

}  // namespace

std::optional<Form> Negotiate(std::string_view accept, Shape shape) {
  const std::vector<Clause> clauses = ParseAccept(accept);
  if (clauses.empty()) return Form::kObject;
  for (const Clause& clause : clauses) {
    const std::optional<Form> form = FormOf(clause, shape);
    if (IsJson(clause.type) && form && clause.weight > 0) return form;
  }
  return std::nullopt;
}

std::string MediaType(std::string_view content_type) {
  return base::ToLower(Trim(content_type.substr(0, content_type.find(';'))));
}

}  // namespace sandbox
