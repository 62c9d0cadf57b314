#pragma once

// Finds protobuf messages in a stream of bytes that may be cut anywhere; the counterpart of
// pkg/json/splitter.h.
//
// FrameSplitter: frames of a watch, each after its length in four bytes. ListSplitter: one
// enveloped list; passes on each element of `items` as soon as it is complete, so that memory holds
// one item, not the list. A frame or an item above `max_bytes` is an error (kTooLarge). One thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/base/error.h"

namespace protobuf {

// Called with each complete message. An error ends the splitting, and Feed() returns it.
using MessageSink = std::function<base::Result<void>(std::string_view)>;

class FrameSplitter {
 public:
  explicit FrameSplitter(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  // Errors: those of the sink; kTooLarge. After an error the splitter is unusable.
  base::Result<void> Feed(std::string_view bytes, const MessageSink& sink);
  // True between frames: the stream may end here.
  [[nodiscard]] bool AtBoundary() const { return rest_.empty(); }
  // The bytes of memory for the beginning of an incomplete frame.
  [[nodiscard]] std::size_t capacity() const { return rest_.capacity(); }

 private:
  base::Result<std::size_t> TakeFrame(std::string_view bytes, const MessageSink& sink) const;

  std::size_t max_bytes_;
  std::string rest_;  // the beginning of an incomplete frame
};

class ListSplitter {
 public:
  explicit ListSplitter(std::size_t max_item_bytes) : max_bytes_(max_item_bytes) {}
  // Errors: those of the sink; kTooLarge; kMalformed if the bytes cannot be a list. After an error
  // the splitter is unusable.
  base::Result<void> Feed(std::string_view bytes, const MessageSink& item);

  struct List {
    std::string kind;    // "PodList", or "Status"
    std::string meta;    // the bytes of its ListMeta
    std::string object;  // the bytes of a Status
  };
  // Call after the whole body was fed. Errors: kMalformed if the list is incomplete.
  [[nodiscard]] base::Result<List> Finish() const;

 private:
  enum class Place { kStart, kEnvelope, kItems };
  // Each returns how many bytes it consumed; 0: it needs more.
  base::Result<std::size_t> Step(std::string_view bytes, const MessageSink& item);
  base::Result<std::size_t> StepMagic(std::string_view bytes);
  base::Result<std::size_t> StepEnvelope(std::string_view bytes);
  base::Result<std::size_t> StepItems(std::string_view bytes, const MessageSink& item);
  base::Result<void> TakeType(std::string_view type_meta);

  std::size_t max_bytes_;
  Place place_ = Place::kStart;
  bool seen_object_ = false;
  std::uint64_t items_left_ = 0;  // bytes of the list that are still to come
  List list_;
  std::string rest_;  // the beginning of an incomplete field
};

}  // namespace protobuf
