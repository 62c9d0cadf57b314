// A server that answers in protobuf: the same collections in the other format.

#include <catch2/catch.hpp>

#include "informers/object_decoder.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/quota.h"
#include "tests/informers/collection.h"
#include "tests/pkg/protobuf/wire.h"

namespace protobuf_reflector_test {

using namespace std::chrono_literals;
using namespace informers::testing;
using base::ErrorCode;
using fake::Answer;

namespace {

std::string Pod(const std::string& name, const std::string& version,
                const std::string& phase = "Running") {
  const std::string meta = wire::Bytes(1, name)
                               .append(wire::Bytes(3, "a"))
                               .append(wire::Bytes(5, "uid-" + name))
                               .append(wire::Bytes(6, version));
  return wire::Bytes(1, meta).append(wire::Bytes(3, wire::Bytes(1, phase)));
}

std::string Pods(const std::string& version, const std::vector<std::string>& names,
                 const std::string& next = "") {
  std::string list = wire::Bytes(1, wire::Bytes(2, version).append(wire::Bytes(3, next)));
  for (const std::string& name : names) list.append(wire::Bytes(2, Pod(name, "1")));
  return wire::Enveloped("PodList", list);
}

std::string Frame(const std::string& type, const std::string& name, const std::string& version) {
  return wire::Frame(type, "Pod", Pod(name, version));
}

std::string StatusObject(int code, const std::string& reason) {
  return wire::Bytes(2, "Failure")
      .append(wire::Bytes(3, "said so"))
      .append(wire::Bytes(4, reason))
      .append(wire::Number(6, code));
}

// Cuts the answer into pieces of this size.
Answer Cut(Answer answer, std::size_t size) {
  const std::string bytes = answer.pieces.at(0).bytes;
  answer.pieces.clear();
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    answer.pieces.push_back({bytes.substr(at, size)});
  }
  return answer;
}

// Pods as they are counted: a built-in kind that pkg/protobuf describes.
struct Built final : Fixture {
  Built() { options.fields = {"status.phase", "spec.overhead"}; }
};

}  // namespace

TEST_CASE("protobuf: a built-in kind is requested as protobuf, or else as JSON", "[informers]") {
  Built f;
  f.server.OnList(Answer::Whole(Pods("10", {"a1"})));
  f.Run();
  CHECK(f.server.lists[0].request.accept == "application/vnd.kubernetes.protobuf,application/json");
  CHECK(f.server.watches[0].request.accept ==
        "application/vnd.kubernetes.protobuf,application/json");
}

TEST_CASE("protobuf: every built-in kind that core quotas count is requested as protobuf",
          "[informers]") {
  std::vector<informers::ReflectorOptions> all;
  for (const quota::Evaluator& evaluator : quota::core::AllEvaluators()) {
    const std::string& group = evaluator.resource.group;
    const bool built_in = group.find('.') == std::string::npos || group.ends_with(".k8s.io");
    if (!built_in) continue;  // custom resources have no protobuf
    all.push_back({.resource = {evaluator.resource.group, "v1", evaluator.resource.resource},
                   .fields = evaluator.fields});
  }
  all.push_back({.resource = {"", "v1", "resourcequotas"}, .fields = quota::QuotaFields()});
  all.push_back({.resource = {"resource.k8s.io", "v1", "deviceclasses"},
                 .fields = {"spec.extendedResourceName"}});
  CHECK(all.size() > 8);
  for (const informers::ReflectorOptions& options : all) {
    INFO(options.resource.ToString());
    CHECK(informers::ObjectDecoder(options).accept_watch().starts_with(
        "application/vnd.kubernetes.protobuf"));
  }
}

TEST_CASE("protobuf: metadata of any kind is requested as protobuf", "[informers]") {
  Fixture f;
  f.options.resource = {"example.com", "v1", "widgets"};
  f.options.fields = {"metadata.labels"};
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.Run();
  CHECK(f.store.names() == Names{"a1"});
  CHECK(f.server.lists[0].request.accept ==
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json");
}

TEST_CASE("protobuf: fields that are not described are requested as JSON", "[informers]") {
  Fixture f;
  f.options.fields = GENERATE(std::vector<std::string>{"spec.hostname"},
                              std::vector<std::string>{"spec.overhead", "spec.volumes"});
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.Run();
  CHECK(f.server.lists[0].request.accept == "application/json");
}

TEST_CASE("protobuf: pages and events are followed wherever they are cut", "[informers]") {
  const std::size_t piece = GENERATE(1, 7, 10'000);
  Built f;
  f.server.OnList(Cut(Answer::Whole(Pods("10", {"a1", "a2"}, "t")), piece));
  f.server.OnList(Cut(Answer::Whole(Pods("10", {"a3"})), piece));
  f.server.OnWatch(
      Cut(Answer::Open(Frame("ADDED", "a4", "11") + Frame("MODIFIED", "a1", "12") +
                       Frame("DELETED", "a2", "13") +
                       wire::Frame("BOOKMARK", "Pod", wire::Bytes(1, wire::Bytes(6, "20")))),
          piece));
  f.RunFor(30s);  // frequent events are read a few milliseconds apart
  CHECK(f.store.names() == Names{"a1", "a3", "a4"});
  CHECK(f.store.versions["a1"] == "12");
  CHECK(f.state().resource_version == "20");
  CHECK_FALSE(f.state().trouble);
}

TEST_CASE("protobuf: an ERROR event with 410 lists again", "[informers]") {
  Built f;
  f.server.OnList(Answer::Whole(Pods("10", {"a1"})));
  f.server.OnWatch(Answer::Open(wire::Frame("ERROR", "Status", StatusObject(410, "Expired"))));
  f.server.OnList(Answer::Whole(Pods("30", {"a2"})));
  f.RunFor(30s);
  CHECK(f.store.names() == Names{"a2"});
  CHECK(f.state().resource_version == "30");
}

TEST_CASE("protobuf: a Status instead of a list is an error", "[informers]") {
  Built f;
  f.server.OnList(Answer::Whole(wire::Enveloped("Status", StatusObject(403, "Forbidden"))));
  f.Run();
  REQUIRE(f.state().trouble);
  CHECK(f.state().trouble->Is(ErrorCode::kForbidden));
  CHECK(f.state().trouble->message.find("said so") != std::string::npos);
  CHECK(f.store.ended == 0);
}

TEST_CASE("protobuf: a truncated or malformed list never replaces the known state", "[informers]") {
  Built f;
  const std::string good = Pods("10", {"a1", "a2"});
  f.server.OnList(
      Answer::Whole(GENERATE_COPY(good.substr(0, good.size() / 2), good + "\x0b", Pods("", {"a1"}),
                                  wire::Enveloped("PodList", "\x12\x02\x0a\x7f"))));
  f.Run();
  CHECK(f.store.ended == 0);
  REQUIRE(f.state().trouble);
  CHECK(f.state().trouble->Is(ErrorCode::kMalformed));
}

TEST_CASE("protobuf: a watch that ends inside an event is resumed from the one before",
          "[informers]") {
  Built f;
  f.server.OnList(Answer::Whole(Pods("10", {"a1"})));
  const std::string cut = Frame("ADDED", "a3", "12");
  f.server.OnWatch(Answer::Whole(Frame("ADDED", "a2", "11") + cut.substr(0, cut.size() - 3)));
  f.server.OnWatch(Answer::Open(cut));
  f.RunFor(5s);
  CHECK(f.store.names() == Names{"a1", "a2", "a3"});
  CHECK(f.server.lists.size() == 1);
}

TEST_CASE("protobuf: a frame of another type is not an event", "[informers]") {
  Fixture f;  // pkg/protobuf does not describe spec.text
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.server.OnWatch(Answer::Open(Frame("ADDED", "a2", "11")));
  f.Run();
  CHECK(f.store.names() == Names{"a1"});
  REQUIRE(f.state().trouble);
  CHECK(f.state().trouble->message.find("protobuf, which was not asked for") != std::string::npos);
}

}  // namespace protobuf_reflector_test
