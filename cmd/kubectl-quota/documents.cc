#include "cmd/kubectl-quota/documents.h"

#include "pkg/config/yaml.h"
#include "pkg/inspect/foreign_text.h"

namespace kubectl_quota {

std::string PrintDocument(const json::Value& value, std::string_view output) {
  if (output == "yaml") return inspect::HarmlessYaml(config::WriteYaml(value));
  std::string text = inspect::HarmlessJson(json::WritePretty(value));
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

void AddUnknown(const Terminal& terminal, json::Value& document) {
  const std::vector<std::string>& doubts = terminal.doubts();
  if (!doubts.empty()) document.Make({"unknown"}) = json::Array(doubts.begin(), doubts.end());
}

}  // namespace kubectl_quota
