#pragma once

// Cuts the body of a list or a watch into objects and events, in whichever form it comes: the first
// byte tells. A JSON document begins with a bracket or white space, an enveloped protobuf list with
// its magic, a frame of a protobuf watch with the high byte of its length, which is next to
// nothing.
//
// Bounds and errors as in pkg/json/splitter.h. One thread.

#include <functional>
#include <string_view>
#include <variant>

#include "informers/object_decoder.h"
#include "pkg/json/splitter.h"
#include "pkg/protobuf/splitter.h"

namespace informers {

using PieceSink = std::function<base::Result<void>(WireForm form, std::string_view bytes)>;

class WatchSplitter {
 public:
  explicit WatchSplitter(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  // Hands every event completed by `bytes` to `sink`.
  base::Result<void> Feed(std::string_view bytes, const PieceSink& sink);
  // True between events: an end of the stream here is clean.
  [[nodiscard]] bool AtBoundary() const;

 private:
  std::size_t max_bytes_;
  std::variant<std::monostate, json::DocumentSplitter, protobuf::FrameSplitter> splitter_;
};

class ListSplitter {
 public:
  explicit ListSplitter(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  // Hands every object completed by `bytes` to `sink`.
  base::Result<void> Feed(std::string_view bytes, const PieceSink& sink);
  // What is left of the whole list without its items: as JSON {"kind":…,"metadata":…,"items":[]},
  // whatever the form was; a Status is itself. Errors: kMalformed when the list is not complete.
  [[nodiscard]] base::Result<std::string> Envelope() const;

 private:
  std::size_t max_bytes_;
  std::variant<std::monostate, json::ListSplitter, protobuf::ListSplitter> splitter_;
};

}  // namespace informers
