#include "cmd/sandbox-apiserver/faults.h"

#include <array>
#include <utility>

#include "pkg/base/duration.h"

namespace sandbox {
namespace {

constexpr std::array<std::pair<std::string_view, FaultKind>, 10> kFaultNames{{
    {"answer", FaultKind::kAnswer},
    {"slow-body", FaultKind::kSlowBody},
    {"truncate-body", FaultKind::kTruncateBody},
    {"replace-body", FaultKind::kReplaceBody},
    {"drop-watches", FaultKind::kDropWatches},
    {"send-event", FaultKind::kSendEvent},
    {"repeat-event", FaultKind::kRepeatEvent},
    {"delay-watch", FaultKind::kDelayWatch},
    {"expire", FaultKind::kExpire},
    {"stale-group", FaultKind::kStaleGroup},
}};

base::Error Bad(std::string message) {
  return {.code = base::ErrorCode::kInvalidArgument, .message = std::move(message)};
}

base::Result<void> SetKind(const json::Value& value, Fault& fault) {
  const std::string* text = value.AsString();
  for (const auto& [name, kind] : kFaultNames) {
    if (text != nullptr && *text == name) {
      fault.kind = kind;
      return {};
    }
  }
  return Bad("unknown fault " + json::Write(value));
}

base::Result<void> SetText(std::string_view member, const json::Value& value, Fault& fault) {
  const std::string* text = value.AsString();
  if (text == nullptr) return Bad(std::string(member) + " must be a string");
  if (member == "verb") fault.requests.verb = *text;
  if (member == "group") fault.requests.group = *text;
  if (member == "resource") fault.requests.resource = *text;
  if (member == "subresource") fault.requests.subresource = *text;
  if (member == "namespace") fault.requests.ns = *text;
  if (member == "name") fault.requests.name = *text;
  if (member == "reason") fault.reason = *text;
  if (member == "message") fault.message = *text;
  if (member == "body" || member == "raw") fault.body = *text;
  if (member == "contentType") fault.content_type = *text;
  if (member == "type") fault.event_type = *text;
  if (member == "version") fault.version = *text;
  if (member != "delay") return {};
  base::Result<std::chrono::nanoseconds> delay = base::ParseDuration(*text);
  if (!delay) return delay.error().Wrap("delay");
  fault.delay = *delay;
  return {};
}

base::Result<void> SetNumber(std::string_view member, const json::Value& value, Fault& fault) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 30;
  const std::optional<std::int64_t> number = value.AsInt64();
  if (!number || *number > kLimit || *number < -1) {
    return Bad(std::string(member) + " must be an integer of -1 to 2^30");
  }
  if (member == "times") fault.times = static_cast<int>(*number);
  if (member == "code") fault.code = static_cast<int>(*number);
  if (member == "retryAfterSeconds") fault.retry_after_seconds = static_cast<int>(*number);
  if (member == "by") fault.by = *number;
  if (*number < 0) return {};
  if (member == "bytes") fault.bytes = static_cast<std::size_t>(*number);
  return {};
}

bool IsText(std::string_view member) {
  for (std::string_view name :
       {"verb", "group", "resource", "subresource", "namespace", "name", "reason", "message",
        "body", "raw", "contentType", "type", "version", "delay"}) {
    if (member == name) return true;
  }
  return false;
}

bool IsNumber(std::string_view member) {
  for (std::string_view name : {"times", "code", "retryAfterSeconds", "by", "bytes"}) {
    if (member == name) return true;
  }
  return false;
}

base::Result<void> SetMember(const json::Member& member, Fault& fault) {
  if (member.first == "fault") return SetKind(member.second, fault);
  if (IsText(member.first)) return SetText(member.first, member.second, fault);
  if (IsNumber(member.first)) return SetNumber(member.first, member.second, fault);
  if (member.first != "reset") return Bad("unknown member " + json::Quote(member.first));
  const std::optional<bool> reset = member.second.AsBool();
  if (!reset) return Bad("reset must be true or false");
  fault.reset = *reset;
  return {};
}

}  // namespace

bool RequestMatch::Matches(const ResourcePath& path) const {
  auto fits = [](const std::optional<std::string>& wanted, std::string_view actual) {
    return !wanted || *wanted == actual;
  };
  return fits(group, path.gvr.group) && fits(resource, path.gvr.resource) &&
         fits(subresource, path.subresource) && fits(ns, path.ns) && fits(name, path.name);
}

bool RequestMatch::Matches(Verb of_verb, const ResourcePath& path) const {
  return (!verb || *verb == ToString(of_verb)) && Matches(path);
}

bool Fault::IsWaiting() const {
  return kind == FaultKind::kAnswer || kind == FaultKind::kSlowBody ||
         kind == FaultKind::kTruncateBody || kind == FaultKind::kReplaceBody;
}

base::Result<Fault> ParseFault(const json::Value& value) {
  const json::Object* object = value.AsObject();
  if (object == nullptr) return Bad("a fault is a JSON object, not " + json::Write(value));
  if (!object->Contains("fault")) return Bad("the member \"fault\" is missing");
  Fault fault;
  for (const json::Member& member : *object) {
    if (base::Result<void> set = SetMember(member, fault); !set) return set.error();
  }
  if (fault.kind == FaultKind::kAnswer && (fault.code < 200 || fault.code > 599)) {
    return Bad("code must be an HTTP status of 200 to 599");
  }
  if (fault.kind == FaultKind::kStaleGroup &&
      (!fault.requests.group || fault.requests.group->empty())) {
    return Bad("a stale group needs its name");
  }
  if (fault.times == 0) return Bad("times must be positive, or -1 for ever");
  return fault;
}

json::Value DescribeFault(const Fault& fault) {
  json::Object object;
  for (const auto& [name, kind] : kFaultNames) {
    if (kind == fault.kind) object.Set("fault", name);
  }
  auto add = [&object](std::string_view member, const std::optional<std::string>& text) {
    if (text) object.Set(member, *text);
  };
  add("verb", fault.requests.verb);
  add("group", fault.requests.group);
  add("resource", fault.requests.resource);
  add("subresource", fault.requests.subresource);
  add("namespace", fault.requests.ns);
  add("name", fault.requests.name);
  object.Set("times", fault.times);
  if (fault.code != 0) object.Set("code", fault.code);
  return object;
}

std::optional<Fault> FaultTable::Take(Verb verb, const ResourcePath& path) {
  for (auto fault = waiting_.begin(); fault != waiting_.end(); ++fault) {
    if (!fault->requests.Matches(verb, path)) continue;
    // A watch has no single body to change. Use send-event and drop-watches for watches.
    const bool whole = fault->kind == FaultKind::kAnswer || fault->kind == FaultKind::kReplaceBody;
    if (verb == Verb::kWatch && !whole) continue;
    Fault taken = *fault;
    if (fault->times > 0 && --fault->times == 0) waiting_.erase(fault);
    return taken;
  }
  return std::nullopt;
}

}  // namespace sandbox
