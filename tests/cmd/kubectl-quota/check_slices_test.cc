// Endpoints and EndpointSlices that controllers make for Services.

#include <catch2/catch.hpp>

#include "tests/cmd/kubectl-quota/plugin.h"

namespace check_slices_test {
namespace {

using Catch::Matchers::Contains;
using kubectl_quota_tests::Plugin;
using kubectl_quota_tests::Told;

const api::GroupVersionResource kQuotas{"", "v1", "resourcequotas"};
const api::GroupVersionResource kServices{"", "v1", "services"};
const api::GroupVersionResource kEndpoints{"", "v1", "endpoints"};
const api::GroupVersionResource kSlices{"discovery.k8s.io", "v1", "endpointslices"};
const std::string kHard = "{count/endpointslices.discovery.k8s.io: 9, count/endpoints: 9}";

std::string Service(const std::string& name, const std::string& spec = "ports: [{port: 80}]") {
  return "---\n{apiVersion: v1, kind: Service, metadata: {name: " + name +
         ", namespace: shop}, spec: {" + spec + "}}\n";
}

std::string Endpoints(const std::string& name, const std::string& subsets,
                      const std::string& metadata = "") {
  return "---\n{apiVersion: v1, kind: Endpoints, metadata: {name: " + name + ", namespace: shop" +
         metadata + "}, subsets: [" + subsets + "]}\n";
}

std::string Subset(const std::string& ips, const std::string& ports) {
  return "{addresses: [" + ips + "], ports: [" + ports + "]}";
}

const std::string kFour = "{ip: 10.0.0.1}";
const std::string kSix = "{ip: 'fd00::1'}";
const std::string kHttp = "{name: http, port: 80}";
const std::string kTls = "{name: tls, port: 443}";

// A cluster with a quota of Endpoints and EndpointSlices.
class Cluster : public Plugin {
 public:
  Cluster() {
    cluster.Serve(kServices, "Service");
    cluster.Serve(kEndpoints, "Endpoints");
    cluster.Serve(kSlices, "EndpointSlice");
    Put(kQuotas,
        "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: "
        "{hard: " +
            kHard + "}, status: {hard: " + kHard +
            ", used: {count/endpointslices.discovery.k8s.io: 1, count/endpoints: 1}}}");
  }
  Told Check(const std::string& files) { return Ask({"check", "-f", File("f.yaml", files)}); }
};

// "count/endpointslices.discovery.k8s.io   0        2 "
auto Slices(int before, int asked) {
  return Contains("count/endpointslices.discovery.k8s.io   " + std::to_string(before) + "        " +
                  std::to_string(asked) + " ");
}

}  // namespace

TEST_CASE("check: Endpoints of a Service without a selector are mirrored in EndpointSlices",
          "[kubectl-quota]") {
  Plugin plugin;
  const auto output = [&](const std::string& files) {
    const Told told = plugin.CheckFiles(files, kHard);
    INFO(told.output << told.warnings);
    CHECK(told.code == 0);
    return told.output;
  };
  const std::string one = Endpoints("s", Subset(kFour, kHttp));
  CHECK_THAT(output(Service("s") + one), Slices(0, 1));
  CHECK_THAT(output(one + Service("s")), Slices(0, 1));
  // One for each family of addresses and each set of ports.
  CHECK_THAT(output(Service("s") + Endpoints("s", Subset(kFour + ", " + kSix, kHttp))),
             Slices(0, 2));
  CHECK_THAT(output(Service("s") +
                    Endpoints("s", Subset(kFour, kHttp) + ", " + Subset("{ip: 10.0.0.2}", kTls))),
             Slices(0, 2));
  CHECK_THAT(
      output(Service("s") + Endpoints("s", Subset(kFour, kHttp + ", " + kTls) + ", " +
                                               Subset("{ip: 10.0.0.2}", kTls + ", " + kHttp))),
      Slices(0, 1));
  CHECK_THAT(output(Service("s") + Endpoints("s", "{notReadyAddresses: [{ip: 10.0.0.3}]}")),
             Slices(0, 1));
  SECTION("not without addresses, nor if a label or another use of the object says so") {
    const std::string endpoints =
        GENERATE(Endpoints("s", "{addresses: []}"),
                 Endpoints("s", Subset(kFour, kHttp),
                           ", labels: {endpointslice.kubernetes.io/skip-mirror: 'true'}"),
                 Endpoints("s", Subset(kFour, kHttp),
                           ", annotations: {control-plane.alpha.kubernetes.io/leader: '{}'}"));
    CHECK_THAT(output(Service("s") + endpoints), !Contains("endpointslices"));
  }
}

TEST_CASE("check: pods with other numbers for a named port have EndpointSlices of their own",
          "[kubectl-quota]") {
  Plugin plugin;
  const auto web = [](const std::string& name, const std::string& port, bool sidecar = false) {
    const std::string with_port = "{name: c, ports: [{name: http, containerPort: " + port + "}]}";
    return "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + name +
           ", namespace: shop}, spec: {replicas: 2, template: {metadata: {labels: {a: b, of: " +
           name + "}}, spec: {" +
           (sidecar ? "initContainers: [{restartPolicy: Always, " + with_port.substr(1) +
                          "], containers: [{name: d}]"
                    : "containers: [" + with_port + "]") +
           "}}}}\n";
  };
  const std::string service = Service("s", "selector: {a: b}, ports: [{port: 80, targetPort: " +
                                               std::string(GENERATE("http", "80")) + "}]");
  const std::int64_t named = service.find("http") == std::string::npos ? 0 : 1;
  const auto output = [&](const std::string& files) {
    const Told told = plugin.CheckFiles(service + files, kHard);
    CHECK(told.warnings == "");
    return told.output;
  };
  CHECK_THAT(output(web("one", "80") + web("two", "80")), Slices(0, 1));
  CHECK_THAT(output(web("one", "80") + web("two", "8080")), Slices(0, named == 1 ? 2 : 1));
  CHECK_THAT(output(web("one", "80") + web("two", "80", true)), Slices(0, 1));
  CHECK_THAT(output(web("one", "80") + web("two", "8080", true)), Slices(0, named == 1 ? 2 : 1));
  CHECK_THAT(output(web("one", "80") + web("two", "80, protocol: UDP")),
             Slices(0, named == 1 ? 2 : 1));
}

TEST_CASE("check: Endpoints beside their Service are those that its controller makes",
          "[kubectl-quota]") {
  Plugin plugin;
  const Told told = plugin.CheckFiles(
      Service("s", "selector: {a: b}") + Endpoints("s", Subset(kFour, kHttp)), kHard);
  INFO(told.output);
  CHECK_THAT(told.output,
             Slices(0, 1) && Contains("count/endpoints                         0        1 "));
}

TEST_CASE("check: an EndpointSlice beside the Endpoints that it mirrors counts with them",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string slice =
      "---\n{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: s-1, "
      "namespace: "
      "shop, ownerReferences: [{apiVersion: v1, kind: Endpoints, name: s, uid: x, controller: "
      "true}]}, addressType: IPv4, endpoints: []}\n";
  const Told told =
      plugin.CheckFiles(slice + Service("s") + Endpoints("s", Subset(kFour, kHttp)), kHard);
  INFO(told.output);
  CHECK(told.code == 0);
  CHECK_THAT(told.output, Slices(0, 1));
}

TEST_CASE("check: without a cluster it is unknown what Endpoints without their Service get",
          "[kubectl-quota]") {
  Plugin plugin;
  const std::string alone = Endpoints("s", Subset(kFour, kHttp));
  const Told told = plugin.CheckFiles(alone, kHard);
  CHECK(told.code == 3);
  CHECK_THAT(told.output, Contains("note: endpoints/s: its EndpointSlices are not counted, because "
                                   "its Service is in no file"));
  CHECK(plugin.CheckFiles(alone, "{count/endpoints: 9}").code == 0);
}

TEST_CASE("check: EndpointSlices mirror what is stored and what the files change",
          "[kubectl-quota]") {
  Cluster plugin;
  const auto output = [&](const std::string& files) {
    const Told told = plugin.Check(files);
    INFO(told.output << told.warnings);
    CHECK(told.code == 0);
    return told.output;
  };
  const std::string one = Endpoints("s", Subset(kFour, kHttp));
  const std::string two = Endpoints("s", Subset(kFour + ", " + kSix, kHttp));
  SECTION("new Endpoints of a stored Service") {
    plugin.Put(kServices, Service("s").substr(4));
    CHECK_THAT(output(two), Slices(1, 2));
    CHECK_THAT(output(Endpoints("t", Subset(kFour, kHttp))), !Contains("endpointslices"));
  }
  SECTION("stored Endpoints of a new Service") {
    plugin.Put(kEndpoints, two.substr(4));
    CHECK_THAT(output(Service("s")), Slices(1, 2));
  }
  SECTION("changed Endpoints") {
    plugin.Put(kServices, Service("s").substr(4));
    plugin.Put(kEndpoints, one.substr(4));
    plugin.Put(kSlices,
               "{metadata: {name: s-1, namespace: shop, labels: {kubernetes.io/service-name: s, "
               "endpointslice.kubernetes.io/managed-by: "
               "endpointslicemirroring-controller.k8s.io}}}");
    CHECK_THAT(output(two), Slices(1, 1));
    CHECK(output(one) == "Yes: no quota limits any of it.\n");
  }
  SECTION("in a namespace that the files create, too") {
    plugin.cluster.Delete(kQuotas, "shop", "q");
    plugin.cluster.Delete({"", "v1", "namespaces"}, "", "shop");
    const std::string space =
        "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n---\n{apiVersion: v1, kind: "
        "ResourceQuota, metadata: {name: q, namespace: shop}, spec: {hard: " +
        kHard + "}}\n";
    CHECK_THAT(output(space + Service("s") + two), Slices(0, 2));
    CHECK_THAT(output(space + two), !Contains("endpointslices"));
  }
  SECTION("which cannot be told if Endpoints may not be listed") {
    plugin.cluster.fault = [](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (!request.path.ends_with("/endpoints")) return std::nullopt;
      return base::Error{.code = base::ErrorCode::kForbidden, .message = "forbidden"};
    };
    CHECK(plugin.Check(Service("s")).code == 3);
    CHECK(plugin.Check(Service("s", "selector: {a: b}")).code == 0);
    plugin.cluster.ForgetFunctions();
  }
}

}  // namespace check_slices_test
