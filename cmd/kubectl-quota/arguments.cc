#include "cmd/kubectl-quota/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <set>

#include "cmd/kubectl-quota/completion.h"
#include "pkg/base/text.h"

namespace kubectl_quota {
namespace {

constexpr const char* kAbout =
    "Shows the usage of quotas, who uses them, why they refuse, and whether manifests would fit.\n"
    "Without a command: `kubectl quota top`. This plugin never writes to the cluster.";

constexpr const char* kExitCodes =
    "Exit codes: 0 yes, or shown; 1 no; 2 wrong call, or no access; 3 check cannot tell.\n";

// The name that Cobra programs use for this command.
constexpr const char* kCompleteWord = "__complete";

struct CommandRow {
  Command command;
  const char* name;
  const char* about;
  std::set<std::string> outputs;  // values of -o
  bool all_namespaces;
  const char* examples;  // lines
};

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
       "                                                 which namespaces use a ClusterQuota\n"},
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
      {Command::kReport,
       "report",
       "Print one HTML page with all limits and the largest users",
       {"html"},
       true,
       "  kubectl quota report -A -o html > quota.html   a page to share\n"},
      {Command::kVersion,
       "version",
       "Print the version of this plugin, and of the daemon if there is one",
       {},
       false,
       "  kubectl quota version                          which version this is\n"},
  };
  return rows;
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

void AddCommonFlags(CLI::App& app, Options& options) {
  Place& place = options.place;
  app.add_option("-n,--namespace", place.ns, "The namespace; the context's if not given");
  app.add_flag("-A,--all-namespaces", place.all_namespaces, "All namespaces");
  app.add_option("-l,--selector", place.selector, "Only quotas with these labels, as app=web,!old");
  app.add_option("-o,--output", options.output,
                 "Output format: wide, name, json, yaml, csv, junit or html");
  app.add_flag_callback(
      "--no-headers", [&options] { options.headers = false; }, "Do not print column titles");
  app.add_option("--context", place.context, "The context of the kubeconfig");
  app.add_option("--kubeconfig", place.kubeconfig, "The kubeconfig to use");
}

void AddWhoFlags(CLI::App& app, WhoOptions& who) {
  app.add_option("QUOTA", who.quota, "The quota: NAME, or KIND/NAME, as clusterquota/team-a")
      ->required();
  app.add_option("--name", who.name, "Only this name of its limits, as requests.cpu");
  app.add_option("--by", who.by, "owner (the default), object, namespace, or label=KEY");
  app.add_option("--most", who.most, "How many holders of each name are shown; 0: all")
      ->capture_default_str();
}

void AddCheckFlags(CLI::App& app, CheckOptions& check) {
  app.add_option("-f,--filename", check.files, "Manifests: a file, a folder, or - for stdin")
      ->required()
      ->expected(1)
      ->take_all();
  app.add_flag("--replace", check.replace, "Treat stored objects as new, not as changed");
  app.add_flag("--server", check.server, "Also send new objects to the server as a dry run");
  app.add_flag("--allow-unknown", check.allow_unknown,
               "Say yes if all that is known fits, although something is not known");
  app.add_flag("--validate,!--no-validate", check.validate,
               "Fail at unknown fields; --validate=false ignores them");
  app.add_option("--nodes", check.nodes, "How many nodes DaemonSets run on, instead of counting")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--quota-file", check.quota_files,
                 "File with the quotas, instead of the cluster's. The cluster is asked only for "
                 "labels of namespaces, if a ClusterQuota needs them and no file has them")
      ->expected(1)
      ->take_all();
  app.add_option("--limitrange-file", check.limit_range_files, "LimitRanges for --quota-file")
      ->expected(1)
      ->take_all();
  app.add_option("--used-file", check.used_file, "What is used: quotas with status, or amounts");
}

void AddFlagsOf(Command command, CLI::App& app, Options& options) {
  switch (command) {
    case Command::kWho:
      AddWhoFlags(app, options.who);
      break;
    case Command::kWhy:
      app.add_option("OBJECT", options.why.objects, "KIND/NAME of what makes pods, or a pod's NAME")
          ->required();
      break;
    case Command::kCheck:
      AddCheckFlags(app, options.check);
      break;
    case Command::kTree:
      app.add_option("QUOTA", options.tree.quota, "Only this ClusterQuota and those below it");
      break;
    case Command::kSuggest:
      app.add_option("--headroom", options.suggest.headroom, "How much more than is used now")
          ->capture_default_str();
      break;
    case Command::kVersion:
      app.add_flag("--client", options.only_client, "Do not ask the cluster");
      break;
    case Command::kReport:
    case Command::kComplete:
    case Command::kTop:
      break;
  }
}

Leave WrongCall(const std::string& why) {
  return {.exit_code = 2,
          .text = "error: " + why + "\nSee 'kubectl quota --help' for help and examples.\n"};
}

// Checks combinations of flags that the parser cannot check.
std::optional<Leave> Check(const CommandRow& row, const Options& options) {
  if (!options.output.empty() && !row.outputs.contains(options.output)) {
    if (row.outputs.empty()) return WrongCall(std::string(row.name) + " has no -o");
    return WrongCall("-o " + options.output + " is unknown to " + row.name + ", which has " +
                     base::Join(row.outputs, ", "));
  }
  if (options.place.all_namespaces && !row.all_namespaces) {
    return WrongCall(std::string(row.name) + " looks into one namespace: give -n instead of -A");
  }
  const CheckOptions& check = options.check;
  if (check.quota_files.empty() && !(check.limit_range_files.empty() && check.used_file.empty())) {
    return WrongCall("--limitrange-file and --used-file go with --quota-file");
  }
  if (check.server && !check.quota_files.empty()) {
    return WrongCall("--server and --quota-file cannot be used together");
  }
  if (options.watch && options.command != Command::kTop) return WrongCall("-w is for top only");
  if (options.place.all_namespaces && !options.place.ns.empty()) {
    return WrongCall("-n and -A cannot be used together");
  }
  if (options.command == Command::kTree && !options.place.selector.empty()) {
    return WrongCall("tree does not support -l");
  }
  if (!options.tree.quota.empty() && !options.place.ns.empty()) {
    return WrongCall("a quota's name and -n cannot be used together");
  }
  const bool rows = options.output.empty() || options.output == "wide" || options.output == "csv";
  if (options.watch && !rows) return WrongCall("-w goes with tables and csv only");
  return std::nullopt;
}

const CommandRow& RowOf(const std::map<CLI::App*, const CommandRow*>& commands) {
  for (const auto& [app, row] : commands) {
    if (app->parsed()) return *row;
  }
  return Rows().front();
}

}  // namespace

Parsed ParseArguments(const std::vector<std::string>& arguments) {
  Parsed parsed;
  if (!arguments.empty() && arguments.front() == kCompleteWord) {
    parsed.options.command = Command::kComplete;
    parsed.options.complete.words.assign(arguments.begin() + 1, arguments.end());
    parsed.options.place = CompletionOf(parsed.options.complete.words).place;
    return parsed;
  }
  CLI::App app(kAbout, "kubectl quota");
  app.footer(FooterOfAll());
  app.fallthrough();
  app.require_subcommand(0, 1);
  AddCommonFlags(app, parsed.options);
  app.add_flag("-w,--watch", parsed.options.watch, "top: watch, and print a line for each change");
  bool version = false;
  app.add_flag("--version", version, "The same as the command version");
  std::map<CLI::App*, const CommandRow*> commands;
  for (const CommandRow& row : Rows()) {
    CLI::App& command = *app.add_subcommand(row.name, row.about);
    command.footer(FooterOf(row));
    commands[&command] = &row;
    AddFlagsOf(row.command, command, parsed.options);
  }
  try {
    std::vector<std::string> words = WithLongFlags(arguments);
    std::ranges::reverse(words);
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    parsed.leave = Leave{.exit_code = 0, .text = app.help()};
    return parsed;
  } catch (const CLI::ParseError& error) {
    parsed.leave = WrongCall(error.what());
    return parsed;
  }
  const CommandRow& row = RowOf(commands);
  parsed.options.command = version ? Command::kVersion : row.command;
  parsed.leave = Check(row, parsed.options);
  return parsed;
}

}  // namespace kubectl_quota
