#pragma once

// One process of the daemon, from its start to its end: the real quota controller, admitter and
// leader runner, wired as the daemon wires them, behind a link and a clock of its own.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "controllers/quota/quota_controller.h"
#include "pkg/admission/other_webhooks.h"
#include "pkg/admission/quota_admitter.h"
#include "pkg/base/task_group.h"
#include "pkg/leader/leader_runner.h"
#include "tests/simulation/link.h"
#include "tests/simulation/planted.h"

namespace simulation {

// What a replica does wrong, whatever the server makes of it.
class Tell {
 public:
  virtual ~Tell() = default;
  virtual void Violation(const std::string& what) = 0;
  // A replica is about to reserve that for creations to come.
  virtual void OnBurst(const quota::Quota& quota, const quota::ResourceList& usage) = 0;
};

struct ReplicaSettings {
  std::string name;  // "r0.2": the third process of the first replica
  base::Duration ahead{};
  double rate = 1;
  std::uint64_t seed = 1;
  Api api = Api::kCore;
  bool bursts = false;    // it reserves for those to come, for next to no crowd
  bool webhooks = false;  // it follows those of others
  Planted planted = Planted::kNone;
};

class Replica {
 public:
  Replica(Timeline& timeline, Server& server, Tell& tell, ReplicaSettings settings);
  ~Replica();  // REQUIRES: ended()

  // As the webhook calls it; `answered` is called once, unless the process is killed before.
  void Ask(admission::Review review, std::function<void(const admission::Answer&)> answered);
  // SIGKILL, SIGTERM, SIGSTOP for a while.
  void Kill();
  void Stop();
  void Pause(base::Duration duration) { clock_.PauseFor(duration); }

  // Serves the webhook.
  [[nodiscard]] bool serving() const { return !stopping_; }
  // Its life is over, but for what is still to be joined.
  [[nodiscard]] bool stopping() const { return stopping_; }
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool paused() const { return clock_.paused(); }
  // It believes to lead; killed processes believe nothing.
  [[nodiscard]] bool Leads() const { return !killed_ && runner_->Leads(); }
  [[nodiscard]] std::size_t reservations() const;
  [[nodiscard]] const std::string& name() const { return settings_.name; }
  [[nodiscard]] Link& link() { return link_; }

 private:
  class Book;
  class Counts;
  base::Task<void> Live();
  base::Task<void> Answer(admission::Review review,
                          std::function<void(const admission::Answer&)> answered);
  void CheckPatch(const client::ApiRequest& request);
  [[nodiscard]] bool TakesBack(const client::ApiRequest& request) const;
  controllers::QuotaControllerOptions ControllerOptions();
  void FollowWebhooks();
  leader::LeaderOptions LeaseOptions();

  Timeline& timeline_;
  Tell& tell_;
  ReplicaSettings settings_;
  ReplicaClock clock_;
  Link link_;
  PlantedClient client_;
  quota::QuotaApi api_;
  controllers::ServedResources served_;
  std::unique_ptr<Counts> counts_;
  std::unique_ptr<leader::LeaderRunner> runner_;
  std::unique_ptr<controllers::QuotaController> controller_;
  std::unique_ptr<Book> book_;
  std::unique_ptr<admission::OtherWebhooks> webhooks_;  // null: nobody follows them
  std::unique_ptr<admission::QuotaAdmitter> admitter_;
  std::unique_ptr<base::Alarm> stop_;
  bool stopping_ = false;
  bool killed_ = false;
  bool ended_ = false;
  base::TaskGroup reviews_;
  base::TaskGroup life_;
};

}  // namespace simulation
