#pragma once

// Performs a schedule: the server, its clients, the replicas with their links, and the judge.

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/judge.h"
#include "tests/simulation/replica.h"
#include "tests/simulation/schedule.h"

namespace simulation {

// A watch that shows nothing for longer counts as silent.
inline constexpr std::chrono::seconds kLongestLag{4};

// Returns the first violation, or nullopt. `narrate`, if given, is called with each line of the
// trace.
std::optional<std::string> Run(const Schedule& schedule,
                               const std::function<void(const std::string&)>& narrate = nullptr);

class World {
 public:
  World(const Schedule& schedule, const std::function<void(const std::string&)>& narrate);
  ~World();

  std::optional<std::string> Run();
  // No coroutine runs any more, so the world can be destroyed.
  [[nodiscard]] bool ended() const;

 private:
  struct Write;
  struct Call;
  // The replicas that are called for one request. If there are two quota APIs, each has a webhook
  // of its own.
  struct Asked {
    Replica* first;
    Replica* second;
  };

  // world.cc
  void StartReplica(std::size_t index);
  void RunFor(base::Duration duration);
  bool RunUntilQuiet();
  void ProbeAll();
  void Probe();
  // nullopt if there is no answer.
  std::optional<admission::Answer> ProbeAnswer(Replica& replica, const Thing& probe);
  std::optional<bool> ProbeOne(Replica& replica, const Thing& probe);
  [[nodiscard]] bool ClassesShown() const;
  [[nodiscard]] bool IsExact(const std::string& ns) const;
  void CheckLists();
  void Look();
  void End();

  // world_actions.cc
  void Perform(const Action& action);
  void Delete(const Action& action, Resource resource, const Server::Key& key);
  bool PerformOnQuota(const Action& action);
  bool PerformOnReplica(const Action& action);
  bool PerformOnServer(const Action& action);
  void Restore(base::Duration away, bool silent);
  void Restart(std::size_t index, bool kill, base::Duration down);
  void EndsIn(base::Duration duration);
  // True if no watch of objects has been behind for longer than a lag.
  [[nodiscard]] bool ObjectsShown();

  // world_external_writers.cc
  bool PerformOnStatus(const Action& action, const Server::Key& key);
  void Recount(const Server::Key& key);
  void Raise(const Server::Key& key, std::int64_t by);
  void Edit(const Server::Key& key, int what);
  void Garble(const Action& action, const Server::Key& key);
  void Forge(const Server::Key& key, int what);
  // Replicas leave the quotas alone that have a list of a later format, from when they see it.
  void AwaitLaterFormats();
  void StoreUnreadable(const Server::Key& key);
  base::Task<bool> AskOld(std::optional<Thing> before, Thing after);

  // world_machines.cc
  void PerformOnMachines(const Action& action);
  void Terminate(const Server::Key& key);
  void ProbeMachines();

  // world_tree.cc
  bool PerformOnTree(const Action& action);
  void Empty(const std::string& ns, const std::string& uid, base::Duration pause);
  [[nodiscard]] bool TreeShown() const;
  [[nodiscard]] bool IsKnown(const std::string& ns) const;
  void ProbeTree();
  void ProbeTreeWith(const Thing& claim);
  void PutChildren(const Action& action);

  // clients.cc
  void Start(const Write& write);
  base::Task<void> Perform(Write write);
  base::Task<bool> AskAll(Write write, Thing wanted, std::uint64_t* version,
                          base::TimePoint* others_done);
  base::Duration Way();
  [[nodiscard]] Asked AskedFor(std::size_t digit) const;
  base::Task<std::optional<admission::Answer>> Ask(Asked asked, std::optional<Thing> before,
                                                   Thing after, bool dry_run, base::Duration way);
  base::Task<std::optional<admission::Answer>> AskOne(std::size_t quota_api, Replica& replica,
                                                      std::optional<Thing> before, Thing after,
                                                      bool dry_run, base::Duration way);
  [[nodiscard]] Thing Wanted(const Write& write, const Thing* stored);

  const Schedule& schedule_;
  std::mt19937_64 random_;
  Planted planted_ = Planted::kNone;
  Timeline timeline_;
  Judge judge_;
  Server server_;
  std::vector<std::unique_ptr<Replica>> replicas_;  // the present or last process of each
  std::vector<std::unique_ptr<Replica>> ended_;     // their earlier processes
  std::vector<int> starts_;
  std::vector<bool> restarting_;
  std::uint64_t calls_ = 0;
  base::TimePoint faults_end_{};
  base::TimePoint silent_until_{};  // until then some watch shows nothing, longer than a lag
  // Since when the watch of a replica, by its index, has not shown the last change of a resource.
  std::map<std::pair<std::size_t, Resource>, base::TimePoint> unshown_since_;
  base::Duration slowest_webhook_{};  // as the API server has seen their configurations
  base::TaskGroup clients_;
};

}  // namespace simulation
