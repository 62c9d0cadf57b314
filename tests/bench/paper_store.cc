#include "tests/bench/paper_store.h"

namespace bench {

std::string PaperStore::Put(const std::string& resource, const std::string& ns,
                            const std::string& name, const json::Value& spec) {
  const std::lock_guard lock(mutex_);
  json::Value& object = objects_[resource][name];
  const bool added = object.IsNull();
  if (added) {
    object.Make({"metadata", "name"}) = name;
    if (!ns.empty()) object.Make({"metadata", "namespace"}) = ns;
    object.Make({"metadata", "uid"}) = "uid-" + name;
    object.Make({"metadata", "generation"}) = 1;
  }
  object.Make({"spec"}) = spec;
  used_.erase(name);
  return EventOf(added ? "ADDED" : "MODIFIED", object);
}

void PaperStore::PutEmptyQuotas(const std::string& resource, int count) {
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < count; ++i) {
    const std::string name = "empty-" + std::to_string(i);
    const json::Value hard = json::Object{{"pods", "10"}};
    objects_[resource][name] = json::Object{
        {"metadata", json::Object{{"name", name},
                                  {"namespace", name},
                                  {"uid", "uid-" + name},
                                  {"resourceVersion", std::to_string(version_)}}},
        {"spec", json::Object{{"hard", hard}}},
        {"status", json::Object{{"hard", hard}, {"used", json::Object{{"pods", "0"}}}}}};
  }
}

std::optional<PaperStore::Patched> PaperStore::Patch(const std::string& resource,
                                                     const std::string& name,
                                                     const json::Value& patch) {
  const Moment now = std::chrono::steady_clock::now();
  Patched patched;
  {
    const std::lock_guard lock(mutex_);
    json::Value& object = objects_.at(resource).at(name);
    if (patch.StringAt({"metadata", "resourceVersion"}) !=
        object.StringAt({"metadata", "resourceVersion"})) {
      return std::nullopt;
    }
    for (const auto& [member, value] : *patch.At({"status"})->AsObject()) {
      const std::string_view list = member;
      if (list != "hard" && list != "used") {
        object.Make({"status", list}) = value;
        continue;
      }
      for (const auto& [limited, amount] : *value.AsObject()) {
        object.Make({"status", list, limited}) = amount;
        if (list == "used") used_[name].try_emplace({limited, *amount.AsString()}, now);
      }
    }
    patched.event = EventOf("MODIFIED", object);
    patched.answer = json::Write(object);
  }
  written_.notify_all();
  return patched;
}

std::string PaperStore::List(const std::string& resource, std::size_t limit,
                             const std::string& token) {
  const std::lock_guard lock(mutex_);
  const auto& objects = objects_[resource];
  json::Array items;
  std::string next;
  for (auto object = objects.upper_bound(token); object != objects.end(); ++object) {
    items.push_back(object->second);
    if (items.size() < limit || std::next(object) == objects.end()) continue;
    next = object->first;
    break;
  }
  return R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":")" +
         std::to_string(version_) + R"(","continue":")" + next + R"("},"items":)" +
         json::Write(std::move(items)) + "}";
}

std::optional<PaperStore::Moment> PaperStore::WaitForUsed(const std::string& quota,
                                                          const std::string& resource,
                                                          const std::string& used,
                                                          std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto key = std::pair(resource, used);
  const auto written = [&] { return used_[quota].contains(key); };
  if (!written_.wait_for(lock, timeout, written)) return std::nullopt;
  return used_[quota].at(key);
}

std::string PaperStore::EventOf(const std::string& type, json::Value& object) {
  object.Make({"metadata", "resourceVersion"}) = std::to_string(++version_);
  return R"({"type":")" + type + R"(","object":)" + json::Write(object) + "}\n";
}

}  // namespace bench
