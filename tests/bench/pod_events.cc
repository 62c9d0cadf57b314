#include "tests/bench/pod_events.h"

#include <cstdio>
#include <vector>

#include "pkg/json/value.h"
#include "tests/pkg/admission/sample_reviews.h"
#include "tests/pkg/protobuf/wire.h"

namespace bench {
namespace {

using wire::Bytes;
using wire::Number;

constexpr int kWorkloads = 10;
constexpr int kVersionSlot = 100'000'000;  // all versions from here on have the same length

std::string NumberedUid(int number) {
  char uid[37];
  std::snprintf(uid, sizeof uid, "0c1a0b86-5f5c-4f0f-8d5f-%012d", number);
  return uid;
}

json::Value SamplePod(const std::string& cpu, int version) {
  json::Value pod = json::Parse(admission::test::PodText()).value();
  pod.Make({"metadata", "resourceVersion"}) = std::to_string(version);
  for (json::Value& container : *pod.Make({"spec", "containers"}).AsArray()) {
    container.Make({"resources", "requests", "cpu"}) = cpu;
  }
  return pod;
}

std::string Event(const std::string& object, const std::string& type = "MODIFIED") {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

std::string Pair(const std::string& key, const std::string& value) {
  return Bytes(1, key).append(Bytes(2, value));
}

std::string Metadata(const json::Value& pod) {
  const auto text = [&](std::string_view name) { return pod.StringAt({"metadata", name}); };
  const json::Value& managed = pod.At({"metadata", "managedFields"})->AsArray()->front();
  const std::string owner = Bytes(1, "ReplicaSet")
                                .append(Bytes(3, "web-6d4cf56db6"))
                                .append(Bytes(4, "7f3c0f0e-2b1c-4d6f-9a55-0c4e1f1f5a11"))
                                .append(Bytes(5, "apps/v1"))
                                .append(Number(6, 1))
                                .append(Number(7, 1));
  const std::string time = Number(1, 1'795'240'800);
  const std::string entry = Bytes(1, managed.StringAt({"manager"}))
                                .append(Bytes(2, "Update"))
                                .append(Bytes(3, "v1"))
                                .append(Bytes(4, time))
                                .append(Bytes(6, "FieldsV1"))
                                .append(Bytes(7, Bytes(1, json::Write(*managed.At({"fieldsV1"})))));
  return Bytes(1, text("name"))
      .append(Bytes(2, text("generateName")))
      .append(Bytes(3, text("namespace")))
      .append(Bytes(4, ""))
      .append(Bytes(5, text("uid")))
      .append(Bytes(6, text("resourceVersion")))
      .append(Number(7, 1))
      .append(Bytes(8, time))
      .append(Bytes(11, Pair("app", "web")))
      .append(Bytes(11, Pair("pod-template-hash", "6d4cf56db6")))
      .append(Bytes(13, owner))
      .append(Bytes(17, entry));
}

std::string Resources(const json::Value& container) {
  std::string bytes;
  std::uint32_t field = 1;
  for (const std::string_view kind : {"limits", "requests"}) {
    for (const auto& [name, amount] : *container.At({"resources", kind})->AsObject()) {
      bytes.append(wire::Amount(field, name, *amount.AsString()));
    }
    ++field;
  }
  return bytes;
}

std::string Mount(const std::string& name, const std::string& path) {
  return Bytes(1, name).append(Number(2, 1)).append(Bytes(3, path)).append(Bytes(4, ""));
}

std::string Container(const json::Value& container) {
  const std::string port =
      Bytes(1, "").append(Number(2, 0)).append(Number(3, 8080)).append(Bytes(4, "TCP"));
  const std::string reference = Bytes(1, "v1").append(Bytes(2, "metadata.name"));
  const std::string probe = Bytes(1, Bytes(2, Bytes(1, "/healthz").append(Bytes(4, "HTTP"))))
                                .append(Number(3, 1))
                                .append(Number(4, 10))
                                .append(Number(6, 3));
  return Bytes(1, container.StringAt({"name"}))
      .append(Bytes(2, container.StringAt({"image"})))
      .append(Bytes(5, ""))
      .append(Bytes(6, port))
      .append(Bytes(7, Bytes(1, "POD_NAME").append(Bytes(3, Bytes(1, reference)))))
      .append(Bytes(7, Pair("LEVEL", "info")))
      .append(Bytes(8, Resources(container)))
      .append(
          Bytes(9, Mount("kube-api-access-x7x9z", "/var/run/secrets/kubernetes.io/serviceaccount")))
      .append(Bytes(9, Mount("config", "/etc/web")))
      .append(Bytes(11, probe))
      .append(Bytes(13, "/dev/termination-log"))
      .append(Bytes(14, "IfNotPresent"))
      .append(Bytes(15, Bytes(1, Bytes(2, "ALL")).append(Number(5, 1))))
      .append(Bytes(20, "File"));
}

std::string Toleration(const std::string& key) {
  return Bytes(1, key)
      .append(Bytes(2, "Exists"))
      .append(Bytes(4, "NoExecute"))
      .append(Number(5, 300));
}

std::string Spec(const json::Value& pod) {
  std::string bytes = Bytes(1, Bytes(1, "config").append(Bytes(2, Bytes(19, Bytes(1, "web")))));
  for (const json::Value& container : *pod.At({"spec", "containers"})->AsArray()) {
    bytes.append(Bytes(2, Container(container)));
  }
  return bytes.append(Bytes(3, "Always"))
      .append(Number(4, 30))
      .append(Bytes(6, "ClusterFirst"))
      .append(Bytes(8, "default"))
      .append(Bytes(9, "default"))
      .append(Bytes(10, "node-17"))
      .append(Bytes(14, ""))
      .append(Bytes(19, "default-scheduler"))
      .append(Bytes(22, Toleration("node.kubernetes.io/not-ready")))
      .append(Bytes(22, Toleration("node.kubernetes.io/unreachable")))
      .append(Number(25, 0))
      .append(Number(30, 1))
      .append(Bytes(31, "PreemptLowerPriority"));
}

std::string MessageOf(const json::Value& pod) {
  const std::string condition =
      Bytes(1, "Ready").append(Bytes(2, "True")).append(Bytes(4, Number(1, 1'795'240'805)));
  const std::string status =
      Bytes(1, "Running").append(Bytes(2, condition)).append(Bytes(9, "Burstable"));
  return Bytes(1, Metadata(pod)).append(Bytes(2, Spec(pod))).append(Bytes(3, status));
}

std::string SmallPod(int number, const std::string& cpu, int version) {
  char uid[37];
  std::snprintf(uid, sizeof uid, "0c1a0b86-5f5c-4f0f-8d5f-%012d", number);
  return R"({"metadata":{"name":"p)" + std::to_string(number) +
         R"(","namespace":"team-a","uid":")" + uid + R"(","resourceVersion":")" +
         std::to_string(version) +
         R"("},"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":")" + cpu +
         R"(","memory":"64Mi"}}}]},"status":{"phase":"Running"}})";
}

}  // namespace

std::string JsonEvent(const std::string& cpu, int version) {
  return Event(json::Write(SamplePod(cpu, version)));
}

std::string ProtobufEvent(const std::string& cpu, int version) {
  return wire::Frame("MODIFIED", "Pod", MessageOf(SamplePod(cpu, version)));
}

std::string ProtobufPod(int number, int version) {
  static const std::vector<std::string> workloads = [] {
    std::vector<std::string> made;
    for (int i = 1; i <= kWorkloads; ++i) {
      made.push_back(MessageOf(SamplePod(std::to_string(100 * i) + "m", kVersionSlot)));
    }
    return made;
  }();
  static const std::string uid = "0c1a0b86-5f5c-4f0f-8d5f-6a1c1f7f0e01";
  std::string pod = workloads[static_cast<std::size_t>((number + version) % kWorkloads)];
  // The new values have the lengths of the old ones, so the lengths in the message stay right.
  pod.replace(pod.find(uid), uid.size(), NumberedUid(number));
  const std::string slot = std::to_string(kVersionSlot);
  pod.replace(pod.find(slot), slot.size(), std::to_string(kVersionSlot + version));
  return pod;
}

std::string ProtobufPodIn(const std::string& ns, int number, int version) {
  static const std::string own = "team-a";
  std::string pod = ProtobufPod(number, version);
  return pod.replace(pod.find(own), own.size(), ns);
}

std::string ListOfSmallPods(int pods, int workloads) {
  std::string list =
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1000"},"items":[)";
  for (int i = 0; i < pods; ++i) {
    if (i > 0) list += ',';
    list += SmallPod(i, std::to_string(100 * (i % workloads + 1)) + "m", 1 + i);
  }
  return list += "]}";
}

std::string SmallPodEvent(const std::string& cpu, int version, const std::string& type) {
  return Event(SmallPod(0, cpu, version), type);
}

}  // namespace bench
