#include "cmd/sandbox-apiserver/objects.h"

namespace sandbox {
namespace {

// 504: the version is not reached yet.
api::Status TooLargeVersion(std::uint64_t wanted, std::uint64_t current) {
  api::Status status = api::Timeout("Too large resource version: " + std::to_string(wanted) +
                                        ", current: " + std::to_string(current),
                                    1);
  status.details.causes = {
      {.reason = "ResourceVersionTooLarge", .message = "Too large resource version", .field = ""}};
  return status;
}

}  // namespace

Objects::Collection& Objects::CollectionOf(const ResourceType& type) {
  Collection& collection = collections_[type.group_resource()];
  if (collection.history == nullptr) {
    collection.history = std::make_shared<History>(history_, first_version_);
  }
  return collection;
}

const Objects::Collection* Objects::FindCollection(const ResourceType& type) const {
  const auto found = collections_.find(type.group_resource());
  return found == collections_.end() ? nullptr : &found->second;
}

ObjectPtr Objects::Find(const ResourceType& type, std::string_view key) const {
  const Collection* const collection = FindCollection(type);
  if (collection == nullptr) return nullptr;
  const auto found = collection->objects.find(key);
  return found == collection->objects.end() ? nullptr : found->second;
}

Outcome<ObjectPtr> Objects::Current(const Target& target) const {
  ObjectPtr object = Find(*target.type, KeyOf(target.ns, target.name));
  if (object == nullptr) return api::NotFound(target.type->group_resource(), target.name);
  return object;
}

Outcome<ObjectPtr> Objects::Get(const Target& target) const {
  auto current = Current(target);
  if (!current) return current;
  return InVersion(*current, *target.type);
}

Outcome<std::uint64_t> Objects::VersionOfList(const ListQuery& query,
                                              const std::optional<ContinueToken>& token,
                                              const Collection* collection) const {
  const std::uint64_t floor = collection != nullptr ? collection->history->floor() : 0;
  if (token) {
    if (token->resource_version == 0) return version_;
    if (token->resource_version < floor) {
      api::Status expired = api::Expired("the continue token is too old");
      expired.continue_token = EncodeToken({0, token->start_key});
      return expired;
    }
    return token->resource_version;
  }
  auto wanted = ParseVersion(query.resource_version);
  if (!wanted) return wanted.error();
  if (!*wanted || **wanted == 0) return version_;
  if (**wanted > version_) return TooLargeVersion(**wanted, version_);
  return version_;
}

Outcome<ListPage> Objects::List(const TypePtr& type, const ListQuery& query) const {
  if (const auto checked = CheckQuery(query); !checked) return checked.error();
  auto selection = Selection::Make(*type, query.ns, query.label_selector, query.field_selector);
  if (!selection) return selection.error();
  std::optional<ContinueToken> token;
  if (!query.continue_token.empty()) {
    auto decoded = DecodeToken(query.continue_token);
    if (!decoded) return decoded.error();
    token = std::move(*decoded);
  }
  const Collection* const collection = FindCollection(*type);
  auto version = VersionOfList(query, token, collection);
  if (!version) return version.error();
  if (collection == nullptr) return MakePage({}, *selection, *type, 0, "", *version);
  // A list "from any cached state" is not split into pages.
  const std::int64_t limit = query.resource_version == "0" && !token ? 0 : query.limit;
  const std::string start = token ? token->start_key : "";
  if (collection->history->After(*version) == nullptr) {
    return MakePage(collection->objects, *selection, *type, limit, start, *version);
  }
  const Map then = SnapshotAt(collection->objects, *collection->history, *version);
  return MakePage(then, *selection, *type, limit, start, *version);
}

Outcome<std::unique_ptr<Watch>> Objects::StartWatch(const TypePtr& type, const WatchQuery& query,
                                                    std::function<void()> notify) {
  if (const auto checked = CheckQuery(query); !checked) return checked.error();
  auto selection = Selection::Make(*type, query.ns, query.label_selector, query.field_selector);
  if (!selection) return selection.error();
  auto wanted = ParseVersion(query.resource_version);
  if (!wanted) return wanted.error();
  Collection& collection = CollectionOf(*type);
  const bool from_now = !*wanted || **wanted == 0;
  const bool initial = query.send_initial_events.value_or(from_now);
  std::vector<ObjectPtr> objects;
  std::uint64_t since = from_now ? version_ : **wanted;
  if (initial) {
    if (since > version_) return TooLargeVersion(since, version_);
    for (const auto& [key, object] : collection.objects) {
      if (selection->Matches(*object)) objects.push_back(object);
    }
    since = version_;
  } else if (since < collection.history->floor()) {
    return api::Expired("too old resource version: " + std::to_string(since) + " (" +
                        std::to_string(collection.history->floor()) + ")");
  }
  return std::make_unique<Watch>(collection.history, type, std::move(*selection),
                                 std::move(objects), since, std::move(notify));
}

// Returns the objects as they were at `version`: the current ones with all later events undone.
Objects::Map Objects::SnapshotAt(Map objects, const History& history, std::uint64_t version) {
  const auto& events = history.events();
  for (auto event = events.rbegin(); event != events.rend() && event->version > version; ++event) {
    const std::string key = KeyOf(*event->object);
    if (event->previous != nullptr) {
      objects[key] = event->previous;
    } else {
      objects.erase(key);
    }
  }
  return objects;
}

// Returns one page of `objects` after the key `start`.
ListPage Objects::MakePage(const Map& objects, const Selection& selection, const ResourceType& type,
                           std::int64_t limit, const std::string& start, std::uint64_t version) {
  ListPage page;
  page.resource_version = version;
  const std::string prefix = selection.ns().empty() ? "" : selection.ns() + "/";
  auto at = start.empty() ? objects.lower_bound(prefix) : objects.upper_bound(start);
  std::string last;
  for (; at != objects.end() && at->first.starts_with(prefix); ++at) {
    if (!selection.Matches(*at->second)) continue;
    if (limit > 0 && static_cast<std::int64_t>(page.items.size()) == limit) {
      page.continue_token = EncodeToken({version, last});
      if (!selection.HasSelectors()) {
        const auto end = prefix.empty() ? objects.end() : objects.lower_bound(selection.ns() + "0");
        page.remaining = std::distance(at, end);
      }
      return page;
    }
    page.items.push_back(InVersion(at->second, type));
    last = at->first;
  }
  return page;
}

std::vector<Target> Objects::TargetsIn(const std::string& ns) const {
  const std::string prefix = ns + "/";
  std::vector<Target> targets;
  for (const auto& [resource, collection] : collections_) {
    const TypePtr type = registry_.FindAny(resource);
    if (type == nullptr || !type->namespaced) continue;
    for (auto at = collection.objects.lower_bound(prefix);
         at != collection.objects.end() && at->first.starts_with(prefix); ++at) {
      targets.push_back({type, ns, at->first.substr(prefix.size()), ""});
    }
  }
  return targets;
}

std::vector<Target> Objects::DependentsOf(const std::string& owner_uid) const {
  std::vector<Target> targets;
  const auto found = dependents_.find(owner_uid);
  if (found == dependents_.end()) return targets;
  for (const auto& [resource, key] : found->second) {
    const TypePtr type = registry_.FindAny(resource);
    const ObjectPtr object = type != nullptr ? Find(*type, key) : nullptr;
    if (object == nullptr) continue;
    targets.push_back(
        {type, std::string(api::Namespace(*object)), std::string(api::Name(*object)), ""});
  }
  return targets;
}

ObjectPtr Objects::Stamped(const ResourceType& type, json::Value object) {
  if (type.custom) object.Make({"apiVersion"}) = type.group + "/" + type.storage_version;
  object.Make({"metadata", "resourceVersion"}) = std::to_string(++version_);
  return std::make_shared<const json::Value>(std::move(object));
}

ObjectPtr Objects::Put(const TypePtr& type, json::Value object, const ObjectPtr& old) {
  ObjectPtr stored = Stamped(*type, std::move(object));
  if (old != nullptr) Index(*type, *old, false);
  Index(*type, *stored, true);
  Collection& collection = CollectionOf(*type);
  collection.objects[KeyOf(*stored)] = stored;
  collection.history->Append(
      {version_, old == nullptr ? EventType::kAdded : EventType::kModified, stored, old});
  return stored;
}

ObjectPtr Objects::Remove(const TypePtr& type, json::Value last, const ObjectPtr& old) {
  ObjectPtr removed = Stamped(*type, std::move(last));
  Index(*type, *old, false);
  Collection& collection = CollectionOf(*type);
  collection.objects.erase(KeyOf(*old));
  collection.history->Append({version_, EventType::kDeleted, removed, old});
  return removed;
}

void Objects::Index(const ResourceType& type, const json::Value& object, bool add) {
  const std::string uid(api::Uid(object));
  if (add) {
    uids_.insert(uid);
  } else {
    uids_.erase(uid);
  }
  for (const json::Value& owner : object.ArrayAt({"metadata", "ownerReferences"})) {
    const std::string owner_uid(owner.StringAt({"uid"}));
    const Place place{type.group_resource(), KeyOf(object)};
    if (add) {
      dependents_[owner_uid].insert(place);
    } else if (auto found = dependents_.find(owner_uid); found != dependents_.end()) {
      found->second.erase(place);
      if (found->second.empty()) dependents_.erase(found);
    }
  }
}

void Objects::ExpireHistory() {
  for (auto& [resource, collection] : collections_) collection.history->Expire(version_);
}

}  // namespace sandbox
