#include "pkg/leader/leader_runner.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/fake/captured_log.h"

namespace leader_runner_test {

namespace {

using base::Error;
using base::ErrorCode;
using json::Value;
using namespace std::chrono_literals;

// The Lease on an API server that guards its writes.
class LeaseServer final : public client::ApiClient {
 public:
  explicit LeaseServer(base::Scheduler& scheduler) : scheduler_(scheduler) {}

  Value lease;  // null: there is none
  std::optional<Error> trouble;
  std::optional<Error> write_trouble;
  bool lose_answers = false;  // requests are done, but never answered
  std::vector<std::string> requests;

  void Put(Value changed) {
    lease = std::move(changed);
    lease.Make({"metadata", "resourceVersion"}) = std::to_string(++version_);
    lease.Make({"metadata", "uid"}) = "lease-uid";
  }
  [[nodiscard]] std::string Holder() const {
    return std::string(lease.StringAt({"spec", "holderIdentity"}));
  }

  base::Task<base::Result<client::ApiResponse>> Do(client::ApiRequest request) override {
    const base::TimePoint by = scheduler_.Now() + request.timeout;
    co_await scheduler_.Sleep(10ms);
    auto answer = Answer(request);
    if (!lose_answers) co_return answer;
    co_await scheduler_.Sleep(by - scheduler_.Now());
    co_return Error{.code = ErrorCode::kTimeout, .message = request.verb + ": no answer"};
  }
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(client::ApiRequest) override {
    co_return Error{.code = ErrorCode::kInternal, .message = "nobody streams leases"};
  }

 private:
  base::Result<client::ApiResponse> Answer(const client::ApiRequest& request) {
    requests.push_back(request.verb + " " + request.path);
    if (trouble) return *trouble;
    if (request.verb != "GET" && write_trouble) return *write_trouble;
    if (request.verb == "POST") {
      if (!lease.IsNull()) return Error{.code = ErrorCode::kAlreadyExists, .message = "exists"};
      Put(json::Parse(request.body).value());
      return Found();
    }
    if (lease.IsNull()) return Error{.code = ErrorCode::kNotFound, .message = "not found"};
    if (request.verb == "PUT") {
      Value body = json::Parse(request.body).value();
      const std::string_view guard = body.StringAt({"metadata", "resourceVersion"});
      REQUIRE_FALSE(guard.empty());
      REQUIRE(body.StringAt({"metadata", "uid"}) == "lease-uid");
      if (guard != lease.StringAt({"metadata", "resourceVersion"})) {
        return Error{.code = ErrorCode::kConflict, .message = "changed"};
      }
      Put(std::move(body));
    }
    return Found();
  }
  [[nodiscard]] client::ApiResponse Found() const {
    return {.status = 200, .headers = {}, .body = json::Write(lease)};
  }

  base::Scheduler& scheduler_;
  int version_ = 100;
};

class EventList final : public client::EventRecorder {
 public:
  bool Record(client::Event event) override {
    said.push_back(event.about.kind + " " + event.about.name + " " + event.reason + ": " +
                   event.message);
    return true;
  }
  std::vector<std::string> said;
};

struct Replica {
  Replica(base::asio::io_context& io, base::Scheduler& scheduler, client::ApiClient& server,
          const std::string& identity)
      : tasks(io.get_executor()) {
    leader::LeaderOptions options;
    options.lease = {"quota-system", "quota-controller-manager"};
    options.elector.identity = identity;
    options.elector.seed = 7;
    options.on_started_leading = [this] { ++started; };
    options.on_lost = [this](const std::string& why) { lost = why; };
    runner = std::make_unique<leader::LeaderRunner>(scheduler, server, &events, std::move(options));
    tasks.Spawn("leader", [this] { return runner->Run(); });
  }

  EventList events;
  int started = 0;
  std::string lost;
  std::unique_ptr<leader::LeaderRunner> runner;
  base::TaskGroup tasks;
};

struct Fixture {
  ~Fixture() {
    for (const auto& replica : replicas) replica->tasks.Cancel();
    scheduler.RunFor(30s);
  }
  Replica& Add(const std::string& identity) {
    return *replicas.emplace_back(std::make_unique<Replica>(io, scheduler, server, identity));
  }
  void Stop(Replica& replica) {
    replica.tasks.Cancel();
    scheduler.RunFor(5s);
    CHECK(replica.tasks.empty());
  }
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  LeaseServer server{scheduler};
  std::vector<std::unique_ptr<Replica>> replicas;
};

}  // namespace

TEST_CASE("leader: the first replica leads within two round trips", "[leader]") {
  Fixture f;
  Replica& a = f.Add("a");
  f.scheduler.RunFor(25ms);
  CHECK(a.runner->Leads());
  CHECK(a.started == 1);
  CHECK(f.server.Holder() == "a");
  CHECK(
      f.server.requests ==
      std::vector<std::string>{"GET /apis/coordination.k8s.io/v1/namespaces/quota-system/leases/"
                               "quota-controller-manager",
                               "POST /apis/coordination.k8s.io/v1/namespaces/quota-system/leases"});
  CHECK(a.events.said ==
        std::vector<std::string>{"Lease quota-controller-manager LeaderElection: a became leader"});
}

TEST_CASE("leader: one replica leads, the others wait", "[leader]") {
  Fixture f;
  Replica& a = f.Add("a");
  f.scheduler.RunFor(1s);
  Replica& b = f.Add("b");
  f.scheduler.RunFor(10min);
  CHECK(a.runner->Leads());
  CHECK_FALSE(b.runner->Leads());
  CHECK(b.started == 0);
  CHECK(a.started == 1);
  CHECK(f.server.requests.size() < 600 / 2 + 600 / 2 + 10);
}

TEST_CASE(
    "leader: a leader that stops releases the lease, and the next leads within a retry period",
    "[leader]") {
  Fixture f;
  Replica& a = f.Add("a");
  f.scheduler.RunFor(1s);
  Replica& b = f.Add("b");
  f.scheduler.RunFor(20s);
  a.tasks.Cancel();
  f.scheduler.RunFor(50ms);
  CHECK(a.tasks.empty());
  CHECK(a.lost.empty());
  CHECK(a.events.said.back() == "Lease quota-controller-manager LeaderElection: a stopped leading");
  CHECK(f.server.Holder().empty());
  CHECK(*f.server.lease.At({"spec", "leaseDurationSeconds"}) == Value(1));
  f.scheduler.RunFor(4400ms);
  CHECK(b.runner->Leads());
  CHECK(*f.server.lease.At({"spec", "leaseTransitions"}) == Value(1));
}

TEST_CASE("leader: other members of the lease are preserved", "[leader]") {
  Fixture f;
  Replica& a = f.Add("a");
  f.scheduler.RunFor(1s);
  Value edited = f.server.lease;
  edited.Make({"metadata", "annotations", "note"}) = "keep me";
  edited.Make({"spec", "strategy"}) = "OldestEmulationVersion";
  f.server.Put(std::move(edited));
  f.scheduler.RunFor(10s);
  CHECK(a.runner->Leads());
  CHECK(f.server.lease.StringAt({"metadata", "annotations", "note"}) == "keep me");
  CHECK(f.server.lease.StringAt({"spec", "strategy"}) == "OldestEmulationVersion");
  f.Stop(a);
  CHECK(f.server.lease.StringAt({"metadata", "annotations", "note"}) == "keep me");
}

TEST_CASE("leader: leadership ends before the lease during an outage", "[leader]") {
  Fixture f;
  Replica& a = f.Add("a");
  f.scheduler.RunFor(1s);
  SECTION("it refuses") { f.server.trouble = Error{.code = ErrorCode::kUnavailable}; }
  SECTION("it does not answer") { f.server.lose_answers = true; }
  f.scheduler.RunFor(8900ms);
  CHECK(a.runner->Leads());
  f.scheduler.RunFor(2100ms);
  CHECK_FALSE(a.runner->Leads());
  CHECK(a.lost == "it was not renewed for 10s");
  CHECK(a.tasks.empty());
  CHECK(a.events.said.back() == "Lease quota-controller-manager LeaderElection: a stopped leading");
}

TEST_CASE("leader: a short outage does not end leadership", "[leader]") {
  Fixture f;
  Replica& a = f.Add("a");
  f.scheduler.RunFor(1s);
  f.server.trouble = Error{.code = ErrorCode::kUnavailable};
  f.scheduler.RunFor(5s);
  f.server.trouble.reset();
  f.scheduler.RunFor(60s);
  CHECK(a.runner->Leads());
  CHECK(a.lost.empty());
}

TEST_CASE("leader: it stops leading by its clock before it runs again", "[leader]") {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  LeaseServer server(scheduler);
  base::Duration asleep{};  // how long the machine was suspended
  leader::LeaderOptions options;
  options.lease = {"ns", "l"};
  options.elector.identity = std::string("a");
  options.now = [&] { return scheduler.Now() + asleep; };
  leader::LeaderRunner runner(scheduler, server, nullptr, options);
  base::TaskGroup tasks(io.get_executor());
  tasks.Spawn("leader", [&] { return runner.Run(); });
  scheduler.RunFor(1s);
  CHECK(runner.Leads());
  CHECK(runner.Overdue() == 0s);
  asleep = 1min;
  CHECK_FALSE(runner.Leads());
  CHECK(runner.Overdue() > 45s);
  scheduler.RunFor(10s);
  CHECK(tasks.empty());
  CHECK(runner.Overdue() == 0s);
}

TEST_CASE("leader: a forbidden lease is logged once in five minutes, and retried", "[leader]") {
  fake::CapturedLog log;
  Fixture f;
  f.server.write_trouble = Error{.code = ErrorCode::kForbidden, .message = "leases is forbidden"};
  Replica& a = f.Add("a");
  f.scheduler.RunFor(60s);
  CHECK_FALSE(a.runner->Leads());
  CHECK(a.lost.empty());
  CHECK(log.With("leases is forbidden").size() == 1);
  f.scheduler.RunFor(10min);
  CHECK(log.With("leases is forbidden").size() == 3);
  f.server.write_trouble.reset();
  f.scheduler.RunFor(5s);
  CHECK(a.runner->Leads());
  CHECK(log.With("the lease can be used again").size() == 1);
}

TEST_CASE("leader: a follower that stops leaves the lease alone", "[leader]") {
  Fixture f;
  Replica& a = f.Add("a");
  f.scheduler.RunFor(1s);
  Replica& b = f.Add("b");
  f.scheduler.RunFor(5s);
  f.Stop(b);
  CHECK(f.server.Holder() == "a");
  CHECK(a.runner->Leads());
  CHECK(b.events.said.empty());
}

TEST_CASE("leader: a failed release does not delay the stop", "[leader]") {
  Fixture f;
  Replica& a = f.Add("a");
  f.scheduler.RunFor(1s);
  f.server.lose_answers = true;
  const base::TimePoint began = f.scheduler.Now();
  a.tasks.Cancel();
  while (!a.tasks.empty()) f.scheduler.RunFor(100ms);
  CHECK(f.scheduler.Now() - began <= 3200ms);
}

TEST_CASE("leader: identities differ, even on one host", "[leader]") {
  const std::string identity = leader::NewIdentity("host-1");
  CHECK(identity.starts_with("host-1_"));
  CHECK(identity.size() == 7 + 32);
  CHECK(leader::NewIdentity("host-1") != identity);
}

}  // namespace leader_runner_test
