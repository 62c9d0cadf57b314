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

const Words kCommonFlags{"--namespace", "--all-namespaces", "--selector",   "--output",
                         "--context",   "--kubeconfig",     "--no-headers", "--help"};

struct CommandWords {
  Words flags;
  Words outputs;
  Names names = Names::kNone;
};

const std::map<std::string, CommandWords>& Commands() {
  static const std::map<std::string, CommandWords> commands{
      {"top", {{"--watch"}, {"wide", "json", "yaml", "csv"}, Names::kNone}},
      {"who", {{"--name", "--by", "--most"}, {"wide", "json", "yaml", "csv"}, Names::kQuotas}},
      {"why", {{}, {"json", "yaml"}, Names::kWorkloads}},
      {"check",
       {{"--filename", "--replace", "--allow-unknown", "--server", "--validate=false", "--nodes",
         "--quota-file", "--limitrange-file", "--used-file"},
        {"json", "yaml", "junit"},
        Names::kNone}},
      {"tree", {{}, {"wide", "json", "yaml", "name"}, Names::kClusterQuotas}},
      {"suggest", {{"--headroom"}, {}, Names::kNone}},
      {"report", {{}, {"html"}, Names::kNone}},
      {"version", {}},
  };
  return commands;
}

// Flags whose next word is their value.
bool TakesValue(const std::string& word) {
  static const std::set<std::string> flags{
      "-n",          "--namespace", "-l",           "--selector",
      "-o",          "--output",    "--context",    "--kubeconfig",
      "--name",      "--by",        "--most",       "-f",
      "--filename",  "--nodes",     "--quota-file", "--limitrange-file",
      "--used-file", "--headroom"};
  return flags.contains(word);
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

void ReadPlace(const Words& words, Place& place) {
  const auto set = [&](const std::string& flag, const std::string& value) {
    if (flag == "-n" || flag == "--namespace") place.ns = value;
    if (flag == "--context") place.context = value;
    if (flag == "--kubeconfig") place.kubeconfig = value;
  };
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals != std::string::npos) {
      set(words[i].substr(0, equals), words[i].substr(equals + 1));
    } else if (i + 2 < words.size()) {
      set(words[i], words[i + 1]);
    }
  }
}

void CompleteValue(const std::string& flag, const CommandWords& command, Completion& completion) {
  if (flag == "-n" || flag == "--namespace") completion.names = Names::kNamespaces;
  if (flag == "-o" || flag == "--output") completion.words = command.outputs;
  if (flag == "--by") completion.words = {"owner", "object", "namespace", "label="};
  if (flag == "-f" || flag == "--filename" || flag == "--kubeconfig" || flag.ends_with("-file")) {
    completion.names = Names::kFiles;
  }
}

}  // namespace

Words WithLongFlags(Words words) {
  static const std::map<char, std::string> names{{'n', "namespace"}, {'A', "all-namespaces"},
                                                 {'l', "selector"},  {'o', "output"},
                                                 {'w', "watch"},     {'f', "filename"}};
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    std::string& word = words[i];
    if (TakesValue(word)) {
      ++i;
    } else if (word.size() > 2 && word[0] == '-' && word[2] == '=') {
      const auto name = names.find(word[1]);
      if (name != names.end()) word = "--" + name->second + word.substr(2);
    }
  }
  return words;
}

Completion CompletionOf(const Words& words) {
  Completion completion;
  if (words.empty()) return completion;
  completion.typed = words.back();
  ReadPlace(words, completion.place);
  const Called called = CalledIn(words);
  const auto found = Commands().find(called.command.value_or("top"));
  const CommandWords command = found == Commands().end() ? CommandWords() : found->second;
  if (words.size() > 1 && TakesValue(words[words.size() - 2])) {
    CompleteValue(words[words.size() - 2], command, completion);
  } else if (completion.typed.starts_with("-")) {
    completion.words = kCommonFlags;
    completion.words.insert(completion.words.end(), command.flags.begin(), command.flags.end());
  } else if (!called.command) {
    for (const auto& [name, row] : Commands()) completion.words.push_back(name);
  } else if (called.arguments == 0 || command.names == Names::kWorkloads) {
    completion.names = command.names;
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
