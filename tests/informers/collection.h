#pragma once

// TEST ONLY. Helpers for the tests of the reflector: objects, lists, events, a sink that keeps a
// collection, and a reflector in virtual time.

#include <boost/asio/io_context.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "informers/reflector.h"
#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/fake/scripted_client.h"

namespace informers::testing {

inline std::string Object(const std::string& name, const std::string& version) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"a","uid":"uid-)" + name +
         R"(","resourceVersion":")" + version + R"("},"spec":{"text":"br\"ace } [ in text"}})";
}

inline std::string Event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}
inline std::string Added(const std::string& name, const std::string& version) {
  return Event("ADDED", Object(name, version));
}
inline std::string Deleted(const std::string& name, const std::string& version) {
  return Event("DELETED", Object(name, version));
}
inline std::string Bookmark(const std::string& version) {
  return Event("BOOKMARK", R"({"kind":"Pod","metadata":{"resourceVersion":")" + version + R"("}})");
}
inline std::string Status(int code, const std::string& reason) {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"said so",)"
         R"("reason":")" +
         reason + R"(","code":)" + std::to_string(code) + "}";
}
inline std::string ServerError(int code, const std::string& reason) {
  return Event("ERROR", Status(code, reason));
}

inline std::string ListBody(const std::string& version, const std::vector<std::string>& items,
                            const std::string& next = "") {
  std::string body = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                     version + R"(","continue":")" + next + R"("},"items":[)";
  for (const std::string& item : items) body += (body.ends_with('[') ? "" : ",") + item;
  return body + "]}";
}
// Objects a1 … at version 1 each.
inline std::string List(const std::string& version, const std::vector<std::string>& names,
                        const std::string& next = "") {
  std::vector<std::string> items;
  items.reserve(names.size());
  for (const std::string& name : names) items.push_back(Object(name, "1"));
  return ListBody(version, items, next);
}

using Names = std::set<std::string>;

// Keeps a collection as CollectionSink's header requires.
class Store final : public CollectionSink {
 public:
  void BeginList() override {
    ++begun;
    listed_.clear();
  }
  void Upsert(const json::Value& object) override {
    const std::string name(object.StringAt({"metadata", "name"}));
    versions[name] = object.StringAt({"metadata", "resourceVersion"});
    listed_.insert(name);
  }
  void Remove(const json::Value& object) override {
    versions.erase(std::string(object.StringAt({"metadata", "name"})));
  }
  void EndList() override {
    ++ended;
    std::erase_if(versions, [&](const auto& entry) { return !listed_.contains(entry.first); });
  }
  void OnState() override { ++states; }
  [[nodiscard]] bool IsAhead() const override { return ahead; }

  [[nodiscard]] Names names() const {
    Names names;
    for (const auto& [name, version] : versions) names.insert(name);
    return names;
  }

  std::map<std::string, std::string> versions;
  int begun = 0;
  int ended = 0;
  int states = 0;
  bool ahead = false;

 private:
  Names listed_;
};

// A reflector of pods that runs in virtual time until the fixture ends.
struct Fixture {
  base::asio::io_context io;
  base::ManualScheduler scheduler{io};
  fake::ScriptedClient server{scheduler};
  Store store;
  ReflectorOptions options{.resource = {"", "v1", "pods"}, .fields = {"spec.text"}, .seed = 1};
  base::TaskGroup group{io.get_executor()};
  std::unique_ptr<Reflector> reflector;

  void Start() {
    reflector = NewReflector(server, scheduler, store, options);
    group.Spawn("reflector", [this] { return reflector->Run(); });
  }
  void RunFor(base::Duration duration) {
    if (!reflector) Start();
    scheduler.RunFor(duration);
  }
  void Run() { RunFor(base::Duration::zero()); }
  [[nodiscard]] const ReflectorState& state() const { return reflector->state(); }

  // True if the reflector ended and left no stream open.
  bool Stop() {
    group.Cancel();
    scheduler.RunUntilIdle();
    return group.empty() && server.open_bodies == 0;
  }
  ~Fixture() { Stop(); }
};

}  // namespace informers::testing
