#include "cmd/kubectl-quota/documents.h"

#include "pkg/config/yaml.h"

namespace kubectl_quota {

std::string PrintDocument(const json::Value& value, std::string_view output) {
  if (output == "yaml") return config::WriteYaml(value);
  std::string text = json::WritePretty(value);
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

}  // namespace kubectl_quota
