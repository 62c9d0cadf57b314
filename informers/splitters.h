#pragma once

// Splits the body of a list or a watch into objects and events. The first byte tells the format:
// JSON begins with a bracket or white space, a protobuf list with the magic of its envelope, and a
// frame of a protobuf watch with the high byte of its length, which is below 9.
//
// With a skimmer, JSON is decoded while it is split: the skimmer has read what is passed on, and
// must outlive the splitter. Bounds and errors as in pkg/json/splitter.h. One thread.

#include <functional>
#include <string_view>
#include <variant>

#include "informers/object_decoder.h"
#include "pkg/json/skimmer.h"
#include "pkg/json/splitter.h"
#include "pkg/protobuf/splitter.h"

namespace informers {

using PieceSink = std::function<base::Result<void>(WireForm form, std::string_view bytes)>;

class WatchSplitter {
 public:
  explicit WatchSplitter(std::size_t max_bytes, json::Skimmer* skimmer = nullptr)
      : max_bytes_(max_bytes), skimmer_(skimmer) {}
  // Passes every event that `bytes` completes to `sink`.
  base::Result<void> Feed(std::string_view bytes, const PieceSink& sink);
  // True between events: the stream may end here.
  [[nodiscard]] bool AtBoundary() const;

 private:
  std::size_t max_bytes_;
  json::Skimmer* skimmer_;
  std::variant<std::monostate, json::DocumentSplitter, protobuf::FrameSplitter> splitter_;
};

class ListSplitter {
 public:
  explicit ListSplitter(std::size_t max_bytes, json::Skimmer* skimmer = nullptr)
      : max_bytes_(max_bytes), skimmer_(skimmer) {}
  // Passes every object that `bytes` completes to `sink`.
  base::Result<void> Feed(std::string_view bytes, const PieceSink& sink);
  // Returns the list without its items, always as JSON: {"kind":…,"metadata":…,"items":[]}. A
  // Status is returned whole. Errors: kMalformed if the list is incomplete.
  [[nodiscard]] base::Result<std::string> Envelope() const;

 private:
  std::size_t max_bytes_;
  json::Skimmer* skimmer_;
  std::variant<std::monostate, json::ListSplitter, protobuf::ListSplitter> splitter_;
};

}  // namespace informers
