// Leases stored by anybody: read through the lock, and judged by a candidate that must not lead
// while another may.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "pkg/json/value.h"
#include "pkg/leader/elector.h"
#include "pkg/leader/lease_lock.h"
#include "tests/fuzz/target.h"

namespace {

using leader::Elector;
using leader::LeaseRecord;
using leader::Step;
using std::chrono::seconds;

// Answers everything with the same body.
class Answering final : public client::ApiClient {
 public:
  explicit Answering(std::string_view body) : body_(body) {}
  base::Task<base::Result<client::ApiResponse>> Do(client::ApiRequest request) override {
    request_ = std::move(request);
    co_return client::ApiResponse{.status = 200, .headers = {}, .body = body_};
  }
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(
      client::ApiRequest /*request*/) override {
    co_return base::Error{.code = base::ErrorCode::kUnavailable, .message = "no streams"};
  }
  [[nodiscard]] const client::ApiRequest& request() const { return request_; }

 private:
  std::string body_;
  client::ApiRequest request_;
};

template <typename T>
T RunNow(base::Task<T> task) {
  static base::asio::io_context context;
  context.restart();
  std::optional<T> result;
  base::asio::co_spawn(context, std::move(task), [&](const std::exception_ptr& thrown, T value) {
    fuzz::Require(!thrown, "no exceptions");
    result.emplace(std::move(value));
  });
  context.run();
  fuzz::Require(result.has_value(), "answered at once");
  return std::move(*result);
}

std::optional<LeaseRecord> ReadLease(std::string_view body) {
  Answering api(body);
  leader::LeaseLock lock(api, {"kube-system", "quota-controller-manager"});
  const auto record = RunNow(lock.Read(seconds(1)));
  if (!record || !record->has_value()) return std::nullopt;
  const auto stored = RunNow(lock.Update(**record, seconds(1)));
  fuzz::Require(stored.has_value(), "what was read can be written");
  const auto sent = json::Parse(api.request().body);
  fuzz::Require(sent.has_value(), "as JSON");
  fuzz::RequireSame(json::Quote(sent->StringAt({"spec", "holderIdentity"})),
                    json::Quote((*record)->holder), "with the holder that was read");
  return **record;
}

// Another holder's lease is honoured for its whole duration, however strange it is.
void CheckElector(const LeaseRecord& record) {
  Elector elector({.identity = "me", .seed = 7});
  base::TimePoint now{};
  base::WallTime wall{};
  Step step = elector.Next(now, wall);
  fuzz::Require(step.kind == Step::Kind::kRead, "first it looks");
  elector.OnRead(now, record);
  for (int i = 0; i < 12; ++i) {
    fuzz::Require(!elector.Leads(now), "nobody leads who has not written");
    step = elector.Next(now, wall);
    const bool writes = step.kind == Step::Kind::kUpdate || step.kind == Step::Kind::kCreate;
    const bool others = !record.holder.empty() && record.holder != "me";
    if (writes) {
      fuzz::Require(!others || now.time_since_epoch() / seconds(1) >= record.duration_seconds,
                    "a lease of another is respected");
      fuzz::RequireSame(step.record.holder, "me", "it writes itself");
      return;
    }
    if (step.kind == Step::Kind::kRead) elector.OnRead(now, record);
    now += seconds(2);
  }
}

FUZZ_TARGET(lease) {
  const auto record = ReadLease(input);
  if (!record) return;
  CheckElector(*record);
  const LeaseRecord released = leader::Released(*record, base::WallTime());
  fuzz::Require(released.holder.empty() && released.transitions == record->transitions, "free");
}

}  // namespace
