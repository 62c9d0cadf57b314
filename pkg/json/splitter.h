#pragma once

// Finds JSON documents in a stream of bytes, wherever it is cut, without parsing them.
//
// DocumentSplitter: concatenated documents, as a watch sends them; white space between them, or none.
// ListSplitter: one list document {"kind":…,"metadata":{…},"items":[{…},{…}]}; hands out each element
// of `items` as soon as it is complete, and at the end the rest of the document without them, so that
// memory holds one item and not the list. Top-level members may come in any order.
//
// Both look at nesting and strings only; what they hand out may still fail to parse. Bounded: an
// element above `max_bytes` is an error (kTooLarge). One thread.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "pkg/base/error.h"

namespace json {

// Called with each complete document; an error ends the splitting and is returned from Feed().
using DocumentSink = std::function<base::Result<void>(std::string_view)>;

class DocumentSplitter {
 public:
  explicit DocumentSplitter(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  // Hands every document completed by `bytes` to `sink`. After an error the splitter is unusable.
  base::Result<void> Feed(std::string_view bytes, const DocumentSink& sink);
  // True between documents: an end of the stream here is clean.
  [[nodiscard]] bool AtBoundary() const { return buffer_.empty() && depth_ == 0; }

 private:
  std::size_t max_bytes_;
  std::string buffer_;  // the beginning of a document whose end has not come yet
  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

class ListSplitter {
 public:
  explicit ListSplitter(std::size_t max_item_bytes) : max_bytes_(max_item_bytes) {}
  base::Result<void> Feed(std::string_view bytes, const DocumentSink& item);
  // The document with `"items":[]`, after the whole body was fed. Errors: kMalformed when the
  // document is not complete or no JSON object.
  [[nodiscard]] base::Result<std::string> Envelope() const;

 private:
  base::Result<void> Step(char c, const DocumentSink& item);

  std::size_t max_bytes_;
  std::string envelope_;
  std::string item_;
  std::string key_;             // the last string at depth 1
  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool key_complete_ = false;   // a colon followed key_
  bool in_items_ = false;       // inside the array `items` of depth 1
};

}  // namespace json
