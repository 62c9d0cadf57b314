#pragma once

// A table of requests about one quota, with the quota's usage after each.
//
//   Story pods(scenario, {"pods", "cpu"});
//   pods.Play({"POST pods", R"({…})", "cpu=100m,pods=1"});
//   pods.Play({"DELETE pods/a", "", "cpu=0,pods=0"});
//
// Each story has its own namespace, so many of them share one server and one daemon.

#include <string>
#include <vector>

#include "tests/e2e/harness/scenario.h"

namespace e2e {

struct Step {
  std::string request;  // "POST <resource>", "PATCH|DELETE <resource>/<name>[/<subresource>]"
  std::string body;     // JSON; for a PATCH a strategic merge patch
  std::string used;     // its change of status.used, "name=amount,…"; "": nothing
};

class Story {
 public:
  // Creates the namespace, and in it the quota "q" with 1000 of each name and the rest of `spec`.
  Story(Scenario& scenario, const std::vector<std::string>& names, const std::string& spec = "{}");
  ~Story();
  Story(const Story&) = delete;
  Story& operator=(const Story&) = delete;

  // Sends the request and waits until status.used shows its change, and nothing else.
  void Play(const Step& step);
  void Play(const std::vector<Step>& steps) {
    for (const Step& step : steps) Play(step);
  }
  // Sends the request and remembers its change: for requests while no daemon counts.
  void Do(const Step& step);
  // Expects these amounts from now on.
  void Expect(const std::string& used);
  // Waits until status.used shows the sum of all requests so far.
  void WaitCounted(std::chrono::milliseconds timeout = Patience());

  [[nodiscard]] const std::string& ns() const { return ns_; }
  [[nodiscard]] Quantities Used();

 private:
  Scenario& scenario_;
  std::string ns_;
  Quantities expected_;  // "0" for every name until a request changes it
};

}  // namespace e2e
