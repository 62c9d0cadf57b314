#pragma once

// One process of the daemon, from its start to its end: the real quota controller, admitter and
// leader runner, wired as the daemon wires them, behind a link and a clock of its own.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "controllers/quota/quota_controller.h"
#include "pkg/admission/quota_admitter.h"
#include "pkg/base/task_group.h"
#include "pkg/leader/leader_runner.h"
#include "pkg/webhook/other_webhooks.h"
#include "tests/simulation/link.h"
#include "tests/simulation/planted.h"

namespace simulation {

// Receives the violations and reservations of a replica before the server handles the request.
class Tell {
 public:
  virtual ~Tell() = default;
  virtual void Violation(const std::string& what) = 0;
  // A replica is about to reserve this in advance.
  virtual void OnBurst(const quota::Quota& quota, const quota::ResourceList& usage) = 0;
  // Its admission sends a write that leaves the quota with this list of reservations.
  virtual void OnReserve(std::string reservations) = 0;
};

struct ReplicaSettings {
  std::string name;  // "r0.2": the third process of the first replica
  base::Duration ahead{};
  double rate = 1;
  std::uint64_t seed = 1;
  Api api = Api::kCore;
  Bursts bursts = Bursts::kNone;
  bool webhooks = false;  // it watches the webhook configurations of others
  Planted planted = Planted::kNone;
};

class Replica {
 public:
  Replica(Timeline& timeline, Server& server, Tell& tell, ReplicaSettings settings);
  ~Replica();  // REQUIRES: ended()

  // Handles a call to the webhook of that quota API. `answered` is called once, unless the process
  // is killed before.
  void Ask(std::size_t quota_api, admission::Review review,
           std::function<void(const admission::Answer&)> answered);
  // SIGKILL, SIGTERM, SIGSTOP for a while.
  void Kill();
  void Stop();
  void Pause(base::Duration duration) { clock_.PauseFor(duration); }

  // Serves the webhook.
  [[nodiscard]] bool serving() const { return !stopping_; }
  // The process is ending: only its last tasks are still to be joined.
  [[nodiscard]] bool stopping() const { return stopping_; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool paused() const { return clock_.paused(); }
  // It believes that it leads. A killed process never does.
  [[nodiscard]] bool Leads() const { return !killed_ && runner_->Leads(); }
  [[nodiscard]] std::size_t reservations() const;
  [[nodiscard]] const std::string& name() const { return settings_.name; }
  [[nodiscard]] Link& link() { return link_; }

 private:
  class Book;
  class Counts;
  // The parts that exist once for each quota API.
  struct Enforced {
    quota::QuotaApi api;
    std::unique_ptr<controllers::QuotaController> controller;
    std::unique_ptr<Book> book;
    admission::QuotaAdmitter* admitter = nullptr;  // answers its webhook
  };
  void Enforce(Enforced& enforced, std::uint64_t seed);
  void MakeAdmitters();
  base::Task<void> Live();
  base::Task<void> Answer(std::size_t quota_api, admission::Review review,
                          std::function<void(const admission::Answer&)> answered);
  [[nodiscard]] bool IsDuplicatePassed(const admission::Review& review) const;
  [[nodiscard]] bool IsLeftToFirst(std::size_t quota_api, const admission::Review& review) const;
  void CheckPatch(const client::ApiRequest& request);
  [[nodiscard]] Enforced& ConcernedBy(const client::ApiRequest& request);
  [[nodiscard]] bool TakesBack(const Enforced& enforced, const client::ApiRequest& request,
                               std::string_view reservations, const json::Value& patch) const;
  controllers::QuotaControllerOptions ControllerOptions(std::uint64_t seed);
  void FollowWebhooks();
  leader::LeaderOptions LeaseOptions();

  Timeline& timeline_;
  const Server& server_;
  Tell& tell_;
  ReplicaSettings settings_;
  ReplicaClock clock_;
  Link link_;
  PlantedClient client_;
  controllers::ServedResources served_;
  controllers::SharedResources shared_;
  std::unique_ptr<Counts> counts_;
  std::unique_ptr<leader::LeaderRunner> runner_;
  std::vector<Enforced> enforced_;  // in the order in which they are asked
  std::vector<std::unique_ptr<admission::QuotaAdmitter>> admitters_;
  std::unique_ptr<webhook::OtherWebhooks> webhooks_;  // null: they are not watched
  std::unique_ptr<base::Alarm> stop_;
  bool stopping_ = false;
  bool killed_ = false;
  bool ended_ = false;
  base::TaskGroup reviews_;
  base::TaskGroup life_;
};

}  // namespace simulation
