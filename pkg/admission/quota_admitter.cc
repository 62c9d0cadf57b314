#include "pkg/admission/quota_admitter.h"

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

// However this ends, no grant stays without an allowed answer: the writers take back what they
// grant to an abandoned waiter later.
struct Leaving {
  const Waiters& waiters;
  bool allowed = false;

  ~Leaving() {
    for (const std::shared_ptr<Waiter>& waiter : waiters) {
      waiter->abandoned = !waiter->answer;
      if (!allowed) waiter->WithdrawAll();
    }
  }
};

}  // namespace

QuotaAdmitter::QuotaAdmitter(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                             Observer& observer, QuotaAdmitterOptions options)
    : scheduler_(scheduler),
      observer_(observer),
      options_(std::move(options)),
      waiting_(options_.max_waiting, options_.max_waiting_in_namespace),
      writers_(executor, scheduler, observer) {}

// Polls until all reviews have ended that use the books. Those that wait for a writer end now, and
// each other one has a deadline.
base::Task<void> QuotaAdmitter::Close(std::string quota_api) {
  QuotaSource& source = sources_.Of(quota_api);
  source.open = false;
  writers_.Close(source);
  while (source.asks > 0) co_await scheduler_.Sleep(kPoll);
  source.book = nullptr;
  source.objects = nullptr;
}

bool QuotaAdmitter::MayBeCalledFor(const QuotaSource& source, const Review& review) const {
  return IsCalledFor(source, review) || !options_.may_call ||
         options_.may_call(source.api.name, review.resource.WithoutVersion(), review.ns);
}

base::Task<bool> QuotaAdmitter::NeedsDefinitions(QuotaSource& source,
                                                 std::shared_ptr<const Pending> pending) {
  const Review& review = pending->review;
  if (options_.definitions_known() || !source.api.TakesDefinitions()) co_return false;
  if (!Concerns(source, review)) co_return false;
  const UsesBooks uses(source);
  const auto refreshed = co_await source.book->Refresh(review.ns, pending->deadline);
  if (!refreshed) co_return false;  // Begin() says so
  co_return std::ranges::any_of(source.book->Quotas(review.ns).quotas, [&](const BookedQuota& one) {
    return NamesUndefined(source.api, *one.quota);
  });
}

base::Task<bool> QuotaAdmitter::Await(std::function<bool()> is_known, base::TimePoint deadline) {
  while (!is_known()) {
    const bool stopping = co_await base::Stopping();
    if (stopping || scheduler_.Now() + kPoll > deadline) co_return false;
    co_await scheduler_.Sleep(kPoll);
  }
  co_return true;
}

bool QuotaAdmitter::IsAllKnown() const {
  const auto is_known = [](const auto& source) { return source->known || source->advises; };
  return std::ranges::all_of(sources_.all(), is_known) && options_.definitions_known();
}

base::Task<std::optional<Answer>> QuotaAdmitter::AwaitKnown(
    std::shared_ptr<const Pending> pending) {
  const Review& review = pending->review;
  for (const auto& source : sources_.all()) {
    if (source->advises || review.ns.empty()) continue;
    const std::string quotas = "quotas of " + source->api.name;
    // The API server calls for each quota API that has a rule. Without its names in the request's
    // path, there may be one for each.
    const auto is_listed = [&] {
      const bool called = review.called_for.empty() ? MayBeCalledFor(*source, review)
                                                    : IsCalledFor(*source, review);
      return source->known || !called;
    };
    const bool listed = co_await Await(is_listed, pending->deadline);
    if (!listed) {
      co_return Unavailable("it is not known yet whether " + quotas + " limit it");
    }
    if (!source->known) continue;
    // Asked once: a quota can have tens of thousands of names.
    const bool needs = co_await NeedsDefinitions(*source, pending);
    if (!needs) continue;
    const bool defined = co_await Await(options_.definitions_known, pending->deadline);
    if (!defined) {
      co_return Unavailable("UsageDefinitions are not known now, and " + quotas +
                            " have names that only these explain");
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
  for (const auto& source : sources_.all()) {
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
  for (const auto& source : sources_.all()) {
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
  for (const auto& source : sources_.all()) {
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
  // The last one has just been planned, if it reserves. What the others were planned by may have
  // changed while a later quota API was read.
  for (const std::shared_ptr<Waiter>& waiter : reserving) {
    if (waiter != waiters.back()) waiter->plan = PlanFor(Waiters(1, waiter));
  }
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

// All quotas that have to grow for the request reserve for it, or none does.
base::Task<Answer> QuotaAdmitter::Reserve(std::shared_ptr<Pending> pending, Waiters waiters,
                                          Answer all) {
  const WaitingLimit::Seat seat(waiting_, pending->review.ns);
  const std::optional<Answer> busy = seat.Busy();
  Leaving leaving{waiters};
  for (const std::shared_ptr<Waiter>& waiter : waiters) {
    if (writers_.GrantAtOnce(*waiter)) continue;
    if (busy) {
      waiter->answer = waiter->Tempered(*busy);
    } else {
      if (pending->alarm == nullptr) pending->alarm = scheduler_.NewAlarm();
      writers_.Enqueue(waiter);
    }
  }
  bool stopping = false;
  while (!IsDecided(waiters) && !stopping && scheduler_.Now() < pending->deadline) {
    co_await pending->alarm->WaitUntil(pending->deadline);
    stopping = co_await base::Stopping();
  }
  // If this process was suspended meanwhile, the hold of a grant may be nearly over. So a late
  // answer must not allow the request.
  if (scheduler_.Now() >= pending->deadline) DropGrants(waiters);
  if (const Answer* against = FirstAgainst(waiters)) co_return *against;
  for (const std::shared_ptr<Waiter>& waiter : waiters) {
    Answer answer = waiter->answer ? *std::move(waiter->answer) : waiter->TimedOut();
    if (answer.kind != Answer::Kind::kAllowed) co_return answer;
    if (!options_.warn_near_limits) answer.warnings.clear();
    for (std::size_t i = 0; i < answer.warnings.size(); ++i) {
      observer_.OnWarning(waiter->ask->source().api.name);
    }
    AddTo(all, std::move(answer));
  }
  leaving.allowed = true;
  co_return all;
}

}  // namespace admission
