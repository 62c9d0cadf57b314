#pragma once

// The command line as a value. The only user of CLI11, whose exceptions end here.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kubectl_quota {

enum class Command { kTop, kWho, kWhy, kCheck, kTree, kSuggest, kReport, kComplete, kVersion };

// Where to look, as kubectl's own flags say.
struct Place {
  std::string kubeconfig;
  std::string context;
  std::string ns;  // "": the context's
  bool all_namespaces = false;
  std::string selector;  // of labels of quotas
};

struct WhoOptions {
  std::string quota;
  std::string name;  // "": every name that the quota limits
  std::string by = "owner";
  std::size_t most = 10;
};

struct WhyOptions {
  std::vector<std::string> objects;  // "deployment/web", or a pod's name
};

struct CheckOptions {
  std::vector<std::string> files;  // manifests; folders, and "-" for stdin
  bool replace = false;            // all of it is new, whatever is stored
  bool server = false;             // the server is asked, too, by dry runs
  bool validate = true;            // a field that there is not ends the check
  std::int64_t nodes = -1;         // that every DaemonSet runs on; -1: as the cluster has them
  // Offline: the cluster is not asked.
  std::vector<std::string> quota_files;
  std::vector<std::string> limit_range_files;
  std::string used_file;
};

struct TreeOptions {
  std::string quota;  // it and what is below; "": all
};

struct SuggestOptions {
  std::string headroom = "20%";
};

struct CompleteOptions {
  std::vector<std::string> words;  // after `kubectl quota`; the last one is being typed
};

struct Options {
  Command command = Command::kTop;
  Place place;
  std::string output;  // "", "wide", "json", …: one that the command knows
  bool headers = true;
  bool watch = false;
  bool only_client = false;  // of the version: the cluster is not asked
  WhoOptions who;
  WhyOptions why;
  CheckOptions check;
  TreeOptions tree;
  SuggestOptions suggest;
  CompleteOptions complete;
};

// What ends the program at once: help that was asked for, or a wrong call.
struct Leave {
  int exit_code = 0;
  std::string text;  // to stdout with 0, else to stderr
};

struct Parsed {
  std::optional<Leave> leave;
  Options options;
};

Parsed ParseArguments(const std::vector<std::string>& arguments);

}  // namespace kubectl_quota
