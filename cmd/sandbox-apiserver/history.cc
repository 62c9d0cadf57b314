#include "cmd/sandbox-apiserver/history.h"

#include <algorithm>

namespace sandbox {
namespace {

ObjectPtr WithVersion(const ObjectPtr& object, std::uint64_t version) {
  json::Value copy = *object;
  copy.Make({"metadata", "resourceVersion"}) = std::to_string(version);
  return std::make_shared<const json::Value>(std::move(copy));
}

}  // namespace

std::string_view ToString(EventType type) {
  switch (type) {
    case EventType::kAdded:
      return "ADDED";
    case EventType::kModified:
      return "MODIFIED";
    case EventType::kDeleted:
      return "DELETED";
  }
  return "";
}

void History::Append(HistoryEvent event) {
  events_.push_back(std::move(event));
  Trim();
  NotifyAll();
}

const HistoryEvent* History::After(std::uint64_t version) const {
  const auto found = std::upper_bound(
      events_.begin(), events_.end(), version,
      [](std::uint64_t wanted, const HistoryEvent& event) { return wanted < event.version; });
  return found == events_.end() ? nullptr : &*found;
}

void History::Expire(std::uint64_t version) {
  events_.clear();
  floor_ = std::max(floor_, version);
}

void History::Close() {
  closed_ = true;
  NotifyAll();
}

void History::EndWatches() {
  for (Watch* watch : watches_) watch->ended_ = true;
  NotifyAll();
}

void History::NotifyAll() const {
  const std::vector<Watch*> watches = watches_;
  for (Watch* watch : watches) {
    if (watch->notify_) watch->notify_();
  }
}

void History::Trim() {
  while (events_.size() > capacity_) {
    floor_ = events_.front().version;
    events_.pop_front();
  }
}

Watch::Watch(std::shared_ptr<History> history, TypePtr type, Selection selection,
             std::vector<ObjectPtr> initial, std::uint64_t since, std::function<void()> notify)
    : history_(std::move(history)),
      type_(std::move(type)),
      selection_(std::move(selection)),
      initial_(std::move(initial)),
      position_(since),
      notify_(std::move(notify)) {
  history_->watches_.push_back(this);
}

Watch::~Watch() { std::erase(history_->watches_, this); }

std::optional<WatchEvent> Watch::Next() {
  if (next_initial_ < initial_.size()) {
    const ObjectPtr object = InVersion(initial_[next_initial_], *type_);
    initial_[next_initial_++] = nullptr;
    return WatchEvent{EventType::kAdded, object, position_, true};
  }
  if (lagged()) return std::nullopt;
  while (const HistoryEvent* event = history_->After(position_)) {
    position_ = event->version;
    if (std::optional<WatchEvent> selected = Select(*event)) return selected;
  }
  return std::nullopt;
}

bool Watch::lagged() const {
  return position_ < history_->floor() ||
         ((history_->closed() || ended_) && history_->After(position_) == nullptr);
}

void Watch::Advance(std::uint64_t version) {
  if (initial_done() && history_->After(position_) == nullptr) {
    position_ = std::max(position_, version);
  }
}

std::optional<WatchEvent> Watch::Select(const HistoryEvent& event) const {
  const bool before = event.previous != nullptr && selection_.Matches(*event.previous);
  const bool now = event.type != EventType::kDeleted && selection_.Matches(*event.object);
  if (!before && !now) return std::nullopt;
  WatchEvent selected{EventType::kModified, event.object, event.version, false};
  if (!before) selected.type = EventType::kAdded;
  if (!now) {
    selected.type = EventType::kDeleted;
    if (event.type != EventType::kDeleted) {
      selected.object = WithVersion(event.previous, event.version);
    }
  }
  selected.object = InVersion(selected.object, *type_);
  return selected;
}

ObjectPtr InVersion(const ObjectPtr& object, const ResourceType& type) {
  if (!type.custom || object->StringAt({"apiVersion"}) == type.ApiVersion()) return object;
  json::Value copy = *object;
  copy.Make({"apiVersion"}) = type.ApiVersion();
  return std::make_shared<const json::Value>(std::move(copy));
}

}  // namespace sandbox
