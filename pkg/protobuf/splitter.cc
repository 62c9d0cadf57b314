#include "pkg/protobuf/splitter.h"

#include <algorithm>

#include "pkg/base/idle_buffer.h"
#include "pkg/protobuf/envelope.h"

namespace protobuf {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kLongestVarint = 10;

enum WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

base::Error TooLarge(std::string_view what, std::uint64_t bytes, std::size_t max) {
  return {.code = base::ErrorCode::kTooLarge,
          .message = std::string(what) + " of " + std::to_string(bytes) + " bytes, above " +
                     std::to_string(max)};
}

// The position of one field in a message. The payload of a varint or a fixed number is its own
// bytes.
struct Extent {
  std::uint32_t number = 0;
  WireType type = kBytes;
  std::size_t head = 0;  // bytes before the payload
  std::uint64_t payload = 0;
  [[nodiscard]] std::uint64_t End() const { return head + payload; }
};

// Reads the varint at `at` and moves `at` behind it; nullopt if it is incomplete.
base::Result<std::optional<std::uint64_t>> ReadVarint(std::string_view bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kLongestVarint; ++i) {
    if (at + i >= bytes.size()) return std::optional<std::uint64_t>();
    const auto byte = static_cast<std::uint8_t>(bytes[at + i]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    at += i + 1;
    return std::optional(value);
  }
  return Malformed("a varint of more than 10 bytes");
}

base::Result<std::optional<Extent>> ReadExtent(std::string_view bytes) {
  std::size_t at = 0;
  const auto tag = ReadVarint(bytes, at);
  if (!tag) return tag.error();
  if (!*tag) return std::optional<Extent>();
  Extent extent{.number = static_cast<std::uint32_t>(**tag >> 3),
                .type = static_cast<WireType>(**tag & 7),
                .head = at};
  if (extent.number == 0 || **tag >> 32 != 0) return Malformed("a field without a number");
  switch (extent.type) {
    case kVarint: {
      const auto value = ReadVarint(bytes, at);
      if (!value) return value.error();
      if (!*value) return std::optional<Extent>();
      extent.payload = at - extent.head;
      return std::optional(extent);
    }
    case kFixed64:
      extent.payload = 8;
      return std::optional(extent);
    case kFixed32:
      extent.payload = 4;
      return std::optional(extent);
    case kBytes: {
      const auto length = ReadVarint(bytes, at);
      if (!length) return length.error();
      if (!*length) return std::optional<Extent>();
      if (**length >> 40 != 0) return Malformed("a field of more than a terabyte");
      extent.head = at;
      extent.payload = **length;
      return std::optional(extent);
    }
  }
  return Malformed("a wire type that does not exist");
}

// Feeds `rest` and then `bytes` to `step` as one text, and leaves what it did not consume in
// `rest`.
template <typename Step>
base::Result<void> FeedSteps(std::string& rest, std::string_view bytes, Step step) {
  const bool joined = !rest.empty();
  if (joined) rest.append(bytes);
  const std::string_view all = joined ? std::string_view(rest) : bytes;
  std::size_t at = 0;
  while (at < all.size()) {
    const base::Result<std::size_t> taken = step(all.substr(at));
    if (!taken) return taken.error();
    if (*taken == 0) break;
    at += *taken;
  }
  if (joined) {
    rest.erase(0, at);
  } else {
    rest.assign(all.substr(at));
  }
  base::FreeIdle(rest);
  return {};
}

}  // namespace

base::Result<void> FrameSplitter::Feed(std::string_view bytes, const MessageSink& sink) {
  return FeedSteps(rest_, bytes, [&](std::string_view all) { return TakeFrame(all, sink); });
}

base::Result<std::size_t> FrameSplitter::TakeFrame(std::string_view bytes,
                                                   const MessageSink& sink) const {
  if (bytes.size() < kLengthBytes) return std::size_t{0};
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length = length << 8 | static_cast<std::uint8_t>(bytes[i]);
  }
  if (length > max_bytes_) return TooLarge("a frame", length, max_bytes_);
  if (bytes.size() - kLengthBytes < length) return std::size_t{0};
  const base::Result<void> taken = sink(bytes.substr(kLengthBytes, length));
  if (!taken) return taken.error();
  return kLengthBytes + length;
}

base::Result<void> ListSplitter::Feed(std::string_view bytes, const MessageSink& item) {
  return FeedSteps(rest_, bytes, [&](std::string_view all) { return Step(all, item); });
}

base::Result<std::size_t> ListSplitter::Step(std::string_view bytes, const MessageSink& item) {
  switch (place_) {
    case Place::kStart:
      return StepMagic(bytes);
    case Place::kEnvelope:
      return StepEnvelope(bytes);
    case Place::kItems:
      return StepItems(bytes, item);
  }
  return std::size_t{0};
}

base::Result<std::size_t> ListSplitter::StepMagic(std::string_view bytes) {
  const std::size_t known = std::min(bytes.size(), kMagic.size());
  if (bytes.substr(0, known) != kMagic.substr(0, known)) {
    return Malformed("it does not begin with \"k8s\"");
  }
  if (known < kMagic.size()) return std::size_t{0};
  place_ = Place::kEnvelope;
  return kMagic.size();
}

// The kind comes before the object in the envelope, so a list is known as such before its first
// item.
base::Result<std::size_t> ListSplitter::StepEnvelope(std::string_view bytes) {
  constexpr std::uint32_t kType = 1;
  constexpr std::uint32_t kObject = 2;
  const auto extent = ReadExtent(bytes);
  if (!extent) return extent.error();
  if (!*extent) return std::size_t{0};
  const Extent& field = **extent;
  // The object of a list is not collected: its items are passed on as they come.
  if (field.number == kObject && field.type == kBytes && list_.kind != "Status") {
    if (std::exchange(seen_object_, true)) return Malformed("two objects in one envelope");
    items_left_ = field.payload;
    if (items_left_ > 0) place_ = Place::kItems;
    return field.head;
  }
  if (field.payload > max_bytes_) return TooLarge("a field", field.payload, max_bytes_);
  if (bytes.size() < field.End()) return std::size_t{0};
  const std::string_view payload = bytes.substr(field.head, field.payload);
  if (field.number == kType && field.type == kBytes) {
    if (const auto taken = TakeType(payload); !taken) return taken.error();
  } else if (field.number == kObject && field.type == kBytes) {
    seen_object_ = true;
    list_.object.assign(payload);
  }
  return static_cast<std::size_t>(field.End());
}

base::Result<void> ListSplitter::TakeType(std::string_view type_meta) {
  constexpr std::uint32_t kKind = 2;
  while (!type_meta.empty()) {
    const auto extent = ReadExtent(type_meta);
    if (!extent) return extent.error();
    if (!*extent || (*extent)->End() > type_meta.size()) return Malformed("its kind is cut off");
    if ((*extent)->number == kKind && (*extent)->type == kBytes) {
      list_.kind.assign(type_meta.substr((*extent)->head, (*extent)->payload));
    }
    type_meta.remove_prefix((*extent)->End());
  }
  return {};
}

base::Result<std::size_t> ListSplitter::StepItems(std::string_view bytes, const MessageSink& item) {
  constexpr std::uint32_t kMeta = 1;
  constexpr std::uint32_t kItem = 2;
  const auto extent = ReadExtent(bytes);
  if (!extent) return extent.error();
  if (!*extent) return std::size_t{0};
  const Extent& field = **extent;
  if (field.End() > items_left_) return Malformed("a field reaches beyond its list");
  if (field.payload > max_bytes_) return TooLarge("an item", field.payload, max_bytes_);
  if (bytes.size() < field.End()) return std::size_t{0};
  const std::string_view payload = bytes.substr(field.head, field.payload);
  if (field.number == kItem && field.type == kBytes) {
    if (const auto taken = item(payload); !taken) return taken.error();
  } else if (field.number == kMeta && field.type == kBytes) {
    list_.meta.assign(payload);
  }
  items_left_ -= field.End();
  if (items_left_ == 0) place_ = Place::kEnvelope;
  return static_cast<std::size_t>(field.End());
}

base::Result<ListSplitter::List> ListSplitter::Finish() const {
  if (!rest_.empty() || place_ != Place::kEnvelope || !seen_object_) {
    return Malformed("the list ends early");
  }
  return list_;
}

}  // namespace protobuf
