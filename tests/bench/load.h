#pragma once

// Load on an API server: clients that work at the same time, each on a connection of its own that
// it keeps, and what they were answered. One thread; Run() blocks.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pkg/client/rest_client.h"
#include "tests/bench/cpu_time.h"
#include "tests/e2e/harness/connection.h"

namespace bench {

// What the requests of a load came to.
struct Tally {
  std::vector<double> ms;               // of every request that was counted; sorted
  std::map<std::string, int> failures;  // by reason
  int succeeded = 0;
  double seconds = 0;  // from the first request to the last answer
  Micros cpu{};        // of the clients themselves

  [[nodiscard]] int Failed() const;
  [[nodiscard]] double PerSecond() const { return seconds > 0 ? succeeded / seconds : 0; }
  [[nodiscard]] double Percentile(double percent) const;
};

class Load {
 public:
  class Client {
   public:
    explicit Client(const std::string& kubeconfig, e2e::Connection& connection);
    // Sends, measures and counts. True: a 2xx came.
    base::Task<bool> Count(client::ApiRequest request);
    // Sends, and is not counted; what fails is thrown by Run().
    base::Task<void> Must(client::ApiRequest request);

   private:
    friend class Load;
    std::unique_ptr<client::RestClient> rest_;
    Tally* tally_ = nullptr;
    std::string* trouble_ = nullptr;
  };
  using Work = std::function<base::Task<void>(Client& client)>;

  Load(const std::string& kubeconfig, std::size_t clients);
  ~Load();

  // `work` once for each client.
  Tally Run(const Work& work);
  // All clients together send `next()` until that has no path.
  Tally SendAll(const std::function<client::ApiRequest()>& next);

 private:
  e2e::Connection connection_;
  std::vector<std::unique_ptr<Client>> clients_;
};

// Why a request failed, in words under which alike failures are counted: "exceeded quota", "409
// Conflict of a quota", "503".
std::string FailureOf(const base::Error& error);

double Median(std::vector<double> values);

}  // namespace bench
