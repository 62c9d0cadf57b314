#include "cmd/quota-controller-manager/run_once.h"

#include <string>
#include <utility>

#include "cmd/quota-controller-manager/leadership.h"
#include "pkg/base/task_group.h"
#include "pkg/client/cluster_config.h"
#include "pkg/client/rest_client.h"

namespace manager {

base::Result<void> RunOnce(boost::asio::io_context& io, const Options& options, std::string name,
                           const OnceTask& task) {
  auto config = client::LoadClusterConfig(LoadOptionsFrom(options));
  if (!config) return config.error();
  const api::ObjectKey lease = LeaseOf(*config, options.leader_election);
  base::RealScheduler scheduler(io.get_executor());
  auto client = client::NewRestClient(io.get_executor(), scheduler, std::move(*config),
                                      {.user_agent = client::UserAgent(Version())});
  if (!client) return client.error();
  base::Result<void> result;
  base::TaskGroup tasks(io.get_executor());
  tasks.Spawn(std::move(name), [&]() -> base::Task<void> {
    result = co_await task(**client, scheduler, lease);
    co_await (*client)->Close();
  });
  io.run();
  return result;
}

}  // namespace manager
