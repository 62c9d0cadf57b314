#include "cmd/kubectl-quota/completion.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "pkg/inspect/foreign_text.h"

namespace kubectl_quota {
namespace {

using Words = std::vector<std::string>;
using Names = Completion::Names;

// The names from the cluster that complete an argument of a command.
Names NamesFor(const std::string& command) {
  static const std::map<std::string, Names> names{{"who", Names::kQuotas},
                                                  {"why", Names::kWorkloads},
                                                  {"tree", Names::kClusterQuotas},
                                                  {"help", Names::kCommands}};
  const auto found = names.find(command);
  return found == names.end() ? Names::kNone : found->second;
}

// True if the next word is the value of this one.
bool TakesValue(const std::string& word) {
  const Flag* flag = FindFlag(word);
  return flag != nullptr && flag->takes_value;
}

// The command among the words ("top" if there is none), and the number of other words after it.
struct Called {
  std::optional<std::string> command;
  std::size_t arguments = 0;
};

Called CalledIn(const Words& words) {
  Called called;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (TakesValue(words[i])) {
      ++i;
    } else if (!words[i].starts_with("-")) {
      called.arguments += called.command ? 1 : 0;
      if (!called.command) called.command = words[i];
    }
  }
  return called;
}

bool IsCommon(const Flag& flag) {
  return std::ranges::any_of(KnownCommands().front().flags,
                             [&](const Flag& common) { return common.name == flag.name; });
}

// Returns the place that the flags of every command name, in front of the last word.
Place PlaceIn(const Words& words) {
  Words flags;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const Flag* flag = FindFlag(words[i].substr(0, words[i].find('=')));
    if (flag == nullptr || !IsCommon(*flag)) continue;
    const bool next = flag->takes_value && words[i].find('=') == std::string::npos;
    if (next && i + 2 >= words.size()) break;  // its value is being typed
    flags.push_back(words[i]);
    if (next) flags.push_back(words[++i]);
  }
  return ParseArguments(flags).options.place;
}

void CompleteValue(const std::string& flag, const CommandWords& command, Completion& completion) {
  static const std::set<std::string> files{"-f",           "--filename",
                                           "-k",           "--kustomize",
                                           "--kubeconfig", "--certificate-authority",
                                           "--client-key", "--client-certificate"};
  if (flag == "-n" || flag == "--namespace") completion.names = Names::kNamespaces;
  if (flag == "-o" || flag == "--output") completion.words = command.outputs;
  if (flag == "--by") completion.words = {"owner", "object", "namespace", "label="};
  if (flag == "--enforcement") completion.words = {"Deny", "Warn", "Audit"};
  if (flag == "--dry-run") completion.words = {"none", "client", "server"};
  if (files.contains(flag) || flag.ends_with("-file")) completion.names = Names::kFiles;
}

const CommandWords& WordsOf(const std::string& name) {
  static const CommandWords none;
  for (const CommandWords& command : KnownCommands()) {
    if (!name.empty() && (command.name == name || command.alias == name)) return command;
  }
  return none;
}

// Returns the names of the flags that a command may have.
Words FlagNames(const CommandWords& command) {
  Words names;
  for (const auto* flags : {&KnownCommands().front().flags, &command.flags}) {
    for (const Flag& flag : *flags) {
      if (flag.name != "--watch" || command.name == "top") names.push_back(flag.name);
    }
  }
  return names;
}

}  // namespace

Words ForParser(const Words& words) {
  Words parsed;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {
      parsed.insert(parsed.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      return parsed;
    }
    const std::size_t equals = words[i].find('=');
    const Flag* flag = FindFlag(words[i].substr(0, equals));
    const bool own_value = flag != nullptr && equals != std::string::npos;
    if (own_value && flag->takes_value) {
      parsed.push_back(flag->name);
      parsed.push_back(words[i].substr(equals + 1));
    } else if (own_value) {
      parsed.push_back(flag->name + words[i].substr(equals));
    } else {
      parsed.push_back(words[i]);
    }
    if (TakesValue(words[i]) && i + 1 < words.size()) parsed.push_back(words[++i]);
  }
  return parsed;
}

Completion CompletionOf(const Words& words) {
  Completion completion;
  if (words.empty()) return completion;
  completion.typed = words.back();
  completion.place = PlaceIn(words);
  const Called called = CalledIn(words);
  const CommandWords& command = WordsOf(called.command.value_or("top"));
  const Names names = NamesFor(command.name);
  if (words.size() > 1 && TakesValue(words[words.size() - 2])) {
    CompleteValue(words[words.size() - 2], command, completion);
  } else if (completion.typed.starts_with("-")) {
    completion.words = FlagNames(command);
  } else if (!called.command || (names == Names::kCommands && called.arguments == 0)) {
    for (const CommandWords& row : KnownCommands()) {
      if (!row.name.empty()) completion.words.push_back(row.name);
    }
    std::ranges::sort(completion.words);
  } else if (called.arguments == 0 || names == Names::kWorkloads) {
    completion.words = command.actions;
    completion.names = names;
  }
  return completion;
}

std::string CompletionText(const Completion& completion, const Words& names) {
  Words words = completion.words;
  words.insert(words.end(), names.begin(), names.end());
  std::string text;
  for (const std::string& word : words) {
    if (word.starts_with(completion.typed)) text += inspect::Line(word);
  }
  return text + (completion.names == Names::kFiles ? ":0\n" : ":4\n");
}

}  // namespace kubectl_quota
