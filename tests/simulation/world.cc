#include <algorithm>
#include <mutex>

#include "tests/simulation/world_clients.h"

namespace simulation {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// A lease of 15 s by the slowest clock, the longest pause between two reads of it, and a margin.
constexpr base::Duration kSomebodyLeads = 40s;
constexpr base::Duration kTruthReturns = 21s;
constexpr base::Duration kSilence = 5s;
// The other fields in the status of a ClusterQuota may be written so late.
constexpr base::Duration kSeldomWritten = 60s;
// If another webhook may take 30 s, charges may be held longer by this time.
constexpr base::Duration kSlowWebhooks = 35s;
// A long burst is held longer by this time.
constexpr base::Duration kLongBursts = 4s;
// A usual run takes some 10'000 steps, and comes to rest within a minute or two of virtual time.
constexpr std::uint64_t kSteps = 2'000'000;
constexpr base::Duration kRestReturns = 600s;

Planted PlantedOf(const std::string& name) {
  for (const PlantedName& planted : AllPlanted()) {
    if (planted.name == name) return planted.planted;
  }
  return Planted::kNone;
}

base::Duration MoreHold(const Schedule& schedule) {
  const base::Duration webhooks = schedule.webhooks ? kSlowWebhooks : base::Duration::zero();
  return webhooks + (schedule.bursts == Bursts::kLong ? kLongBursts : base::Duration::zero());
}

}  // namespace

World::World(const Schedule& schedule, const std::function<void(const std::string&)>& narrate)
    : schedule_(schedule),
      random_(schedule.seed),
      planted_(PlantedOf(schedule.planted)),
      judge_(timeline_, narrate, MoreHold(schedule)),
      server_(judge_, schedule.api),
      replicas_(schedule.clocks.size()),
      starts_(schedule.clocks.size()),
      restarting_(schedule.clocks.size()),
      clients_(timeline_.executor()) {
  timeline_.scheduler().SetBudget(kSteps);
  judge_.Watch(server_);
  // An entry that is reserved in advance names no object.
  if (schedule.bursts == Bursts::kNone) judge_.ExpectReserved();
  judge_.on_history = [this](Resource resource) {
    for (const auto& replica : replicas_) replica->link().Pump(resource);
    for (const auto& replica : ended_) replica->link().Pump(resource);
  };
  for (std::size_t i = 0; i < replicas_.size(); ++i) StartReplica(i);
}

World::~World() = default;

void World::StartReplica(std::size_t index) {
  const ClockOf& clock = schedule_.clocks[index];
  ReplicaSettings settings;
  settings.name = "r";
  settings.name.append(std::to_string(index)).append(".").append(std::to_string(++starts_[index]));
  settings.ahead = std::chrono::seconds(clock.ahead_seconds);
  settings.rate = clock.rate_percent / 100.0;
  settings.seed = schedule_.seed * 1'000 + index * 100 + static_cast<std::uint64_t>(starts_[index]);
  settings.api = schedule_.api;
  settings.bursts = schedule_.bursts;
  settings.webhooks = schedule_.webhooks;
  settings.planted = planted_;
  if (replicas_[index]) ended_.push_back(std::move(replicas_[index]));
  replicas_[index] = std::make_unique<Replica>(timeline_, server_, judge_, std::move(settings));
  replicas_[index]->link().on_fault = [this](base::Duration time) { EndsIn(time); };
  restarting_[index] = false;
  judge_.Touch();
  if (starts_[index] == 1) return;
  judge_.OnTrouble();
  // It sees such lists for the first time.
  AwaitLaterFormats();
}

// Called after each moment in which something happened.
void World::Look() {
  std::vector<const Replica*> leaders;
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    if (replicas_[i]->Leads()) leaders.push_back(replicas_[i].get());
    // The replica lost its lease, so its process ends and is started again.
    if (replicas_[i]->stopping() && !restarting_[i]) {
      restarting_[i] = true;
      timeline_.After(1s, [this, i] { StartReplica(i); });
    }
  }
  for (const auto& replica : ended_) {
    if (!replica->ended() && replica->Leads()) leaders.push_back(replica.get());
  }
  judge_.OnLeaders(leaders);
  judge_.CheckRefused();
  const bool misled =
      std::ranges::any_of(replicas_, [](const auto& replica) { return replica->link().Misled(); });
  if (misled) judge_.OnPutBack();
  const bool shown = ObjectsShown();
  judge_.OnSilent(!shown || timeline_.Now() <= silent_until_);
  if (schedule_.api == Api::kIroncore) judge_.OnClassesShown(ClassesShown());
  if (HasTree(schedule_.api)) judge_.OnTreeShown(TreeShown());
}

bool World::ObjectsShown() {
  bool all = true;
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    for (const Resource resource : {Resource::kClaims, Resource::kSecrets, Resource::kMachines}) {
      const auto& history = server_.History(resource);
      const std::uint64_t shown = replicas_[i]->link().Watched(resource);
      const bool behind = shown != 0 && !history.empty() && shown < history.back().version;
      if (!behind || replicas_[i]->stopping()) {
        unshown_since_.erase({i, resource});
        continue;
      }
      const auto [since, added] = unshown_since_.try_emplace({i, resource}, timeline_.Now());
      all = all && timeline_.Now() - since->second <= kLongestLag;
    }
  }
  return all;
}

// All replicas that watch classes have seen the last change. Others read classes live.
bool World::ClassesShown() const {
  return std::ranges::all_of(replicas_, [this](const auto& replica) {
    const std::uint64_t shown = replica->link().Shown(Resource::kClasses);
    return replica->stopping() || shown == 0 || shown >= server_.classes_version();
  });
}

void World::RunFor(base::Duration duration) {
  const base::TimePoint end = timeline_.Now() + duration;
  timeline_.RunUntil(
      end, [this] { Look(); }, [this] { return judge_.violation().has_value(); });
  if (timeline_.scheduler().budget() == 0) judge_.Violation("the run goes on without end");
}

// Runs until 15 s after the last event. Returns false if the run ended before.
bool World::RunUntilQuiet() {
  base::Duration without = {};
  const base::Duration returns = kTruthReturns + judge_.more();
  const base::TimePoint began = timeline_.Now();
  while (!judge_.violation()) {
    const auto led_since = judge_.led_since();
    base::TimePoint quiet = std::max(judge_.last_event(), faults_end_);
    if (!clients_.empty()) quiet = std::max(quiet, timeline_.Now());
    if (led_since) quiet = std::max(quiet, *led_since);
    if (led_since && timeline_.Now() >= quiet + returns) return true;
    const base::Duration step = led_since ? quiet + returns - timeline_.Now() : 1s;
    without = led_since || timeline_.Now() < faults_end_ ? base::Duration() : without + step;
    if (without > kSomebodyLeads) judge_.Violation("nobody leads for long");
    if (timeline_.Now() - began > kRestReturns) judge_.Violation("there is no rest for long");
    RunFor(step);
  }
  return false;
}

void World::ProbeAll() {
  if (schedule_.api == Api::kIroncore) return ProbeMachines();
  HasTree(schedule_.api) ? ProbeTree() : Probe();
}

// False if a quota over this namespace has a limit or usage that the model does not know exactly.
bool World::IsExact(const std::string& ns) const {
  const Thing claim{.ns = ns, .gold = true};
  return std::ranges::all_of(server_.quotas(), [&](const auto& entry) {
    const StoredQuota& quota = entry.second;
    if (!Matches(quota, claim)) return true;
    const Amounts truth = server_.TrueUse(quota);
    const bool exact = std::ranges::all_of(quota.hard, [&](const auto& limit) {
      return limit.second < kMost && truth.contains(limit.first) && truth.at(limit.first) < kMost;
    });
    return exact && quota.unread.empty();
  });
}

// Each replica must admit exactly the amount that is left.
void World::Probe() {
  const std::map<Server::Key, StoredQuota> quotas = server_.quotas();
  for (const auto& [key, quota] : quotas) {
    const Amounts truth = server_.TrueUse(quota);
    if (!quota.hard.contains(kStorage) || !IsExact(key.first)) continue;
    for (const auto& replica : replicas_) {
      const std::int64_t left = Get(quota.hard, kStorage) - Get(truth, kStorage);
      Thing claim{.ns = key.first, .name = "probe", .uid = server_.NewUid(), .gold = true};
      for (const std::int64_t size : {left, left + 1}) {
        bool fits = true;
        claim.size = std::max<std::int64_t>(size, 0);
        for (const auto& [other_key, other] : quotas) {
          const Amounts others = server_.TrueUse(other);
          for (const auto& [name, amount] : server_.CountedBy(other, claim)) {
            const bool limited = other.hard.contains(name) && amount > 0;
            fits = fits && !(limited && Get(others, name) + amount > Get(other.hard, name));
          }
        }
        if (ProbeOne(*replica, claim) == fits) continue;
        std::string what = "at rest a claim of ";
        what.append(std::to_string(claim.size)).append(" for ").append(key.second);
        what.append(fits ? " fits, and is refused by " : " does not fit, and is admitted by ");
        judge_.Violation(what.append(replica->name()));
      }
    }
  }
}

// Nothing that others write into a quota may make a replica list everything again. ClusterQuotas
// are not looked at, because a replica also reads them live.
void World::CheckLists() {
  if (!schedule_.odd || schedule_.api != Api::kCore) return;
  for (const auto& replica : replicas_) {
    if (server_.restores() > 0 || replica->link().HadTrouble()) continue;
    const int lists = replica->link().Lists(Resource::kQuotas);
    if (lists <= 1) continue;
    judge_.Violation(replica->name() + " listed all quotas " + std::to_string(lists) +
                     " times though nothing was wrong");
  }
}

std::optional<admission::Answer> World::ProbeAnswer(Replica& replica, const Thing& probe) {
  const auto said = std::make_shared<std::optional<admission::Answer>>();
  clients_.Spawn("probe", [this, &replica, probe, said]() -> base::Task<void> {
    const Asked asked{&replica, &replica};
    // A dry run reserves nothing, so a probe does not change what is left.
    auto answer = co_await Ask(asked, std::nullopt, probe, true, {});
    *said = std::move(answer);
  });
  RunFor(100ms);
  return *said;
}

std::optional<bool> World::ProbeOne(Replica& replica, const Thing& probe) {
  const auto answer = ProbeAnswer(replica, probe);
  if (!answer) return std::nullopt;
  return answer->kind == admission::Answer::Kind::kAllowed;
}

void World::End() {
  // The run may have used up its budget, and the processes need some steps to end.
  timeline_.scheduler().SetBudget(kSteps);
  for (const auto& replica : replicas_) replica->Kill();
  timeline_.RunUntil(
      timeline_.Now() + 30s, [] {}, [this] { return ended(); });
  if (!ended()) judge_.Violation("what was killed does not end");
}

bool World::ended() const {
  const auto over = [](const auto& replica) { return replica->ended(); };
  return clients_.empty() && std::ranges::all_of(replicas_, over) &&
         std::ranges::all_of(ended_, over);
}

std::optional<std::string> World::Run() {
  for (const Action& action : schedule_.actions) {
    RunFor(action.after * 1ms);
    if (judge_.violation()) break;
    Perform(action);
  }
  if (RunUntilQuiet()) {
    judge_.CheckTruth();
    for (const auto& replica : replicas_) {
      if (replica->reservations() > 0)
        judge_.Violation(replica->name() + " still has reservations");
    }
    if (HasTree(schedule_.api)) {
      RunFor(kSeldomWritten);
      judge_.CheckTruth();
      judge_.CheckPlaces();
    }
    CheckLists();
    judge_.ExpectSilence();
    ProbeAll();
    RunFor(kSilence);
  }
  End();
  return judge_.violation();
}

// A world whose coroutines do not end cannot be destroyed, so it is kept.
static void Keep(std::unique_ptr<World> world) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::unique_ptr<World>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(world));
}

std::optional<std::string> Run(const Schedule& schedule,
                               const std::function<void(const std::string&)>& narrate) {
  auto world = std::make_unique<World>(schedule, narrate);
  auto violation = world->Run();
  if (!world->ended()) Keep(std::move(world));
  return violation;
}

}  // namespace simulation
