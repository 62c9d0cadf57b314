#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "cmd/kubectl-quota/check_inputs.h"
#include "cmd/kubectl-quota/cluster_limits.h"
#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/documents.h"
#include "cmd/kubectl-quota/objects.h"
#include "cmd/kubectl-quota/surroundings.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/check_view.h"
#include "pkg/quota/core/core_quota.h"

namespace kubectl_quota {
namespace {

using inspect::Checked;
using inspect::CheckedSpace;
using inspect::Manifest;
using Manifests = std::vector<Manifest>;

// True if the server could not judge the object: the user may not create it, or its namespace does
// not exist (the manifests may create it).
bool IsNotAsked(const base::Error& error, const std::string& ns) {
  const std::string& text = error.message;
  return text.find(" cannot create resource \"") != std::string::npos ||
         text.find("namespaces \"" + ns + "\" not found") != std::string::npos;
}

bool AnyOfKind(const Manifests& manifests, std::string_view kind) {
  return std::ranges::any_of(
      manifests, [&](const Manifest& manifest) { return api::Kind(manifest.object) == kind; });
}

std::set<std::string> LimitedNames(const std::vector<quota::Quota>& quotas) {
  std::set<std::string> names;
  for (const quota::Quota& quota : quotas) {
    for (const auto& [name, limit] : inspect::LimitsOf(quota)) names.insert(name);
  }
  return names;
}

// Adds the needs of one expanded manifest.
base::Result<void> AddPieces(inspect::Expansion expansion, Counters& counters, base::WallTime now,
                             inspect::FitBook& book, std::vector<std::string>& notes) {
  for (std::string& note : expansion.notes) notes.push_back(std::move(note));
  for (const inspect::Piece& piece : expansion.pieces) {
    const inspect::Counter* counter =
        counters.Of(api::ApiVersion(piece.object), api::Kind(piece.object));
    if (counter == nullptr) continue;
    if (auto added = book.Add(*counter, piece, now); !added) return added;
  }
  return {};
}

// Charges the needs of one namespace to the ClusterQuotas, for the check of the next namespace.
// `quotas` is a Forest or a ClusterLimits.
void Charge(const inspect::FitBook& book, auto& quotas) {
  const std::vector<quota::ResourceList> asked = book.Asked();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const quota::Quota& quota = book.quotas()[i];
    if (quota.cluster) quotas.Charge(quota.key.name, asked[i]);
  }
}

// One namespace of the cluster, with its quotas and everything that affects admission.
class LiveSpace {
 public:
  LiveSpace(Session& session, std::string ns)
      : session_(session), cluster_(session.cluster), ns_(std::move(ns)) {}

  base::Task<base::Result<void>> Read(const Manifests& manifests, ClusterLimits& limits) {
    auto quotas = co_await cluster_.Quotas(ns_, session_.options.place.selector);
    if (!quotas) co_return quotas.error();
    std::vector<quota::Quota> core;
    for (ReadQuota& read : *quotas) {
      if (read.of->kind.empty()) core.push_back(std::move(read.quota));
    }
    auto reached = co_await limits.In(ns_);
    book_ = std::make_unique<inspect::FitBook>(std::move(core), std::move(reached));
    empty_ = *book_;
    auto surroundings = co_await ReadSurroundings(cluster_, ns_, unread_);
    if (!surroundings) co_return surroundings.error();
    surroundings_ = std::move(*surroundings);
    if (AnyOfKind(manifests, "StatefulSet")) {
      if (auto read = co_await ReadClaims(cluster_, ns_, surroundings_); !read) co_return read;
    }
    const std::int64_t nodes = session_.options.check.nodes;
    if (nodes >= 0) surroundings_.nodes_for = [nodes](const json::Value&) { return nodes; };
    if (nodes < 0 && AnyOfKind(manifests, "DaemonSet")) {
      if (auto read = co_await ReadNodes(cluster_, surroundings_); !read) co_return read;
    }
    const std::set<std::string> names = LimitedNames(book_->quotas());
    counters_ = std::make_unique<Counters>(*co_await cluster_.Kinds(), cluster_.core());
    counters_->SetClasses(co_await SourcesOf(cluster_, cluster_.core(),
                                             std::vector<std::string>(names.begin(), names.end())));
    co_return base::Result<void>();
  }

  base::Task<base::Result<void>> Add(json::Value object, Checked& checked) {
    auto stored = co_await Stored(object);
    if (!stored) co_return stored.error();
    auto expansion = stored->IsNull() ? inspect::Expand(object, surroundings_)
                                      : inspect::ExpandChange(object, *stored, surroundings_);
    if (!expansion) co_return expansion.error();
    for (const inspect::Piece& piece : expansion->pieces) {
      WarnOf(unread_, piece.object, book_->quotas(), cluster_.terminal());
    }
    if (session_.options.check.server && stored->IsNull()) {
      auto answer = co_await AskServer(object, *expansion);
      if (!answer) co_return answer.error();
      checked.server.push_back(std::move(*answer));
    }
    co_return AddPieces(std::move(*expansion), *counters_, session_.scheduler.WallNow(), *book_,
                        checked.notes);
  }

  CheckedSpace Take(ClusterLimits& limits) {
    Charge(*book_, limits);
    return {ns_, std::move(*book_)};
  }

 private:
  // Returns the stored object of this name; null if there is none, or with --replace.
  base::Task<base::Result<json::Value>> Stored(const json::Value& object) {
    const std::string name(api::Name(object));
    const client::Discovered* kinds = co_await cluster_.Kinds();
    const auto* resource = FindKind(*kinds, api::ApiVersion(object), api::Kind(object));
    if (session_.options.check.replace || name.empty() || resource == nullptr) {
      co_return json::Value();
    }
    const NamedKind named{resource, name};
    auto stored = co_await GetObject(cluster_, named, ns_);
    if (stored) co_return stored;
    if (stored.error().Is(base::ErrorCode::kForbidden)) {
      cluster_.terminal().Warn(inspect::NameOf(object).ToString() +
                               " is counted as new: " + ErrorText(stored.error()));
    }
    const bool none = stored.error().Is(base::ErrorCode::kNotFound) ||
                      stored.error().Is(base::ErrorCode::kForbidden);
    if (none) co_return json::Value();
    co_return stored.error();
  }

  // Errors: of the connection. A refusal is not an error.
  base::Task<base::Result<inspect::ServerAnswer>> AskServer(const json::Value& object,
                                                            const inspect::Expansion& expansion) {
    inspect::ServerAnswer answer;
    answer.of = inspect::NameOf(object);
    answer.refusal_foreseen = !FitsAlone(answer.of, expansion);
    const client::Discovered* kinds = co_await cluster_.Kinds();
    const auto* resource = FindKind(*kinds, api::ApiVersion(object), api::Kind(object));
    if (resource == nullptr) {
      answer.refusal = "there is no such kind";
      co_return answer;
    }
    std::string path = resource->namespaced ? resource->gvr.Path(ns_) : resource->gvr.Path();
    auto created = co_await cluster_.DryRun(std::move(path), object);
    if (created) co_return answer;
    if (created.error().http_status == 0) co_return created.error();
    std::string words = ServerWords(created.error());
    (IsNotAsked(created.error(), ns_) ? answer.unknown : answer.refusal) = std::move(words);
    co_return answer;
  }

  // True if the object fits without the objects that controllers create for it.
  bool FitsAlone(const inspect::ObjectName& name, const inspect::Expansion& expansion) {
    inspect::FitBook alone = empty_;
    for (const inspect::Piece& piece : expansion.pieces) {
      if (inspect::NameOf(piece.object) != name) continue;
      const auto* counter = counters_->Of(api::ApiVersion(piece.object), api::Kind(piece.object));
      const bool counted = counter == nullptr ||
                           alone.Add(*counter, piece, session_.scheduler.WallNow()).has_value();
      if (!counted) return false;
    }
    return alone.Fits();
  }

  Session& session_;
  Cluster& cluster_;
  std::string ns_;
  inspect::Surroundings surroundings_;
  Unread unread_;
  std::unique_ptr<Counters> counters_;
  std::unique_ptr<inspect::FitBook> book_;
  inspect::FitBook empty_{{}};  // without any needs
};

base::Task<base::Result<Checked>> CheckLive(Session& session) {
  auto groups = ReadGrouped(session.options, session.ns);
  if (!groups) co_return groups.error();
  Checked checked;
  ClusterLimits limits(session.cluster);
  co_await limits.Read(session.options.place.selector);
  for (auto& [ns, manifests] : *groups) {
    LiveSpace space(session, ns);
    if (auto read = co_await space.Read(manifests, limits); !read) co_return read.error();
    for (Manifest& manifest : manifests) {
      auto added = co_await space.Add(std::move(manifest.object), checked);
      if (!added) co_return added.error().Wrap(manifest.where);
    }
    checked.spaces.push_back(space.Take(limits));
  }
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

base::Result<Checked> CheckFiles(const Options& options, base::WallTime now,
                                 const AskLabels& ask_labels) {
  auto inputs = ReadOffline(options);
  if (!inputs) return inputs.error();
  if (auto complete = CompleteLabels(*inputs, ask_labels); !complete) return complete.error();
  const quota::QuotaApi api = quota::CoreQuotaApi();
  const client::Discovered nothing;
  inspect::Forest forest(std::move(inputs->cluster_quotas));
  Checked checked;
  for (auto& [ns, manifests] : inputs->manifests) {
    inspect::FitBook book(inputs->QuotasOf(ns), forest.ReachOf(&inputs->labels[ns]));
    Counters counters(nothing, api);
    for (const Manifest& manifest : manifests) {
      auto expansion = inspect::Expand(manifest.object, inputs->surroundings);
      if (!expansion) return expansion.error().Wrap(manifest.where);
      auto added = AddPieces(std::move(*expansion), counters, now, book, checked.notes);
      if (!added) return added.error().Wrap(manifest.where);
    }
    Charge(book, forest);
    checked.spaces.push_back({ns, std::move(book)});
  }
  NoteFlaws(forest, checked.notes);
  return checked;
}

int ShowChecked(Terminal& terminal, const Options& options, inspect::TableStyle style,
                const Checked& checked) {
  const bool fits = inspect::FitsAll(checked.spaces);
  if (IsDocument(options.output)) {
    terminal.Write(PrintDocument(inspect::CheckValue(checked), options.output));
  } else if (options.output == "junit") {
    terminal.Write(inspect::CheckJunit(checked));
  } else {
    const inspect::Table table = inspect::CheckTable(checked.spaces);
    if (!table.rows.empty()) terminal.Write(inspect::PrintTable(table, style));
    for (const std::string& note : checked.notes) terminal.Write("note: " + note + "\n");
    terminal.Write(inspect::ServerText(checked.server));
    terminal.Write(inspect::CheckVerdict(checked.spaces));
  }
  const bool refused = std::ranges::any_of(checked.server, &inspect::ServerAnswer::Refused);
  return fits && !refused ? kYes : kNo;
}

}  // namespace

base::Task<Outcome> Check(Session& session) {
  auto checked = co_await CheckLive(session);
  if (!checked) co_return checked.error();
  co_return ShowChecked(session.terminal(), session.options, session.style(), *checked);
}

Outcome CheckOffline(const Options& options, Terminal& terminal, base::WallTime now,
                     const AskLabels& ask_labels) {
  auto checked = CheckFiles(options, now, ask_labels);
  if (!checked) return checked.error();
  const inspect::TableStyle style{.titles = options.headers, .colours = terminal.traits().colours};
  return ShowChecked(terminal, options, style, *checked);
}

}  // namespace kubectl_quota
