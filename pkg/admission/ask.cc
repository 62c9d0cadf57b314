#include "pkg/admission/ask.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "pkg/api/object_meta.h"

namespace admission {
namespace {

bool Handles(const quota::Evaluator& evaluator, const Review& review) {
  const std::string& subresource = review.subresource;
  if (review.operation == Operation::kCreate) return subresource.empty();
  if (review.operation != Operation::kUpdate) return false;
  if (subresource.empty()) return evaluator.guard.updates;
  return std::ranges::find(evaluator.guard.subresources, subresource) !=
         evaluator.guard.subresources.end();
}

// Returns the uid that a reservation is for. Aggregated API servers may send a creation before the
// object has a uid. Each call then counts as a new object, by the uid of the review.
quota::Uid UidOf(const Review& review) {
  for (const json::Value* object : {&review.object, &review.old_object}) {
    const std::string_view uid = api::Uid(*object);
    if (!uid.empty()) return quota::Uid::FromText(uid);
  }
  return quota::Uid::FromText(review.uid);
}

// Counts what is under way.
struct CountOne {
  explicit CountOne(std::size_t& count) : count_(count) { ++count_; }
  ~CountOne() { --count_; }
  CountOne(const CountOne&) = delete;
  CountOne& operator=(const CountOne&) = delete;

 private:
  std::size_t& count_;
};

}  // namespace

bool LacksOldObject(const Review& review) {
  return review.operation == Operation::kUpdate && review.old_object.IsNull();
}

Ask::Ask(QuotaSource& source, const Review& review) : source_(source), review_(review) {}

std::unique_ptr<Ask> Ask::Of(QuotaSource& source, const Review& review) {
  const api::GroupResource resource = review.resource.WithoutVersion();
  auto evaluator = review.ns.empty() ? nullptr : source.api.CountedBy(resource);
  if (evaluator == nullptr || !Handles(*evaluator, review)) return nullptr;
  std::unique_ptr<Ask> ask(new Ask(source, review));
  ask->evaluator_ = std::move(evaluator);
  quota::Request& request = ask->request_;
  request.evaluator = ask->evaluator_.get();
  request.object = &review.object;
  request.uid = UidOf(review);
  request.version = api::ResourceVersion(review.old_object);
  request.dry_run = review.dry_run;
  return ask;
}

std::vector<const quota::Quota*> Ask::Quotas() const {
  std::vector<const quota::Quota*> quotas;
  for (const BookedQuota& booked : source_.book->Quotas(review_.ns).quotas) {
    quotas.push_back(booked.quota);
  }
  return quotas;
}

Ask::Names Ask::LimitedNames() const {
  Names names;
  for (const quota::Quota* quota : Quotas()) {
    for (const quota::ResourceList* list : {&quota->hard, &quota->status.hard}) {
      for (const auto& [name, limit] : *list) names.insert(name);
    }
  }
  return names;
}

bool Ask::ReadsLike(const Ask& other) const {
  return source_.api.CountsAs() == other.source_.api.CountsAs() &&
         evaluator_->revision == other.evaluator_->revision && other.reading_ != nullptr &&
         !other.reading_->under;
}

base::Result<void> Ask::Read(base::WallTime now, const Ask* earlier) {
  if (earlier != nullptr) {
    CHECK(ReadsLike(*earlier)) << source_.api.name << " counts the object in another way";
    reading_ = earlier->reading_;
  } else {
    auto reading = ReadObjects(now);
    if (!reading) return reading.error();
    reading_ = std::make_shared<const Reading>(std::move(*reading));
  }
  return Resolve();
}

base::Result<Ask::Reading> Ask::ReadObjects(base::WallTime now) const {
  const quota::Evaluator& evaluator = *request_.evaluator;
  // Gathered only for an object with very many names (WantedNames).
  std::optional<Names> limited;
  const auto is_limited = [&](std::string_view name) {
    if (!limited) limited = LimitedNames();
    return limited->contains(name);
  };
  const quota::ReadOptions options{
      .now = now, .limited = is_limited, .rules = source_.objects->RulesNow()};
  // An update may create its object. Then the old object has no resourceVersion, and all usage is
  // new (upstream's "create on update").
  const json::Value* const stored = request_.version.empty() ? nullptr : &review_.old_object;
  auto after = evaluator.guard.facts_of ? evaluator.guard.facts_of(review_.object, stored, options)
                                        : evaluator.facts_of(review_.object, options);
  if (!after) return after.error();
  Reading reading{.after = std::move(*after)};
  if (stored != nullptr) {
    auto before = evaluator.facts_of(*stored, options);
    if (!before) return before.error();
    reading.before = std::move(*before);
  }
  const bool left_out = reading.after.left_out || (reading.before && reading.before->left_out);
  if (left_out) reading.under = limited ? *std::move(limited) : LimitedNames();
  return reading;
}

base::Result<void> Ask::Resolve() {
  const quota::Evaluator& evaluator = *request_.evaluator;
  const quota::ObjectFacts& facts = reading_->after;
  auto after = source_.objects->SubjectOf(evaluator, review_.ns, facts);
  if (!after) return after.error();
  request_.after = std::move(after->subject);
  request_.unknown = std::move(after->unknown);
  flaw_ = facts.flaw;
  // What cannot be read of an object concerns its own names only.
  const std::vector<std::string> flawed = quota::FlawedNames(facts);
  if (!flawed.empty() && !LimitsAny(flawed)) flaw_.clear();
  if (!reading_->before) return {};
  const quota::ObjectFacts& old_facts = *reading_->before;
  auto before = source_.objects->SubjectOf(evaluator, review_.ns, old_facts);
  if (!before) return before.error();
  request_.before = std::move(before->subject);
  if (quota::IsNoWorse(old_facts, facts)) flaw_.clear();
  // With the same classes as before, the unknown usage does not grow.
  if (old_facts.now.classes == facts.now.classes) request_.unknown.reset();
  return {};
}

// Quotas that only warn or audit do not matter beside one that refuses.
bool Ask::LimitsAny(const std::vector<std::string>& names) const {
  const std::vector<const quota::Quota*> quotas = Quotas();
  const bool any_refuses = std::ranges::any_of(quotas, [](const auto* q) { return MayRefuse(*q); });
  const auto limits = [&](const quota::Quota* quota) {
    if (any_refuses && !MayRefuse(*quota)) return false;
    return std::ranges::any_of(names, [&](const std::string& name) {
      return quota->hard.Find(name) != nullptr || quota->status.hard.Find(name) != nullptr;
    });
  };
  return std::ranges::any_of(quotas, limits);
}

void Ask::LookAgain() {
  CHECK(reading_ != nullptr) << "a review is decided before its object was read";
  const quota::Evaluator& evaluator = *request_.evaluator;
  request_.classes = source_.objects->ClassesOf(evaluator);
  request_.outdated = !request_.dry_run && !request_.version.empty() &&
                      source_.objects->HasLater(evaluator, request_.uid, request_.version);
  const auto just_limited = [](std::vector<std::string> names) {
    return quota::UnknownUsage{
        .why = {.code = base::ErrorCode::kUnavailable, .message = "its limits have just changed"},
        .names = std::move(names)};
  };
  // The client tries again, and is told then what cannot be read.
  std::vector<std::string> flawed = quota::FlawedNames(reading_->after);
  const bool as_before = reading_->before && quota::IsNoWorse(*reading_->before, reading_->after);
  if (flaw_.empty() && !flawed.empty() && !as_before && LimitsAny(flawed)) {
    request_.unknown = just_limited(std::move(flawed));
  }
  if (!reading_->under) return;
  // The client tries again. It needs a quota that gets a name in the moment in which an object with
  // very many names is decided.
  const Names names = LimitedNames();
  if (std::ranges::includes(*reading_->under, names)) return;
  request_.unknown = just_limited({names.begin(), names.end()});
}

bool Ask::LacksClass() {
  const bool missing = request_.unknown && request_.unknown->why.Is(base::ErrorCode::kNotFound);
  if (!missing || classes_read_) return false;
  LookAgain();
  return quota::DependsOnUnknown(request_, Quotas());
}

// With one class that does not exist the usage is unknown, so the others do not matter.
base::Task<base::Result<void>> Ask::ReadClasses(base::TimePoint deadline) {
  if (!LacksClass()) co_return base::Result<void>();
  classes_read_ = true;
  const quota::Evaluator& evaluator = *request_.evaluator;
  if (source_.class_reads >= kMostClassReads) {
    co_return base::Error{.code = base::ErrorCode::kUnavailable,
                          .message = "too many requests wait for a " + evaluator.classes->called};
  }
  const CountOne count(source_.class_reads);
  quota::ClassTable live(evaluator.classes->missing, evaluator.classes->called);
  for (const quota::ClassUnits& units : reading_->after.now.classes) {
    const quota::ClassTable* known = source_.objects->ClassesOf(evaluator);
    if (known != nullptr && known->Has(units.name)) {
      live.Take(*known, units.name);
      continue;
    }
    auto usage = co_await source_.objects->ReadClass(evaluator, units.name, deadline);
    if (!usage && usage.error().Is(base::ErrorCode::kNotFound)) break;
    if (!usage)
      co_return usage.error().Wrap("read " + evaluator.classes->called + " " + units.name);
    live.Set(units.name, std::move(*usage));
  }
  request_.unknown.reset();
  request_.after.usage = live.ResolveKnown(reading_->after.now, request_.unknown);
  co_return base::Result<void>();
}

base::Task<base::Result<std::optional<ScaledObject>>> Ask::ReadScaled(base::TimePoint deadline) {
  return source_.objects->ReadScaled(*request_.evaluator, review_.ns, review_.name, deadline);
}

base::Task<bool> Ask::IsTaken(base::TimePoint deadline) {
  return source_.objects->IsTaken(*request_.evaluator, review_.ns, review_.name, request_.uid,
                                  deadline);
}

}  // namespace admission
