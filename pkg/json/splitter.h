#pragma once

// Finds JSON documents in a stream of bytes without parsing them. The stream may be cut anywhere.
//
// DocumentSplitter: concatenated documents, as a watch sends them, with or without white space
// between them. ListSplitter: one list document {"kind":…,"metadata":{…},"items":[{…},{…}]}. It
// passes on each element of `items` as soon as it is complete, and at the end the rest of the
// document, so that memory holds one item, not the list. Top-level members may come in any order.
//
// Both only follow nesting and strings, so what they pass on may still fail to parse. They can
// leave that to another Scanner, which must outlive them, so that a document is read while it is
// split (pkg/json/skimmer.h). An element above `max_bytes` is an error (kTooLarge). One thread.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "pkg/base/error.h"
#include "pkg/json/nesting.h"

namespace json {

// Called with each complete document. An error ends the splitting, and Feed() returns it.
using DocumentSink = std::function<base::Result<void>(std::string_view)>;

class DocumentSplitter {
 public:
  explicit DocumentSplitter(std::size_t max_bytes, Scanner* documents = nullptr)
      : max_bytes_(max_bytes), documents_(documents) {}
  // Passes every document that `bytes` completes to `sink`. Errors: those of the sink; kTooLarge;
  // kMalformed if a document begins with neither { nor [. After an error the splitter is unusable.
  base::Result<void> Feed(std::string_view bytes, const DocumentSink& sink);
  // True between documents: the stream may end here.
  [[nodiscard]] bool AtBoundary() const {
    return documents_ != nullptr ? documents_->Complete() : scanner_.Complete();
  }

 private:
  [[nodiscard]] Scanner& scanner() { return documents_ != nullptr ? *documents_ : scanner_; }

  std::size_t max_bytes_;
  Scanner* documents_;
  NestingScanner scanner_;  // if there is no other
  std::size_t offset_ = 0;  // of the next byte to scan, for messages
  std::string buffer_;      // the beginning of an incomplete document
};

class ListSplitter {
 public:
  explicit ListSplitter(std::size_t max_item_bytes, Scanner* items = nullptr)
      : max_bytes_(max_item_bytes), items_(items) {}
  // Errors: those of the sink; kTooLarge; kMalformed if the bytes cannot be a list. After an error
  // the splitter is unusable.
  base::Result<void> Feed(std::string_view bytes, const DocumentSink& item);
  // Returns the document with `"items":[]`; call after the whole body was fed. Errors: kMalformed
  // if the document is incomplete or not a JSON object.
  [[nodiscard]] base::Result<std::string> Envelope() const;

 private:
  enum class Place {
    kBefore,      // the document has not begun
    kMembers,     // between the braces of the document
    kKey,         // in the name of a member
    kValue,       // in the value of a member that is not the array of items
    kFirstItem,   // right after the [ of items
    kNextItem,    // after a comma in items
    kAfterItem,   // after an item
    kItem,        // in an item that is an object, an array or a string
    kScalarItem,  // in any other item
    kAfter,       // the document is complete
  };
  // Each returns how many bytes it consumed: at least one, unless it changed place_.
  base::Result<std::size_t> Step(std::string_view bytes, const DocumentSink& item);
  base::Result<std::size_t> StepMembers(char c);
  base::Result<std::size_t> StepBetweenItems(char c);
  base::Result<std::size_t> StepNested(std::string_view bytes);
  base::Result<std::size_t> StepItem(std::string_view bytes, const DocumentSink& item);
  base::Result<std::size_t> StepScalarItem(std::string_view bytes, const DocumentSink& item);
  base::Result<void> FinishItem(std::string_view tail, const DocumentSink& item);
  base::Result<void> Keep(std::string& kept, std::string_view bytes) const;
  [[nodiscard]] bool AtItems() const;
  [[nodiscard]] base::Error Unexpected(char c) const;

  std::size_t max_bytes_;
  std::size_t offset_ = 0;  // of the next byte to scan, for messages
  Place place_ = Place::kBefore;
  Scanner* items_;
  NestingScanner scanner_;  // of all else, and of items if there is no other
  std::string envelope_;
  std::string item_;           // the beginning of an incomplete item
  std::size_t key_begin_ = 0;  // where the last key begins in envelope_, with its quotes
  std::size_t key_end_ = 0;
  bool expect_key_ = true;  // the next string between the braces is a key
};

}  // namespace json
