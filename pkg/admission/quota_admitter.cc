// Prepares reviews, answers those that need no write, and lets the others wait. The writers are in
// commit.cc.

#include "pkg/admission/quota_admitter.h"

#include <algorithm>
#include <utility>

#include "pkg/admission/answers.h"
#include "pkg/admission/waiter.h"

namespace admission {
namespace {

namespace cause = quota::cause;

bool Handles(const quota::Evaluator& evaluator, const Review& review) {
  const std::string& subresource = review.subresource;
  if (review.operation == Operation::kCreate) return subresource.empty();
  if (review.operation != Operation::kUpdate) return false;
  if (subresource.empty()) return evaluator.guard.updates;
  return std::ranges::find(evaluator.guard.subresources, subresource) !=
         evaluator.guard.subresources.end();
}

// Returns the evaluator of a kind whose objects are only counted.
std::optional<quota::Evaluator> CounterOf(const quota::QuotaApi& api,
                                          const api::GroupResource& resource) {
  return api.object_counter ? api.object_counter(resource) : std::nullopt;
}

// Returns the uid that a reservation is for. Aggregated API servers may send a creation before the
// object has a uid. Each call then counts as a new object, by the uid of the review.
quota::Uid UidOf(const Review& review) {
  for (const json::Value* object : {&review.object, &review.old_object}) {
    const std::string_view uid = object->StringAt({"metadata", "uid"});
    if (!uid.empty()) return quota::Uid::FromText(uid);
  }
  return quota::Uid::FromText(review.uid);
}

// What cannot be counted of the object cannot be counted of the stored one either.
bool IsNoWorse(const quota::ObjectFacts& stored, const quota::ObjectFacts& requested) {
  const auto& unread = requested.now.unread;
  if (!std::ranges::includes(stored.now.unread, unread)) return false;
  return stored.flaw == requested.flaw || !unread.empty();
}

// True for the names that these quotas limit, or will limit once their status is written.
quota::IsLimited LimitedBy(const std::vector<const quota::Quota*>& quotas) {
  return [&quotas](std::string_view name) {
    return std::ranges::any_of(quotas, [&](const quota::Quota* quota) {
      return quota->hard.Find(name) != nullptr || quota->status.hard.Find(name) != nullptr;
    });
  };
}

std::set<std::string> NamesOf(const std::vector<const quota::Quota*>& quotas) {
  std::set<std::string> names;
  for (const quota::Quota* quota : quotas) {
    for (const quota::ResourceList* list : {&quota->hard, &quota->status.hard}) {
      for (const auto& [name, limit] : *list) names.insert(name);
    }
  }
  return names;
}

Answer NotRead(const std::string& ns, const base::Error& error) {
  return Unavailable("quotas of namespace " + ns + " cannot be read: " + error.message);
}

}  // namespace

// As in apiserver v0.36.3, pkg/admission/plugin/resourcequota/controller.go.
bool LacksOldObject(const Review& review) {
  return review.operation == Operation::kUpdate && review.old_object.IsNull();
}

QuotaAdmitter::QuotaAdmitter(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                             const quota::QuotaApi& api, QuotaBook& book, ObjectBook& objects,
                             Observer& observer, QuotaAdmitterOptions options)
    : executor_(executor),
      scheduler_(scheduler),
      api_(api),
      book_(book),
      objects_(objects),
      observer_(observer),
      options_(std::move(options)),
      writers_(executor) {}

QuotaAdmitter::~QuotaAdmitter() = default;

// Null: the objects of this kind are only counted, or not even that.
const quota::Evaluator* QuotaAdmitter::EvaluatorFor(const api::GroupResource& resource) const {
  const auto found = std::ranges::find(api_.evaluators, resource, &quota::Evaluator::resource);
  return found == api_.evaluators.end() ? nullptr : &*found;
}

std::vector<std::string> QuotaAdmitter::FieldsOf(const api::GroupResource& resource) {
  const quota::Evaluator* evaluator = EvaluatorFor(resource);
  if (evaluator == nullptr) return {};
  std::vector<std::string> fields = evaluator->fields;
  fields.insert(fields.end(), evaluator->guard.fields.begin(), evaluator->guard.fields.end());
  return fields;
}

base::Result<void> QuotaAdmitter::Prepare(Waiter& waiter) const {
  const Review& review = waiter.review;
  quota::Request& request = waiter.request;
  const quota::Evaluator& evaluator = *request.evaluator;
  const std::vector<const quota::Quota*> quotas = QuotasIn(review.ns);
  const quota::ReadOptions options{
      .now = scheduler_.WallNow(), .limited = LimitedBy(quotas), .rules = objects_.RulesNow()};
  request.object = &review.object;
  request.uid = UidOf(review);
  request.dry_run = review.dry_run;
  LookAgain(waiter);
  // An update may create its object. Then the old object has no resourceVersion, and all usage is
  // new (upstream's "create on update").
  const bool stored = !review.old_object.StringAt({"metadata", "resourceVersion"}).empty();
  const auto facts = evaluator.guard.facts_of
                         ? evaluator.guard.facts_of(
                               review.object, stored ? &review.old_object : nullptr, options.now)
                         : evaluator.facts_of(review.object, options);
  if (!facts) return facts.error();
  base::Result<quota::Resolved> after = objects_.SubjectOf(evaluator, review.ns, *facts);
  if (!after) return after.error();
  request.after = std::move(after->subject);
  request.unknown = std::move(after->unknown);
  waiter.facts = facts->now;
  waiter.flaw = facts->flaw;
  if (facts->left_out) waiter.read_under = NamesOf(quotas);
  if (!stored) return {};
  const auto old_facts = evaluator.facts_of(review.old_object, options);
  if (!old_facts) return old_facts.error();
  if (old_facts->left_out) waiter.read_under = NamesOf(quotas);
  base::Result<quota::Resolved> before = objects_.SubjectOf(evaluator, review.ns, *old_facts);
  if (!before) return before.error();
  request.before = std::move(before->subject);
  if (IsNoWorse(*old_facts, *facts)) waiter.flaw.clear();
  // With the same classes as before, the unknown usage does not grow.
  if (old_facts->now.classes == facts->now.classes) request.unknown.reset();
  return {};
}

// The client tries again. It needs a quota that gets a name in the moment in which an object with
// very many names is decided.
void QuotaAdmitter::NoteNewNames(Waiter& waiter) const {
  if (!waiter.read_under) return;
  const std::set<std::string> names = NamesOf(QuotasIn(waiter.review.ns));
  if (std::ranges::includes(*waiter.read_under, names)) return;
  waiter.request.unknown = quota::UnknownUsage{
      .why = {.code = base::ErrorCode::kUnavailable, .message = "its limits have just changed"},
      .names = {names.begin(), names.end()}};
}

void QuotaAdmitter::LookAgain(Waiter& waiter) const {
  quota::Request& request = waiter.request;
  request.classes = objects_.ClassesOf(*request.evaluator);
  const std::string_view version =
      waiter.review.old_object.StringAt({"metadata", "resourceVersion"});
  request.version = version;
  request.outdated = !request.dry_run && !version.empty() &&
                     objects_.HasLater(*request.evaluator, request.uid, version);
}

std::vector<const quota::Quota*> QuotaAdmitter::QuotasIn(const std::string& ns) const {
  std::vector<const quota::Quota*> quotas;
  for (const BookedQuota& booked : book_.Quotas(ns).quotas) quotas.push_back(booked.quota);
  return quotas;
}

// True if the answer depends on a class that the watch has not shown and that was not read yet.
bool QuotaAdmitter::LacksClass(const Waiter& waiter) const {
  const quota::Request& request = waiter.request;
  const bool missing = request.unknown && request.unknown->why.Is(base::ErrorCode::kNotFound);
  return missing && !waiter.classes_read &&
         quota::DependsOnUnknown(request, QuotasIn(waiter.review.ns));
}

// Reads the classes of a request from the API server if LacksClass().
base::Task<base::Result<void>> QuotaAdmitter::ResolveClasses(std::shared_ptr<Waiter> waiter) {
  if (!LacksClass(*waiter)) co_return base::Result<void>();
  waiter->classes_read = true;
  quota::Request& request = waiter->request;
  const quota::Evaluator& evaluator = *request.evaluator;
  quota::ClassTable live(evaluator.classes->missing, evaluator.classes->called);
  for (const quota::ClassUnits& units : waiter->facts.classes) {
    auto usage = co_await objects_.ReadClass(evaluator, units.name, waiter->deadline);
    if (usage) {
      live.Set(units.name, std::move(*usage));
    } else if (!usage.error().Is(base::ErrorCode::kNotFound)) {
      co_return usage.error().Wrap("read " + evaluator.classes->called + " " + units.name);
    }
  }
  request.unknown.reset();
  request.after.usage = live.ResolveKnown(waiter->facts, request.unknown);
  co_return base::Result<void>();
}

bool QuotaAdmitter::MayLimit(const Review& review) const {
  if (options_.exempt_namespaces->contains(review.ns)) return false;
  const QuotaBook::Presence known = book_.Look(review.ns);
  if (known.complete && !known.any) return false;
  const api::GroupResource resource = review.resource.WithoutVersion();
  return EvaluatorFor(resource) != nullptr || CounterOf(api_, resource);
}

std::shared_ptr<QuotaAdmitter::Waiter> QuotaAdmitter::Take(Review review,
                                                           base::TimePoint deadline) const {
  const api::GroupResource resource = review.resource.WithoutVersion();
  const quota::Evaluator* evaluator = EvaluatorFor(resource);
  auto counter = evaluator == nullptr ? CounterOf(api_, resource) : std::nullopt;
  if (counter) evaluator = &*counter;
  if (evaluator == nullptr || review.ns.empty()) return nullptr;
  if (options_.exempt_namespaces->contains(review.ns)) return nullptr;
  if (!Handles(*evaluator, review)) return nullptr;
  auto waiter = std::make_shared<Waiter>();
  waiter->review = std::move(review);
  waiter->deadline = deadline;
  waiter->counter = std::move(counter);
  waiter->request.evaluator = waiter->counter ? &*waiter->counter : evaluator;
  return waiter;
}

base::Task<QuotaAdmitter::Judgement> QuotaAdmitter::Begin(Review review, base::TimePoint deadline) {
  std::shared_ptr<Waiter> waiter = Take(std::move(review), deadline);
  if (waiter == nullptr) co_return Judgement();
  const std::string ns = waiter->review.ns;
  if (LacksOldObject(waiter->review)) {
    co_return Judgement{
        Refuse(403, "unable to get previous usage since prior version of object was not found",
               cause::kUncountable)};
  }
  const auto refreshed = co_await book_.Refresh(ns, deadline);
  if (!refreshed) co_return Judgement{NotRead(ns, refreshed.error())};
  NamespaceQuotas known = book_.Quotas(ns);
  if (known.quotas.empty()) co_return Judgement();
  waiter->writer = std::move(known.writer);
  std::optional<Answer> answer = co_await Complete(waiter);
  if (answer) co_return Judgement{Tempered(ns, *std::move(answer))};
  co_return Judgement{.answer = {}, .judged = std::move(waiter)};
}

base::Task<Answer> QuotaAdmitter::Admit(Review review, base::TimePoint deadline) {
  Judgement begun = co_await Begin(std::move(review), deadline);
  if (begun.judged == nullptr) co_return std::move(begun.answer);
  co_return co_await Finish(std::move(begun.judged));
}

bool QuotaAdmitter::MayRefuseIn(const std::string& ns) const {
  const auto refuses = [](const quota::Quota* quota) { return quota::MayRefuse(*quota); };
  return std::ranges::any_of(QuotasIn(ns), refuses);
}

Answer QuotaAdmitter::Tempered(const std::string& ns, Answer answer) const {
  if (answer.kind == Answer::Kind::kAllowed || MayRefuseIn(ns)) return answer;
  const std::vector<const quota::Quota*> quotas = QuotasIn(ns);
  if (quotas.empty()) return answer;
  Answer admitted;
  for (const quota::Quota* quota : quotas) {
    quota::WouldRefuse would{.mode = quota->cluster->enforcement,
                             .message = "not decided: " + answer.message,
                             .quota = {.name = quota->key.name, .uid = quota->uid}};
    admitted.would_refuse.push_back({api_.name, std::move(would)});
  }
  return admitted;
}

base::Task<std::optional<Answer>> QuotaAdmitter::Complete(std::shared_ptr<Waiter> waiter) {
  const auto prepared = Prepare(*waiter);
  if (!prepared) {
    co_return Refuse(500, "its use of quota is unknown: " + prepared.error().message,
                     cause::kUncountable);
  }
  if (!waiter->flaw.empty()) {
    co_return Refuse(403, "it cannot be counted: " + waiter->flaw, cause::kUncountable);
  }
  const Review& review = waiter->review;
  if (review.operation == Operation::kCreate && !review.name.empty()) {
    const bool taken = co_await objects_.IsTaken(*waiter->request.evaluator, review.ns, review.name,
                                                 waiter->request.uid, waiter->deadline);
    // Quotas that only warn or audit refuse nothing, not even this. The object may be deleted
    // before the API server stores the new one, so that one is charged.
    if (taken && MayRefuseIn(review.ns)) co_return AlreadyExists(review);
  }
  const auto resolved = co_await ResolveClasses(waiter);
  if (!resolved) co_return Unavailable(resolved.error().message);
  co_return std::nullopt;
}

base::Task<QuotaAdmitter::Judgement> QuotaAdmitter::Judge(Review review, base::TimePoint deadline) {
  Judgement judgement = co_await Begin(std::move(review), deadline);
  if (judgement.judged == nullptr) co_return judgement;
  BatchPlan plan = PlanFor({judgement.judged});
  Answer answer = AnswerOf(api_, plan.verdicts.front(), std::move(plan.warnings.front()));
  judgement.answer = Tempered(judgement.judged->review.ns, std::move(answer));
  if (plan.grants.empty()) judgement.judged = nullptr;
  co_return judgement;
}

base::Task<Answer> QuotaAdmitter::AdmitJudged(std::shared_ptr<Waiter> judged) {
  const std::string ns = judged->review.ns;
  const auto refreshed = co_await book_.Refresh(ns, judged->deadline);
  if (!refreshed) co_return NotRead(ns, refreshed.error());
  const auto resolved = co_await ResolveClasses(judged);
  if (!resolved) co_return Tempered(ns, Unavailable(resolved.error().message));
  LookAgain(*judged);
  co_return co_await Finish(std::move(judged));
}

base::Task<Answer> QuotaAdmitter::Finish(std::shared_ptr<Waiter> waiter) {
  Answer answer = co_await Decide(waiter);
  for (std::size_t i = 0; i < answer.warnings.size(); ++i) observer_.OnWarning(api_.name);
  if (answer.kind == Answer::Kind::kAllowed) answer.granted = std::move(waiter->granted);
  co_return Tempered(waiter->review.ns, std::move(answer));
}

BatchPlan QuotaAdmitter::PlanFor(const Batch& batch) const {
  BatchQuotas quotas;
  std::vector<BatchRequest> requests;
  requests.reserve(batch.size());
  for (const std::shared_ptr<Waiter>& waiter : batch) {
    NoteNewNames(*waiter);
    const std::string& ns = waiter->review.ns;
    const bool same = !requests.empty() && requests.back().ns == ns;
    const auto* by = same ? requests.back().by : quotas.Find(ns);
    if (by == nullptr) by = &quotas.Add(ns, book_.Quotas(ns).quotas);
    requests.push_back({&waiter->request, ns, by});
  }
  BatchPlan plan = PlanBatch(requests, quotas);
  if (!options_.warn_near_limits) {
    for (auto& warnings : plan.warnings) warnings.clear();
  }
  return plan;
}

base::Task<Answer> QuotaAdmitter::Decide(std::shared_ptr<Waiter> waiter) {
  BatchPlan plan = PlanFor({waiter});
  if (!GrantAtOnce(*waiter, plan)) co_return co_await Wait(std::move(waiter));
  co_return AnswerOf(api_, plan.verdicts.front(), std::move(plan.warnings.front()));
}

// Nothing is taken from a burst while a writer runs: earlier requests wait for it, and they come
// first.
bool QuotaAdmitter::GrantAtOnce(Waiter& waiter, BatchPlan& plan) {
  const auto any = [&plan](ReservePlan::From from) {
    return std::ranges::find(plan.grants, from, &ReservePlan::from) != plan.grants.end();
  };
  const bool drawn = any(ReservePlan::From::kBurst);
  if (any(ReservePlan::From::kWrite) || (drawn && waiting_at_.contains(waiter.writer)))
    return false;
  Number(plan);
  for (const PlannedGrants& grants : plan.grants) {
    if (!book_.Draw(grants)) {
      WithdrawAll(waiter);  // the grants of other quotas; the request then waits for a writer
      return false;
    }
    waiter.granted.push_back({grants.quota.key, waiter.request.uid, grants.grants.front().number});
  }
  if (drawn) observer_.OnBatch(api_.name, 1, 0);
  return true;
}

Answer QuotaAdmitter::Busy(const std::string& ns) const {
  const bool all = waiting_ >= options_.max_waiting;
  return {.kind = Answer::Kind::kBusy,
          .code = 429,
          .reason = "TooManyRequests",
          .message = "too many requests " + (all ? "" : "of namespace " + ns + " ") +
                     "wait for quota decisions"};
}

base::Task<Answer> QuotaAdmitter::Wait(std::shared_ptr<Waiter> waiter) {
  const std::string& ns = waiter->review.ns;
  const auto of_namespace = waiting_of_.find(ns);
  const bool full = of_namespace != waiting_of_.end() &&
                    of_namespace->second >= options_.max_waiting_in_namespace;
  if (full || waiting_ >= options_.max_waiting) co_return Busy(ns);
  waiter->alarm = scheduler_.NewAlarm();
  ++waiting_;
  ++waiting_of_[ns];
  const std::string writer = waiter->writer;
  const bool first = !waiting_at_.contains(writer);
  waiting_at_[writer].push_back(waiter);
  if (first) {
    writers_.Spawn("quota writer " + writer, [this, writer] { return WriteBatches(writer); });
  }
  // However this coroutine ends, it must mark the waiter as abandoned. The writer then takes back
  // what it grants to the request later.
  struct Leaving {
    QuotaAdmitter& admitter;
    Waiter& waiter;
    ~Leaving() {
      admitter.Leave(waiter.review.ns);
      waiter.abandoned = !waiter.answer;
    }
  } const leaving{*this, *waiter};
  bool stopping = false;
  while (!waiter->answer && !stopping && scheduler_.Now() < waiter->deadline) {
    co_await waiter->alarm->WaitUntil(waiter->deadline);
    stopping = co_await base::Stopping();
  }
  // If this process was suspended meanwhile, the hold of the grant may be nearly over. So a late
  // answer must not allow the request.
  const bool late = scheduler_.Now() >= waiter->deadline;
  if (waiter->answer && (!late || waiter->answer->kind != Answer::Kind::kAllowed)) {
    co_return *waiter->answer;
  }
  if (waiter->answer) WithdrawAll(*waiter);
  co_return Unavailable("resource quota evaluation timed out" +
                        (waiter->trouble.empty() ? "" : ": " + waiter->trouble));
}

void QuotaAdmitter::Leave(const std::string& ns) {
  --waiting_;
  const auto of_namespace = waiting_of_.find(ns);
  if (--of_namespace->second == 0) waiting_of_.erase(of_namespace);
}

base::Task<void> QuotaAdmitter::Stop() { co_await writers_.Join(); }

}  // namespace admission
