// One tenant does all at once that may harm others: with the role "edit" in one namespace, and from
// the network without credentials. The daemon has the memory of its container. Meanwhile no
// creation of another tenant fails. Only on request, by its name. QCM_HOSTILE_SECONDS: for how
// long. QCM_HOSTILE_REST: each client rests so many times as long as its last call took, so that
// the API server keeps up; with 0 it is saturated, and all creations are slow, guarded or not.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/https.h"
#include "tests/e2e/harness/memory_limit.h"
#include "tests/e2e/harness/strangers.h"

namespace e2e::hostile_tenant_test {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kContainer = std::size_t{256} << 20;  // the limit in the manifests
constexpr long kMostGrowth = 30L << 20;
constexpr const char* kShort = "12";
constexpr const char* kUsualRest = "9";
// kube-apiserver takes no more names in a pod, and no more bytes of annotations.
constexpr int kNames = 18'000;
constexpr std::size_t kAnnotationBytes = 250'000;
constexpr int kAnnotations = 45'000;

std::chrono::seconds Duration() {
  const char* const given = std::getenv("QCM_HOSTILE_SECONDS");
  return std::chrono::seconds(std::atoi(given != nullptr ? given : kShort));
}

// Returns how long a client rests whose call took so long.
std::chrono::milliseconds RestAfter(steady_clock::time_point began) {
  const char* const given = std::getenv("QCM_HOSTILE_REST");
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - began);
  return took * std::atoi(given != nullptr ? given : kUsualRest);
}

std::string Numbered(const char* what, int number) { return what + std::to_string(number); }

// A container that wants many kinds of devices that no node has.
std::string PodOfManyNames(const std::string& name) {
  std::string limits;
  for (int i = 0; i < kNames; ++i) {
    limits.append(i == 0 ? "" : ",").append("\"e.io/").append(std::to_string(i)).append("\":\"1\"");
  }
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"("},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{)" + limits +
         R"(},"requests":{)" + limits + "}}}]}}";
}

json::Value HugePod(const std::string& name) {
  return Json(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
              R"("},"spec":{"containers":[{"name":"c","image":"i","resources":{
                  "requests":{"cpu":"1e30","memory":"1e30"}}}]}})");
}

json::Value ClaimOfALongClass(const std::string& name) {
  json::Value claim = Claim(name, "1Gi");
  claim.Make({"metadata", "annotations"}) = json::Object{
      {"volume.beta.kubernetes.io/storage-class", std::string(kAnnotationBytes, 's') + name}};
  return claim;
}

std::string ClaimOfManyAnnotations(const std::string& name) {
  std::string annotations;
  for (int i = 0; i < kAnnotations; ++i) {
    annotations.append(i == 0 ? "\"" : ",\"").append(std::to_string(i)).append(R"(":"")");
  }
  return R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":")" + name +
         R"(","annotations":{)" + annotations +
         R"(}},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}})";
}

// The title of a holder is any text.
json::Value OwnedPod(const std::string& name) {
  json::Value pod = Pod(name);
  pod.Make({"metadata", "ownerReferences"}) =
      json::Array{json::Object{{"apiVersion", "v1"},
                               {"kind", "J\x1b]0;x\a\n"},
                               {"name", std::string(5'000, 'o') + "\x1b[2J" + name},
                               {"uid", "0b9c7b1e-6c2f-4d0e-9a55-3f1a2b4c5d6e"}}};
  return pod;
}

// A user with the role "edit" in one namespace, who does several things at a time.
class Tenant {
 public:
  using Deed = std::function<void(Api& api, int turn)>;

  Tenant(Scenario& scenario, std::string ns) : ns_(std::move(ns)) {
    Api& admin = scenario.api();
    admin.Create(PathOf("namespaces"), Json(R"({"metadata":{"name":")" + ns_ + R"("}})"));
    // The role "edit" is the sum of these two, made by a controller that does not run here.
    for (const char* role : {"system:aggregate-to-edit", "system:aggregate-to-view"}) {
      json::Value binding = Json(R"({"roleRef":{"apiGroup":"rbac.authorization.k8s.io",
          "kind":"ClusterRole"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io",
          "kind":"User","name":"stranger"}]})");
      binding.Make({"metadata", "name"}) = std::string(role).substr(std::string("system:").size());
      binding.Make({"roleRef", "name"}) = role;
      admin.Create("/apis/rbac.authorization.k8s.io/v1/namespaces/" + ns_ + "/rolebindings",
                   binding);
    }
    admin.Create(PathOf("resourcequotas", ns_),
                 Quota("q", {{"pods", "60"}, {"requests.storage", "1Ti"}}));
    auto fields = scenario.server().Fields();
    fields.token = "e2e-stranger-token";
    kubeconfig_ = dir_.Write("tenant.yaml", KubeconfigText(fields));
  }
  ~Tenant() { Stop(); }
  Tenant(const Tenant&) = delete;
  Tenant& operator=(const Tenant&) = delete;

  // From now on, again and again. `pause` bounds how often, beside RestAfter().
  void Begin(Deed deed, std::chrono::milliseconds pause) {
    threads_.emplace_back([this, deed = std::move(deed), pause] {
      Api api(kubeconfig_);
      for (int turn = 0; !stopping_; ++turn) {
        const auto began = steady_clock::now();
        deed(api, turn);
        (void)PollUntil([this] { return stopping_.load(); }, std::max(pause, RestAfter(began)));
      }
    });
  }
  void Stop() {
    stopping_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  void Post(Api& api, const char* resource, std::string body) {
    const auto answer = api.Do({.verb = "POST",
                                .path = PathOf(resource, ns_),
                                .content_type = "application/json",
                                .body = std::move(body),
                                .timeout = 20s});
    ++(answer ? stored_ : refused_);
  }
  void Label(Api& api, const char* resource, const std::string& name, int turn) {
    const auto answer =
        api.Do(PatchOf(PathOf(resource, ns_, name),
                       R"({"metadata":{"labels":{"turn":")" + std::to_string(turn) + R"("}}})"));
    patched_ += answer ? 1 : 0;
  }
  void Remove(Api& api, const char* resource, const std::string& name) {
    (void)api.Do({.verb = "DELETE",
                  .path = PathOf(resource, ns_, name),
                  .query = {{"gracePeriodSeconds", "0"}}});
  }
  [[nodiscard]] std::string Done() const {
    return std::to_string(stored_) + " stored, " + std::to_string(refused_) + " refused, " +
           std::to_string(patched_) + " patched";
  }

 private:
  const std::string ns_;
  TempDir dir_;
  std::string kubeconfig_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> stored_{0};
  std::atomic<int> refused_{0};
  std::atomic<int> patched_{0};
  std::vector<std::thread> threads_;
};

void BeginEverything(Tenant& tenant) {
  constexpr int kPods = 20;
  constexpr int kClaims = 100;
  tenant.Begin(
      [&](Api& api, int turn) {
        if (turn < kPods) {
          const std::string name = Numbered("many", turn);
          tenant.Post(api, "pods", PodOfManyNames(name));
        }
        tenant.Label(api, "pods", Numbered("many", turn % kPods), turn);
      },
      200ms);
  tenant.Begin(
      [&](Api& api, int turn) {
        const std::string name = Numbered("long", turn);
        if (turn < kClaims) {
          tenant.Post(api, "persistentvolumeclaims", json::Write(ClaimOfALongClass(name)));
        }
      },
      20ms);
  tenant.Begin(
      [&](Api& api, int turn) {
        constexpr int kFew = 3;
        const std::string name = Numbered("noted", turn % kFew);
        if (turn < kFew) {
          tenant.Post(api, "persistentvolumeclaims", ClaimOfManyAnnotations(name));
        }
        tenant.Label(api, "persistentvolumeclaims", name, turn);
      },
      200ms);
  tenant.Begin(
      [&](Api& api, int turn) {
        const std::string name = Numbered("huge", turn % 4);
        tenant.Post(api, "pods", json::Write(HugePod(name)));
        tenant.Post(api, "persistentvolumeclaims", json::Write(Claim(name, "1e30")));
        if (turn % 4 == 3) tenant.Remove(api, "pods", name);
      },
      50ms);
  tenant.Begin(
      [&](Api& api, int turn) {
        tenant.Post(api, "pods", json::Write(OwnedPod(Numbered("owned", turn))));
      },
      10ms);
  tenant.Begin([&](Api& api, int) { tenant.Post(api, "pods", json::Write(OwnedPod("owned0"))); },
               10ms);
}

// Nobody knows these tokens.
void AskWithTokens(std::uint16_t port, const std::atomic<bool>& stopping) {
  for (int turn = 0; !stopping; ++turn) {
    HttpsCall call{.port = port, .path = "/metrics"};
    call.headers.Set("Authorization", "Bearer " + Numbered("nobody", turn));
    const auto began = steady_clock::now();
    (void)Call(call);
    (void)PollUntil([&] { return stopping.load(); }, RestAfter(began));
  }
}

// What the daemon itself measured since it was last asked.
class Measured {
 public:
  explicit Measured(const Daemon& daemon) : daemon_(daemon) { (void)Text(); }

  // The bounds of the buckets, among them those of our PATCH requests: a review that has to be
  // charged waits for one, and so for the API server and its disk.
  std::string Text() {
    HttpsCall call{.port = daemon_.metrics_port(), .path = "/metrics"};
    call.headers.Set("Authorization", "Bearer e2e-admin-token");
    const std::string text = Call(call).body;
    const Buckets reviews = Since(text, "quota_admission_duration_seconds_bucket{");
    const Buckets writes =
        Since(text, R"(rest_client_request_duration_seconds_bucket{)", R"(verb="PATCH")");
    const Buckets held = Since(text, "quota_event_loop_held_seconds_bucket{");
    const double cpu = UsageOf(daemon_.pid()).cpu_seconds;
    const auto now = steady_clock::now();
    const double share = (cpu - last_cpu_) / std::chrono::duration<double>(now - last_at_).count();
    last_cpu_ = cpu;
    last_at_ = now;
    return "reviews p50 ≤ " + BoundOf(reviews, 0.5) + ", p99 ≤ " + BoundOf(reviews, 0.99) +
           "; our writes p50 ≤ " + BoundOf(writes, 0.5) + ", p99 ≤ " + BoundOf(writes, 0.99) +
           "; longest work of the loop ≤ " + BoundOf(held, 1) + ", of the CPU " +
           std::to_string(share * 100) + " %";
  }

 private:
  using Buckets = std::map<double, double>;  // the sums up to these bounds, in seconds

  // The difference to the last call, of all label sets together.
  Buckets Since(const std::string& text, const std::string& name, const char* having = "") {
    Buckets now;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t bound = line.find("le=\"");
      const bool meant = line.starts_with(name) && line.find(having) != std::string::npos;
      if (!meant || bound == std::string::npos) continue;
      now[std::stod(line.substr(bound + 4))] += std::stod(line.substr(line.rfind(' ')));
    }
    Buckets since = now;
    for (auto& [bound, sum] : since) sum -= last_[name][bound];
    last_[name] = std::move(now);
    return since;
  }
  static std::string BoundOf(const Buckets& buckets, double share) {
    for (const auto& [bound, sum] : buckets) {
      if (sum > 0 && sum >= share * buckets.rbegin()->second) {
        return std::to_string(bound * 1'000) + " ms";
      }
    }
    return "?";
  }

  const Daemon& daemon_;
  std::map<std::string, Buckets> last_;
  double last_cpu_ = 0;
  steady_clock::time_point last_at_{};
};

// Creates pods one after the other: in turn a guarded one, and one in a namespace for which the API
// server does not call the daemon. The second ones show what the API server and the machine add.
class Victim {
 public:
  explicit Victim(Admission& admission) : admission_(admission) {}
  ~Victim() {
    (void)admission_.api().Do({.verb = "DELETE",
                               .path = PathOf("pods", kUnguarded),
                               .query = {{"labelSelector", "victim=yes"}}});
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  void CreateFor(std::chrono::milliseconds duration) {
    took_.clear();
    unguarded_.clear();
    const auto end = steady_clock::now() + duration;
    while (steady_clock::now() < end) {
      Time(took_, [&] { return admission_.Post("pods", Pod(Numbered("v", ++number_))); });
      json::Value pod = Pod(FreshName("v"));
      pod.Make({"metadata", "labels", "victim"}) = "yes";
      Time(unguarded_,
           [&] { return ToAttempt(admission_.api().Do(PostOf(PathOf("pods", kUnguarded), pod))); });
    }
    std::ranges::sort(took_);
    std::ranges::sort(unguarded_);
  }
  [[nodiscard]] const std::vector<std::string>& failures() const { return failures_; }
  // The time below which this share of the last creations is.
  [[nodiscard]] double Took(double share) const { return Quantile(took_, share); }
  [[nodiscard]] double TookUnguarded(double share) const { return Quantile(unguarded_, share); }
  // What guarded ones take longer than unguarded ones, which is what the daemon adds.
  [[nodiscard]] double Added(double share) const { return Took(share) - TookUnguarded(share); }
  [[nodiscard]] std::string Text() const {
    return TextOf(took_) + " (unguarded: " + TextOf(unguarded_) + "; we add p50 " +
           std::to_string(Added(0.5)) + " ms, p99 " + std::to_string(Added(0.99)) + " ms)";
  }

 private:
  using Times = std::vector<std::chrono::duration<double, std::milli>>;  // sorted

  static double Quantile(const Times& times, double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))].count();
  }
  static std::string TextOf(const Times& times) {
    return std::to_string(times.size()) + " created, p50 " + std::to_string(Quantile(times, 0.5)) +
           " ms, p99 " + std::to_string(Quantile(times, 0.99)) + " ms, longest " +
           std::to_string(Quantile(times, 1)) + " ms";
  }
  void Time(Times& times, const std::function<Attempt()>& create) {
    const auto began = steady_clock::now();
    const Attempt attempt = create();
    times.push_back(std::chrono::duration<double, std::milli>(steady_clock::now() - began));
    if (!attempt.ok()) failures_.push_back(attempt.Text());
  }

  static constexpr const char* kUnguarded = "kube-system";
  Admission& admission_;
  int number_ = 0;
  Times took_;
  Times unguarded_;
  std::vector<std::string> failures_;
};

}  // namespace

TEST_CASE("hostile tenant: no creation of another tenant fails", "[.][hostile]") {
  if (CurrentTier() == Tier::kSandbox) return;  // it has no roles
  Admission a({.more_flags = {"--metrics-secure=true"}});
  a.Limit("q", {{"pods", "100000"}, {"requests.storage", "1Pi"}});
  const MemoryLimit limit(a.daemon().pid(), kContainer);
  Tenant tenant(a.scenario(), FreshName("hostile"));
  Victim victim(a);
  Measured measured(a.daemon());
  victim.CreateFor(Duration() / 4);
  const std::string quiet = victim.Text() + ", " + measured.Text();
  const double quiet_p99 = victim.Took(0.99);
  const double quiet_unguarded_p99 = victim.TookUnguarded(0.99);
  const double quiet_added = victim.Added(0.5);
  CHECK(victim.failures().empty());
  const long before = UsageOf(a.daemon().pid()).resident_bytes;

  std::atomic<bool> stopping{false};
  {
    const auto at = [&](std::uint16_t port, int count, int first) {
      return Strangers::Where{.port = port, .count = count, .first = first, .addresses = 20};
    };
    const Strangers bodies(at(a.port(), 40, 2), BeginsABody(std::size_t{1} << 20));
    const Strangers hellos(at(a.port(), 40, 30), AnnouncesALongHello());
    const Strangers idle(at(a.port(), 40, 60), ShakesHandsOnly());
    constexpr int kUpdates = 200'000;  // 5 MB
    const Strangers updates(at(a.port(), 1, 120), UpdatesItsKeys(kUpdates));
    const Strangers scrapers(at(a.daemon().metrics_port(), 20, 90), BeginsAHeader(8 << 10));
    std::thread tokens([&] { AskWithTokens(a.daemon().metrics_port(), stopping); });
    BeginEverything(tenant);
    victim.CreateFor(Duration());
    tenant.Stop();
    stopping = true;
    tokens.join();
  }
  const long after = UsageOf(a.daemon().pid()).resident_bytes;
  WARN("quiet: " << quiet << "\nbeside the hostile tenant (" << tenant.Done()
                 << "): " << victim.Text() << ", " << measured.Text() << "\np99 "
                 << victim.Took(0.99) / quiet_p99 << " times as long, unguarded "
                 << victim.TookUnguarded(0.99) / quiet_unguarded_p99 << " times, what we add (p50) "
                 << victim.Added(0.5) / quiet_added << " times; memory " << before / 1'000'000
                 << " MB, then " << after / 1'000'000 << " MB, limited by " << limit.kind());
  CHECK(a.daemon().Running());
  CHECK(limit.kills() == 0);
  CHECK(a.daemon().Probe("/readyz") == 200);
  CHECK(after - before <= kMostGrowth);
  INFO(victim.failures().size() << " failed, the first: "
                                << (victim.failures().empty() ? "" : victim.failures().front()));
  CHECK(victim.failures().empty());
}

}  // namespace e2e::hostile_tenant_test
