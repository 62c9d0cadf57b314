#pragma once

// The commands: each reads what it needs, lets pkg/inspect decide and shows the answer. The result
// is the exit code; an error is told in kubectl's words, with exit code 2.
//
// Single-threaded. The session outlives them.

#include <string>

#include "cmd/kubectl-quota/arguments.h"
#include "cmd/kubectl-quota/cluster.h"
#include "pkg/base/scheduler.h"
#include "pkg/inspect/table.h"

namespace kubectl_quota {

inline constexpr int kYes = 0;
inline constexpr int kNo = 1;
inline constexpr int kFailed = 2;

struct Session {
  Cluster& cluster;
  base::Scheduler& scheduler;
  Options options;
  std::string ns;      // of the flags or the context; "" for all of them
  std::string source;  // "https://10.0.0.1:6443"
  [[nodiscard]] Terminal& terminal() const { return cluster.terminal(); }
  [[nodiscard]] inspect::TableStyle style() const {
    return {.titles = options.headers, .colours = terminal().traits().colours};
  }
};

using Outcome = base::Result<int>;

base::Task<Outcome> Top(Session& session);
base::Task<Outcome> Who(Session& session);
base::Task<Outcome> Why(Session& session);
base::Task<Outcome> Check(Session& session);
base::Task<Outcome> Suggest(Session& session);
base::Task<Outcome> MakeReport(Session& session);
base::Task<Outcome> Tree(Session& session);
base::Task<Outcome> Complete(Session& session);
// The images of daemons in the cluster; nothing where there is none, or none may be seen.
base::Task<Outcome> DaemonVersion(Session& session);
// With --quota-file: from files alone.
Outcome CheckOffline(const Options& options, Terminal& terminal, base::WallTime now);

}  // namespace kubectl_quota
