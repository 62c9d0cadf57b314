#pragma once

// What happens to one quota, told as a table: a request, and what the quota shows after it.
//
//   Story pods(scenario, {"pods", "cpu"});
//   pods.Play({"POST pods", R"({…})", "cpu=100m,pods=1"});
//   pods.Play({"DELETE pods/a", "", "cpu=0,pods=0"});
//
// Each story has a namespace of its own, so many of them share one server and one daemon.

#include <string>
#include <vector>

#include "tests/e2e/harness/scenario.h"

namespace e2e {

struct Step {
  std::string request;  // "POST <resource>", "PATCH|DELETE <resource>/<name>[/<subresource>]"
  std::string body;     // JSON; of a PATCH it is a strategic merge patch
  std::string used;     // what it changes of status.used, "name=amount,…"; "": nothing
};

class Story {
 public:
  // Makes the namespace, and in it the quota "q": 1000 of each name, and what `spec` says besides.
  Story(Scenario& scenario, const std::vector<std::string>& names, const std::string& spec = "{}");
  ~Story();
  Story(const Story&) = delete;
  Story& operator=(const Story&) = delete;

  // Does the request and waits until status.used shows what it changes, and nothing else.
  void Play(const Step& step);
  void Play(const std::vector<Step>& steps) {
    for (const Step& step : steps) Play(step);
  }
  // Does the request and remembers what it changes: for what happens while nobody counts.
  void Do(const Step& step);
  // From now on these amounts are to be seen.
  void Expect(const std::string& used);
  // Waits until status.used is what all requests so far make of it.
  void WaitCounted(std::chrono::milliseconds timeout = Patience());

  [[nodiscard]] const std::string& ns() const { return ns_; }
  [[nodiscard]] Quantities Used();

 private:
  Scenario& scenario_;
  std::string ns_;
  Quantities expected_;  // "0" for every name until a request changes it
};

}  // namespace e2e
