#include "pkg/inspect/fit.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/workload_kinds.h"
#include "pkg/quota/guarantee.h"

namespace inspect {
namespace {

// Returns a copy of the quota that refuses only for missing requirements, never for amounts.
quota::Quota Roomy(const quota::Quota& quota) {
  quota::Quota roomy = quota;
  roomy.status = {};
  for (const auto& [name, limit] : LimitsOf(quota)) {
    roomy.status.hard.Set(name, quota::Quantity::Saturated());
    roomy.status.used.Set(name, quota::Quantity());
  }
  return roomy;
}

// A changed limit is in force a moment after the change, so the smaller one counts meanwhile.
void Tighten(quota::Quota& quota) {
  if (LimitsOf(quota) == quota.hard) return;
  for (const auto& [name, limit] : quota.hard) {
    const quota::Quantity* enforced = quota.status.hard.Find(name);
    quota.status.hard.Set(name, enforced == nullptr ? limit : std::min(limit, *enforced));
  }
}

struct Read {
  quota::ObjectFacts facts;
  quota::Resolved resolved;
};

// Returns what is unknown because a class that the object refers to could not be seen. The table
// takes such a class for one that does not exist, and that some evaluators count as nothing.
std::optional<quota::UnknownUsage> UnseenOf(const Counter& counter, const quota::Facts& facts) {
  for (const quota::ClassUnits& units : facts.classes) {
    if (counter.classes->Has(units.name)) continue;
    return quota::UnknownUsage{
        {.code = base::ErrorCode::kNotFound,
         .message = counter.evaluator->classes->called + " \"" + units.name + "\" not found"}};
  }
  return std::nullopt;
}

base::Result<Read> Resolve(const Counter& counter, const json::Value& object, base::WallTime now) {
  auto facts = counter.evaluator->facts_of(object, {.now = now, .rules = counter.rules});
  if (!facts) return facts.error();
  Read read{.facts = *std::move(facts), .resolved = {}};
  read.resolved.subject = read.facts.now;
  quota::Resolved& resolved = read.resolved;
  if (counter.classes == nullptr || resolved.subject.classes.empty()) return read;
  resolved.subject.usage = counter.classes->ResolveKnown(resolved.subject, resolved.unknown);
  if (!counter.classes_known && !resolved.unknown) {
    resolved.unknown = UnseenOf(counter, resolved.subject);
  }
  return read;
}

// Moves what is unknown only because classes could not be seen out of the request: the server knows
// them. Whatever else is unknown is so for the server, too, and it refuses the object.
void TakeUnseen(const Counter& counter, const std::vector<quota::Quota>& quotas,
                quota::Request& request, Demand& demand) {
  const bool unseen = !counter.classes_known && request.unknown &&
                      request.unknown->why.Is(base::ErrorCode::kNotFound);
  if (!unseen) return;
  std::vector<const quota::Quota*> all;
  all.reserve(quotas.size());
  for (const quota::Quota& quota : quotas) all.push_back(&quota);
  // Without the table, because it tells only of the classes that were seen which names are theirs.
  request.classes = nullptr;
  if (DependsOnUnknown(request, all)) {
    demand.unknown.push_back(counter.unseen.empty()
                                 ? "what it uses is not known: " + request.unknown->why.message
                                 : counter.unseen);
  }
  request.classes = counter.classes;
  request.unknown.reset();
}

// Judges each quota separately, because the server's order is unknown.
void AskOne(quota::Request& request, const json::Value& object, const quota::Quota& roomy,
            const std::string& above, std::size_t index, Demand& demand) {
  const std::vector<quota::Standing> standing{
      {.quota = &roomy, .used = roomy.status.used, .tree = {.above = above}}};
  request.object = &object;
  quota::Verdict verdict = quota::Decide(request, standing);
  if (verdict.kind == quota::Verdict::Kind::kRefused) {
    demand.objections.push_back(std::move(verdict.message));
    request.object = nullptr;  // requirements were checked already: judge only amounts
    verdict = quota::Decide(request, standing);
  }
  for (auto& would : verdict.would_refuse) demand.warnings.push_back(std::move(would.message));
  for (quota::Need& need : verdict.needs) demand.of[index] = std::move(need.amount);
}

// Returns what an update frees at once. Kubernetes' own plugin lowers usage with the update. The
// daemon counts later what a ClusterQuota gets back, and a quota of another API.
void AskFreed(quota::Request request, const std::vector<quota::Quota>& roomy, Demand& demand) {
  if (!request.before) return;
  std::swap(request.after, *request.before);
  request.unknown = {};
  demand.freed.resize(roomy.size());
  for (std::size_t i = 0; i < roomy.size(); ++i) {
    if (roomy[i].cluster) continue;
    request.object = nullptr;
    const std::vector<quota::Standing> standing{{.quota = &roomy[i], .used = roomy[i].status.used}};
    quota::Verdict verdict = quota::Decide(request, standing);
    for (quota::Need& need : verdict.needs) demand.freed[i] = std::move(need.amount);
  }
}

// The amounts of one old pod of a rollout, by quota.
using Amounts = std::vector<quota::ResourceList>;

void AddAmounts(const Amounts& more, Amounts& amounts) {
  for (std::size_t i = 0; i < amounts.size(); ++i) amounts[i].Add(more[i]);
}

Ask AskOf(const Piece& piece, Demand demand) {
  Ask ask{.of = piece.of, .kind = std::string(api::Kind(piece.object)), .count = piece.count};
  const bool starts =
      Is(piece.object, kPod) && !piece.stored && piece.object.StringAt({"status", "phase"}).empty();
  if (starts) ask.group = PodGroupOf(piece.object);
  ask.refused =
      !demand.uncountable.empty() || !demand.objections.empty() || !piece.refusals.empty();
  ask.passing = piece.passing;
  ask.each = std::move(demand.of);
  ask.freed = std::move(demand.freed);
  return ask;
}

}  // namespace

const quota::ResourceList& LimitsOf(const quota::Quota& quota) {
  return quota.has_status_hard && !quota.status.hard.empty() ? quota.status.hard : quota.hard;
}

FitBook::FitBook(std::vector<quota::Quota> quotas, Reached reached, std::string kind)
    : quotas_(std::move(quotas)), places_(quotas_.size()), kind_(std::move(kind)) {
  const std::size_t own = quotas_.size();
  std::ranges::move(reached.quotas, std::back_inserter(quotas_));
  for (quota::TreePlace& place : reached.places) {
    // Parents are positions in `reached.quotas`, which follow the quotas of the namespace here.
    if (place.parent) *place.parent += own;
    places_.push_back(std::move(place));
  }
  asked_.resize(quotas_.size());
  std::ranges::for_each(quotas_, Tighten);
  for (const quota::Quota& quota : quotas_) roomy_.push_back(Roomy(quota));
}

std::string FitBook::TitleOf(std::size_t quota) const {
  return kind_.empty() ? inspect::TitleOf(quotas_[quota]) : NameOf(quota);
}

std::string FitBook::NameOf(std::size_t quota) const {
  const std::string& name = quotas_[quota].key.name;
  return kind_.empty() ? name : kind_ + "/" + name;
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
                         .after = std::move(after->resolved.subject)};
  request.unknown = std::move(after->resolved.unknown);
  if (stored) {
    auto before = Resolve(counter, *stored, now);
    if (!before) return before.error();
    request.before = std::move(before->resolved.subject);
    // As admission: what was unknown or wrong before is no reason to refuse an update.
    if (request.before->classes == request.after.classes) request.unknown.reset();
    if (quota::IsNoWorse(before->facts, after->facts)) after->facts.flaw.clear();
  }
  Demand demand{.of = std::vector<quota::ResourceList>(quotas_.size()), .objections = {}};
  NoteFlaw(after->facts, demand);
  TakeUnseen(counter, roomy_, request, demand);
  for (std::size_t i = 0; i < roomy_.size(); ++i) {
    AskOne(request, object, roomy_[i], places_[i].above, i, demand);
  }
  if (kind_.empty()) AskFreed(std::move(request), roomy_, demand);
  return demand;
}

// What cannot be read of an object concerns the quotas of its own names only.
void FitBook::NoteFlaw(const quota::ObjectFacts& facts, Demand& demand) const {
  if (facts.flaw.empty()) return;
  const std::vector<std::string> flawed = quota::FlawedNames(facts);
  std::vector<const quota::Quota*> concerned;
  for (const quota::Quota& quota : roomy_) {
    const bool limits = std::ranges::any_of(
        flawed, [&](const std::string& name) { return quota.status.hard.Find(name) != nullptr; });
    if (limits || flawed.empty()) concerned.push_back(&quota);
  }
  if (concerned.empty()) return;
  const bool refused = std::ranges::any_of(
      concerned, [](const quota::Quota* quota) { return quota::MayRefuse(*quota); });
  std::string text = "it cannot be counted: " + facts.flaw;
  if (refused) {
    demand.uncountable = std::move(text);
  } else {
    demand.warnings.push_back(std::move(text));
  }
}

void FitBook::Sum::Change(const quota::ResourceList& amounts, std::int64_t times,
                          std::size_t cause) {
  now.Add(amounts, times);
  for (const auto& [name, amount] : amounts) {
    logs[name].deltas.push_back({cause, times, amount.Mul(times)});
  }
}

void FitBook::Sum::Need(const quota::ResourceList& amounts, std::int64_t times, std::size_t cause) {
  Change(amounts, times, cause);
  for (const auto& [name, amount] : amounts) OnRisen(name, amount.Mul(times));
}

void FitBook::Sum::OnRisen(const std::string& name, const quota::Quantity& needed) {
  const quota::Quantity reached = now.Get(name);
  const quota::Quantity* before = most.Find(name);
  if (before != nullptr && reached <= *before) return;
  Log& log = logs[name];
  log.peak = log.deltas.size();
  most.Set(name, reached);
  last.Set(name, needed);
}

std::size_t FitBook::CauseOf(const ObjectName& of, Role role) {
  causes_.push_back({of, std::move(role)});
  return causes_.size() - 1;
}

void FitBook::AddRise(Sum& sum, const std::string& name, const quota::Quantity& each,
                      const quota::Quantity& rise, const Rollout& rollout) {
  const quota::Quantity surge = std::clamp(rise, quota::Quantity(), each.Mul(rollout.surge));
  const quota::Quantity rest = rise.Sub(surge);
  // As many as make up the rest, if they are whole pods.
  const bool divides = !each.IsZero() && rest.nanos() % each.nanos() == 0;
  const auto pods = divides ? static_cast<std::int64_t>(rest.nanos() / each.nanos()) : 0;
  const bool whole = surge == each.Mul(rollout.surge);
  const std::size_t by_rollout = CauseOf(rollout.of, {"pod", "its rollout"});
  const std::size_t by_surge = CauseOf(rollout.of, {"pod", "the surge of its rollout"});
  Log& log = sum.logs[name];
  if (!rest.IsZero()) log.deltas.push_back({by_rollout, pods, rest});
  if (!surge.IsZero()) log.deltas.push_back({by_surge, whole ? rollout.surge : 0, surge});
  sum.now.Set(name, sum.now.Get(name).Add(rise));
  sum.OnRisen(name, each);
  if (rise.Sign() >= 0) return;
  // Another object may be created before the old pods go.
  log.deltas.push_back({by_rollout, -pods, quota::Quantity().Sub(rise)});
  sum.now.Set(name, sum.now.Get(name).Sub(rise));
}

std::vector<FitPart> FitBook::PartsOf(const FitLine& line) const {
  std::vector<FitPart> parts;
  std::map<std::pair<ObjectName, std::pair<std::string, std::string>>, std::size_t> places;
  const auto found = asked_[line.quota].logs.find(line.name);
  if (found == asked_[line.quota].logs.end()) return parts;
  const Log& log = found->second;
  for (std::size_t i = 0; i < log.peak; ++i) {
    const Delta& delta = log.deltas[i];
    const Cause& cause = causes_[delta.cause];
    const auto [at, added] = places.emplace(
        std::pair(cause.of, std::pair(cause.role.part, cause.role.by)), parts.size());
    if (added) parts.push_back({.of = cause.of, .role = cause.role});
    parts[at->second].count += delta.count;
    parts[at->second].amount = parts[at->second].amount.Add(delta.amount);
  }
  std::erase_if(parts, [](const FitPart& part) { return part.amount.IsZero(); });
  return parts;
}

void FitBook::Object(const Piece& piece, const Demand& demand) {
  if (!demand.uncountable.empty()) Note({piece.of, demand.uncountable}, objections_);
  for (const std::string& text : demand.objections) Note({piece.of, text}, objections_);
  for (const std::string& text : piece.refusals) Note({piece.of, text}, objections_);
  for (const std::string& text : demand.warnings) Note({piece.of, text}, warnings_);
  for (const std::string& text : demand.unknown) Note({piece.of, text}, unknown_);
}

base::Result<void> FitBook::Add(const Counter& counter, const Piece& piece, base::WallTime now) {
  auto demand = DemandOf(counter, piece.object, piece.stored, now);
  if (piece.gone) {
    // What cannot be read frees nothing for sure.
    if (demand) AddGone(piece, demand->of);
    return {};
  }
  if (!demand) return demand.error().Wrap(piece.of.ToString());
  const std::size_t cause = CauseOf(piece.of, piece.role);
  for (std::size_t i = 0; i < quotas_.size(); ++i) {
    asked_[i].Need(demand->of[i], piece.count, cause);
    if (piece.passing) asked_[i].Change(demand->of[i], -piece.count, cause);
    if (demand->freed.empty()) continue;
    asked_[i].Change(demand->freed[i], -1, cause);
    asked_[i].freed.Add(demand->freed[i]);
  }
  Object(piece, *demand);
  asks_.push_back(AskOf(piece, std::move(*demand)));
  return {};
}

void FitBook::AddGone(const Piece& piece, const std::vector<quota::ResourceList>& each) {
  const std::size_t cause = CauseOf(piece.of, piece.role);
  Ask ask{.of = piece.of, .each = {}, .freed = Amounts(quotas_.size())};
  for (std::size_t i = 0; i < quotas_.size(); ++i) {
    asked_[i].Change(each[i], -piece.count, cause);
    asked_[i].freed.Add(each[i], piece.count);
    ask.freed[i].Add(each[i], piece.count);
  }
  asks_.push_back(std::move(ask));
}

base::Result<void> FitBook::Add(const CounterOf& counter_of, const Rollout& rollout,
                                base::WallTime now) {
  Amounts each(quotas_.size());
  for (const Piece& piece : rollout.each) {
    const Counter* counter = counter_of(piece.object);
    if (counter == nullptr) continue;
    const auto demand = DemandOf(*counter, piece.object, {}, now);
    if (!demand) return demand.error().Wrap(rollout.of.ToString());
    AddAmounts(demand->of, each);
    Object(piece, *demand);
  }
  std::vector<Amounts> old;
  for (const OldPod& pod : rollout.old) {
    Amounts& amounts = old.emplace_back(quotas_.size());
    for (const json::Value& object : pod.objects) {
      const Counter* counter = counter_of(object);
      if (counter == nullptr) continue;
      // What cannot be read frees nothing for sure.
      const auto demand = DemandOf(*counter, object, {}, now);
      if (demand) AddAmounts(demand->of, amounts);
    }
  }
  Ask ask{.of = rollout.of, .each = Amounts(quotas_.size()), .rollout = true};
  for (std::size_t i = 0; i < quotas_.size(); ++i) {
    for (const auto& [name, amount] : each[i]) {
      std::vector<std::pair<quota::Quantity, std::int64_t>> freed;
      for (std::size_t j = 0; j < old.size(); ++j) {
        freed.emplace_back(old[j][i].Get(name), rollout.old[j].count);
      }
      const auto rise = LargestRise(amount, rollout.fresh, rollout.spare, std::move(freed));
      AddRise(asked_[i], name, amount, rise, rollout);
      if (rise.Sign() > 0) ask.each[i].Set(name, rise);
    }
  }
  asks_.push_back(std::move(ask));
  return {};
}

void FitBook::Note(Objection objection, std::vector<Objection>& objections) {
  if (std::ranges::find(objections, objection) == objections.end()) {
    objections.push_back(std::move(objection));
  }
}

std::vector<quota::Standing> FitBook::Standings() const {
  std::vector<quota::Standing> standings;
  for (std::size_t i = 0; i < quotas_.size(); ++i) {
    standings.push_back({.quota = &quotas_[i], .used = quotas_[i].status.used, .tree = places_[i]});
  }
  return standings;
}

std::vector<quota::ResourceList> FitBook::Asked() const {
  std::vector<quota::ResourceList> asked;
  for (const Sum& sum : asked_) asked.push_back(sum.most);
  return asked;
}

std::string FitBook::RefusalOf(std::size_t quota) const {
  std::vector<quota::Standing> standings = Standings();
  std::vector<quota::ResourceList> asked = Asked();
  // If as much goes before, only the last creation meets the limit.
  for (auto& [name, amount] : asked_[quota].most) {
    if (amount.Sign() > 0) continue;
    const quota::Quantity needed = asked_[quota].last.Get(name);
    asked[quota].Set(name, needed);
    quota::ResourceList& used = standings[quota].used;
    used.Set(name, used.Get(name).Add(amount).Sub(needed));
  }
  return RefusalText(standings, asked, quota);
}

std::vector<FitLine> FitBook::Lines() const {
  std::vector<FitLine> lines;
  const std::vector<quota::Standing> standings = Standings();
  const std::vector<quota::ResourceList> asked = inspect::FitBook::Asked();
  for (std::size_t i = 0; i < quotas_.size(); ++i) {
    const quota::ResourceList& hard = LimitsOf(quotas_[i]);
    for (const auto& [name, amount] : asked[i]) {
      FitLine line{.quota = i, .name = name, .hard = hard.Get(name)};
      line.asked = amount;
      line.tried = IsTried(quotas_[i]);
      if (const quota::Quantity* used = quotas_[i].status.used.Find(name)) line.before = *used;
      line.after = line.asked.Add(line.before.value_or(quota::Quantity()));
      line.held = HeldBack(standings, asked, i, name);
      const quota::Quantity beyond = quota::Above(line.after.Add(line.held), line.hard);
      if (!beyond.IsZero()) line.lacking = beyond;
      // Usage that is no larger afterwards is shown if an update frees what another object needs.
      const bool told = line.asked.Sign() > 0 || asked_[i].freed.Find(name) != nullptr;
      if (!told && !line.lacking && line.before) continue;
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

bool FitBook::Fits() const {
  return objections_.empty() && std::ranges::none_of(Lines(), &FitLine::Refuses);
}

quota::Quantity HeldBack(const std::vector<quota::Standing>& standings,
                         const std::vector<quota::ResourceList>& asked, std::size_t quota,
                         std::string_view name) {
  if (!standings[quota].quota->cluster) return {};
  quota::Takings takings;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (standings[i].tree.parent == quota) takings.emplace(quota, quota::Taking{i, asked[i], {}});
  }
  return quota::HeldBack(standings, takings, {.standing = quota, .amount = asked[quota]}, name);
}

// Lets admission judge this quota alone, with limits as enforced, so that it gives the text.
std::string RefusalText(const std::vector<quota::Standing>& standings,
                        const std::vector<quota::ResourceList>& asked, std::size_t quota) {
  const quota::Standing& standing = standings[quota];
  if (!standing.quota->cluster) return "";
  quota::Quota plain = *standing.quota;
  // The amounts are already those of objects that the quota selects.
  plain.selector.clear();
  plain.status.hard = LimitsOf(*standing.quota);
  plain.cluster->enforcement = quota::ClusterSpec::Enforcement::kDeny;
  quota::Evaluator all;
  all.owns = [&](std::string_view name) { return asked[quota].Find(name) != nullptr; };
  quota::Request request{.evaluator = &all, .uid = {}};
  quota::Standing alone{.quota = &plain, .used = standing.used};
  alone.tree.above = standing.tree.above;
  for (const auto& [name, amount] : asked[quota]) {
    if (amount.Sign() <= 0) continue;
    request.after.usage.Set(name, amount);
    alone.tree.promised_below.Set(name, HeldBack(standings, asked, quota, name));
  }
  return quota::Decide(request, {std::move(alone)}).message;
}

}  // namespace inspect
