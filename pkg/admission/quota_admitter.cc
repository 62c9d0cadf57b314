// Prepares reviews, and lets each quota API judge them. all_or_none.cc has the end of those that
// have to be reserved.

#include "pkg/admission/quota_admitter.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/admission/answers.h"
#include "pkg/base/text.h"
#include "pkg/quota/uncountable_names.h"

namespace admission {
namespace {

namespace cause = quota::cause;

constexpr std::chrono::milliseconds kPoll{10};

bool IsCluster(const quota::QuotaApi& api) { return api.form.cluster; }

// True if the quota has a name or a scope that only a definition can explain.
bool NamesUndefined(const quota::QuotaApi& api, const quota::Quota& quota) {
  return !quota::UndefinedNames(api, quota.hard).empty() ||
         !quota::UndefinedScopes(api, quota.selector).empty();
}

// True if the API server has called because of a rule for this quota API.
bool IsCalledFor(const QuotaSource& source, const Review& review) {
  return base::IsOneOf(source.api.name, review.called_for);
}

// True if quotas would be charged that know nothing of the refusal of quotas of `advises`:
// ClusterQuotas, and the parts that this daemon decides of those.
bool MayChargeBeside(const quota::QuotaApi& advises, const Waiters& waiters) {
  return std::ranges::any_of(waiters, [&](const auto& waiter) {
    const quota::QuotaApi& api = waiter->ask->source().api;
    return IsCluster(api) || (api.part_of && api.part_of->quota_api == advises.name);
  });
}

}  // namespace

QuotaAdmitter::QuotaAdmitter(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                             Observer& observer, QuotaAdmitterOptions options)
    : scheduler_(scheduler),
      observer_(observer),
      options_(std::move(options)),
      waiting_(options_.max_waiting, options_.max_waiting_in_namespace),
      writers_(executor, scheduler, observer, options_.max_batch, options_.retry) {}

void QuotaAdmitter::Enforce(const quota::QuotaApi& api) { Add(api, false); }
void QuotaAdmitter::Advise(const quota::QuotaApi& api) { Add(api, true); }

void QuotaAdmitter::Add(const quota::QuotaApi& api, bool advises) {
  const auto is_same = [&](const auto& source) { return source->api.name == api.name; };
  CHECK(std::ranges::none_of(sources_, is_same)) << api.name << " is added twice";
  sources_.push_back(std::make_unique<QuotaSource>(api, advises));
  std::ranges::sort(sources_, {}, [](const auto& source) {
    return std::pair(IsCluster(source->api), source->api.name);
  });
}

QuotaSource& QuotaAdmitter::SourceOf(const std::string& quota_api) const {
  const auto found =
      std::ranges::find(sources_, quota_api, [](const auto& source) { return source->api.name; });
  CHECK(found != sources_.end()) << quota_api << " is neither enforced nor advises";
  return **found;
}

void QuotaAdmitter::Open(const std::string& quota_api, QuotaBook& quotas, ObjectBook& objects) {
  QuotaSource& source = SourceOf(quota_api);
  CHECK(!source.open && source.asks == 0) << quota_api << " is open already";
  CHECK(source.book == nullptr) << quota_api << " is opened while it is being closed";
  source.known = source.open = true;
  source.book = &quotas;
  source.objects = &objects;
}

void QuotaAdmitter::HasNone(const std::string& quota_api) {
  QuotaSource& source = SourceOf(quota_api);
  CHECK(!source.open) << quota_api << " has quotas";
  source.known = true;
}

// Polls until all reviews have ended that use the books. Those that wait for a writer end now, and
// each other one has a deadline.
base::Task<void> QuotaAdmitter::Close(std::string quota_api) {
  QuotaSource& source = SourceOf(quota_api);
  source.open = false;
  writers_.Close(source);
  while (source.asks > 0) co_await scheduler_.Sleep(kPoll);
  source.book = nullptr;
  source.objects = nullptr;
}

std::vector<std::string> QuotaAdmitter::quota_apis() const {
  std::vector<std::string> names;
  for (const auto& source : sources_) {
    if (!source->advises) names.push_back(source->api.name);
  }
  return names;
}

// Remembers nothing for a resource without wanted fields: the request may name any resource.
std::vector<std::string> QuotaAdmitter::FieldsOf(const api::GroupResource& resource) {
  std::uint64_t changes = 0;
  for (const auto& source : sources_) changes += source->api.evaluators.changes();
  if (std::exchange(fields_as_of_, changes) != changes) fields_.clear();
  const auto known = fields_.find(resource);
  if (known != fields_.end()) return known->second;
  std::set<std::string> fields;
  for (const auto& source : sources_) {
    const auto evaluator = source->api.evaluators.Find(resource);
    if (evaluator == nullptr) continue;
    fields.insert(evaluator->fields.begin(), evaluator->fields.end());
    fields.insert(evaluator->guard.fields.begin(), evaluator->guard.fields.end());
  }
  if (fields.empty()) return {};
  return fields_[resource] = {fields.begin(), fields.end()};
}

bool QuotaAdmitter::MayBeCalledFor(const QuotaSource& source, const Review& review) const {
  return IsCalledFor(source, review) || !options_.may_call ||
         options_.may_call(source.api.name, review.resource.WithoutVersion(), review.ns);
}

// The API server calls for each quota API that has a rule. Without its names in the request's path,
// there may be one for each.
base::Task<bool> QuotaAdmitter::IsUndecided(QuotaSource& source,
                                            std::shared_ptr<const Pending> pending) {
  const Review& review = pending->review;
  if (source.advises || review.ns.empty()) co_return false;
  if (!source.known) {
    co_return review.called_for.empty() ? MayBeCalledFor(source, review)
                                        : IsCalledFor(source, review);
  }
  if (options_.definitions_known() || !source.api.TakesDefinitions()) co_return false;
  if (!Concerns(source, review)) co_return false;
  const UsesBooks uses(source);
  const auto refreshed = co_await source.book->Refresh(review.ns, pending->deadline);
  if (!refreshed) co_return false;  // Begin() says so
  co_return std::ranges::any_of(source.book->Quotas(review.ns).quotas, [&](const BookedQuota& one) {
    return NamesUndefined(source.api, *one.quota);
  });
}

bool QuotaAdmitter::IsAllKnown() const {
  const auto is_known = [](const auto& source) { return source->known || source->advises; };
  return std::ranges::all_of(sources_, is_known) && options_.definitions_known();
}

base::Task<std::optional<Answer>> QuotaAdmitter::AwaitKnown(
    std::shared_ptr<const Pending> pending) {
  for (const auto& source : sources_) {
    while (co_await IsUndecided(*source, pending)) {
      const bool stopping = co_await base::Stopping();
      if (stopping || scheduler_.Now() + kPoll > pending->deadline) {
        co_return Unavailable("it is not known yet whether quotas of " + source->api.name +
                              " limit it");
      }
      co_await scheduler_.Sleep(kPoll);
    }
  }
  co_return std::nullopt;
}

bool QuotaAdmitter::Concerns(const QuotaSource& source, const Review& review) const {
  if (!source.open) return false;
  const QuotaBook::Presence known = source.book->Look(review.ns);
  if (known.complete) return known.any;
  return !source.advises && MayBeCalledFor(source, review);
}

Waiters QuotaAdmitter::WaitersFor(const std::shared_ptr<const Pending>& pending) const {
  Waiters waiters;
  for (const auto& source : sources_) {
    if (source->advises || !Concerns(*source, pending->review)) continue;
    auto ask = Ask::Of(*source, pending->review);
    if (ask == nullptr) continue;
    const auto& waiter = waiters.emplace_back(std::make_shared<Waiter>());
    waiter->pending = pending;
    waiter->ask = std::move(ask);
  }
  return waiters;
}

// The stored object may be newer than the one that the Scale was made from. The API server asks
// again then, or refuses.
base::Task<std::optional<Answer>> QuotaAdmitter::ReadScaled(std::shared_ptr<Pending> pending) {
  Review& review = pending->review;
  for (const auto& source : sources_) {
    if (source->advises || !Concerns(*source, review)) continue;
    const auto ask = Ask::Of(*source, review);  // keeps the books open
    if (ask == nullptr) continue;
    auto scaled = co_await ask->ReadScaled(pending->deadline);
    if (!scaled) co_return Unavailable("it cannot be scaled now: " + scaled.error().message);
    if (!*scaled) co_return Answer{};
    const json::Value* replicas = review.object.At({"spec", "replicas"});
    const json::Value wanted = replicas == nullptr ? json::Value(0) : *replicas;
    review.old_object = std::move((*scaled)->stored);
    review.object = review.old_object;
    json::Value* field = &review.object;
    for (const std::string& name : (*scaled)->replicas) field = &field->Make({name});
    *field = wanted;
    co_return std::nullopt;
  }
  co_return std::nullopt;
}

base::Task<Answer> QuotaAdmitter::Admit(Review review, base::TimePoint deadline) {
  const auto pending = std::make_shared<Pending>();
  pending->review = std::move(review);
  pending->deadline = deadline;
  if (options_.exempt_namespaces->contains(pending->review.ns)) co_return Answer{};
  if (!IsAllKnown()) {
    auto unknown = co_await AwaitKnown(pending);
    if (unknown) co_return *std::move(unknown);
  }
  if (pending->review.subresource == quota::kScale) {
    auto answer = co_await ReadScaled(pending);
    if (answer) co_return *std::move(answer);
  }
  const Waiters waiters = WaitersFor(pending);
  if (waiters.empty()) co_return Answer{};
  if (LacksOldObject(pending->review)) {
    co_return Refuse(403,
                     "unable to get previous usage since prior version of object was not found",
                     cause::kUncountable);
  }
  for (const auto& source : sources_) {
    const bool advises = source->advises && MayChargeBeside(source->api, waiters);
    if (!advises || !Concerns(*source, pending->review)) continue;
    auto refusal = co_await AdviceOf(*source, pending);
    if (refusal) co_return *std::move(refusal);
  }
  // All quota APIs judge before one reserves, so a request that one of them refuses costs no write.
  Answer all;
  Waiters reserving;
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    const Ask* earlier = nullptr;
    for (std::size_t j = 0; j < i; ++j) {
      if (waiters[i]->ask->ReadsLike(*waiters[j]->ask)) earlier = waiters[j]->ask.get();
    }
    std::optional<Answer> answer = co_await Begin(waiters[i], earlier);
    if (!answer) {
      reserving.push_back(waiters[i]);
    } else if (answer->kind == Answer::Kind::kAllowed) {
      AddTo(all, *std::move(answer));
    } else {
      co_return *std::move(answer);
    }
  }
  if (reserving.empty()) co_return all;
  co_return co_await Reserve(pending, std::move(reserving), std::move(all));
}

base::Task<std::optional<Answer>> QuotaAdmitter::Begin(std::shared_ptr<Waiter> waiter,
                                                       const Ask* earlier) {
  Ask& ask = *waiter->ask;
  const QuotaSource& source = ask.source();
  const std::string& ns = waiter->pending->review.ns;
  const auto refreshed = co_await source.book->Refresh(ns, waiter->pending->deadline);
  if (!refreshed) {
    co_return Unavailable("quotas of namespace " + ns +
                          " cannot be read: " + refreshed.error().message);
  }
  const NamespaceQuotas known = source.book->Quotas(ns);
  if (known.quotas.empty()) co_return Answer{};
  waiter->writer = source.api.name + " " + known.writer;
  std::optional<Answer> against = co_await Objection(waiter, earlier);
  if (against) co_return waiter->Tempered(*std::move(against));
  waiter->plan = PlanFor(Waiters(1, waiter));
  const quota::Verdict& verdict = waiter->plan.verdicts.front();
  const bool refused = verdict.kind == quota::Verdict::Kind::kRefused;
  if (!refused && !waiter->plan.grants.empty()) co_return std::nullopt;
  co_return waiter->Tempered(AnswerOf(source.api, verdict, {}));
}

base::Task<std::optional<Answer>> QuotaAdmitter::Objection(std::shared_ptr<Waiter> waiter,
                                                           const Ask* earlier) {
  Ask& ask = *waiter->ask;
  const auto read = ask.Read(scheduler_.WallNow(), earlier);
  if (!read) {
    co_return Refuse(500, "its use of quota is unknown: " + read.error().message,
                     cause::kUncountable);
  }
  if (!ask.flaw().empty()) {
    co_return Refuse(403, "it cannot be counted: " + ask.flaw(), cause::kUncountable);
  }
  const Review& review = waiter->pending->review;
  const base::TimePoint deadline = waiter->pending->deadline;
  if (review.operation == Operation::kCreate && !review.name.empty()) {
    const bool taken = co_await ask.IsTaken(deadline);
    // Quotas that only warn or audit refuse nothing, not even this. The object may be deleted
    // before the API server stores the new one, so that one is charged.
    if (taken && waiter->MayBeRefused()) co_return AlreadyExists(review);
  }
  const auto classes = co_await ask.ReadClasses(deadline);
  if (!classes) co_return Unavailable(classes.error().message);
  co_return std::nullopt;
}

}  // namespace admission
