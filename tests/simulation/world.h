#pragma once

// Performs a schedule: the server, its clients, the replicas with their links, and the judge.

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/simulation/judge.h"
#include "tests/simulation/replica.h"
#include "tests/simulation/schedule.h"

namespace simulation {

// The first violation; nullopt: there was none.
// `narrate`, if given, is told what happens, line by line.
std::optional<std::string> Run(const Schedule& schedule,
                               const std::function<void(const std::string&)>& narrate = nullptr);

class World {
 public:
  World(const Schedule& schedule, const std::function<void(const std::string&)>& narrate);
  ~World();

  std::optional<std::string> Run();
  // Nothing runs any more, so it can be destroyed.
  [[nodiscard]] bool ended() const;

 private:
  struct Write;
  struct Call;

  // world.cc
  void StartReplica(std::size_t index);
  void RunFor(base::Duration duration);
  bool RunUntilQuiet();
  void ProbeAll();
  void Probe();
  // nullopt: there is no answer.
  std::optional<admission::Answer> ProbeAnswer(Replica& replica, const Thing& probe);
  std::optional<bool> ProbeOne(Replica& replica, const Thing& probe);
  [[nodiscard]] bool ClassesShown() const;
  void Look();
  void End();

  // world_actions.cc
  void Perform(const Action& action);
  void Delete(const Action& action, Resource resource, const Server::Key& key);
  bool PerformOnQuota(const Action& action);
  bool PerformOnReplica(const Action& action);
  bool PerformOnServer(const Action& action);
  void Restore(base::Duration away, bool silent);
  void Recount(const Server::Key& key);
  void Raise(const Server::Key& key, std::int64_t by);
  void Restart(std::size_t index, bool kill, base::Duration down);
  void EndsIn(base::Duration duration);

  // world_machines.cc
  void PerformOnMachines(const Action& action);
  void Terminate(const Server::Key& key);
  void ProbeMachines();

  // world_tree.cc
  bool PerformOnTree(const Action& action);
  [[nodiscard]] bool TreeShown() const;
  void ProbeTree();
  void ProbeTreeWith(const Thing& claim);

  // clients.cc
  void Start(const Write& write);
  base::Task<void> Perform(Write write);
  base::Task<bool> AskAll(Write write, Thing wanted, std::uint64_t* version,
                          base::TimePoint* others_done);
  base::Duration Way();
  base::Task<std::optional<admission::Answer>> Ask(Replica& replica, std::optional<Thing> before,
                                                   Thing after, bool dry_run, base::Duration way);
  [[nodiscard]] Thing Wanted(const Write& write, const Thing* stored);

  const Schedule& schedule_;
  std::mt19937_64 random_;
  Planted planted_ = Planted::kNone;
  Timeline timeline_;
  Judge judge_;
  Server server_;
  std::vector<std::unique_ptr<Replica>> replicas_;  // of each the process that is, or was last
  std::vector<std::unique_ptr<Replica>> ended_;     // and those before them
  std::vector<int> starts_;
  std::vector<bool> restarting_;
  std::uint64_t calls_ = 0;
  base::TimePoint faults_end_{};
  base::TimePoint silent_until_{};    // somebody's watch, for longer than one lags
  base::Duration slowest_webhook_{};  // as the API server knows them
  base::TaskGroup clients_;
};

}  // namespace simulation
