#pragma once

// The recent events of one resource, and watches that read them.
//
// History is a bounded ring: events are numbered by resourceVersion; those above floor() are known.
// A Watch holds only its position in the ring, so a slow reader takes no memory. If the ring has
// overwritten events that it has not read, it is lagged() and must be closed. One thread.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cmd/sandbox-apiserver/query.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "pkg/json/value.h"

namespace sandbox {

enum class EventType { kAdded, kModified, kDeleted };

// "ADDED", "MODIFIED", "DELETED".
std::string_view ToString(EventType type);

struct HistoryEvent {
  std::uint64_t version = 0;
  EventType type = EventType::kAdded;
  ObjectPtr object;    // of a deletion: the last state with the deletion's version
  ObjectPtr previous;  // before this event; null if it was added
};

class Watch;

class History {
 public:
  History(std::size_t capacity, std::uint64_t floor) : capacity_(capacity), floor_(floor) {}

  // Calls the watches' notify functions last.
  void Append(HistoryEvent event);
  // Events of this version and older ones may be missing.
  [[nodiscard]] std::uint64_t floor() const { return floor_; }
  [[nodiscard]] const std::deque<HistoryEvent>& events() const { return events_; }
  // The first event above `version`; nullptr if there is none yet.
  [[nodiscard]] const HistoryEvent* After(std::uint64_t version) const;
  // Drops every event; the floor becomes `version`.
  void Expire(std::uint64_t version);
  // The resource is no longer served: its watches end after the last event.
  void Close();
  void Reopen() { closed_ = false; }
  // Ends the watches that are open now: the definition of the resource has changed.
  void EndWatches();
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  friend class Watch;
  void Trim();
  void NotifyAll() const;

  std::size_t capacity_;
  std::uint64_t floor_;
  bool closed_ = false;
  std::deque<HistoryEvent> events_;
  std::vector<Watch*> watches_;
};

struct WatchEvent {
  EventType type = EventType::kAdded;
  ObjectPtr object;  // in the version of the watched type
  std::uint64_t version = 0;
  bool initial = false;  // one of the initial events
};

class Watch {
 public:
  Watch(std::shared_ptr<History> history, TypePtr type, Selection selection,
        std::vector<ObjectPtr> initial, std::uint64_t since, std::function<void()> notify);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // The next event to send, nullopt when there is none now. Objects that enter the selection come
  // as ADDED, those that leave it as DELETED with their former content and the event's version.
  std::optional<WatchEvent> Next();
  // True if the stream must end: the ring has lost events that this watch has not read, or the
  // resource is not served any more, or its definition has changed.
  [[nodiscard]] bool lagged() const;
  // True if all initial events were returned: the annotated bookmark of a streaming list is due.
  [[nodiscard]] bool initial_done() const { return next_initial_ == initial_.size(); }
  // The version for a bookmark: every event up to it was returned or did not match.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  // For bookmarks: after Next() returned nothing, the caller may set the position to the store's
  // current version.
  void Advance(std::uint64_t version);

 private:
  friend class History;
  std::optional<WatchEvent> Select(const HistoryEvent& event) const;

  std::shared_ptr<History> history_;
  TypePtr type_;
  Selection selection_;
  std::vector<ObjectPtr> initial_;
  std::size_t next_initial_ = 0;
  std::uint64_t position_;
  bool ended_ = false;
  std::function<void()> notify_;
};

// The object as a reader of this type's version sees it: the same pointer, or a copy with another
// apiVersion (conversion None).
ObjectPtr InVersion(const ObjectPtr& object, const ResourceType& type);

}  // namespace sandbox
