#include "tests/e2e/harness/story.h"

#include <stdexcept>

namespace e2e {
namespace {

// "cpu=1,pods=2".
Quantities FromText(const std::string& text) {
  Quantities quantities;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::size_t equals = text.find('=', at);
    if (equals >= end) throw std::runtime_error("not name=amount: " + text);
    quantities[text.substr(at, equals - at)] = text.substr(equals + 1, end - equals - 1);
    at = end + 1;
  }
  return quantities;
}

// "pods/a/status" → its path in the namespace.
std::string PathIn(const std::string& ns, const std::string& what) {
  const std::size_t slash = what.find('/');
  const std::string resource = what.substr(0, slash);
  return PathOf(resource, ns) + (slash == std::string::npos ? "" : what.substr(slash));
}

void Must(Api& api, client::ApiRequest request) {
  const auto answer = api.Do(std::move(request));
  if (!answer) throw std::runtime_error(answer.error().message);
}

}  // namespace

Story::Story(Scenario& scenario, const std::vector<std::string>& names, const std::string& spec)
    : scenario_(scenario), ns_(FreshName("e2e-story")) {
  scenario_.api().Create(PathOf("namespaces"), Namespace(ns_));
  json::Value quota = Quota("q", {});
  quota.Make({"spec"}) = Json(spec);
  for (const std::string& name : names) {
    quota.Make({"spec", "hard", name}) = "1000";
    expected_[name] = "0";
  }
  scenario_.api().Create(PathOf("resourcequotas", ns_), quota);
}

Story::~Story() {
  (void)scenario_.api().Do(
      {.verb = "DELETE", .path = PathOf("namespaces", "", ns_), .timeout = Stretched(5s)});
}

void Story::Do(const Step& step) try {
  const std::size_t space = step.request.find(' ');
  const std::string verb = step.request.substr(0, space);
  const std::string what = step.request.substr(space + 1);
  client::ApiRequest request{.verb = verb, .path = PathIn(ns_, what), .body = step.body};
  if (verb == "POST") request.content_type = std::string(client::kJson);
  if (verb == "PATCH") request.content_type = std::string(client::kStrategicMergePatch);
  if (verb == "DELETE")
    request.query = {{"gracePeriodSeconds", "0"}, {"propagationPolicy", "Background"}};
  // Claims have a finalizer that somebody must remove; nothing else here would.
  if (verb == "DELETE" && what.starts_with("persistentvolumeclaims")) {
    scenario_.api().MergePatch(request.path, Json(R"({"metadata":{"finalizers":null}})"));
  }
  Must(scenario_.api(), std::move(request));
  Expect(step.used);
} catch (const std::exception& error) {
  throw std::runtime_error(step.request + ": " + error.what());
}

void Story::Expect(const std::string& used) {
  for (const auto& [name, amount] : FromText(used)) {
    if (!expected_.contains(name)) throw std::runtime_error("the quota does not name " + name);
    expected_[name] = amount;
  }
}

void Story::Play(const Step& step) {
  Do(step);
  try {
    WaitCounted();
  } catch (const std::exception& error) {
    throw std::runtime_error("after " + step.request + ": " + error.what());
  }
}

void Story::WaitCounted(std::chrono::milliseconds timeout) {
  const auto missing = [&]() -> std::string {
    const auto used = Used();
    return used == expected_ ? "" : ToText(used);
  };
  Eventually("status.used is " + ToText(expected_), missing, timeout);
}

Quantities Story::Used() {
  const auto quota = scenario_.api().Get(PathOf("resourcequotas", ns_, "q"));
  return ToQuantities(quota.At({"status", "used"}));
}

}  // namespace e2e
