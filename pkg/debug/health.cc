#include "pkg/debug/health.h"

#include <glog/logging.h>

#include <algorithm>

#include "pkg/json/value.h"

namespace debug {
namespace {

constexpr std::string_view kReadyz = "readyz";

http::Response UncachedText(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Cache-Control", "no-cache, no-store, must-revalidate"}},
          .body = std::move(body)};
}

bool IsEndpoint(std::string_view name) {
  return name == "healthz" || name == "livez" || name == kReadyz;
}

std::vector<std::string> Excluded(const http::Target& target) {
  std::vector<std::string> names;
  for (const auto& [key, value] : target.query) {
    if (key == "exclude") names.push_back(value);
  }
  return names;
}

}  // namespace

void Health::AddLiveness(std::string name, Check check) {
  checks_.push_back({.name = std::move(name), .check = std::move(check)});
}

void Health::AddReadiness(std::string name, Check check) {
  checks_.push_back({.name = std::move(name), .check = std::move(check), .readiness = true});
}

bool Health::IsReady() const {
  return std::none_of(checks_.begin(), checks_.end(),
                      [](const Named& named) { return named.check().has_value(); });
}

bool Health::Handles(const http::Target& target) const {
  if (target.segments.empty() || !IsEndpoint(target.segments[0])) return false;
  if (target.segments.size() == 1) return true;
  const auto named = [&](const Named& check) {
    return check.name == target.segments[1] && (!check.readiness || target.segments[0] == kReadyz);
  };
  return target.segments.size() == 2 &&
         (target.segments[1] == "ping" || std::any_of(checks_.begin(), checks_.end(), named));
}

http::Response Health::Answer(const http::Target& target) {
  const std::string& endpoint = target.segments[0];
  const std::string only = target.segments.size() > 1 ? target.segments[1] : "";
  std::vector<std::string> excluded = Excluded(target);
  std::string lines = only.empty() || only == "ping" ? "[+]ping ok\n" : "";
  std::erase(excluded, "ping");
  bool passed = true;
  for (Named& named : checks_) {
    if (named.readiness && endpoint != kReadyz) continue;
    if (!only.empty() && named.name != only) continue;
    if (std::erase(excluded, named.name) > 0) {
      lines += "[+]" + named.name + " excluded: ok\n";
    } else if (const std::optional<Failure> failure = Run(named)) {
      lines += "[-]" + named.name + " failed: " + failure->reason + "\n";
      passed = false;
    } else {
      lines += "[+]" + named.name + " ok\n";
    }
  }
  for (const std::string& unknown : excluded) {
    lines += "warn: some health checks cannot be excluded: no matches for \"" + unknown + "\"\n";
  }
  if (!passed) return UncachedText(500, lines + endpoint + " check failed\n");
  if (!target.Has("verbose")) return UncachedText(200, "ok");
  return UncachedText(200, lines + endpoint + " check passed\n");
}

std::optional<Failure> Health::Run(Named& named) {
  std::optional<Failure> failure = named.check();
  // A reason that changes, such as a duration, is no other problem.
  if (failure && named.failing.Meet("", clock_.Now())) {
    LOG(WARNING) << "health check fails check=" << named.name
                 << " reason=" << json::Quote(failure->reason)
                 << (failure->detail.empty() ? "" : " error=" + json::Quote(failure->detail));
  } else if (!failure && named.failing.Solve()) {
    LOG(INFO) << "health check passes again check=" << named.name;
  }
  return failure;
}

}  // namespace debug
