#include "tests/bench/quota_watch.h"

#include <stdexcept>

#include "pkg/json/value.h"
#include "pkg/quantity/quantity.h"
#include "tests/e2e/harness/api.h"

namespace bench {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

QuotaWatch::QuotaWatch(const std::string& kubeconfig, std::string quotas)
    : connection_(kubeconfig), quotas_(std::move(quotas)) {
  Run([this] { return Open(); });
}

QuotaWatch::~QuotaWatch() = default;

// Runs the task and everything that it started to the end; rethrows errors.
void QuotaWatch::Run(std::function<base::Task<void>()> task) {
  error_.clear();
  base::TaskGroup tasks(connection_.io.get_executor());
  tasks.Spawn("quota watch", std::move(task));
  connection_.io.restart();
  while (!tasks.empty() && connection_.io.run_one() > 0) {
  }
  if (!error_.empty()) throw std::runtime_error(error_);
}

base::Task<void> QuotaWatch::Open() {
  client::ApiRequest request;
  request.path = quotas_;
  request.query.emplace_back("watch", "1");
  auto stream = co_await connection_.rest->Stream(std::move(request));
  if (stream) {
    stream_ = std::move(*stream);
  } else {
    error_ = stream.error().message;
  }
}

base::Task<void> QuotaWatch::ReadUntil(int pods, milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  // As the server prints it: a thousand pods are "1k".
  const std::string wanted = quantity::Quantity::FromInt(pods).ToString();
  while (steady_clock::now() < deadline) {
    for (auto end = lines_.find('\n'); end != std::string::npos; end = lines_.find('\n')) {
      const auto event = e2e::Json(std::string_view(lines_).substr(0, end));
      lines_.erase(0, end + 1);
      last_ = event.StringAt({"object", "status", "used", "pods"});
    }
    // Checked after all events that have arrived: an older version must not count as the answer.
    if (last_ == wanted) co_return;
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    auto bytes = co_await stream_->Read(left);
    if (!bytes || !bytes->has_value()) break;
    lines_ += **bytes;
  }
  error_ = "status.used.pods is '" + last_ + "' and never became " + wanted;
}

void QuotaWatch::WaitForPods(int pods, std::chrono::seconds timeout) {
  Run([this, pods, timeout] { return ReadUntil(pods, timeout); });
}

QuotaWatch::Times QuotaWatch::TimeDelete(const std::string& pod, int pods) {
  const auto began = steady_clock::now();
  const auto since = [began] {
    return std::chrono::duration<double, std::milli>(steady_clock::now() - began).count();
  };
  Times times;
  base::TaskGroup beside(connection_.io.get_executor());
  // Sent while the watch is read: the status may arrive before the DELETE's own answer.
  const auto remove = [this, &pod, &times, &since]() -> base::Task<void> {
    client::ApiRequest request;
    request.verb = "DELETE";
    request.path = pod;
    request.query.emplace_back("gracePeriodSeconds", "0");
    auto answer = co_await connection_.rest->Do(std::move(request));
    times.answered_ms = since();
    if (!answer) error_ = answer.error().message;
  };
  beside.Spawn("delete", remove);
  Run([this, pods] { return ReadUntil(pods, std::chrono::seconds(60)); });
  times.shown_ms = since();
  Run([&beside] { return beside.Join(); });
  return times;
}

}  // namespace bench
