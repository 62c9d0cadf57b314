#include "pkg/inspect/fit.h"

#include <algorithm>
#include <set>
#include <utility>

#include "pkg/api/object_meta.h"

namespace inspect {
namespace {

// Beyond all that is asked for, and small enough to be added to.
quota::Quantity Unreachable() {
  const auto amount = quota::Quantity::Parse("10e27");
  return amount ? *amount : quota::Quantity();
}

// A quota that refuses for what an object lacks, never for an amount.
quota::Quota Roomy(const quota::Quota& quota) {
  quota::Quota roomy = quota;
  roomy.status = {};
  for (const auto& [name, limit] : LimitsOf(quota)) {
    roomy.status.hard.Set(name, Unreachable());
    roomy.status.used.Set(name, quota::Quantity());
  }
  return roomy;
}

base::Result<quota::Resolved> Resolve(const Counter& counter, const json::Value& object,
                                      base::WallTime now) {
  auto facts = counter.evaluator->facts_of(object, now);
  if (!facts) return facts.error();
  quota::Resolved resolved{.subject = std::move(facts->now)};
  if (counter.classes == nullptr || resolved.subject.classes.empty()) return resolved;
  auto usage = counter.classes->ResolveKnown(resolved.subject, resolved.unknown);
  if (!usage) return usage.error();
  resolved.subject.usage = std::move(*usage);
  return resolved;
}

// Each quota is asked by itself: which of them the server asks first is not known.
void AskOne(quota::Request& request, const json::Value& object, const quota::Quota& roomy,
            quota::ResourceList& amount, std::vector<std::string>& objections) {
  const std::vector<quota::Standing> standing{{.quota = &roomy, .used = roomy.status.used}};
  request.object = &object;
  quota::Verdict verdict = quota::Decide(request, standing);
  if (verdict.kind == quota::Verdict::Kind::kRefused) {
    objections.push_back(std::move(verdict.message));
    request.object = nullptr;  // nothing is demanded of it any more: the amounts alone
    verdict = quota::Decide(request, standing);
  }
  for (quota::Need& need : verdict.needs) amount = std::move(need.amount);
}

std::set<std::string> NamesOf(const quota::ResourceList& a, const quota::ResourceList& b) {
  std::set<std::string> names;
  for (const auto& [name, amount] : a) names.insert(name);
  for (const auto& [name, amount] : b) names.insert(name);
  return names;
}

}  // namespace

const quota::ResourceList& LimitsOf(const quota::Quota& quota) {
  return quota.has_status_hard && !quota.status.hard.empty() ? quota.status.hard : quota.hard;
}

FitBook::FitBook(std::vector<quota::Quota> quotas)
    : quotas_(std::move(quotas)), asked_(quotas_.size()) {
  for (const quota::Quota& quota : quotas_) roomy_.push_back(Roomy(quota));
}

base::Result<Demand> FitBook::DemandOf(const Counter& counter, const json::Value& object,
                                       const std::optional<json::Value>& stored,
                                       base::WallTime now) const {
  auto after = Resolve(counter, object, now);
  if (!after) return after.error();
  quota::Request request{.evaluator = counter.evaluator,
                         .classes = counter.classes,
                         .object = &object,
                         .uid = {},
                         .after = std::move(after->subject)};
  request.unknown = std::move(after->unknown);
  if (stored) {
    auto before = Resolve(counter, *stored, now);
    if (!before) return before.error();
    request.before = std::move(before->subject);
  }
  Demand demand{.of = std::vector<quota::ResourceList>(quotas_.size()), .objections = {}};
  for (std::size_t i = 0; i < roomy_.size(); ++i) {
    AskOne(request, object, roomy_[i], demand.of[i], demand.objections);
  }
  return demand;
}

base::Result<void> FitBook::Add(const Counter& counter, const Piece& piece, base::WallTime now) {
  const auto demand = DemandOf(counter, piece.object, piece.stored, now);
  if (!demand) return demand.error().Wrap(piece.of.ToString());
  const std::int64_t first = piece.first.value_or(piece.count);
  for (std::size_t i = 0; i < quotas_.size(); ++i) {
    auto added = asked_[i].last.Add(demand->of[i], piece.count);
    if (added) added = asked_[i].first.Add(demand->of[i], first);
    if (!added) return added.error().Wrap(piece.of.ToString());
  }
  if (std::max(piece.count, first) <= 0) return {};
  for (const std::string& text : demand->objections) Object({piece.of, text});
  for (const std::string& text : piece.refusals) Object({piece.of, text});
  return {};
}

void FitBook::Object(Objection objection) {
  if (std::ranges::find(objections_, objection) == objections_.end()) {
    objections_.push_back(std::move(objection));
  }
}

std::vector<FitLine> FitBook::Lines() const {
  std::vector<FitLine> lines;
  for (std::size_t i = 0; i < quotas_.size(); ++i) {
    const quota::ResourceList& hard = LimitsOf(quotas_[i]);
    for (const std::string& name : NamesOf(asked_[i].first, asked_[i].last)) {
      FitLine line{.quota = i, .name = name, .hard = hard.Get(name)};
      line.asked = std::max(asked_[i].first.Get(name), asked_[i].last.Get(name));
      if (line.asked.IsZero()) continue;
      if (const quota::Quantity* used = quotas_[i].status.used.Find(name)) line.before = *used;
      const auto after = line.asked.Add(line.before.value_or(quota::Quantity()));
      line.after = after ? *after : Unreachable();
      const auto beyond = line.after.Sub(line.hard);
      if (line.asked.Sign() > 0 && beyond && beyond->Sign() > 0) line.lacking = *beyond;
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

bool FitBook::Fits() const {
  return objections_.empty() && std::ranges::none_of(Lines(), [](const FitLine& line) {
           return line.lacking.has_value();
         });
}

}  // namespace inspect
