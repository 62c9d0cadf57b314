#include "cmd/kubectl-quota/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "cmd/kubectl-quota/call_errors.h"
#include "cmd/kubectl-quota/command_rows.h"
#include "cmd/kubectl-quota/completion.h"
#include "cmd/kubectl-quota/did_you_mean.h"
#include "cmd/kubectl-quota/flags.h"
#include "pkg/base/duration.h"
#include "pkg/base/text.h"

namespace kubectl_quota {
namespace {

constexpr const char* kAbout =
    "Shows the usage of quotas, who uses them, why they refuse, and whether manifests would fit.\n"
    "Without a command: `kubectl quota top`. This plugin never writes to the cluster.";

// The name that Cobra programs use for this command.
constexpr const char* kCompleteWord = "__complete";

Leave WrongCall(const std::string& why) {
  return {.exit_code = 2,
          .text = "error: " + why + "\nSee 'kubectl quota --help' for help and examples.\n"};
}

// Returns the parts between commas. A part with a comma is quoted, as in CSV and kubectl.
std::vector<std::string> SplitList(const std::vector<std::string>& lists) {
  std::vector<std::string> parts;
  for (const std::string& list : lists) {
    std::string part;
    bool quoted = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool quote = list[i] == '"';
      if (quote && quoted && list.compare(i, 2, "\"\"") == 0) {
        part += list[i++];
      } else if (quote && (quoted || part.empty())) {
        quoted = !quoted;
      } else if (list[i] == ',' && !quoted) {
        parts.push_back(std::exchange(part, ""));
      } else {
        part += list[i];
      }
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

// Turns the raw values into options.
std::optional<Leave> Finish(const RawFlags& raw, Options& options) {
  Place& place = options.place;
  if (!raw.request_timeout.empty()) {
    const bool seconds = raw.request_timeout.find_first_not_of("0123456789") == std::string::npos;
    const auto timeout = base::ParseDuration(raw.request_timeout + (seconds ? "s" : ""));
    if (!timeout || timeout->count() < 0) {
      return WrongCall("--request-timeout " + raw.request_timeout +
                       " must be seconds, or a number with a unit, such as 5s or 1m");
    }
    const auto limit = std::chrono::ceil<std::chrono::milliseconds>(*timeout);
    if (limit.count() > 0) place.request_timeout = limit;
  }
  for (const std::string& extra : raw.as_user_extra) {
    const std::size_t equals = extra.find('=');
    if (equals == std::string::npos) {
      return WrongCall("--as-user-extra " + extra + " must be KEY=VALUE");
    }
    place.flags.user.as_extra.emplace_back(extra.substr(0, equals), extra.substr(equals + 1));
  }
  CheckOptions& check = options.check;
  check.server = raw.dry_run == "server";
  for (auto* files : {&check.files, &check.quota_files, &check.limit_range_files,
                      &options.imports.files, &options.usage_definition.files}) {
    *files = SplitList(*files);
  }
  if (!raw.quota_name.empty()) options.who.quota += "/" + raw.quota_name;
  return std::nullopt;
}

std::optional<Leave> CheckManifests(const CheckOptions& check) {
  if (check.files.empty() && check.kustomize.empty()) {
    return WrongCall("--filename is required, or --kustomize");
  }
  if (!check.kustomize.empty() && (!check.files.empty() || check.recursive)) {
    return WrongCall("-k cannot be used together with -f or -R");
  }
  if (check.quota_files.empty() && !(check.limit_range_files.empty() && check.used_file.empty())) {
    return WrongCall("--limitrange-file and --used-file go with --quota-file");
  }
  if (check.server && !check.quota_files.empty()) {
    return WrongCall("--dry-run=server and --quota-file cannot be used together");
  }
  return std::nullopt;
}

std::optional<Leave> CheckImport(const Options& options) {
  if (!options.place.ns.empty()) return WrongCall("import reads all namespaces, so it has no -n");
  if (options.imports.recursive && options.imports.files.empty())
    return WrongCall("-R goes with -f");
  if (!options.place.selector.empty() && !options.imports.files.empty()) {
    return WrongCall("-l is for the quotas of the cluster: it does not go with -f");
  }
  return std::nullopt;
}

std::optional<Leave> CheckUsageDefinition(const CommandRow& row, const Options& options) {
  const std::string& action = options.usage_definition.action;
  if (!base::IsOneOf(action, row.actions)) {
    return WrongCall("unknown command \"" + action + "\" for " + row.name +
                     DidYouMean(action, {row.actions.begin(), row.actions.end()}));
  }
  if (options.usage_definition.files.empty()) return WrongCall("--filename is required");
  if (!options.place.selector.empty()) {
    return WrongCall(std::string(row.name) + " reads only files, so it has no -l");
  }
  return std::nullopt;
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
  if (options.command == Command::kCheck) {
    if (auto wrong = CheckManifests(options.check)) return wrong;
  }
  if (options.command == Command::kImport) {
    if (auto wrong = CheckImport(options)) return wrong;
  }
  if (options.command == Command::kUsageDefinition) {
    if (auto wrong = CheckUsageDefinition(row, options)) return wrong;
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

// The whole command line of `kubectl quota`.
class CommandLine {
 public:
  CommandLine() : app(kAbout, "kubectl quota") {
    app.footer(FooterOfAll());
    app.fallthrough();
    app.require_subcommand(0, 1);
    AddCommonFlags(app, options, raw);
    app.add_flag("-w,--watch", options.watch, "top: watch, and print a line for each change");
    app.add_flag("--version", version, "The same as the command version");
    for (const CommandRow& row : Rows()) {
      CLI::App& command = *app.add_subcommand(row.name, row.about);
      command.footer(FooterOf(row));
      if (*row.alias != '\0') command.alias(row.alias);
      AddFlagsOf(row.command, command, options, raw);
    }
    help = app.add_subcommand("help", "Show the help of a command");
    help->add_option("COMMAND", topic, "The command");
  }
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // The row of the command that was parsed.
  [[nodiscard]] const CommandRow& Row() const {
    for (const CommandRow& row : Rows()) {
      if (app.got_subcommand(row.name)) return row;
    }
    return Rows().front();
  }

  CLI::App app;
  Options options;
  RawFlags raw;
  bool version = false;
  CLI::App* help = nullptr;
  std::string topic;
};

Leave Help(const CommandLine& line) {
  if (line.topic.empty()) {
    // help() of the app would be that of the command "help".
    const auto formatter = line.app.get_formatter();
    return {.text =
                formatter->make_help(&line.app, line.app.get_name(), CLI::AppFormatMode::Normal)};
  }
  const auto commands = line.app.get_subcommands(
      [&](const CLI::App* command) { return command->check_name(line.topic); });
  if (commands.empty()) {
    return WrongCall("unknown command \"" + line.topic + "\"" +
                     DidYouMean(line.topic, CommandNames()));
  }
  return {.text = commands.front()->help(line.app.get_name())};
}

// What is wrong with a flag that this command does not have.
Leave UnknownFlag(const CommandRow& row, const std::string& word) {
  const std::string flag = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const CommandWords& command : KnownCommands()) {
    const bool own = command.name.empty() || command.name == row.name;
    for (const Flag& known : command.flags) {
      if (own) names.push_back(known.name);
      if (!own && base::IsOneOf(flag, {known.name, known.letter})) {
        return WrongCall(flag + " is a flag of " + command.name + ", not of " + row.name);
      }
    }
  }
  return WrongCall("unknown flag: " + flag + DidYouMean(flag, names));
}

Leave Unexpected(const CommandLine& line) {
  const std::vector<std::string> rest = line.app.remaining(true);
  const std::string word = rest.empty() ? "" : rest.front();
  const bool command = std::ranges::any_of(
      Rows(), [&](const CommandRow& row) { return line.app.got_subcommand(row.name); });
  if (word.starts_with('-')) return UnknownFlag(line.Row(), word);
  if (command) return WrongCall("unexpected argument \"" + word + "\"");
  return WrongCall("unknown command \"" + word + "\"" + DidYouMean(word, CommandNames()));
}

// `check --server` once asked for a dry run.
bool LacksUrl(const std::vector<std::string>& words) {
  const auto found = std::ranges::find(words, "--server");
  return found != words.end() && (found + 1 == words.end() || (found + 1)->starts_with('-'));
}

std::optional<Leave> Parse(CommandLine& line, const std::vector<std::string>& arguments) {
  if (LacksUrl(arguments)) {
    return WrongCall(
        "--server takes the URL of the API server, as in kubectl; a dry run on the server is "
        "--dry-run=server");
  }
  try {
    std::vector<std::string> words = ForParser(arguments);
    std::ranges::reverse(words);
    line.app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return Leave{.exit_code = 0, .text = line.app.help()};
  } catch (const CLI::ExtrasError&) {
    return Unexpected(line);
  } catch (const CLI::ParseError& error) {
    return WrongCall(SentenceOf(error.what()));
  }
  if (line.help->parsed()) return Help(line);
  const CommandRow& row = line.Row();
  // As kubectl does for a command that needs another word.
  if (row.command == Command::kUsageDefinition && line.options.usage_definition.action.empty()) {
    return Leave{.exit_code = 2,
                 .text = line.app.get_subcommand(row.name)->help(line.app.get_name())};
  }
  line.options.command = line.version ? Command::kVersion : row.command;
  if (auto wrong = Finish(line.raw, line.options)) return wrong;
  return Check(row, line.options);
}

std::vector<Flag> FlagsIn(const CLI::App& app) {
  std::vector<Flag> flags;
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& letters = option->get_snames();
    const std::string letter = letters.empty() ? "" : "-" + letters.front();
    for (const std::string& name : option->get_lnames()) {
      flags.push_back({"--" + name, letter, option->get_items_expected_max() > 0});
    }
  }
  return flags;
}

}  // namespace

bool CheckOptions::ReadsStdin() const {
  return base::IsOneOf("-", files) || base::IsOneOf("-", quota_files) ||
         base::IsOneOf("-", limit_range_files) || used_file == "-";
}

const std::vector<CommandWords>& KnownCommands() {
  static const std::vector<CommandWords> commands = [] {
    const CommandLine line;
    std::vector<CommandWords> known{{.name = "", .flags = FlagsIn(line.app)}};
    for (const CommandRow& row : Rows()) {
      CommandWords words{.name = row.name,
                         .alias = row.alias,
                         .outputs = {row.outputs.begin(), row.outputs.end()},
                         .actions = {row.actions.begin(), row.actions.end()},
                         .flags = {}};
      for (Flag& flag : FlagsIn(*line.app.get_subcommand(row.name))) {
        if (flag.name != "--help") words.flags.push_back(std::move(flag));
      }
      known.push_back(std::move(words));
    }
    known.push_back({.name = "help"});
    return known;
  }();
  return commands;
}

const Flag* FindFlag(const std::string& word) {
  for (const CommandWords& command : KnownCommands()) {
    for (const Flag& flag : command.flags) {
      if (word == flag.name || (!flag.letter.empty() && word == flag.letter)) return &flag;
    }
  }
  return nullptr;
}

Parsed ParseArguments(const std::vector<std::string>& arguments) {
  Parsed parsed;
  if (!arguments.empty() && arguments.front() == kCompleteWord) {
    parsed.options.command = Command::kComplete;
    parsed.options.complete.words.assign(arguments.begin() + 1, arguments.end());
    parsed.options.place = CompletionOf(parsed.options.complete.words).place;
    return parsed;
  }
  CommandLine line;
  parsed.leave = Parse(line, arguments);
  parsed.options = std::move(line.options);
  return parsed;
}

}  // namespace kubectl_quota
