#include "pkg/client/event_correlator.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include "pkg/base/text.h"

namespace client {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr std::string_view kCombined = "(combined from similar events): ";
constexpr std::size_t kMaxMessage = 1024;  // as in events.k8s.io
constexpr std::size_t kMaxName = 253;      // of any object
constexpr std::size_t kStampLength = 17;   // a dot and 64 bits in hex

// Cuts between characters, and marks the cut.
std::string Shortened(std::string text) {
  constexpr std::string_view kMore = "...";
  if (text.size() <= kMaxMessage) return text;
  text.resize(base::Beginning(text, kMaxMessage - kMore.size()).size());
  return text.append(kMore);
}

std::size_t Hash(std::string_view text) { return std::hash<std::string_view>()(text); }

// Never 0, which means combined events.
std::size_t HashOfMessage(std::string_view text) { return std::max<std::size_t>(Hash(text), 1); }

std::size_t HashOfKind(const Event& event) {
  return Hash(event.reason) ^ (event.type == EventType::kWarning ? 1U : 0U);
}

std::string Hex(std::uint64_t number) {
  std::array<char, 16> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return {digits.data(), end};
}

}  // namespace

EventCorrelator::Speaker& EventCorrelator::Find(const ObjectReference& about, base::TimePoint now) {
  std::string key;
  for (const std::string& part : {about.api_version, about.kind, about.ns, about.name, about.uid}) {
    key.append(part).push_back('\n');
  }
  if (const auto found = index_.find(key); found != index_.end()) {
    CHECK_EQ(found->second->key, key) << "the index leads to the events of another object";
    speakers_.splice(speakers_.begin(), speakers_, found->second);
    return speakers_.front();
  }
  if (speakers_.size() >= options_.objects) {
    CHECK_EQ(index_.erase(speakers_.back().key), 1U) << "an object without an entry in the index";
    speakers_.pop_back();
  }
  speakers_.push_front(
      {.key = key, .tokens = static_cast<double>(options_.burst), .refilled = now, .said = {}});
  index_.emplace(std::move(key), speakers_.begin());
  CHECK_EQ(index_.size(), speakers_.size()) << "the index and the objects differ";
  return speakers_.front();
}

// Each event in the window has cost a token.
std::size_t EventCorrelator::MostSaid() const {
  return static_cast<std::size_t>(options_.burst + options_.window / options_.refill + 1);
}

bool EventCorrelator::Spend(Speaker& speaker, base::TimePoint now) const {
  const double earned = Seconds(now - speaker.refilled) / Seconds(options_.refill);
  speaker.tokens = std::min(speaker.tokens + earned, static_cast<double>(options_.burst));
  speaker.refilled = now;
  if (speaker.tokens < 1) return false;
  speaker.tokens -= 1;
  return true;
}

std::string EventCorrelator::NewName(const std::string& object, base::WallTime wall) {
  const auto nanos =
      std::chrono::duration_cast<std::chrono::nanoseconds>(wall.time_since_epoch()).count();
  // Rises even if the wall clock goes back, so that no name repeats.
  last_stamp_ = std::max(static_cast<std::uint64_t>(nanos), last_stamp_ + 1);
  std::string name = object.substr(0, kMaxName - kStampLength);
  while (name.ends_with('.') || name.ends_with('-')) name.pop_back();
  return name + "." + Hex(last_stamp_);
}

std::optional<EventWrite> EventCorrelator::Observe(Event event, base::TimePoint now,
                                                   base::WallTime wall) {
  Speaker& speaker = Find(event.about, now);
  std::erase_if(speaker.said, [&](const Said& said) { return now - said.last > options_.window; });
  if (!Spend(speaker, now)) return std::nullopt;

  const std::size_t kind = HashOfKind(event);
  std::size_t message = HashOfMessage(event.message);
  const auto find = [&] {
    return std::ranges::find_if(speaker.said, [&](const Said& said) {
      return said.kind == kind && said.message == message;
    });
  };
  auto known = find();
  const auto similar = std::ranges::count(speaker.said, kind, &Said::kind);
  if (known == speaker.said.end() && static_cast<std::size_t>(similar) + 1 >= options_.similar) {
    message = 0;
    event.message.insert(0, kCombined);
    known = find();
  }
  const bool repeats = known != speaker.said.end();
  if (!repeats) {
    speaker.said.push_back({.kind = kind,
                            .message = message,
                            .name = NewName(event.about.name, wall),
                            .count = 0,
                            .first = wall,
                            .last = now});
    known = std::prev(speaker.said.end());
    CHECK_LE(speaker.said.size(), MostSaid()) << "more events are remembered than were allowed";
  }
  ++known->count;
  known->last = now;
  event.message = Shortened(std::move(event.message));
  return EventWrite{.repeats = repeats,
                    .ns = event.about.ns.empty() ? "default" : event.about.ns,
                    .name = known->name,
                    .event = std::move(event),
                    .count = known->count,
                    .first = known->first,
                    .last = wall};
}

}  // namespace client
