// Device claims as extended resources: DeviceClass objects decide what the claims use.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/faults.h"
#include "tests/e2e/harness/plugin_scenario.h"

namespace e2e::devices_test {
namespace {

constexpr const char* kClaimCount = "count/resourceclaims.resource.k8s.io";

// Classes are cluster-scoped: each scenario uses its own names, and deletes them at the end.
class Devices {
 public:
  explicit Devices(Scenario& scenario) : s_(scenario) {}
  ~Devices() { s_.api().Delete(ClassPath(name)); }
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  const std::string name = FreshName("gpu");
  const std::string domain = name + ".example.com";
  const std::string extended = "requests." + domain + "/gpu";
  const std::string other = "requests." + domain + "/other";
  const std::string implicit = "requests.deviceclass.resource.kubernetes.io/" + name;
  const std::string devices = name + ".deviceclass.resource.k8s.io/devices";

  // A class that declares <domain>/<resource>; "" for none.
  [[nodiscard]] json::Value Class(const std::string& resource) const {
    auto object = Json(R"({"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","spec":{}})");
    object.Make({"metadata", "name"}) = name;
    if (!resource.empty()) object.Make({"spec", "extendedResourceName"}) = domain + "/" + resource;
    return object;
  }
  void CreateClass(const std::string& resource) { s_.api().Create(ClassPath(), Class(resource)); }
  void Declare(const std::string& resource) {
    auto patch = Json(R"({"spec":{}})");
    patch.Make({"spec", "extendedResourceName"}) = domain + "/" + resource;
    s_.api().MergePatch(ClassPath(name), patch);
  }
  void DeleteClass() { s_.api().Delete(ClassPath(name)); }

  [[nodiscard]] json::Value Claim(const std::string& claim, int count) const {
    auto object = Json(R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","spec":{
        "devices":{"requests":[{"name":"r","exactly":{"allocationMode":"ExactCount"}}]}}})");
    object.Make({"metadata", "name"}) = claim;
    auto& request = (*object.Make({"spec", "devices", "requests"}).AsArray())[0];
    request.Make({"exactly", "deviceClassName"}) = name;
    request.Make({"exactly", "count"}) = count;
    return object;
  }
  // A claim as the scheduler creates it for a pod's extended resources.
  [[nodiscard]] json::Value ClaimOfPod(const std::string& claim, int count,
                                       const json::Value& pod) const {
    auto object = Claim(claim, count);
    object.Make({"metadata", "annotations", "resource.kubernetes.io/extended-resource-claim"}) =
        "true";
    json::Object owner{{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"name", std::string(pod.StringAt({"metadata", "name"}))},
                       {"uid", std::string(pod.StringAt({"metadata", "uid"}))},
                       {"controller", true}};
    object.Make({"metadata", "ownerReferences"}) = json::Array{std::move(owner)};
    return object;
  }
  void CreateClaim(const json::Value& claim) { s_.api().Create(ClaimPath(), claim); }
  void DeleteClaim(const std::string& claim) { s_.api().Delete(ClaimPath() + "/" + claim); }
  [[nodiscard]] std::string ClaimPath() const {
    return "/apis/resource.k8s.io/v1/namespaces/" + s_.ns() + "/resourceclaims";
  }

  // Extended resources cannot be overcommitted: the limit must equal the request.
  [[nodiscard]] json::Value PodWith(const std::string& pod, const std::string& count) const {
    auto object = Pod(pod, {{domain + "/gpu", count}});
    auto& container = (*object.Make({"spec", "containers"}).AsArray())[0];
    container.Make({"resources", "limits"}) = ToObject({{domain + "/gpu", count}});
    return object;
  }
  // Writes the pod's status as the scheduler does after it created the claim.
  void SayClaim(const std::string& pod, const std::string& claim) {
    auto patch = Json(R"({"status":{"extendedResourceClaimStatus":{"requestMappings":[{
        "requestName":"r"}]}}})");
    auto& status = patch.Make({"status", "extendedResourceClaimStatus"});
    status.Make({"resourceClaimName"}) = claim;
    auto& mapping = (*status.Make({"requestMappings"}).AsArray())[0];
    mapping.Make({"resourceName"}) = domain + "/gpu";
    const auto stored = s_.api().Get(s_.Path("pods", pod));
    const auto& container = (*stored.At({"spec", "containers"})->AsArray())[0];
    mapping.Make({"containerName"}) = std::string(container.StringAt({"name"}));
    s_.api().MergePatch(s_.Path("pods", pod, "status"), patch);
  }

 private:
  static std::string ClassPath(const std::string& name = "") {
    std::string path = "/apis/resource.k8s.io/v1/deviceclasses";
    if (!name.empty()) path.append("/").append(name);
    return path;
  }
  Scenario& s_;
};

// The built-in controller on the real tier, to compare with.
struct Builtin {
  TempDir dir;
  std::unique_ptr<Process> process;
};
std::unique_ptr<Builtin> StartBuiltin(Scenario& s) {
  if (CurrentTier() != Tier::kReal || !HaveBuiltinController()) return nullptr;
  auto builtin = std::make_unique<Builtin>();
  builtin->process = StartBuiltinController("resourcequota-controller", s.server().Kubeconfig(),
                                            builtin->dir.path() + "/controller.log");
  return builtin;
}

}  // namespace

TEST_CASE("usage follows a device class that appears late, changes its resource and is deleted",
          "[e2e][devices][since-1.34]") {
  Scenario s;
  Devices d(s);
  d.CreateClaim(d.Claim("three", 3));
  s.Create("resourcequotas", Quota("q", {{d.extended, "40"}, {d.other, "40"}}));
  s.StartDaemon();
  s.WaitUsed("q", {{d.extended, "0"}, {d.other, "0"}});  // no class tells the size of the claim
  d.CreateClass("gpu");
  s.WaitUsed("q", {{d.extended, "3"}, {d.other, "0"}});
  d.Declare("other");
  s.WaitUsed("q", {{d.extended, "0"}, {d.other, "3"}});
  d.DeleteClass();
  s.WaitUsed("q", {{d.extended, "0"}, {d.other, "0"}});
}

TEST_CASE("kubectl quota check counts claims by the device classes of the files",
          "[e2e][devices][kubectl-quota][since-1.34]") {
  Scenario s;
  Devices d(s);
  d.CreateClass("other");
  s.Create("resourcequotas", Quota("q", {{d.extended, "1"}, {d.other, "40"}}));
  s.StartDaemon();
  s.WaitUsed("q", {{d.extended, "0"}, {d.other, "0"}});
  TempDir dir;
  const auto check = [&](const std::string& text) {
    return AskPlugin(s.server().Kubeconfig(),
                     {"check", "-n", s.ns(), "-f", dir.Write("claims.yaml", text)});
  };
  const std::string claim = json::Write(d.Claim("two", 2));
  const auto row = [](const std::string& resource, const std::string& rest) {
    return Catch::Matchers::Matches("[^]*\n *q +" + resource + " +" + rest + "\n[^]*");
  };
  const auto stored = check(claim);
  CHECK(stored.exit_code == 0);
  CHECK_THAT(stored.output, row(d.other, "0 +2 +2 +40 +yes"));
  const auto changed = check(claim + "\n---\n" + json::Write(d.Class("gpu")));
  CHECK(changed.exit_code == 1);
  CHECK_THAT(changed.output, row(d.extended, "0 +2 +2 +1 +no, lacks 1"));
}

TEST_CASE("device claims that come and go are counted under each of their names",
          "[e2e][devices][since-1.34][server]") {
  Scenario s;
  Devices d(s);
  d.CreateClass("gpu");
  s.Create(
      "resourcequotas",
      Quota("q", {{d.extended, "40"}, {d.implicit, "40"}, {d.devices, "40"}, {kClaimCount, "9"}}));
  s.StartDaemon();
  const auto used = [&](const std::string& amount, const std::string& claims) {
    s.WaitUsed(
        "q",
        {{d.extended, amount}, {d.implicit, amount}, {d.devices, amount}, {kClaimCount, claims}});
  };
  used("0", "0");
  d.CreateClaim(d.Claim("two", 2));
  d.CreateClaim(d.Claim("five", 5));
  used("7", "2");
  d.DeleteClaim("two");
  used("5", "1");
  s.StopDaemon();
  d.DeleteClaim("five");
  d.CreateClaim(d.Claim("one", 1));
  s.StartDaemon();
  used("1", "1");
}

TEST_CASE("admin access to devices takes none of a quota",
          "[e2e][devices][admission][since-1.34]") {
  Admission a;
  Scenario& s = a.scenario();
  Devices d(s);
  d.CreateClass("gpu");
  s.api().MergePatch(
      "/api/v1/namespaces/" + s.ns(),
      Json(R"({"metadata":{"labels":{"resource.kubernetes.io/admin-access":"true"}}})"));
  a.Limit("q", {{d.devices, "1"}, {d.extended, "1"}, {kClaimCount, "9"}});
  const auto create = [&](const char* name, bool admin) {
    auto claim = d.Claim(name, 1);
    auto& request = (*claim.Make({"spec", "devices", "requests"}).AsArray())[0];
    request.Make({"exactly", "adminAccess"}) = admin;
    return ToAttempt(a.api().Do(PostOf(d.ClaimPath(), claim)));
  };
  CHECK(create("user", false).ok());
  CHECK(create("second", false).exceeded());
  CHECK(create("monitor", true).ok());
  s.WaitUsed("q", {{d.devices, "1"}, {d.extended, "1"}, {kClaimCount, "2"}});
}

TEST_CASE("a claim made for a pod's extended resources is not counted twice",
          "[e2e][devices][since-1.34]") {
  Scenario s;
  Devices d(s);
  d.CreateClass("gpu");
  s.Create("resourcequotas", Quota("q", {{d.extended, "40"}, {d.implicit, "40"}}));
  s.StartDaemon();
  const auto pod = s.Create("pods", d.PodWith("p", "2"));
  s.WaitUsed("q", {{d.extended, "2"}, {d.implicit, "0"}});
  d.CreateClaim(d.ClaimOfPod("made", 2, pod));
  s.WaitUsed("q", {{d.extended, "2"}, {d.implicit, "2"}});

  // A claim with the same owner reference, but created later, counts in full.
  d.CreateClaim(d.ClaimOfPod("never-made", 3, pod));
  s.WaitUsed("q", {{d.extended, "5"}, {d.implicit, "5"}});
  d.SayClaim("p", "made");
  s.WaitUsed("q", {{d.extended, "5"}, {d.implicit, "5"}});
  d.DeleteClaim("never-made");
  s.WaitUsed("q", {{d.extended, "2"}, {d.implicit, "2"}});

  // Without its pod it is an ordinary claim. The sandbox deletes what a pod owned; on the real tier
  // no garbage collector runs.
  s.Delete("pods", "p");
  if (CurrentTier() == Tier::kReal) {
    s.WaitUsed("q", {{d.extended, "2"}, {d.implicit, "2"}});
    d.DeleteClaim("made");
  }
  s.WaitUsed("q", {{d.extended, "0"}, {d.implicit, "0"}});
}

TEST_CASE("a claim that is no longer tied to a pod needs quota for its devices",
          "[e2e][devices][admission][since-1.34]") {
  Admission a;
  Scenario& s = a.scenario();
  Devices d(s);
  d.CreateClass("gpu");
  a.Limit("q", {{d.extended, "8"}});
  const auto pod = s.Create("pods", d.PodWith("p", "8"));
  s.WaitUsed("q", {{d.extended, "8"}});
  d.CreateClaim(d.ClaimOfPod("tied", 8, pod));
  const auto patch = [&](const char* text) {
    return ToAttempt(a.api().Do({.verb = "PATCH",
                                 .path = d.ClaimPath() + "/tied",
                                 .content_type = std::string(client::kMergePatch),
                                 .body = text}));
  };
  CHECK(patch(R"({"metadata":{"annotations":{"note":"x"}}})").ok());
  CHECK(patch(R"({"metadata":{"ownerReferences":[]}})").exceeded());
  const Attempt unmarked = patch(
      R"({"metadata":{"annotations":{"resource.kubernetes.io/extended-resource-claim":null}}})");
  CHECK_THAT(unmarked.message,
             Catch::EndsWith("exceeded quota: q, requested: " + d.extended +
                             "=8, used: " + d.extended + "=8, limited: " + d.extended + "=8"));
  s.Delete("pods", "p");
  s.WaitUsed("q", {{d.extended, CurrentTier() == Tier::kReal ? "8" : "0"}});
}

TEST_CASE("claims are refused while a quota limits them by classes that cannot be listed",
          "[e2e][devices][admission][sandbox-only]") {
  Admission a;
  Scenario& s = a.scenario();
  Devices d(s);
  d.CreateClass("gpu");
  Inject(s, R"([{"fault":"answer","resource":"deviceclasses","verb":"list","code":403,
              "times":-1}])");
  const auto claim = [&](int count) {
    client::ApiRequest request = PostOf(d.ClaimPath(), d.Claim("c", count));
    request.query = {{"dryRun", "All"}};
    return ToAttempt(a.api().Do(std::move(request)));
  };
  CHECK(claim(1).ok());
  s.Create("resourcequotas", Quota("q", {{d.extended, "8"}}));
  std::string said;
  Eventually("claims are refused", [&] {
    said = claim(1).message;
    return said.empty() ? "not yet" : "";
  });
  CHECK_THAT(said, Catch::Contains("failed quota: q: device classes are not known: list "));
  CHECK(a.Post("pods", d.PodWith("p", "1")).code == 403);
  CHECK(a.Post("pods", Pod("other")).ok());
  ClearFaults(s);
  Eventually("claims are admitted", [&] { return claim(1).ok() ? "" : "not yet"; });
  CHECK(claim(9).exceeded());
  s.WaitUsed("q", {{d.extended, "0"}});
  CHECK(a.Post("pods", d.PodWith("p", "1")).ok());
}

TEST_CASE("claims of a missing class count under all names that do not need the class",
          "[e2e][devices][since-1.34]") {
  Scenario s;
  Devices d(s);
  s.Create("resourcequotas", Quota("alone", {{d.implicit, "9"}}));
  s.Create("resourcequotas", Quota("beside", {{d.implicit, "9"}, {kClaimCount, "9"}}));
  d.CreateClaim(d.Claim("c", 3));
  // As upstream: a limit on the name alone does not cause claims to be counted.
  const auto controller = StartBuiltin(s);
  if (controller == nullptr) s.StartDaemon();
  s.WaitUsed("alone", {{d.implicit, "0"}}, 60s);
  s.WaitUsed("beside", {{d.implicit, "3"}, {kClaimCount, "1"}}, 60s);
  if (controller == nullptr) return;
  s.StartDaemon();
  const auto before = s.ResourceVersion("alone") + " " + s.ResourceVersion("beside");
  Always(
      "the daemon agrees",
      [&]() -> std::string {
        const auto now = s.ResourceVersion("alone") + " " + s.ResourceVersion("beside");
        return now == before ? "" : json::Write(s.GetQuota("alone"));
      },
      3s);
}

TEST_CASE("the built-in controller counts devices in the same way",
          "[e2e][devices][controller-manager][real-only][since-1.34]") {
  Scenario s;
  Devices d(s);
  d.CreateClass("gpu");
  const Quantities hard = {{d.extended, "90"},
                           {d.other, "90"},
                           {d.implicit, "90"},
                           {d.devices, "90"},
                           {kClaimCount, "9"}};
  const auto pod = s.Create("pods", d.PodWith("p", "2"));
  const auto silent = s.Create("pods", d.PodWith("silent", "4"));
  d.CreateClaim(d.ClaimOfPod("made", 2, pod));
  d.CreateClaim(d.ClaimOfPod("never-made", 3, pod));
  d.SayClaim("p", "made");
  d.CreateClaim(d.ClaimOfPod("a-first", 7, silent));
  d.CreateClaim(d.ClaimOfPod("b-second", 1, silent));
  d.CreateClaim(d.Claim("free", 11));
  s.Create("resourcequotas", Quota("ours", hard));
  s.StartDaemon();
  // Pods 6; of their claims 0 + 3 + 3 + 1, and 11.
  const Quantities used = {{d.extended, "24"},
                           {d.other, "0"},
                           {d.implicit, "24"},
                           {d.devices, "24"},
                           {kClaimCount, "5"}};
  s.WaitUsed("ours", used);
  s.StopDaemon();

  s.Create("resourcequotas", Quota("theirs", hard));
  const auto controller = StartBuiltin(s);
  s.WaitUsed("theirs", used, 60s);
  d.Declare("other");
  const auto moved = [&] {
    auto after = used;
    after[d.extended] = "6";
    after[d.other] = "24";
    return after;
  }();
  // It counts a new quota once, perhaps before its watch has shown the changed class. So it is
  // given another one from time to time.
  bool counted = false;
  for (int i = 0; i < 6 && !counted; ++i) {
    const std::string later = "later-" + std::to_string(i);
    s.Create("resourcequotas", Quota(later, hard));
    counted = PollUntil([&] { return s.Used(later) == moved; }, Stretched(15s));
  }
  CHECK(counted);
  s.StartDaemon();
  s.WaitUsed("ours", moved);
}

// Kubernetes 1.32 served claims in this version.
TEST_CASE("claims are counted and limited on a server with v1beta1 only",
          "[e2e][devices][admission][real-only][since-1.34][server]") {
  const auto server =
      StartServer({.runtime_config = "resource.k8s.io/v1=false,resource.k8s.io/v1beta1=true"});
  Admission a(*server, {});
  const std::string devices = "gpu.deviceclass.resource.k8s.io/devices";
  const std::string implicit = "requests.deviceclass.resource.kubernetes.io/gpu";
  const std::string path =
      "/apis/resource.k8s.io/v1beta1/namespaces/" + a.scenario().ns() + "/resourceclaims";
  a.api().Create("/apis/resource.k8s.io/v1beta1/deviceclasses",
                 Json(R"({"apiVersion":"resource.k8s.io/v1beta1","kind":"DeviceClass",
                     "metadata":{"name":"gpu"},"spec":{}})"));
  const auto create = [&](const std::string& name, const std::string& request) {
    json::Value claim = Json(R"({"apiVersion":"resource.k8s.io/v1beta1","kind":"ResourceClaim",
        "spec":{"devices":{"requests":[)" +
                             request + "]}}}");
    claim.Make({"metadata", "name"}) = name;
    return ToAttempt(a.api().Do(PostOf(path, claim)));
  };
  CHECK(create("early", R"({"name":"r","deviceClassName":"gpu","count":2})").Text() == "201 : ");
  a.Limit("q", {{devices, "40"}, {implicit, "50"}, {kClaimCount, "9"}});
  a.scenario().WaitUsed("q", {{devices, "2"}, {implicit, "2"}, {kClaimCount, "1"}});
  const Attempt all =
      create("all", R"({"name":"r","deviceClassName":"gpu","allocationMode":"All"})");
  CHECK(all.Text() == "201 : ");
  const Attempt more = create("more", R"({"name":"r","deviceClassName":"gpu","count":7})");
  CHECK_THAT(more.message,
             Catch::EndsWith("exceeded quota: q, requested: " + devices + "=7, used: " + devices +
                             "=34, limited: " + devices + "=40"));
  CHECK(create("one", R"({"name":"r","deviceClassName":"gpu"})").Text() == "201 : ");
  a.scenario().WaitUsed("q", {{devices, "35"}, {implicit, "35"}, {kClaimCount, "3"}});
}

}  // namespace e2e::devices_test
