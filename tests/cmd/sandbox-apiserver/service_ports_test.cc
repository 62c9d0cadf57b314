#include "cmd/sandbox-apiserver/service_ports.h"

#include <catch2/catch.hpp>

#include "tests/cmd/sandbox-apiserver/core_fixture.h"

namespace sandbox::service_ports_test {
namespace {

class ServicePortsTest : public CoreFixture {
 protected:
  // Returns the node ports of a service in the order of its ports: "30000 30001", "-" for none.
  static std::string NodePorts(const Outcome<WriteResult>& written) {
    REQUIRE(written);
    std::string text;
    for (const json::Value& port : *written->object->At({"spec", "ports"})->AsArray()) {
      const json::Value* const node = port.At({"nodePort"});
      text += (text.empty() ? "" : " ") + (node == nullptr ? "-" : json::Write(*node));
    }
    return text;
  }
  Outcome<WriteResult> MakeService(const std::string& name, const std::string& spec) {
    return Make("services", R"({"metadata":{"name":")" + name + R"("},"spec":{)" + spec + "}}");
  }
  Outcome<WriteResult> PatchService(const std::string& name, std::string_view spec) {
    const PatchRequest patch{.type = PatchType::kMerge, .body = J(spec)};
    return store_.Patch(At("services", name), patch);
  }
};

constexpr const char* kTwo = R"("ports":[{"name":"a","port":80},{"name":"b","port":81}])";

}  // namespace

TEST_CASE_METHOD(ServicePortsTest, "service ports: each port of a type with node ports gets one",
                 "[sandbox]") {
  const std::string two = kTwo;
  CHECK(NodePorts(MakeService("inside", two)) == "- -");
  CHECK(NodePorts(MakeService("node", R"("type":"NodePort",)" + two)) == "30000 30001");
  CHECK(NodePorts(MakeService("balanced", R"("type":"LoadBalancer",)" + two)) == "30002 30003");
  CHECK(NodePorts(MakeService(
            "bare", R"("type":"LoadBalancer","allocateLoadBalancerNodePorts":false,)" + two)) ==
        "- -");
  CHECK(NodePorts(MakeService("chosen", R"("type":"NodePort","ports":[{"name":"a","port":80},
            {"name":"b","port":81,"nodePort":30004}])")) == "30005 30004");
}

TEST_CASE_METHOD(ServicePortsTest, "service ports: node ports stay while the type has them",
                 "[sandbox]") {
  REQUIRE(MakeService("s", R"("type":"NodePort",)" + std::string(kTwo)));
  CHECK(NodePorts(PatchService("s", R"({"spec":{"type":"LoadBalancer"}})")) == "30000 30001");
  CHECK(NodePorts(PatchService("s", R"({"spec":{"allocateLoadBalancerNodePorts":false}})")) ==
        "30000 30001");
  // If a client leaves them out, the existing ones are kept.
  CHECK(NodePorts(PatchService("s", R"({"spec":{"ports":[{"name":"b","port":81},
            {"name":"c","port":82}]}})")) == "30001 -");
  const auto inside = PatchService("s", R"({"spec":{"type":"ClusterIP"}})");
  CHECK(NodePorts(inside) == "- -");
  CHECK(inside->object->At({"spec", "allocateLoadBalancerNodePorts"}) == nullptr);
}

TEST_CASE("service ports: a full range is an error", "[sandbox]") {
  std::set<std::int64_t> taken;
  for (std::int64_t port = 30000; port < 32767; ++port) taken.insert(port);
  json::Value service = J(R"({"spec":{"type":"NodePort","ports":[{"port":80}]}})");
  CHECK(AssignNodePorts(service, taken));
  service = J(R"({"spec":{"type":"NodePort","ports":[{"port":80},{"port":81}]}})");
  CHECK_FALSE(AssignNodePorts(service, taken));
}

}  // namespace sandbox::service_ports_test
