#pragma once

// The commands. Each reads the cluster, lets pkg/inspect decide and prints the answer. The result
// is the exit code. An error is printed as kubectl would print it, with exit code 2.
//
// Single-threaded. The session must outlive them.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/arguments.h"
#include "cmd/kubectl-quota/cluster.h"
#include "cmd/kubectl-quota/offline_inputs.h"
#include "pkg/base/scheduler.h"
#include "pkg/inspect/table.h"

namespace kubectl_quota {

inline constexpr int kYes = 0;
inline constexpr int kNo = 1;
inline constexpr int kFailed = 2;
inline constexpr int kUnknown = 3;

struct Session {
  Cluster& cluster;
  base::Scheduler& scheduler;
  Options options;
  std::string ns;      // from the flags or the context; "": all
  std::string source;  // "https://10.0.0.1:6443"
  [[nodiscard]] Terminal& terminal() const { return cluster.terminal(); }
  [[nodiscard]] inspect::TableStyle style() const {
    return {.titles = options.headers, .colours = terminal().traits().colours};
  }
};

using Outcome = base::Result<int>;

// Performs what needs no cluster and no kubeconfig, whatever is there; nullopt for other commands.
std::optional<Outcome> PerformWithFiles(const Options& options, Terminal& terminal);
// Performs the command of the session's options.
base::Task<Outcome> Perform(Session& session);
// Returns the exit code; prints an error.
int Report(Terminal& terminal, const Outcome& outcome);

base::Task<Outcome> Top(Session& session);
base::Task<Outcome> Who(Session& session);
base::Task<Outcome> Why(Session& session);
base::Task<Outcome> Check(Session& session);
base::Task<Outcome> Suggest(Session& session);
base::Task<Outcome> ImportStored(Session& session);
base::Task<Outcome> MakeReport(Session& session);
base::Task<Outcome> Tree(Session& session);
base::Task<Outcome> Complete(Session& session);
// Prints the images of daemons in the cluster; nothing if there is none or the user may not see it.
base::Task<Outcome> DaemonVersion(Session& session);
// `check` with --quota-file. Reads only files, except for the labels of namespaces that are in no
// file: if ClusterQuotas select by them, `ask_labels` reads them from the cluster.
using AskLabels =
    std::function<base::Result<LabelsByNamespace>(const std::vector<std::string>& namespaces)>;
Outcome CheckOffline(const Options& options, Terminal& terminal, base::WallTime now,
                     const AskLabels& ask_labels);
// `import` with -f. Reads only files.
Outcome ImportFiles(const Options& options, Terminal& terminal);
// `usage-definition test`. Reads only files.
Outcome TestUsage(const Options& options, Terminal& terminal);
// Reads metadata.labels of these namespaces of the cluster. Errors: also kNotFound.
base::Task<base::Result<LabelsByNamespace>> LabelsOf(Cluster& cluster,
                                                     std::vector<std::string> namespaces);

}  // namespace kubectl_quota
