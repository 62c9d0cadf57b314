#pragma once

// A store on a stopped clock, and helpers for the tests.

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "cmd/sandbox-apiserver/registry.h"
#include "cmd/sandbox-apiserver/store.h"
#include "pkg/base/clock.h"
#include "pkg/json/value.h"

// Prints the Status in a failed check.
template <typename T>
struct Catch::StringMaker<boost::system::result<T, api::Status>> {
  static std::string convert(const boost::system::result<T, api::Status>& result) {
    return result ? "a value" : result.error().message;
  }
};

namespace sandbox {

// Parses a JSON literal. An invalid one is null, which fails the test.
inline json::Value J(std::string_view text) {
  auto value = json::Parse(text);
  return value ? *value : json::Value();
}

class CoreFixture {
 protected:
  explicit CoreFixture(StoreOptions options = {}) : store_(registry_, clock_, Seeded(options)) {}

  [[nodiscard]] TypePtr Type(std::string_view group, std::string_view version,
                             std::string_view resource) const {
    return registry_.Find(group, version, resource);
  }
  [[nodiscard]] TypePtr Core(std::string_view resource) const { return Type("", "v1", resource); }

  [[nodiscard]] Target At(std::string_view resource, std::string name, std::string sub = "",
                          std::string ns = "default") const {
    const TypePtr type = Core(resource);
    return {type, type->namespaced ? std::move(ns) : "", std::move(name), std::move(sub)};
  }

  Outcome<WriteResult> Make(std::string_view resource, std::string_view body,
                            const WriteOptions& options = {}) {
    return store_.Create(At(resource, ""), J(body), options);
  }

  Outcome<WriteResult> MakePod(const std::string& name, const std::string& node = "") {
    json::Value pod = J(R"({"spec":{"containers":[{"name":"c","image":"i:1"}]}})");
    pod.Make({"metadata", "name"}) = name;
    if (!node.empty()) pod.Make({"spec", "nodeName"}) = node;
    return store_.Create(At("pods", ""), std::move(pod));
  }

  bool Exists(const Target& target) { return store_.objects().Get(target).has_value(); }

  Registry registry_;
  base::ManualClock clock_;
  Store store_;

 private:
  static StoreOptions Seeded(StoreOptions options) {
    if (options.seed == 0) options.seed = 42;
    return options;
  }
};

inline std::string Version(const ObjectPtr& object) {
  return std::string(object->StringAt({"metadata", "resourceVersion"}));
}

}  // namespace sandbox
