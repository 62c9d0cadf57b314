// Prepares reviews, answers those that need no write, and lets the others wait. The writers are in
// commit.cc.

#include "pkg/admission/quota_admitter.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "pkg/admission/answers.h"
#include "pkg/admission/waiter.h"

namespace admission {
namespace {

namespace cause = quota::cause;

constexpr std::chrono::milliseconds kPoll{10};

Answer NotRead(const std::string& ns, const base::Error& error) {
  return Unavailable("quotas of namespace " + ns + " cannot be read: " + error.message);
}

}  // namespace

std::vector<const quota::Quota*> QuotaAdmitter::Waiter::Quotas() const {
  std::vector<const quota::Quota*> quotas;
  for (const auto& ask : asks) std::ranges::move(ask->Quotas(), std::back_inserter(quotas));
  return quotas;
}

bool QuotaAdmitter::Waiter::MayBeRefused() const {
  return std::ranges::any_of(Quotas(), [](const auto* quota) { return quota::MayRefuse(*quota); });
}

QuotaAdmitter::QuotaAdmitter(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                             Observer& observer, QuotaAdmitterOptions options)
    : executor_(executor),
      scheduler_(scheduler),
      observer_(observer),
      options_(std::move(options)),
      writers_(executor) {}

QuotaAdmitter::~QuotaAdmitter() = default;

void QuotaAdmitter::Enforce(const quota::QuotaApi& api) { Add(api, false); }
void QuotaAdmitter::Advise(const quota::QuotaApi& api) { Add(api, true); }

void QuotaAdmitter::Add(const quota::QuotaApi& api, bool advises) {
  sources_.push_back(std::make_unique<QuotaSource>(api, advises));
  std::ranges::sort(sources_, {}, [](const auto& source) {
    return std::pair(source->api.form.cluster, source->api.name);
  });
  for (std::size_t i = 0; i < sources_.size(); ++i) sources_[i]->index = i;
}

QuotaSource& QuotaAdmitter::SourceOf(const std::string& quota_api) const {
  const auto found =
      std::ranges::find(sources_, quota_api, [](const auto& source) { return source->api.name; });
  CHECK(found != sources_.end()) << quota_api;
  return **found;
}

void QuotaAdmitter::Open(const std::string& quota_api, QuotaBook& quotas, ObjectBook& objects) {
  QuotaSource& source = SourceOf(quota_api);
  CHECK(!source.open && source.asks == 0) << quota_api;
  source.open = true;
  source.book = &quotas;
  source.objects = &objects;
}

// Polls until all reviews have ended that use the books. Each has a deadline.
base::Task<void> QuotaAdmitter::Close(std::string quota_api) {
  QuotaSource& source = SourceOf(quota_api);
  source.open = false;
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
  const auto known = fields_.find(resource);
  if (known != fields_.end()) return known->second;
  std::set<std::string> fields;
  for (const auto& source : sources_) {
    const quota::Evaluator* evaluator = Ask::EvaluatorFor(source->api, resource);
    if (evaluator == nullptr) continue;
    fields.insert(evaluator->fields.begin(), evaluator->fields.end());
    fields.insert(evaluator->guard.fields.begin(), evaluator->guard.fields.end());
  }
  if (fields.empty()) return {};
  return fields_[resource] = {fields.begin(), fields.end()};
}

bool QuotaAdmitter::Concerns(const QuotaSource& source, const Review& review) const {
  if (!source.open) return false;
  const QuotaBook::Presence known = source.book->Look(review.ns);
  if (known.complete) return known.any;
  if (source.advises) return false;
  const std::string& name = source.api.name;
  const bool called = std::ranges::find(review.called_for, name) != review.called_for.end();
  return called || !options_.may_call ||
         options_.may_call(name, review.resource.WithoutVersion(), review.ns);
}

std::shared_ptr<QuotaAdmitter::Waiter> QuotaAdmitter::Take(Review review,
                                                           base::TimePoint deadline) const {
  auto waiter = std::make_shared<Waiter>();
  waiter->review = std::move(review);
  waiter->deadline = deadline;
  if (options_.exempt_namespaces->contains(waiter->review.ns)) return waiter;
  for (const auto& source : sources_) {
    if (source->advises || !Concerns(*source, waiter->review)) continue;
    if (auto ask = Ask::Of(*source, waiter->review)) waiter->asks.push_back(std::move(ask));
  }
  return waiter;
}

base::Task<Answer> QuotaAdmitter::Admit(Review review, base::TimePoint deadline) {
  const std::shared_ptr<Waiter> waiter = Take(std::move(review), deadline);
  if (waiter->asks.empty()) co_return Answer{};
  if (LacksOldObject(waiter->review)) {
    co_return Refuse(403,
                     "unable to get previous usage since prior version of object was not found",
                     cause::kUncountable);
  }
  const auto advice = co_await Advice(waiter);
  if (advice) co_return *advice;
  const auto found = co_await FindQuotas(waiter);
  if (!found) co_return NotRead(waiter->review.ns, found.error());
  if (waiter->asks.empty()) co_return Answer{};
  std::optional<Answer> answer = co_await Begin(waiter);
  if (!answer) answer = co_await Decide(waiter);
  co_return Tempered(*waiter, *std::move(answer));
}

base::Task<base::Result<void>> QuotaAdmitter::FindQuotas(std::shared_ptr<Waiter> waiter) {
  const std::string& ns = waiter->review.ns;
  for (const auto& ask : waiter->asks) {
    const auto refreshed = co_await ask->source().book->Refresh(ns, waiter->deadline);
    if (!refreshed) co_return refreshed;
  }
  // ClusterQuotas have one writer for all their namespaces. They are last.
  std::erase_if(waiter->asks, [&](const auto& ask) {
    NamespaceQuotas known = ask->source().book->Quotas(ns);
    if (known.quotas.empty()) return true;
    if (waiter->writer.empty() || known.writer != ns) waiter->writer = std::move(known.writer);
    return false;
  });
  co_return base::Result<void>();
}

base::Result<void> QuotaAdmitter::ReadObject(Waiter& waiter) const {
  const std::vector<const quota::Quota*> quotas = waiter.Quotas();
  for (std::size_t i = 0; i < waiter.asks.size(); ++i) {
    Ask& ask = *waiter.asks[i];
    const auto end = waiter.asks.begin() + static_cast<std::ptrdiff_t>(i);
    const auto like = std::find_if(waiter.asks.begin(), end,
                                   [&](const auto& earlier) { return ask.ReadsLike(*earlier); });
    auto read = ask.Read(scheduler_.WallNow(), quotas, like == end ? nullptr : like->get());
    if (!read) return read;
  }
  return {};
}

base::Task<std::optional<Answer>> QuotaAdmitter::Begin(std::shared_ptr<Waiter> waiter) {
  const auto read = ReadObject(*waiter);
  if (!read) {
    co_return Refuse(500, "its use of quota is unknown: " + read.error().message,
                     cause::kUncountable);
  }
  for (const auto& ask : waiter->asks) {
    if (ask->flaw().empty()) continue;
    co_return Refuse(403, "it cannot be counted: " + ask->flaw(), cause::kUncountable);
  }
  const Review& review = waiter->review;
  if (review.operation == Operation::kCreate && !review.name.empty()) {
    for (const auto& ask : waiter->asks) {
      const bool taken = co_await ask->IsTaken(waiter->deadline);
      // Quotas that only warn or audit refuse nothing, not even this. The object may be deleted
      // before the API server stores the new one, so that one is charged.
      if (taken && waiter->MayBeRefused()) co_return AlreadyExists(review);
    }
  }
  const auto classes = co_await ReadClasses(waiter);
  if (!classes) co_return Unavailable(classes.error().message);
  co_return std::nullopt;
}

bool QuotaAdmitter::LacksClass(const Waiter& waiter) {
  return std::ranges::any_of(waiter.asks, [](const auto& ask) { return ask->LacksClass(); });
}

base::Task<base::Result<void>> QuotaAdmitter::ReadClasses(std::shared_ptr<Waiter> waiter) {
  for (const auto& ask : waiter->asks) {
    const auto read = co_await ask->ReadClasses(waiter->deadline);
    if (!read) co_return read;
  }
  co_return base::Result<void>();
}

Answer QuotaAdmitter::Tempered(const Waiter& waiter, Answer answer) {
  if (answer.kind == Answer::Kind::kAllowed || waiter.MayBeRefused()) return answer;
  Answer admitted;
  for (const auto& ask : waiter.asks) {
    for (const quota::Quota* quota : ask->Quotas()) {
      quota::WouldRefuse would{.mode = quota->cluster->enforcement,
                               .message = "not decided: " + answer.message,
                               .quota = {.name = quota->key.name, .uid = quota->uid}};
      admitted.would_refuse.push_back({ask->source().api.name, std::move(would)});
    }
  }
  return admitted.would_refuse.empty() ? answer : admitted;
}

BatchPlan QuotaAdmitter::PlanFor(const Batch& batch) const {
  BatchQuotas quotas;
  std::vector<BatchRequest> requests;
  requests.reserve(batch.size());
  for (const std::shared_ptr<Waiter>& waiter : batch) {
    const std::string& ns = waiter->review.ns;
    BatchRequest& request = requests.emplace_back(BatchRequest{.ns = ns, .asks = {}});
    request.asks.reserve(waiter->asks.size());
    for (const auto& ask : waiter->asks) {
      const QuotaSource& source = ask->source();
      if (!source.open) continue;  // it has no quotas any more
      ask->LookAgain();
      const auto* by = quotas.Find(source.index, ns);
      if (by == nullptr) by = &quotas.Add(source.index, ns, source.book->Quotas(ns).quotas);
      request.asks.push_back({source.index, &ask->request(), by});
    }
  }
  return PlanBatch(requests, quotas);
}

Answer QuotaAdmitter::AnswerTo(Decision decision) const {
  Answer answer;
  for (Judgement& judgement : decision.judgements) {
    const quota::QuotaApi& api = sources_[judgement.source]->api;
    if (judgement.verdict.kind == quota::Verdict::Kind::kRefused) {
      return RefusalOf(api, judgement.verdict);
    }
    for (quota::WouldRefuse& would : judgement.verdict.would_refuse) {
      answer.would_refuse.push_back({api.name, std::move(would)});
    }
    if (!options_.warn_near_limits) continue;
    for (std::string& warning : judgement.warnings) {
      observer_.OnWarning(api.name);
      answer.warnings.push_back("quota nearly used up: " + std::move(warning));
    }
  }
  return answer;
}

base::Task<Answer> QuotaAdmitter::Decide(std::shared_ptr<Waiter> waiter) {
  BatchPlan plan = PlanFor({waiter});
  if (!GrantAtOnce(*waiter, plan)) co_return co_await Wait(std::move(waiter));
  co_return AnswerTo(std::move(plan.decisions.front()));
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
    QuotaBook& book = BookOf(grants);
    if (!book.Draw(grants)) {
      WithdrawAll(waiter);  // the grants of other quotas; the request then waits for a writer
      return false;
    }
    const Grant& grant = grants.grants.front();
    waiter.granted.push_back({&book, grants.quota.key, grant.uid, grant.number});
  }
  if (drawn) TellBatch(plan);
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
