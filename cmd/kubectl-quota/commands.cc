#include "cmd/kubectl-quota/commands.h"

#include "cmd/kubectl-quota/absent_namespace.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/inspect/foreign_text.h"

namespace kubectl_quota {
namespace {

base::Task<Outcome> Done(Outcome outcome) { co_return outcome; }

// Performs the command in a namespace that exists.
base::Task<Outcome> PerformThere(Session& session) {
  switch (session.options.command) {
    case Command::kTop:
      return Top(session);
    case Command::kWho:
      return Who(session);
    case Command::kWhy:
      return Why(session);
    case Command::kCheck:
      return Check(session);
    case Command::kSuggest:
      return Suggest(session);
    case Command::kImport:
      return ImportStored(session);
    case Command::kReport:
      return MakeReport(session);
    case Command::kTree:
      return Tree(session);
    case Command::kUsageDefinition:
      return Done(TestUsage(session.options, session.terminal()));
    case Command::kComplete:
      return Complete(session);
    case Command::kVersion:
      return DaemonVersion(session);
  }
  return Top(session);
}

}  // namespace

std::optional<Outcome> PerformWithFiles(const Options& options, Terminal& terminal) {
  if (options.command == Command::kUsageDefinition) return TestUsage(options, terminal);
  if (options.command == Command::kImport && !options.imports.files.empty()) {
    return ImportFiles(options, terminal);
  }
  return std::nullopt;
}

base::Task<Outcome> Perform(Session& session) {
  if (auto absent = co_await FindAbsentNamespace(session)) co_return *absent;
  co_return co_await PerformThere(session);
}

int Report(Terminal& terminal, const Outcome& outcome) {
  if (outcome) return *outcome;
  terminal.Fail(inspect::Line(ErrorText(outcome.error())));
  return kFailed;
}

}  // namespace kubectl_quota
