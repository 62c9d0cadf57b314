#pragma once

// The command line as a value. Only flags.cc and arguments.cc use CLI11, whose exceptions end here.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pkg/client/overrides.h"

namespace kubectl_quota {

enum class Command {
  kTop,
  kWho,
  kWhy,
  kCheck,
  kTree,
  kSuggest,
  kImport,
  kReport,
  kUsageDefinition,
  kComplete,
  kVersion
};

// The cluster and the part of it to look at, as with kubectl's own flags.
struct Place {
  std::string kubeconfig;
  std::string context;
  client::Overrides flags;
  std::optional<std::chrono::milliseconds> request_timeout;
  std::string ns;  // "": the context's
  bool all_namespaces = false;
  std::string selector;  // of labels of quotas
};

struct WhoOptions {
  std::string quota;
  std::string name;  // "": every name that the quota limits
  std::string by = "owner";
  std::size_t most = 10;
  bool unused = false;  // only claims that no pod uses
};

struct WhyOptions {
  std::vector<std::string> objects;  // "deployment/web", a kind before its names, or a pod's name
};

struct CheckOptions {
  // Manifests: files, folders, URLs, and "-" for stdin; or a folder for kustomize.
  std::vector<std::string> files;
  std::string kustomize;
  bool recursive = false;      // read the folders in folders, too
  bool replace = false;        // treat all objects as new
  bool server = false;         // also send dry runs to the server
  bool allow_unknown = false;  // answer yes if only something unknown is against it
  bool validate = true;        // an unknown field is an error
  std::int64_t nodes = -1;     // nodes of every DaemonSet; -1: count the cluster's nodes
  // With any of these, the cluster is not contacted.
  std::vector<std::string> quota_files;
  std::vector<std::string> limit_range_files;
  std::string used_file;

  // True if one of the files is standard input.
  [[nodiscard]] bool ReadsStdin() const;
};

struct TreeOptions {
  std::string quota;  // show this quota and its descendants; "": all
};

struct SuggestOptions {
  std::string headroom = "20%";
};

struct ImportOptions {
  std::vector<std::string> files;  // as in CheckOptions; none: the cluster is read
  bool recursive = false;
  std::string enforcement = "Audit";  // of each ClusterQuota
};

struct UsageDefinitionOptions {
  std::string action;              // "test"
  std::vector<std::string> files;  // as in CheckOptions
  bool recursive = false;
};

struct CompleteOptions {
  std::vector<std::string> words;  // after `kubectl quota`; the last one is incomplete
};

struct Options {
  Command command = Command::kTop;
  Place place;
  std::string output;  // "", "wide", "json", …: valid for the command
  bool headers = true;
  bool watch = false;
  bool only_client = false;  // for version: do not contact the cluster
  int verbosity = 0;         // -v
  WhoOptions who;
  WhyOptions why;
  CheckOptions check;
  TreeOptions tree;
  SuggestOptions suggest;
  ImportOptions imports;
  UsageDefinitionOptions usage_definition;
  CompleteOptions complete;
};

// A reason to exit at once: requested help, or a wrong call.
struct Leave {
  int exit_code = 0;
  std::string text;  // to stdout with 0, else to stderr
};

struct Parsed {
  std::optional<Leave> leave;
  Options options;
};

Parsed ParseArguments(const std::vector<std::string>& arguments);

// A flag as the parser knows it.
struct Flag {
  std::string name;    // "--namespace"
  std::string letter;  // "-n"; "" for none
  bool takes_value = false;
};

struct CommandWords {
  std::string name;   // "who"; "" for what every command has
  std::string alias;  // another name; "" for none
  std::vector<std::string> outputs;
  std::vector<std::string> actions;  // what its first argument may be, if that is no name
  std::vector<Flag> flags;           // of this command only
};

// All commands, that without a name first.
const std::vector<CommandWords>& KnownCommands();
// Returns the flag that the word is; nullptr for none. "--name=VALUE" is no flag here.
const Flag* FindFlag(const std::string& word);

}  // namespace kubectl_quota
