#pragma once

// An io_context with a RestClient on it, for one thread of the harness.

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "pkg/base/scheduler.h"
#include "pkg/client/rest_client.h"

namespace e2e {

struct Connection {
  explicit Connection(const std::string& kubeconfig_path);  // throws LoadClusterConfig()'s errors

  base::asio::io_context io{1};
  base::RealScheduler scheduler{io.get_executor()};
  std::unique_ptr<client::RestClient> rest;
};

}  // namespace e2e
