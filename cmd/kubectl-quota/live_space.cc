#include "cmd/kubectl-quota/live_space.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "cmd/kubectl-quota/check_inputs.h"
#include "cmd/kubectl-quota/cluster_quotas.h"
#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/needs.h"
#include "cmd/kubectl-quota/pod_groups.h"
#include "cmd/kubectl-quota/propagation.h"
#include "cmd/kubectl-quota/selected_pods.h"
#include "cmd/kubectl-quota/stored_pods.h"
#include "cmd/kubectl-quota/usage_names.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/helm.h"

namespace kubectl_quota {
namespace {

using Manifests = std::vector<inspect::Manifest>;

bool Says(const base::Error& error, const std::string& words) {
  return error.message.find(words) != std::string::npos;
}

// A webhook denies with the status and the words that it likes.
bool IsDenied(const base::Error& error) { return Says(error, " denied the request"); }

// True if the server could not answer.
bool IsUnanswered(const base::Error& error) {
  constexpr int kTooMany = 429;
  const bool failed = error.http_status == kTooMany || error.http_status >= 500;
  return failed && !IsDenied(error);
}

// True if the server did not judge the object: the user may not create it, a webhook knows no dry
// run, its namespace does not exist, because a manifest creates it, there is an object of its name,
// or the server could not answer.
bool IsNotJudged(const base::Error& error, const std::string& ns, bool in_files) {
  constexpr int kConflict = 409;
  // The daemon's denial of what exists already judges nothing.
  if (IsDenied(error)) return error.http_status == kConflict && Says(error, " already exists");
  return error.http_status == kConflict || IsUnanswered(error) ||
         Says(error, " cannot create resource \"") || Says(error, " does not support dry run") ||
         (in_files && Says(error, NoSuchNamespace(ns)));
}

bool AnyOfKind(const Manifests& manifests, std::string_view kind) {
  return std::ranges::any_of(manifests, [&](const inspect::Manifest& manifest) {
    return api::Kind(manifest.object) == kind;
  });
}

// Returns the manifest of the namespace itself; null if there is none.
json::Value NamespaceIn(const Manifests& manifests) {
  const auto found = std::ranges::find_if(manifests, &IsNamespace);
  return found == manifests.end() ? json::Value() : found->object;
}

}  // namespace

base::Task<base::Result<void>> LiveSpace::ReadNamespace(bool in_files) {
  const auto stored = co_await NamespaceOf(cluster_, ns_);
  // Whoever may not read it cannot know.
  if (!stored && stored.error().Is(base::ErrorCode::kForbidden)) {
    unseen_ = "whether namespace " + ns_ + " exists cannot be seen: " + ErrorText(stored.error());
    co_return base::Result<void>();
  }
  if (!stored) co_return stored.error();
  absent_ = stored->IsNull();
  if (absent_ && !in_files) surroundings_.closed = NoSuchNamespace(ns_);
  if (stored->StringAt({"status", "phase"}) == "Terminating") {
    surroundings_.closed =
        "unable to create new content in namespace " + ns_ + " because it is being terminated";
  }
  co_return base::Result<void>();
}

base::Task<base::Result<void>> LiveSpace::CountRest(const quota::QuotaApi& api,
                                                    quota::Quota& quota) {
  std::vector<std::string> missing;
  for (const auto& [name, limit] : quota.hard) {
    if (quota.status.used.Find(name) == nullptr) missing.push_back(name);
  }
  if (missing.empty()) co_return base::Result<void>();
  quota::ResourceList used;
  if (!absent_) {
    auto counted = co_await CountUsed(cluster_, api, quota, missing);
    if (!counted) co_return counted.error();
    if (!*counted) co_return base::Result<void>();
    used = std::move(**counted);
  }
  for (const std::string& name : missing) quota.status.used.Set(name, used.Get(name));
  co_return base::Result<void>();
}

base::Task<base::Result<void>> LiveSpace::ApplyQuotas(const ServedQuotaApi& of,
                                                      const Manifests& manifests,
                                                      std::vector<quota::Quota>& quotas) {
  for (const json::Value& manifest : OfKind(manifests, QuotaKindOf(of.api))) {
    const auto before = std::ranges::find_if(
        quotas, [&](const quota::Quota& quota) { return quota.key.name == api::Name(manifest); });
    const bool stored = before != quotas.end();
    json::Value object;
    if (stored) {
      auto read = co_await cluster_.Get(of.api.resource.Path(ns_, before->key.name));
      if (!read) co_return read.error();
      object = std::move(*read);
    }
    auto quota = QuotaOf(manifest, object, of.api.form);
    if (!quota) co_return quota.error().Wrap(inspect::NameOf(manifest).ToString());
    if (stored && quota->selector == before->selector) quota->status.used = before->status.used;
    if (auto counted = co_await CountRest(of.api, *quota); !counted) co_return counted;
    if (stored) {
      *before = std::move(*quota);
    } else {
      quotas.push_back(std::move(*quota));
    }
  }
  co_return base::Result<void>();
}

base::Task<base::Result<void>> LiveSpace::OpenBooks(const Manifests& manifests,
                                                    const ClusterPolicies& policies,
                                                    ClusterLimits& limits) {
  if (auto fine = CheckDefinitions(policies.usage_definitions); !fine) co_return fine;
  std::vector<json::Value> definitions;
  const auto* const stored = co_await cluster_.UsageDefinitions();
  if (stored != nullptr) definitions = *stored;
  if (stored != nullptr) books_.KnowDefinitions();
  Replace(policies.usage_definitions, definitions);
  const client::Discovered* kinds = co_await cluster_.Kinds();
  for (ServedQuotaApi& of : apis_) Define(definitions, of.api, kinds);
  auto quotas = co_await cluster_.Quotas(ns_, session_.options.place.selector);
  if (!quotas) co_return quotas.error();
  const quota::Rules rules = co_await cluster_.Rules();
  for (const ServedQuotaApi& of : apis_) {
    std::vector<quota::Quota> own;
    for (const ReadQuota& read : *quotas) {
      if (read.of->kind == of.kind) own.push_back(read.quota);
    }
    if (auto applied = co_await ApplyQuotas(of, manifests, own); !applied) co_return applied;
    inspect::Reached reached;
    if (of.kind.empty()) reached = co_await limits.In(ns_, NamespaceIn(manifests));
    books_.Open(*kinds, of.api, rules,
                inspect::FitBook(std::move(own), std::move(reached), of.kind));
  }
  co_return base::Result<void>();
}

base::Task<void> LiveSpace::ReadClasses(const ClusterPolicies& policies) {
  for (const auto& of : books_.all()) {
    const std::set<std::string> names = LimitedNames(of->book.quotas());
    of->counters.SetNames(definitions_, names);
    auto sources =
        co_await SourcesOf(cluster_, of->api, std::vector<std::string>(names.begin(), names.end()));
    AddClasses(policies.usage_classes, sources);
    of->counters.SetClasses(std::move(sources));
  }
}

base::Task<base::Result<void>> LiveSpace::Read(const Manifests& manifests,
                                               const ClusterPolicies& policies,
                                               ClusterLimits& limits) {
  const bool in_files = !NamespaceIn(manifests).IsNull();
  if (auto read = co_await ReadNamespace(in_files); !read) co_return read;
  if (auto opened = co_await OpenBooks(manifests, policies, limits); !opened) co_return opened;
  NoteRepeated(manifests, notes_);
  NoteRelease(manifests, books_.core().book, notes_);
  // A quota could only be stored in a namespace that exists.
  if (books_.quotas().empty() && !unseen_.empty()) cluster_.terminal().Doubt(unseen_);
  std::vector<json::Value> ranges;
  auto surroundings = co_await ReadSurroundings(cluster_, ns_, unread_, policies, &ranges);
  if (!surroundings) co_return surroundings.error();
  surroundings->closed = std::move(surroundings_.closed);
  surroundings_ = std::move(*surroundings);
  definitions_ = policies.definitions;
  limit_ranges_ = std::make_unique<LimitRangeOrder>(std::move(ranges), manifests);
  surroundings_.claim_templates =
      TemplatesIn(manifests, cluster_.core(), books_.core().book.quotas());
  surroundings_.propagation = PropagationIn(manifests, policies, books_);
  if (surroundings_.propagation) {
    auto propagation = co_await ReadPropagation(cluster_, ns_, *surroundings_.propagation);
    if (!propagation) co_return propagation;
  }
  if (AnyOfKind(manifests, "StatefulSet")) {
    if (auto read = co_await ReadClaims(cluster_, ns_, surroundings_); !read) co_return read;
  }
  auto scaled = co_await ReadAutoscalers(cluster_, ns_, OfKind(manifests, inspect::kAutoscaler),
                                         unread_, surroundings_);
  if (!scaled) co_return scaled;
  for (const inspect::Manifest& manifest : manifests) {
    in_files_.insert(inspect::NameOf(manifest.object));
  }
  const std::int64_t nodes = session_.options.check.nodes;
  if (nodes >= 0) surroundings_.nodes_for = [nodes](const json::Value&) { return nodes; };
  if (nodes < 0 && AnyOfKind(manifests, "DaemonSet")) {
    if (auto read = co_await ReadNodes(cluster_, surroundings_); !read) co_return read;
  }
  AddLabelled(manifests, surroundings_);
  co_await ReadClasses(policies);
  const auto now = session_.scheduler.WallNow();
  inspect::Checked nothing;
  const bool counts_slices = LimitedNames(books_.core().book.quotas()).contains(kSlicesName);
  if (absent_) {
    if (!in_files) co_return base::Result<void>();
    if (counts_slices) {
      // No Service is stored there, so only Endpoints with a Service in the files are mirrored.
      if (auto added = books_.Add(MirrorsIn(manifests), now, nothing); !added) co_return added;
    }
    co_return books_.Add(BornWith(ns_, manifests), now, nothing);
  }
  if (!counts_slices) co_return base::Result<void>();
  if (auto read = co_await ReadStoredPods(cluster_, ns_, surroundings_); !read) co_return read;
  auto slices = co_await LackingSlices(cluster_, ns_, manifests, surroundings_);
  if (!slices) co_return slices.error();
  co_return books_.Add(std::move(*slices), now, nothing);
}

base::Task<base::Result<void>> LiveSpace::Add(json::Value object, inspect::Checked& checked) {
  auto stored = co_await Stored(object);
  if (!stored) co_return stored.error();
  if (auto read = co_await ReadReferred(object, *stored); !read) co_return read;
  if (auto set = limit_ranges_->SetFor(object, surroundings_.defaults); !set) co_return set;
  auto begun = books_.Begin(inspect::HelmPhaseOf(object), session_.scheduler.WallNow());
  if (!begun) co_return begun;
  const std::string no_match = co_await NoMatch(object);
  const std::string closed = surroundings_.closed;
  if (!no_match.empty()) surroundings_.closed = no_match;
  std::optional<inspect::Made> made;
  if (!stored->IsNull() && !books_.quotas().empty()) {
    auto read = co_await ReadMade(cluster_, ns_, *stored);
    if (!read) co_return read.error();
    made = std::move(*read);
  }
  json::Value binding;
  if (!stored->IsNull() && surroundings_.propagation) {
    auto read = co_await StoredBinding(cluster_, ns_, inspect::BindingName(object));
    if (!read) co_return read.error();
    binding = std::move(*read);
  }
  auto expansion = stored->IsNull()
                       ? inspect::Expand(object, surroundings_)
                       : inspect::ExpandChange(object, *stored, surroundings_, made, binding);
  surroundings_.closed = closed;
  if (!expansion) co_return expansion.error();
  for (const inspect::Piece& piece : expansion->pieces) {
    WarnOf(unread_, piece.object, books_.quotas(), cluster_.terminal());
  }
  for (const inspect::Rollout& rollout : expansion->rollouts) {
    for (const inspect::Piece& piece : rollout.each) {
      WarnOf(unread_, piece.object, books_.quotas(), cluster_.terminal());
    }
  }
  const bool created =
      stored->IsNull() && inspect::HelmPhaseOf(object) != inspect::HelmPhase::kNever;
  if (session_.options.check.server && created) {
    auto answer = co_await AskServer(object, *expansion, no_match);
    if (!answer) co_return answer.error();
    if (answer->unanswered) {
      checked.unknown.push_back("the server cannot judge " + answer->of.ToString() + ": " +
                                answer->unknown);
    }
    checked.server.push_back(std::move(*answer));
  }
  auto added = books_.Add(std::move(*expansion), session_.scheduler.WallNow(), checked);
  if (!added || !inspect::Is(object, inspect::kAutoscaler)) co_return added;
  co_return co_await AddScaling(object, checked);
}

base::Task<base::Result<void>> LiveSpace::AddScaling(const json::Value& autoscaler,
                                                     inspect::Checked& checked) {
  const inspect::ObjectName target = inspect::TargetOf(autoscaler);
  if (in_files_.contains(target)) co_return base::Result<void>();
  const client::Discovered* kinds = co_await cluster_.Kinds();
  const auto* resource =
      FindKind(*kinds, autoscaler.StringAt({"spec", "scaleTargetRef", "apiVersion"}),
               autoscaler.StringAt({"spec", "scaleTargetRef", "kind"}));
  const std::string note = inspect::NameOf(autoscaler).ToString() + ": the pods of " +
                           target.ToString() + " are not counted, because it cannot be read";
  inspect::Expansion uncounted{.notes = {note}, .uncounted = {note}};
  const auto now = session_.scheduler.WallNow();
  if (resource == nullptr) {
    co_return books_.Add(std::move(uncounted), now, checked);
  }
  const NamedKind named{resource, target.name};
  auto stored = co_await GetObject(cluster_, named, ns_);
  if (!stored) {
    const bool none = stored.error().Is(base::ErrorCode::kNotFound) ||
                      stored.error().Is(base::ErrorCode::kForbidden);
    if (!none) co_return stored.error();
    co_return books_.Add(std::move(uncounted), now, checked);
  }
  if (auto read = co_await ReadReferred(*stored, *stored); !read) co_return read;
  if (inspect::Is(*stored, inspect::kStatefulSet)) {
    if (auto read = co_await ReadClaims(cluster_, ns_, surroundings_); !read) co_return read;
  }
  auto expansion = inspect::ExpandScaling(*stored, surroundings_);
  if (!expansion) co_return expansion.error();
  co_return books_.Add(std::move(*expansion), session_.scheduler.WallNow(), checked);
}

base::Task<base::Result<void>> LiveSpace::Close(ClusterLimits& limits, inspect::Checked& checked) {
  const inspect::FitBook& book = books_.core().book;
  const auto gangs = inspect::ShortGangs(book, surroundings_.pod_groups);
  if (!gangs.empty()) {
    auto members = co_await CountMembers(cluster_, ns_);
    if (!members) co_return members.error();
    std::ranges::move(inspect::GangNotes(gangs, *members), std::back_inserter(notes_));
  }
  std::ranges::move(notes_, std::back_inserter(checked.notes));
  Charge(book, limits);
  books_.Close(ns_, checked);
  co_return base::Result<void>();
}

base::Task<std::string> LiveSpace::NoMatch(json::Value object) {
  const client::Discovered* kinds = co_await cluster_.Kinds();
  const std::string version(api::ApiVersion(object));
  // What could not be discovered at all is a doubt already.
  const bool seen = !kinds->resources.empty();
  if (!seen || FindKind(*kinds, version, api::Kind(object)) != nullptr) co_return "";
  if (Defines(definitions_, object)) co_return "";
  const bool failed = std::ranges::any_of(
      kinds->failed, [&](const client::GroupVersion& one) { return one.ToString() == version; });
  if (failed) {
    cluster_.terminal().Doubt("the kinds of " + version + " cannot be seen at the moment");
    co_return "";
  }
  co_return "no matches for kind \"" + std::string(api::Kind(object)) + "\" in version \"" +
      version + "\"";
}

base::Task<base::Result<json::Value>> LiveSpace::Stored(const json::Value& object) {
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

base::Task<base::Result<void>> LiveSpace::ReadReferred(const json::Value& object,
                                                       const json::Value& stored) {
  if (books_.quotas().empty()) co_return base::Result<void>();
  auto group =
      co_await ReadPodGroup(cluster_, ns_, inspect::PodGroupOf(object), surroundings_.pod_groups);
  if (!group || !surroundings_.claim_templates) co_return group;
  std::set<std::string> names = inspect::ClaimTemplatesOf(object);
  names.merge(inspect::ClaimTemplatesOf(stored));
  co_return co_await ReadClaimTemplates(cluster_, ns_, std::move(names), surroundings_);
}

base::Task<base::Result<inspect::ServerAnswer>> LiveSpace::AskServer(
    const json::Value& object, const inspect::Expansion& expansion, const std::string& no_match) {
  inspect::ServerAnswer answer;
  answer.of = inspect::NameOf(object);
  answer.refusal_foreseen = !books_.FitsAlone(answer.of, expansion, session_.scheduler.WallNow());
  const client::Discovered* kinds = co_await cluster_.Kinds();
  const auto* resource = FindKind(*kinds, api::ApiVersion(object), api::Kind(object));
  if (resource == nullptr) {
    answer.refusal = no_match;
    if (no_match.empty()) answer.unknown = "its kind cannot be seen on the server";
    co_return answer;
  }
  std::string path = resource->namespaced ? resource->gvr.Path(ns_) : resource->gvr.Path();
  auto created = co_await cluster_.DryRun(std::move(path), object);
  if (created) co_return answer;
  if (created.error().http_status == 0) co_return created.error();
  std::string words = ServerWords(created.error());
  answer.unanswered = IsUnanswered(created.error());
  const bool judged = !IsNotJudged(created.error(), ns_, surroundings_.closed.empty());
  (judged ? answer.refusal : answer.unknown) = std::move(words);
  co_return answer;
}

}  // namespace kubectl_quota
