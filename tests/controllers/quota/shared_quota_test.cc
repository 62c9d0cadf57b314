// Several processes grant creations under one quota at the same time.

#include <catch2/catch.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "pkg/admission/quota_admitter.h"
#include "tests/controllers/admission/admitter_fixture.h"

namespace shared_quota_test {
namespace {

using namespace std::chrono_literals;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;
using fixture::MakeQuota;

constexpr base::Duration kWay = 5ms;      // from a process to the API server, or back
constexpr base::Duration kPatience = 1s;  // of the clients
constexpr base::Duration kRace = 3s;
constexpr base::Duration kStores = 60ms;  // what the API server does for a creation, besides

// Requests take time both ways. Watches do not.
class FarCluster final : public client::ApiClient {
 public:
  FarCluster(fake::FakeCluster& cluster, base::Scheduler& scheduler, std::uint64_t seed)
      : cluster_(cluster), scheduler_(scheduler), random_(seed) {}

  base::Task<base::Result<client::ApiResponse>> Do(client::ApiRequest request) override {
    const bool writes = request.verb == "PATCH";
    co_await scheduler_.Sleep(Way());
    auto answer = co_await cluster_.Do(std::move(request));
    if (writes && !answer) ++refused_;
    if (writes && answer) ++written_;
    co_await scheduler_.Sleep(Way());
    co_return answer;
  }
  [[nodiscard]] int written() const { return written_; }
  [[nodiscard]] int refused() const { return refused_; }

  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(
      client::ApiRequest request) override {
    return cluster_.Stream(std::move(request));
  }

 private:
  base::Duration Way() { return kWay + kWay * (random_() % 100) / 100; }

  fake::FakeCluster& cluster_;
  base::Scheduler& scheduler_;
  std::mt19937_64 random_;
  int written_ = 0;
  int refused_ = 0;
};

// A quota controller and an admitter, and clients whose creations only this process is asked about.
class Process {
 public:
  Process(base::asio::io_context& io, base::ManualScheduler& scheduler, fake::FakeCluster& cluster,
          std::string name, bool leads, accounting::CrowdOptions crowd, base::Duration stores)
      : scheduler_(scheduler),
        cluster_(cluster),
        far_(cluster, scheduler, std::hash<std::string>()(name)),
        name_(std::move(name)),
        stores_(stores),
        served_(far_, scheduler),
        running_(io.get_executor()),
        clients_(io.get_executor()) {
    controllers::TrackingContext context{.executor = io.get_executor(),
                                         .scheduler = &scheduler,
                                         .client = &far_,
                                         .reflector = {.seed = 1},
                                         .events = &events_};
    controllers::QuotaControllerOptions options;
    options.identity = name_;
    options.crowd = crowd;
    options.leading = [leads] { return leads; };
    controller_ = std::make_unique<controllers::QuotaController>(
        context, api_, served_, shared_, recorder_, std::move(options), queue::NoObserver());
    admitter_.emplace(io.get_executor(), scheduler, admission::NoObserver());
    fixture::Enforce(*admitter_, api_, *controller_);
    running_.Spawn("controller", [this] { return controller_->Run(); });
  }
  void StartClients(int clients) {
    for (int i = 0; i < clients; ++i) {
      clients_.Spawn("client", [this, i] { return Create(std::to_string(i)); });
    }
  }
  void StopClients() { over_ = true; }
  void Stop() {
    clients_.Spawn("stop", [this] { return admitter_->Stop(); });
    running_.Cancel();
  }

  [[nodiscard]] int created() const { return created_; }
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] base::Duration longest() const { return longest_; }
  [[nodiscard]] const FarCluster& requests() const { return far_; }

 private:
  // Creates one pod after the other.
  base::Task<void> Create(std::string client) {
    co_await base::DeferCancellation();
    for (int i = 0; !over_; ++i) {
      const std::string name = name_ + "-" + client + "-" + std::to_string(i);
      json::Value pod = MakePod(name);
      pod.Make({"metadata", "uid"}) = "uid-of-" + name;
      admission::Review review{.uid = "call",
                               .resource = kPods,
                               .subresource = "",
                               .operation = admission::Operation::kCreate,
                               .ns = "team-a",
                               .name = "p",
                               .object = pod};
      const base::TimePoint asked = scheduler_.Now();
      const auto answer = co_await admitter_->Admit(std::move(review), asked + kPatience);
      longest_ = std::max(longest_, scheduler_.Now() - asked);
      if (answer.kind == admission::Answer::Kind::kAllowed) {
        ++created_;
        cluster_.Put(kPods, pod);
        cluster_.Delete(kPods, "team-a", name);
        co_await scheduler_.Sleep(stores_);
      } else {
        failure_ = answer.message;
        co_await scheduler_.Sleep(10ms);
      }
    }
  }

  base::ManualScheduler& scheduler_;
  fake::FakeCluster& cluster_;
  FarCluster far_;
  std::string name_;
  base::Duration stores_;
  fixture::Recorder recorder_;
  fixture::EventList events_;
  quota::QuotaApi api_ = quota::CoreQuotaApi();
  controllers::ServedResources served_;
  controllers::SharedResources shared_;
  std::unique_ptr<controllers::QuotaController> controller_;
  std::optional<admission::QuotaAdmitter> admitter_;
  base::TaskGroup running_;
  base::TaskGroup clients_;
  bool over_ = false;
  int created_ = 0;
  std::string failure_;
  base::Duration longest_{};
};

// So many processes at work for a while, each with as many clients.
void Race(int processes, bool watched) {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  cluster.Serve(kPods, "Pod");
  cluster.Serve(kQuotas, "ResourceQuota");
  cluster.Put(kQuotas, MakeQuota("q", {{"pods", "1M"}}));
  std::deque<Process> racing;
  for (int i = 0; i < processes; ++i) {
    racing.emplace_back(io, scheduler, cluster, "process-" + std::to_string(i), i == 0,
                        fixture::kNoBursts, base::Duration());
  }
  scheduler.RunFor(10s);
  if (!watched) cluster.Hold(kQuotas);
  for (Process& process : racing) process.StartClients(3);
  scheduler.RunFor(kRace);
  int most = 0;
  int least = 1'000'000;
  for (const Process& process : racing) {
    INFO(process.created() << " created, longest wait " << process.longest() / 1ms << " ms");
    CHECK(process.failure() == "");
    CHECK(process.longest() < kPatience / 2);
    most = std::max(most, process.created());
    least = std::min(least, process.created());
  }
  // Unless the watches work, nobody knows how many there are until each has won once.
  CHECK(least > 20);
  if (watched) CHECK(most <= 2 * least);
  for (Process& process : racing) process.StopClients();
  scheduler.RunFor(2 * kPatience);
  for (Process& process : racing) process.Stop();
  scheduler.RunFor(60s);
}

// A process with so many clients, each of which creates again `stores` later.
struct Member {
  int clients;
  accounting::CrowdOptions crowd = {};
  base::Duration stores = kStores;
};

// What processes need that share a quota for a while.
struct Shared {
  double created = 0;
  double written = 0;  // for 1 000 creations, like the next one
  double conflicts = 0;
};

Shared Share(const std::vector<Member>& members) {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
  cluster.Serve(kPods, "Pod");
  cluster.Serve(kQuotas, "ResourceQuota");
  cluster.Put(kQuotas, MakeQuota("q", {{"pods", "1M"}}));
  std::deque<Process> sharing;
  for (const Member& member : members) {
    const std::string name = "process-" + std::to_string(sharing.size());
    sharing.emplace_back(io, scheduler, cluster, name, sharing.empty(), member.crowd,
                         member.stores);
  }
  scheduler.RunFor(10s);
  for (std::size_t i = 0; i < members.size(); ++i) sharing[i].StartClients(members[i].clients);
  scheduler.RunFor(kRace);
  Shared shared;
  for (const Process& process : sharing) {
    INFO(process.created() << " created, longest wait " << process.longest() / 1ms << " ms");
    CHECK(process.failure() == "");
    CHECK(process.longest() < kPatience / 4);
    shared.created += process.created();
    shared.written += process.requests().written();
    shared.conflicts += process.requests().refused();
  }
  shared.written *= 1000 / shared.created;
  shared.conflicts *= 1000 / shared.created;
  for (Process& process : sharing) process.StopClients();
  scheduler.RunFor(2 * kPatience);
  for (Process& process : sharing) process.Stop();
  scheduler.RunFor(60s);
  return shared;
}

}  // namespace

TEST_CASE("shared quota: processes that grant at the same time take turns", "[controllers]") {
  const bool watched = GENERATE(true, false);
  const int processes = GENERATE(1, 2, 3);
  CAPTURE(watched, processes);
  Race(processes, watched);
}

TEST_CASE("shared quota: two processes share a crowd with few writes", "[controllers]") {
  const Shared alone = Share({{.clients = 64}});
  const Shared two = Share({{.clients = 32}, {.clients = 32}});
  INFO("alone: " << alone.created << " created, " << alone.written << " writes, " << alone.conflicts
                 << " conflicts; two: " << two.created << ", " << two.written << ", "
                 << two.conflicts);
  CHECK(alone.written < 15);
  CHECK(two.written < 25);
  CHECK(two.conflicts < 10);
  CHECK(two.created > 0.9 * alone.created);
}

// It has no turn, and the other process writes all the time.
TEST_CASE("shared quota: a process that reserves in advance does not starve", "[controllers]") {
  const Member with{.clients = 32};
  const Member without{.clients = 3, .crowd = fixture::kNoBursts, .stores = {}};
  const bool first = GENERATE(true, false);
  const Shared shared = first ? Share({with, without}) : Share({without, with});
  CHECK(shared.created > 1000);
}

}  // namespace shared_quota_test
