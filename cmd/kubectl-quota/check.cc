#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "cmd/kubectl-quota/books.h"
#include "cmd/kubectl-quota/check_inputs.h"
#include "cmd/kubectl-quota/cluster_limits.h"
#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/documents.h"
#include "cmd/kubectl-quota/live_space.h"
#include "cmd/kubectl-quota/needs.h"
#include "cmd/kubectl-quota/offline_inputs.h"
#include "cmd/kubectl-quota/propagation.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/check_view.h"
#include "pkg/inspect/foreign_text.h"
#include "pkg/inspect/gangs.h"
#include "pkg/inspect/helm.h"

namespace kubectl_quota {
namespace {

using inspect::Checked;
using inspect::Manifest;

base::Task<base::Result<Checked>> CheckLive(Session& session) {
  const client::Discovered* kinds = co_await session.cluster.Kinds();
  auto groups = ReadGrouped(session.options, session.ns, *kinds);
  if (!groups) co_return groups.error();
  const ClusterPolicies policies = ClusterPoliciesIn(*groups);
  Checked checked;
  ClusterLimits limits(session.cluster);
  co_await limits.Read(session.options.place.selector);
  if (session.options.place.selector.empty()) {
    if (auto applied = co_await limits.Apply(policies.cluster_quotas); !applied)
      co_return applied.error();
  }
  for (auto& [ns, manifests] : *groups) {
    LiveSpace space(session, ns);
    if (auto read = co_await space.Read(manifests, policies, limits); !read) co_return read.error();
    for (Manifest& manifest : manifests) {
      auto added = co_await space.Add(std::move(manifest.object), checked);
      if (!added) co_return added.error().Wrap(manifest.where);
    }
    if (auto closed = co_await space.Close(limits, checked); !closed) co_return closed.error();
  }
  for (const std::string& doubt : session.terminal().doubts()) checked.unknown.push_back(doubt);
  co_return checked;
}

// Adds the labels of namespaces that are in no file. ClusterQuotas select namespaces by them.
base::Result<void> CompleteLabels(OfflineInputs& inputs, const AskLabels& ask_labels) {
  const std::vector<std::string> unlabelled = inputs.Unlabelled();
  if (unlabelled.empty()) return {};
  if (std::ranges::find(unlabelled, "") != unlabelled.end()) {
    return base::Error{.code = base::ErrorCode::kInvalidArgument,
                       .message =
                           "ClusterQuotas select namespaces by their labels: give -n, the "
                           "namespace of the manifests"};
  }
  auto labels = ask_labels(unlabelled);
  if (!labels) return labels.error();
  inputs.labels.merge(*labels);
  return {};
}

// Notes ClusterQuotas whose place in the tree is wrong, for example because a parent is missing.
void NoteFlaws(const inspect::Forest& forest, std::vector<std::string>& notes) {
  for (const std::string& name : forest.Names()) {
    const auto flaw = forest.FlawOf(name);
    if (flaw) notes.push_back("clusterquota/" + name + ": " + flaw->reason + ": " + flaw->message);
  }
}

// Notes an autoscaler whose target is in no file.
void NoteTarget(const json::Value& autoscaler, const std::vector<Manifest>& manifests,
                Checked& checked) {
  const inspect::ObjectName target = inspect::TargetOf(autoscaler);
  const bool known = std::ranges::any_of(manifests, [&](const Manifest& manifest) {
    return inspect::NameOf(manifest.object) == target;
  });
  if (known) return;
  checked.notes.push_back(inspect::NameOf(autoscaler).ToString() + ": the pods of " +
                          target.ToString() + " are not counted, because it is in no file");
  checked.unknown.push_back(checked.notes.back());
}

// Opens the quotas of a namespace, with the classes of the files.
void OpenBooks(const OfflineInputs& inputs, const std::string& ns,
               const std::vector<Manifest>& manifests, inspect::Reached reached, Books& books) {
  static const client::Discovered nothing;
  for (const FileQuotas& own : inputs.quotas) {
    const bool core = own.of.kind.empty();
    ApiBook& of = books.Open(
        nothing, own.of.api, quota::Rules(),
        inspect::FitBook(own.Of(ns), core ? std::exchange(reached, {}) : inspect::Reached(),
                         own.of.kind));
    of.counters.SetNames(inputs.policies.definitions, LimitedNames(of.book.quotas()));
    of.counters.SetClasses(SourcesWith(inputs.policies.usage_classes, manifests, of));
  }
}

// True if the overhead of pods adds to a name of these quotas.
bool CountOverheads(const ApiBook& core) {
  const auto pods = core.api.evaluators.Find({"", "pods"});
  return std::ranges::any_of(LimitedNames(core.book.quotas()), [&](const std::string& name) {
    return name != "pods" && name != "count/pods" && pods->owns(name);
  });
}

// Adds the RuntimeClasses of new pods that no file has: their overhead is not counted.
void AddMissingClasses(const inspect::Expansion& expansion, const inspect::Defaults& defaults,
                       std::set<std::string>& missing) {
  for (const inspect::Piece& piece : expansion.pieces) {
    if (api::Kind(piece.object) != "Pod") continue;
    const std::string_view name = piece.object.StringAt({"spec", "runtimeClassName"});
    if (!name.empty() && !defaults.overheads.contains(name)) missing.emplace(name);
  }
}

// `missing`: as for AddMissingClasses().
base::Result<void> CheckSpace(OfflineInputs& inputs, const std::string& ns, inspect::Forest& forest,
                              base::WallTime now, Checked& checked,
                              std::set<std::string>& missing) {
  const std::vector<Manifest>& manifests = inputs.manifests[ns];
  Books books;
  OpenBooks(inputs, ns, manifests, forest.ReachOf(&inputs.labels[ns]), books);
  if (books.quotas().empty()) {
    checked.unknown.push_back("no quota of the files is for namespace " + ns);
  }
  std::ranges::move(inputs.UntoldIn(ns), std::back_inserter(checked.unknown));
  const ApiBook& core = books.core();
  inspect::Surroundings surroundings = inputs.SurroundingsOf();
  surroundings.claim_templates = TemplatesIn(manifests, core.api, core.book.quotas());
  surroundings.propagation = PropagationIn(manifests, inputs.policies, books);
  for (const json::Value& autoscaler : OfKind(manifests, inspect::kAutoscaler)) {
    surroundings.autoscalers.Add(autoscaler);
    NoteTarget(autoscaler, manifests, checked);
  }
  AddLabelled(manifests, surroundings);
  NoteRepeated(manifests, checked.notes);
  if (LimitedNames(core.book.quotas()).contains(kSlicesName)) {
    auto added = books.Add(MirrorsIn(manifests), now, checked);
    if (!added) return added.error();
  }
  if (inputs.IsNew(ns)) {
    auto added = books.Add(BornWith(ns, manifests), now, checked);
    if (!added) return added.error();
  }
  LimitRangeOrder limit_ranges(inputs.LimitRangesOf(ns), manifests);
  const bool overheads = CountOverheads(core);
  for (const Manifest& manifest : manifests) {
    auto set = limit_ranges.SetFor(manifest.object, surroundings.defaults);
    if (!set) return set.error().Wrap(manifest.where);
    auto begun = books.Begin(inspect::HelmPhaseOf(manifest.object), now);
    if (!begun) return begun.error();
    auto expansion = inspect::Expand(manifest.object, surroundings);
    if (!expansion) return expansion.error().Wrap(manifest.where);
    if (overheads) AddMissingClasses(*expansion, surroundings.defaults, missing);
    auto added = books.Add(std::move(*expansion), now, checked);
    if (!added) return added.error().Wrap(manifest.where);
  }
  NoteRelease(manifests, core.book, checked.notes);
  std::ranges::move(inspect::GangNotes(inspect::ShortGangs(core.book, surroundings.pod_groups)),
                    std::back_inserter(checked.notes));
  Charge(core.book, forest);
  books.Close(ns, checked);
  return {};
}

// Warns of namespaces for which --limitrange-file has nothing.
void WarnOfLimitRanges(const Options& options, const OfflineInputs& inputs, Terminal& terminal) {
  if (options.check.limit_range_files.empty()) return;
  for (const auto& [ns, manifests] : inputs.manifests) {
    if (!inputs.LimitRangesOf(ns).empty()) continue;
    terminal.Warn("no LimitRange in what --limitrange-file names is for namespace " + ns);
  }
}

// The objects of each namespace were judged alone. Those without one may be for one of the others,
// and then use the same quota.
void DoubtHomeless(Checked& checked) {
  const auto asked_in = [](const inspect::CheckedSpace& space) {
    std::set<std::string> asked;
    for (const inspect::FitLine& line : space.book.Lines()) {
      // ClusterQuotas are charged for all namespaces.
      if (line.tried || space.book.quotas()[line.quota].cluster) continue;
      asked.insert(line.name + " of quota " + space.book.TitleOf(line.quota));
    }
    return asked;
  };
  std::set<std::string> homeless;
  for (const inspect::CheckedSpace& space : checked.spaces) {
    if (space.ns.empty()) homeless.merge(asked_in(space));
  }
  for (const inspect::CheckedSpace& space : checked.spaces) {
    if (space.ns.empty()) continue;
    for (const std::string& asked : asked_in(space)) {
      if (!homeless.contains(asked)) continue;
      checked.unknown.push_back("whether objects without a namespace are in " + space.ns +
                                " and use " + asked + ", too; -n says where they are");
      return;
    }
  }
}

base::Result<Checked> CheckFiles(const Options& options, Terminal& terminal, base::WallTime now,
                                 const AskLabels& ask_labels) {
  auto inputs = ReadOffline(options);
  if (!inputs) return inputs.error();
  if (auto complete = CompleteLabels(*inputs, ask_labels); !complete) return complete.error();
  inspect::Forest forest(std::move(inputs->cluster_quotas));
  WarnOfLimitRanges(options, *inputs, terminal);
  Checked checked{.unknown = inputs->doubts};
  std::set<std::string> missing;
  for (const auto& [ns, manifests] : inputs->manifests) {
    auto added = CheckSpace(*inputs, ns, forest, now, checked, missing);
    if (!added) return added.error();
  }
  for (const std::string& name : missing) {
    checked.unknown.push_back("the overhead of RuntimeClass " + name +
                              ", which is not in the files");
  }
  DoubtHomeless(checked);
  NoteFlaws(forest, checked.notes);
  return checked;
}

int CodeOf(inspect::Answer answer) {
  switch (answer) {
    case inspect::Answer::kYes:
      return kYes;
    case inspect::Answer::kNo:
      return kNo;
    case inspect::Answer::kUnknown:
      return kUnknown;
  }
  return kUnknown;
}

int ShowChecked(Terminal& terminal, const Options& options, inspect::TableStyle style,
                Checked checked) {
  checked.allow_unknown = options.check.allow_unknown;
  if (IsDocument(options.output)) {
    terminal.Write(PrintDocument(inspect::CheckValue(checked), options.output));
  } else if (options.output == "junit") {
    terminal.Write(inspect::CheckJunit(checked));
  } else {
    const inspect::Table table = inspect::CheckTable(checked.spaces, options.output == "wide");
    if (!table.rows.empty()) terminal.Write(inspect::PrintTable(table, style));
    for (const std::string& note : checked.notes) terminal.Write(inspect::Line("note: " + note));
    terminal.Write(inspect::ServerText(checked.server));
    terminal.Write(inspect::CheckVerdict(checked));
  }
  return CodeOf(inspect::AnswerOf(checked));
}

}  // namespace

base::Task<Outcome> Check(Session& session) {
  auto checked = co_await CheckLive(session);
  if (!checked) co_return checked.error();
  co_return ShowChecked(session.terminal(), session.options, session.style(), std::move(*checked));
}

Outcome CheckOffline(const Options& options, Terminal& terminal, base::WallTime now,
                     const AskLabels& ask_labels) {
  auto checked = CheckFiles(options, terminal, now, ask_labels);
  if (!checked) return checked.error();
  const inspect::TableStyle style{.titles = options.headers, .colours = terminal.traits().colours};
  return ShowChecked(terminal, options, style, std::move(*checked));
}

}  // namespace kubectl_quota
