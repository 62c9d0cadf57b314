#include "cmd/kubectl-quota/command_rows.h"

#include "pkg/base/text.h"

namespace kubectl_quota {
namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 yes, or shown; 1 no, or not all is imported, or an amount is unknown; 2 wrong "
    "call, or no access; 3 check cannot tell.\n";

}  // namespace

const std::vector<CommandRow>& Rows() {
  static const std::vector<CommandRow> rows{
      {Command::kTop,
       "top",
       "Show usage and limits, the fullest limits first",
       {"wide", "json", "yaml", "csv"},
       true,
       "  kubectl quota -A                               usage and limits in all namespaces\n"
       "  kubectl quota top -w                           watch the usage in one namespace\n"},
      {Command::kWho,
       "who",
       "Show who uses a quota, the largest users first",
       {"wide", "json", "yaml", "csv"},
       false,
       "  kubectl quota who compute                      who uses it, by Deployment, Job, …\n"
       "  kubectl quota who compute --name requests.cpu --by label=team\n"
       "                                                 who uses one of its names, by label\n"
       "  kubectl quota who clusterquota/team-a --by namespace\n"
       "                                                 which namespaces use a ClusterQuota\n"
       "  kubectl quota who storage --unused             which claims no pod uses\n"},
      {Command::kWhy,
       "why",
       "Explain why a workload has fewer pods than it wants",
       {"json", "yaml"},
       false,
       "  kubectl quota why deployment/web               why it has fewer pods than it wants\n"},
      {Command::kCheck,
       "check",
       "Tell whether all objects of manifests, and the pods that they create, would fit",
       {"wide", "json", "yaml", "junit"},
       false,
       "  kubectl quota check -f app.yaml                would this fit?\n"
       "  helm template . | kubectl quota check -f - --quota-file quota.yaml -o junit\n"
       "                                                 the same in CI, without a cluster\n"},
      {Command::kTree,
       "tree",
       "Show ClusterQuotas as a tree",
       {"wide", "json", "yaml", "name"},
       true,
       "  kubectl quota tree                             ClusterQuotas as a tree\n"
       "  kubectl quota tree -n team-a-dev               those that limit a namespace\n"},
      {Command::kSuggest,
       "suggest",
       "Print a quota for what is used now, as YAML",
       {},
       false,
       "  kubectl quota suggest --headroom 20%           a quota for what is used now\n"},
      {Command::kImport,
       "import",
       "Print ClusterQuotas for the quotas of Capsule, OpenShift, HNC and Rancher, as YAML",
       {},
       true,
       "  kubectl quota import -f tenants.yaml           ClusterQuotas for quotas of other "
       "tools\n"},
      {Command::kReport,
       "report",
       "Print one HTML page with all limits and the largest users",
       {"html"},
       true,
       "  kubectl quota report -A -o html > quota.html   a page to share\n"},
      {Command::kUsageDefinition,
       "usage-definition",
       "Show what objects of files use by the UsageDefinitions of files, without a cluster",
       {"wide", "json", "yaml"},
       true,
       "  kubectl quota usage-definition test -f usage.yaml -f objects.yaml\n"
       "                                                 what would these objects use?\n",
       {"test"},
       "usedef"},
      {Command::kVersion,
       "version",
       "Print the version of this plugin, and of the daemon if there is one",
       {},
       false,
       "  kubectl quota version                          which version this is\n"},
  };
  return rows;
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names{"help"};
  for (const CommandRow& row : Rows()) names.emplace_back(row.name);
  return names;
}

std::string FooterOf(const CommandRow& row) {
  std::string text = "\nExamples:\n" + std::string(row.examples) + "\n";
  if (!row.outputs.empty()) text += "Formats for -o: " + base::Join(row.outputs, ", ") + ".\n";
  return text + "Flags of every command: see 'kubectl quota --help'.\n" + kExitCodes;
}

std::string FooterOfAll() {
  std::string text = "\nExamples:\n";
  for (const CommandRow& row : Rows()) text += row.examples;
  return text + "\nFlags of one command: see 'kubectl quota COMMAND --help'.\n" + kExitCodes;
}

}  // namespace kubectl_quota
