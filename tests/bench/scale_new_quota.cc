// How long until a new quota in a namespace with many pods is counted, and one whose scope changed?

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "pkg/quantity/quantity.h"
#include "tests/bench/contender.h"
#include "tests/bench/paper_cluster.h"
#include "tests/bench/scale_questions.h"
#include "tests/bench/verdict.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

constexpr int kTimes = 21;
constexpr double kMostMs = 20;

json::Value SpecOf(const std::string& scope) {
  return e2e::Json(R"({"hard":{"pods":"10M","requests.cpu":"10M"},"scopes":[")" + scope + "\"]}");
}

struct Times {
  std::vector<double> ms;

  void Print(const char* what) {
    std::sort(ms.begin(), ms.end());
    std::printf("| %s | %s | %.1f |\n", what, AtMost(ms[ms.size() / 2], kMostMs).c_str(),
                ms.back());
  }
};

// Milliseconds from the sent event to the written status.
double MsUntil(PaperCluster& cluster, const std::string& quota, const json::Value& spec, int pods) {
  const auto sent = cluster.PutQuota(quota, spec);
  const auto text = quantity::Quantity::FromInt(pods).ToString();
  const auto written = cluster.WaitForUsed(quota, "pods", text, std::chrono::minutes(2));
  if (!written) throw std::runtime_error("quota " + quota + " never had pods=" + text);
  (void)e2e::PollUntil([] { return false; }, std::chrono::milliseconds(150));
  return std::chrono::duration<double, std::milli>(*written - sent).count();
}

}  // namespace

void AskNewQuota(const Scale& scale) {
  std::cerr << "new-quota: a namespace of " << scale.pods << " pods ...\n";
  PaperCluster cluster(scale.pods, 0);
  cluster.PutQuota("scoped", SpecOf("NotTerminating"));
  const e2e::TempDir folder;
  const auto daemon = Start(Contender::kDaemon, cluster.Kubeconfig(), folder.path());
  const auto all = quantity::Quantity::FromInt(scale.pods).ToString();
  if (!cluster.WaitForUsed("scoped", "pods", all, std::chrono::minutes(2))) {
    throw std::runtime_error("the first quota was never counted");
  }
  Times of_new;
  Times of_scope;
  for (int i = 0; i < kTimes; ++i) {
    const std::string name = "new-" + std::to_string(i);
    of_new.ms.push_back(MsUntil(cluster, name, SpecOf("NotTerminating"), scale.pods));
    const bool none = i % 2 == 0;
    of_scope.ms.push_back(MsUntil(
        cluster, "scoped", SpecOf(none ? "Terminating" : "NotTerminating"), none ? 0 : scale.pods));
  }
  std::printf(
      "\nA namespace of %d pods; from the quota's watch event to the status that arrives:\n\n"
      "| quota | median of %d, ms | slowest, ms |\n|---|---|---|\n",
      scale.pods, kTimes);
  of_new.Print("a new one");
  of_scope.Print("one whose scope changed");
  std::fflush(stdout);
}

}  // namespace bench
