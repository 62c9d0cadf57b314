#include "tests/bench/load.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "pkg/base/task_group.h"
#include "pkg/client/cluster_config.h"

namespace bench {
namespace {

using std::chrono::steady_clock;

// Each client has its own connection pool, so that none waits for another's connections.
std::unique_ptr<client::RestClient> NewClient(const std::string& kubeconfig,
                                              e2e::Connection& connection) {
  client::LoadOptions options;
  options.kubeconfig = kubeconfig;
  options.environment = [](std::string_view) { return std::optional<std::string>(); };
  auto config = client::LoadClusterConfig(options);
  if (!config) throw std::runtime_error(config.error().message);
  auto made = client::NewRestClient(connection.io.get_executor(), connection.scheduler,
                                    std::move(*config), {.user_agent = "quota-bench/1"});
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}

}  // namespace

std::string FailureOf(const base::Error& error) {
  for (const char* refusal : {"exceeded quota", "exceeded cluster quota"}) {
    if (error.message.find(refusal) != std::string::npos) return "exceeded quota";
  }
  std::string why = std::to_string(error.http_status);
  if (!error.reason.empty()) why.append(" ").append(error.reason);
  if (error.message.find("resourcequotas") != std::string::npos) why += " of a quota";
  if (error.http_status >= 500) why.append(": ").append(error.message.substr(0, 300));
  return why;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

int Tally::Failed() const {
  int sum = 0;
  for (const auto& [reason, times] : failures) sum += times;
  return sum;
}

double Tally::Percentile(double percent) const {
  if (ms.empty()) return 0;
  const auto rank =
      static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(ms.size())));
  return ms[std::clamp<std::size_t>(rank, 1, ms.size()) - 1];
}

Load::Client::Client(const std::string& kubeconfig, e2e::Connection& connection)
    : rest_(NewClient(kubeconfig, connection)) {}

base::Task<bool> Load::Client::Count(client::ApiRequest request) {
  const auto began = steady_clock::now();
  const auto answer = co_await rest_->Do(std::move(request));
  const std::chrono::duration<double, std::milli> took = steady_clock::now() - began;
  tally_->ms.push_back(took.count());
  if (answer) {
    ++tally_->succeeded;
  } else {
    ++tally_->failures[FailureOf(answer.error())];
  }
  co_return answer.has_value();
}

base::Task<void> Load::Client::Must(client::ApiRequest request) {
  const auto answer = co_await rest_->Do(std::move(request));
  if (!answer) *trouble_ = answer.error().message;
}

Load::Load(const std::string& kubeconfig, std::size_t clients) : connection_(kubeconfig) {
  for (std::size_t i = 0; i < clients; ++i) {
    clients_.push_back(std::make_unique<Client>(kubeconfig, connection_));
  }
}

Load::~Load() = default;

Tally Load::Run(const Work& work) {
  Tally tally;
  std::string trouble;
  const Micros cpu_before = CpuOfThisThread();
  const auto began = steady_clock::now();
  base::TaskGroup group(connection_.io.get_executor());
  for (const auto& client : clients_) {
    client->tally_ = &tally;
    client->trouble_ = &trouble;
    group.Spawn("load", [&work, &client] { return work(*client); });
  }
  connection_.io.restart();
  while (!group.empty() && connection_.io.run_one() > 0) {
  }
  const std::chrono::duration<double> took = steady_clock::now() - began;
  tally.seconds = took.count();
  tally.cpu = CpuOfThisThread() - cpu_before;
  std::sort(tally.ms.begin(), tally.ms.end());
  if (!trouble.empty()) throw std::runtime_error(trouble);
  return tally;
}

Tally Load::SendAll(const std::function<client::ApiRequest()>& next) {
  return Run([&next](Client& client) -> base::Task<void> {
    for (client::ApiRequest request = next(); !request.path.empty(); request = next()) {
      co_await client.Count(std::move(request));
    }
  });
}

}  // namespace bench
