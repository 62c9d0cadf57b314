#include "controllers/definitions/definition_controller.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "pkg/api/object_meta.h"
#include "pkg/api/time.h"
#include "pkg/metrics/informer_metrics.h"
#include "pkg/quota/usage/extended_evaluator.h"

namespace controllers {
namespace {

// Discovery and the state of the watched objects have changed meanwhile.
constexpr std::chrono::milliseconds kLookAgain{500};
// How old an answer of discovery may be while definitions are not served, and while that is in
// doubt.
constexpr std::chrono::seconds kOldAnswer{30};
constexpr std::chrono::seconds kOldDoubt{3};
// The API server restarts, or a connection breaks. A definition that comes within this time may be
// unknown here, as it is while its event is on the way. A request waits about as long.
constexpr std::chrono::seconds kBriefTrouble{10};

api::GroupResource ResourceOf(const quota::usage::StoredDefinition& stored) {
  return stored.definition->resource;
}

}  // namespace

api::GroupVersionResource DefinitionResource() {
  return {.group = std::string(quota::usage::kGroup),
          .version = "v1alpha1",
          .resource = "usagedefinitions"};
}

DefinitionController::DefinitionController(TrackingContext context, ServedResources& served,
                                           DefinitionHooks hooks)
    : context_(std::move(context)),
      served_(served),
      hooks_(std::move(hooks)),
      changed_(context_.scheduler->NewAlarm()),
      checks_(*context_.client, *context_.scheduler,
              [this] {
                dirty_ = true;
                changed_->Wake();
              }),
      metrics_(NewInformerMetrics(context_, "definitions", DefinitionResource())) {}

bool DefinitionController::Known() const {
  if (served_.LacksVersion(DefinitionResource())) return true;
  if (reflector_ != nullptr && reflector_->state().forbidden) return true;
  return applied_ &&
         !(troubled_since_ && context_.scheduler->Now() - *troubled_since_ >= kBriefTrouble);
}

void DefinitionController::OnState() {
  if (!reflector_->state().trouble) {
    troubled_since_.reset();
  } else if (!troubled_since_) {
    troubled_since_ = context_.scheduler->Now();
  }
}

bool DefinitionController::SeemAbsent() const {
  return served_.generation() > 0 && !served_.HasVersion(DefinitionResource());
}

bool DefinitionController::AreNotFound() const {
  const auto& trouble = reflector_->state().trouble;
  return trouble && trouble->Is(base::ErrorCode::kNotFound);
}

bool DefinitionController::IsLookDue(base::TimePoint now) const {
  const base::Duration age = now - served_.last_look();
  const bool sure = served_.LacksVersion(DefinitionResource());
  return served_.generation() == 0 || age >= (sure ? kOldAnswer : kOldDoubt);
}

base::Task<void> DefinitionController::Run() {
  co_await base::DeferCancellation();
  while (!co_await base::Stopping()) {
    const base::TimePoint now = context_.scheduler->Now();
    if (served_.HasVersion(DefinitionResource())) {
      co_await Follow();
    } else if (IsLookDue(now)) {
      (void)co_await served_.Refresh();  // failures are logged there
      if (served_.generation() == 0) co_await context_.scheduler->Sleep(kLookAgain);
    } else {
      co_await changed_->WaitUntil(now + kLookAgain);
    }
  }
}

base::Task<void> DefinitionController::Follow() {
  base::TaskGroup watch(context_.executor);
  reflector_ = NewReflector(context_, DefinitionResource(), quota::usage::DefinitionSet::Fields(),
                            metrics_.get(), *this);
  watch.Spawn("definitions", [this] { return reflector_->Run(); });
  watch.Spawn("schemas", [this] { return checks_.Run(); });
  const auto is_gone = [this] {
    // Discovery alone may be wrong for a while after the start of a server.
    return served_.LacksVersion(DefinitionResource()) && AreNotFound();
  };
  while (!co_await base::Stopping() && !is_gone()) {
    if (listed_ && !listing_) co_await Apply();
    if (applied_ && hooks_.leading()) co_await WriteStatus();
    const base::TimePoint now = context_.scheduler->Now();
    if (AreNotFound() && IsLookDue(now)) (void)co_await served_.Refresh();
    co_await changed_->WaitUntil(now + kLookAgain);
  }
  const bool stopping = co_await base::Stopping();
  watch.Cancel();
  co_await watch.Join();
  reflector_.reset();
  troubled_since_.reset();
  if (stopping) co_return;
  LOG(INFO) << "the server does not serve UsageDefinitions any more";
  listing_ = false;
  set_.Clear();
  dirty_ = true;
  co_await Apply();
  listed_ = applied_ = false;
}

void DefinitionController::BeginList() {
  listing_ = true;
  set_.BeginSweep();
}

void DefinitionController::Upsert(const json::Value& object) {
  set_.Put(object);
  dirty_ = true;
  changed_->Wake();
}

void DefinitionController::Remove(const json::Value& object) {
  set_.Remove(api::Name(object));
  dirty_ = true;
  changed_->Wake();
}

// Nothing is in force before all are known: an older definition may own the names.
void DefinitionController::EndList() {
  set_.EndSweep();
  LOG_IF(INFO, !std::exchange(listed_, true))
      << "UsageDefinitions listed definitions=" << set_.stored().size();
  listing_ = false;
  dirty_ = true;
  changed_->Wake();
}

base::Task<void> DefinitionController::Apply() {
  while (ApplyOne()) {
    co_await base::NextTurn();
    if (listing_) co_return;
  }
  std::erase_if(written_, [&](const auto& one) { return !set_.stored().contains(one.first); });
  applied_ = true;
}

// Names that change their owner go before they come, so that no name has two.
bool DefinitionController::ApplyOne() {
  if (IsJudgementDue()) Judge();
  for (const auto& [name, defined] : defined_) {
    const auto at = set_.stored().find(name);
    if (at != set_.stored().end() && at->second.in_force != nullptr) continue;
    Undefine(std::string(name));
    return true;
  }
  return std::ranges::any_of(set_.stored(), [&](const auto& one) {
    return one.second.in_force != nullptr && Define(one.second);
  });
}

bool DefinitionController::IsJudgementDue() const {
  return dirty_ || pending_ || looked_ != served_.last_look();
}

// What is new waits for the check of its paths, but not at the start: no request is decided before
// all are in force.
void DefinitionController::Judge() {
  dirty_ = false;
  // An answer that is on the way has its time already.
  looked_ = served_.IsLooking() ? std::nullopt : std::optional(served_.last_look());
  checks_.Follow(set_.stored(),
                 [this](const quota::usage::StoredDefinition& one) { return KindsOf(one); });
  judged_.clear();
  waiting_.clear();
  for (const auto& [name, stored] : set_.stored()) judged_.emplace(name, stored.version);
  using quota::usage::Verdict;
  verdicts_ =
      set_.Judge(hooks_.built_in, [this](const std::string& name) -> std::optional<Verdict> {
        const quota::usage::StoredDefinition& stored = set_.stored().at(name);
        const bool is_new = applied_ && stored.in_force != stored.definition;
        if (is_new && checks_.IsPending(name)) {
          waiting_.insert(name);
          return Verdict{std::string(kNotCountedYet), "its paths are being checked"};
        }
        if (!checks_.IsDecided(name)) return std::nullopt;
        return Verdict{std::string(quota::usage::kPathNotInSchema), checks_.WhyNot(name)};
      });
  pending_ = checks_.AnyPending();
  if (set_.Lacks() && reflector_ != nullptr) reflector_->Relist();
}

const DefinitionController::Defined* DefinitionController::FindDefined(
    const quota::usage::StoredDefinition& stored) const {
  const auto& any = stored.definition ? stored.definition : stored.in_force;
  if (any == nullptr) return nullptr;
  const auto known = defined_.find(any->name);
  return known == defined_.end() || known->second.uid != stored.uid ? nullptr : &known->second;
}

quota::usage::DefinitionVersions DefinitionController::LastVersions(
    const quota::usage::StoredDefinition& stored) const {
  const Defined* const known = FindDefined(stored);
  return known == nullptr || IsTold(stored) ? quota::usage::VersionsIn(stored.status)
                                            : known->versions;
}

bool DefinitionController::IsTold(const quota::usage::StoredDefinition& stored) const {
  return !hooks_.leading() && WasInForce(stored) &&
         !quota::usage::VersionsIn(stored.status).objects.empty();
}

// What has no answer yet about its new version reads the former one, and so does a generation that
// is not the present one.
quota::usage::DefinitionVersions DefinitionController::VersionsOf(
    const quota::usage::StoredDefinition& stored) const {
  const std::string& name = stored.in_force->name;
  const Defined* const known = FindDefined(stored);
  quota::usage::DefinitionVersions versions = LastVersions(stored);
  const bool is_present = stored.in_force == stored.definition;
  const bool waits =
      known != nullptr && known->definition == stored.in_force && checks_.IsPending(name);
  const quota::usage::DefinitionVersions wanted = checks_.VersionsFor(name);
  const auto follow = [&](std::string& version, std::string other,
                          const api::GroupResource& resource, ResourceScope scope) {
    const bool is_served = served_.HasVersion({resource.group, version, resource.resource});
    // Of what cannot be read in its present generation no paths are checked.
    if (other.empty() && !is_served) {
      const std::vector<std::string> all = served_.VersionsOf(resource, scope);
      if (!all.empty()) other = all.front();
    }
    const bool stays = is_present ? waits : is_served;
    if (!other.empty() && (version.empty() || !stays)) version = std::move(other);
  };
  follow(versions.objects, wanted.objects, stored.in_force->resource, ResourceScope::kNamespaced);
  if (const auto* of_class = quota::usage::ClassOf(*stored.in_force)) {
    follow(versions.of_class, wanted.of_class, of_class->resource, ResourceScope::kCluster);
  } else {
    versions.of_class.clear();
  }
  return versions;
}

// The version that was read is the first: it stays, as for every counted kind.
DefinitionKinds DefinitionController::KindsOf(const quota::usage::StoredDefinition& stored) const {
  const quota::usage::DefinitionVersions last = LastVersions(stored);
  const auto kinds_of = [this](const api::GroupResource& resource, ResourceScope scope,
                               const std::string& first) {
    std::vector<quota::usage::ServedKind> kinds;
    for (const std::string& version : served_.VersionsOf(resource, scope)) {
      const auto at = version == first ? kinds.begin() : kinds.end();
      kinds.insert(at, {resource.group, version, served_.KindOf(resource)});
    }
    return kinds;
  };
  DefinitionKinds kinds{
      .objects = kinds_of(ResourceOf(stored), ResourceScope::kNamespaced, last.objects),
      .of_class = {},
      .last = last,
      .told = IsTold(stored)};
  if (const auto* of_class = quota::usage::ClassOf(*stored.definition)) {
    kinds.of_class = kinds_of(of_class->resource, ResourceScope::kCluster, last.of_class);
  }
  return kinds;
}

bool DefinitionController::Define(const quota::usage::StoredDefinition& stored) {
  const api::GroupResource resource = stored.in_force->resource;
  const Defined* const known = FindDefined(stored);
  Defined now{.uid = stored.uid, .definition = stored.in_force, .versions = VersionsOf(stored)};
  if (known != nullptr && known->definition == now.definition && known->versions == now.versions) {
    return false;
  }
  quota::Evaluator evaluator =
      quota::usage::EvaluatorOf(*stored.in_force, hooks_.built_in(resource), now.versions.objects);
  if (quota::usage::ClassOf(*stored.in_force) != nullptr) {
    evaluator.classes->version = now.versions.of_class;
  }
  evaluator.revision = ++revision_;
  LOG(INFO) << "usage is defined resource=" << resource.ToString()
            << " generation=" << stored.generation_in_force << " version=" << now.versions.objects;
  defined_.insert_or_assign(stored.in_force->name, std::move(now));
  hooks_.define(resource, std::move(evaluator));
  return true;
}

void DefinitionController::Undefine(const std::string& name) {
  const auto defined = defined_.find(name);
  const api::GroupResource resource = defined->second.definition->resource;
  defined_.erase(defined);
  LOG(INFO) << "usage is not defined any more resource=" << resource.ToString();
  std::optional<quota::Evaluator> evaluator;
  if (const auto built_in = hooks_.built_in(resource)) {
    evaluator = *built_in;
    evaluator->revision = ++revision_;
  }
  hooks_.define(resource, evaluator);
}

}  // namespace controllers
