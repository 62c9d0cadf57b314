#include "pkg/leader/lease_witness.h"

#include <catch2/catch.hpp>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"

namespace lease_witness_test {
namespace {

using namespace std::chrono_literals;

// An API server with one Lease.
struct Server final : client::ApiClient {
  base::Task<base::Result<client::ApiResponse>> Do(client::ApiRequest request) override {
    CHECK(request.path == "/apis/coordination.k8s.io/v1/namespaces/ns/leases/quota");
    if (trouble) co_return *trouble;
    co_return client::ApiResponse{.status = 200, .headers = {}, .body = json::Write(lease)};
  }
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(client::ApiRequest) override {
    co_return base::Error{.message = "nobody streams a Lease"};
  }
  void Write(const std::string& holder, const std::string& renewed, std::int64_t seconds = 15) {
    lease = json::Object{{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}};
    lease.Make({"metadata", "name"}) = "quota";
    lease.Make({"metadata", "uid"}) = "u";
    lease.Make({"metadata", "resourceVersion"}) = renewed;
    lease.Make({"spec", "holderIdentity"}) = holder;
    lease.Make({"spec", "leaseDurationSeconds"}) = seconds;
    lease.Make({"spec", "renewTime"}) = "2026-01-01T00:00:0" + renewed + ".000000Z";
  }
  json::Value lease;
  std::optional<base::Error> trouble;
};

struct Fixture {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  base::TaskGroup tasks{io.get_executor()};
  Server server;
  leader::LeaseWitness witness{server, scheduler, {"ns", "quota"}};

  std::string Look() {
    std::string said = "nothing";
    tasks.Spawn("look", [&]() -> base::Task<void> {
      const auto held = co_await witness.MayBeHeld(1s);
      said = !held ? "error" : *held ? "held" : "free";
    });
    scheduler.RunUntilIdle();
    return said;
  }
};

TEST_CASE("lease witness: a lease is held while it is renewed", "[leader]") {
  Fixture f;
  f.server.Write("other", "1");
  CHECK(f.Look() == "held");
  for (int i = 2; i < 9; ++i) {
    f.scheduler.RunFor(14s);
    f.server.Write("other", std::to_string(i));
    CHECK(f.Look() == "held");
  }
  f.scheduler.RunFor(14s);
  CHECK(f.Look() == "held");
  f.scheduler.RunFor(1s);
  CHECK(f.Look() == "free");
  f.server.Write("third", "8");  // the same time, another holder
  CHECK(f.Look() == "held");
}

TEST_CASE("lease witness: a lease that is absent or released is free", "[leader]") {
  Fixture f;
  f.server.trouble = base::Error{.code = base::ErrorCode::kNotFound, .message = "none"};
  CHECK(f.Look() == "free");
  f.server.trouble.reset();
  f.server.Write("", "1");
  CHECK(f.Look() == "free");
}

TEST_CASE("lease witness: a lease that cannot be read is not free", "[leader]") {
  Fixture f;
  f.server.trouble = base::Error{.code = base::ErrorCode::kForbidden, .message = "no"};
  CHECK(f.Look() == "error");
}

TEST_CASE("lease witness: an absurd duration ends", "[leader]") {
  Fixture f;
  const std::int64_t seconds = GENERATE(-5, 0, 7200, std::numeric_limits<std::int64_t>::max());
  f.server.Write("other", "1", seconds);
  CHECK(f.Look() == "held");
  f.scheduler.RunFor(14s);
  CHECK(f.Look() == "held");
  f.scheduler.RunFor(1h);
  CHECK(f.Look() == "free");
}

}  // namespace
}  // namespace lease_witness_test
