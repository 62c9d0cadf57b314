#include "cmd/sandbox-apiserver/store.h"

#include <algorithm>

#include "pkg/api/object_meta.h"
#include "pkg/api/time.h"

namespace sandbox {
namespace {

using json::Value;

// Returns the objects as they were at `version`: the current ones with all later events undone.
std::map<std::string, ObjectPtr, std::less<>> SnapshotAt(
    std::map<std::string, ObjectPtr, std::less<>> objects, const History& history,
    std::uint64_t version) {
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

// 504: the version is not reached yet.
api::Status TooLargeVersion(std::uint64_t wanted, std::uint64_t current) {
  api::Status status = api::Timeout("Too large resource version: " + std::to_string(wanted) +
                                        ", current: " + std::to_string(current),
                                    1);
  status.details.causes = {
      {.reason = "ResourceVersionTooLarge", .message = "Too large resource version", .field = ""}};
  return status;
}

using Objects = std::map<std::string, ObjectPtr, std::less<>>;

// Returns one page of `objects` after the key `start`.
ListPage MakePage(const Objects& objects, const Selection& selection, const ResourceType& type,
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

}  // namespace

Store::Store(Registry& registry, const base::Clock& clock, StoreOptions options)
    : registry_(registry),
      clock_(clock),
      options_(options),
      version_(options.first_version),
      random_(options.seed != 0 ? options.seed : std::random_device()()) {
  AddDefaultNamespaces();
}

Store::~Store() = default;

Store::Collection& Store::CollectionOf(const ResourceType& type) {
  Collection& collection = collections_[type.group_resource()];
  if (collection.history == nullptr) {
    collection.history = std::make_shared<History>(options_.history, options_.first_version);
  }
  return collection;
}

const Store::Collection* Store::FindCollection(const ResourceType& type) const {
  const auto found = collections_.find(type.group_resource());
  return found == collections_.end() ? nullptr : &found->second;
}

ObjectPtr Store::FindStored(const ResourceType& type, std::string_view key) const {
  const Collection* const collection = FindCollection(type);
  if (collection == nullptr) return nullptr;
  const auto found = collection->objects.find(key);
  return found == collection->objects.end() ? nullptr : found->second;
}

Outcome<ObjectPtr> Store::Current(const Target& target) const {
  ObjectPtr object = FindStored(*target.type, KeyOf(target.ns, target.name));
  if (object == nullptr) return api::NotFound(target.type->group_resource(), target.name);
  return object;
}

Outcome<ObjectPtr> Store::Get(const Target& target) const {
  auto current = Current(target);
  if (!current) return current;
  return InVersion(*current, *target.type);
}

Outcome<std::uint64_t> Store::VersionOfList(const ListQuery& query,
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

Outcome<ListPage> Store::List(const TypePtr& type, const ListQuery& query) const {
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
  const Objects then = SnapshotAt(collection->objects, *collection->history, *version);
  return MakePage(then, *selection, *type, limit, start, *version);
}

Outcome<std::unique_ptr<Watch>> Store::StartWatch(const TypePtr& type, const WatchQuery& query,
                                                  std::function<void()> notify) {
  auto selection = Selection::Make(*type, query.ns, query.label_selector, query.field_selector);
  if (!selection) return selection.error();
  if (query.send_initial_events && query.resource_version_match != "NotOlderThan") {
    return api::BadRequest("sendInitialEvents requires resourceVersionMatch=NotOlderThan");
  }
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

Outcome<WriteResult> Store::Finish(Outcome<PendingWrite> write) {
  if (!write) return write.error();
  if (auto completed = Complete(*write); !completed) return completed.error();
  return Commit(*std::move(write));
}

Outcome<WriteResult> Store::Create(const Target& target, Value body, const WriteOptions& options) {
  return Finish(PrepareCreate(target, std::move(body), options));
}

Outcome<WriteResult> Store::Update(const Target& target, Value body, const WriteOptions& options) {
  return Finish(PrepareUpdate(target, std::move(body), options));
}

Outcome<WriteResult> Store::Patch(const Target& target, const PatchRequest& patch,
                                  const WriteOptions& options) {
  return Finish(PreparePatch(target, patch, options));
}

Outcome<WriteResult> Store::Delete(const Target& target, const DeleteOptions& options) {
  return Finish(PrepareDelete(target, options));
}

void Store::ExpireHistory() {
  for (auto& [resource, collection] : collections_) collection.history->Expire(version_);
}

std::string Store::Timestamp() const { return api::FormatTime(clock_.WallNow()); }

}  // namespace sandbox
