#pragma once

// Load on an API server: concurrent clients, each on its own kept connection, and their answers.
// One thread; Run() blocks.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pkg/client/rest_client.h"
#include "tests/bench/cpu_time.h"
#include "tests/e2e/harness/connection.h"

namespace bench {

// The outcome of a load's requests.
struct Tally {
  std::vector<double> ms;               // of every counted request; sorted
  std::map<std::string, int> failures;  // by reason
  int succeeded = 0;
  double seconds = 0;  // from the first request to the last answer
  Micros cpu{};        // of the clients

  [[nodiscard]] int Failed() const;
  [[nodiscard]] double PerSecond() const { return seconds > 0 ? succeeded / seconds : 0; }
  [[nodiscard]] double Percentile(double percent) const;
};

class Load {
 public:
  class Client {
   public:
    explicit Client(const std::string& kubeconfig, e2e::Connection& connection);
    // Sends, measures and counts. Returns true after a 2xx.
    base::Task<bool> Count(client::ApiRequest request);
    // Sends without counting; Run() throws if it fails.
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

  // Runs `work` once for each client.
  Tally Run(const Work& work);
  // All clients together send `next()` until its path is empty.
  Tally SendAll(const std::function<client::ApiRequest()>& next);

 private:
  e2e::Connection connection_;
  std::vector<std::unique_ptr<Client>> clients_;
};

// Why a request failed, in words that group similar failures: "exceeded quota", "409 Conflict of a
// quota", "503".
std::string FailureOf(const base::Error& error);

double Median(std::vector<double> values);

}  // namespace bench
