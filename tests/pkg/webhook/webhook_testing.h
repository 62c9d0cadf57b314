#pragma once

// TEST ONLY. Helpers of the tests of the webhook configuration.

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <utility>

#include "pkg/json/value.h"
#include "pkg/webhook/webhook_configuration.h"

namespace webhook {

inline GuardedResource Counted(const std::string& resource, const std::string& group = "",
                               const std::string& quota_api = "core") {
  return {.quota_api = quota_api,
          .resource = {group, resource},
          .updates = false,
          .update_condition = "",
          .subresources = {}};
}

inline GuardedResource Pods() {
  GuardedResource pods = Counted("pods");
  pods.updates = true;
  pods.update_condition = "has(object.spec.x) != has(oldObject.spec.x)";
  pods.subresources = {"resize"};
  return pods;
}

inline GuardedResource In(GuardedResource guarded, std::set<std::string, std::less<>> names) {
  guarded.namespaces = {.all_but = false, .names = std::move(names)};
  return guarded;
}

inline GuardedResource Labelled(GuardedResource guarded,
                                std::set<std::string, std::less<>> label_keys,
                                std::set<std::string, std::less<>> names = {}) {
  guarded.namespaces = {
      .all_but = false, .names = std::move(names), .label_keys = std::move(label_keys)};
  return guarded;
}

inline ConfigurationOptions ByService() {
  ConfigurationOptions options;
  options.endpoint = ServiceReference{.ns = "quota-system", .name = "quota", .port = 443};
  return options;
}

inline json::Value Json(std::string_view text) {
  const base::Result<json::Value> value = json::Parse(text);
  INFO(text);
  REQUIRE(value.has_value());
  return *value;
}

// `configuration` as the API server would return it.
inline json::Value Shown(json::Value configuration, const std::string& version) {
  configuration.Make({"metadata", "uid"}) = "0b7a4a3e-55b2-4f0e-9f0e-0f6d3f1f2a11";
  configuration.Make({"metadata", "resourceVersion"}) = version;
  return configuration;
}

inline json::Value& WebhookAt(json::Value& configuration, std::size_t index) {
  return configuration.Make({"webhooks"}).AsArray()->at(index);
}

}  // namespace webhook
