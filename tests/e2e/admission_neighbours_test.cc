// Admission beside other components: the built-in plugin, off or on by mistake, and a webhook that
// does not answer.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "tests/e2e/harness/certificates.h"
#include "tests/e2e/harness/crowd.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/sockets.h"

namespace e2e::admission_neighbours_test {
namespace {

constexpr int kPods = 20;

// One after the other, so that double charges add up. The plugin gives up after three conflicts
// with the daemon's writes, and its answer tells the client to try again.
void CreatePods(Admission& a) {
  for (int i = 0; i < kPods; ++i) {
    const json::Value pod = Pod("p" + std::to_string(i));
    Eventually("the pod is created", [&] {
      const Attempt attempt = a.Post("pods", pod);
      return attempt.ok() ? std::string() : attempt.Text();
    });
  }
}

// A webhook that accepts every connection and never answers, for pods with the label half=slow.
class MuteWebhook {
 public:
  MuteWebhook(Admission& a, int seconds) : name_(FreshName("mute")) {
    a.AlsoDelete(name_);
    json::Value configuration = HandMadeConfiguration(
        {.name = name_,
         .url = "https://127.0.0.1:" + std::to_string(PortOf(listener_)) + "/validate",
         .ca_pem = ReadFile(authority_.cert_path()),
         .ns = a.scenario().ns(),
         .object_label = "slow"});
    json::Value& webhook = configuration.Make({"webhooks"}).AsArray()->front();
    webhook.Make({"name"}) = "mute.example.com";
    webhook.Make({"failurePolicy"}) = "Ignore";
    webhook.Make({"timeoutSeconds"}) = std::int64_t{seconds};
    a.api().Create(ConfigurationPath(""), configuration);
  }
  ~MuteWebhook() { close(listener_); }
  MuteWebhook(const MuteWebhook&) = delete;
  MuteWebhook& operator=(const MuteWebhook&) = delete;

 private:
  std::string name_;
  TempDir dir_;
  CertificateAuthority authority_{dir_.path(), "ca"};
  int listener_ = ListenOnLoopback();
};

}  // namespace

TEST_CASE("admission: an object that waits for another slow webhook stays charged",
          "[e2e][admission][neighbours]") {
  Admission a;
  a.Limit("q", {{"pods", "1"}});
  const MuteWebhook mute(a, 15);
  std::this_thread::sleep_for(2s);  // API servers learn of the webhook by a watch
  const std::string kubeconfig = a.scenario().server().Kubeconfig();
  const client::ApiRequest slow = [&] {
    json::Value pod = Pod("slow");
    pod.Make({"metadata", "labels", "half"}) = "slow";
    return PostOf(a.scenario().Path("pods"), pod);
  }();
  auto stored = std::async(std::launch::async, [&] {
    Api api(kubeconfig);
    return ToAttempt(api.DoAll({slow}, 1).front());
  });
  std::this_thread::sleep_for(17s);  // longer than a charge is held without other webhooks
  const Attempt second = a.Post("pods", Pod("second"));
  CHECK(second.exceeded());
  const Attempt first = stored.get();
  INFO(first.Text());
  CHECK(first.ok());
  CHECK(a.Count("pods") == 1);
}

TEST_CASE("admission: nothing is charged twice beside the built-in plugin if core is not enforced",
          "[e2e][admission][neighbours][real-only]") {
  Admission a({.server = {.quota_plugin = true}, .enforce = false});
  a.Limit("q", {{"pods", "100"}});
  const HighestUsed used(a.scenario(), "q", "pods");
  CreatePods(a);
  a.scenario().WaitUsed("q", {{"pods", std::to_string(kPods)}});
  CHECK(used.highest() <= kPods);
  CHECK(used.highest() > 0);
}

TEST_CASE("admission: usage is right within 15 s although the built-in plugin charges, too",
          "[e2e][admission][neighbours][real-only]") {
  Admission a({.server = {.quota_plugin = true}});
  a.Limit("q", {{"pods", "100"}});
  const HighestUsed used(a.scenario(), "q", "pods");
  CreatePods(a);
  a.scenario().WaitUsed("q", {{"pods", std::to_string(kPods)}}, AfterAHold());
  CHECK(used.highest() > kPods);  // both did charge
}

}  // namespace e2e::admission_neighbours_test
