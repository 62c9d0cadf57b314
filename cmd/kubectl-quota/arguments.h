#pragma once

// The command line as a value. The only user of CLI11, whose exceptions end here.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kubectl_quota {

enum class Command { kTop, kWho, kWhy, kCheck, kTree, kSuggest, kReport, kComplete, kVersion };

// The part of the cluster to look at, as with kubectl's own flags.
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
  bool replace = false;            // treat all objects as new
  bool server = false;             // also send dry runs to the server
  bool allow_unknown = false;      // answer yes if only something unknown is against it
  bool validate = true;            // an unknown field is an error
  std::int64_t nodes = -1;         // nodes of every DaemonSet; -1: count the cluster's nodes
  // With any of these, the cluster is not contacted.
  std::vector<std::string> quota_files;
  std::vector<std::string> limit_range_files;
  std::string used_file;
};

struct TreeOptions {
  std::string quota;  // show this quota and its descendants; "": all
};

struct SuggestOptions {
  std::string headroom = "20%";
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
  WhoOptions who;
  WhyOptions why;
  CheckOptions check;
  TreeOptions tree;
  SuggestOptions suggest;
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

}  // namespace kubectl_quota
