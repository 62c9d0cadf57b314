#pragma once

// Finds JSON documents in a stream of bytes, wherever it is cut, without parsing them.
//
// DocumentSplitter: concatenated documents, as a watch sends them; white space between them, or
// none. ListSplitter: one list document {"kind":…,"metadata":{…},"items":[{…},{…}]}; hands out each
// element of `items` as soon as it is complete, and at the end the rest of the document without
// them, so that memory holds one item and not the list. Top-level members may come in any order.
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

// Follows strings and brackets through the bytes of one value, wherever they are cut.
class NestingScanner {
 public:
  // REQUIRES: the value is not complete, and its first byte opens an object, an array or a string.
  // How many of `bytes` belong to the value; all of them when it goes on behind them.
  std::size_t Scan(std::string_view bytes);
  // The last Scan() reached the value's end; the next one begins another.
  [[nodiscard]] bool Complete() const { return depth_ == 0 && !in_string_; }

 private:
  std::size_t ScanString(std::string_view bytes, std::size_t at);

  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

class DocumentSplitter {
 public:
  explicit DocumentSplitter(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  // Hands every document completed by `bytes` to `sink`. Errors: the sink's; kTooLarge; kMalformed
  // where a document begins with neither { nor [. After an error the splitter is unusable.
  base::Result<void> Feed(std::string_view bytes, const DocumentSink& sink);
  // True between documents: an end of the stream here is clean.
  [[nodiscard]] bool AtBoundary() const { return scanner_.Complete(); }

 private:
  std::size_t max_bytes_;
  std::size_t offset_ = 0;  // of the bytes not yet looked at, for messages
  std::string buffer_;      // the beginning of a document whose end has not come yet
  NestingScanner scanner_;
};

class ListSplitter {
 public:
  explicit ListSplitter(std::size_t max_item_bytes) : max_bytes_(max_item_bytes) {}
  // Errors: the sink's; kTooLarge; kMalformed where the bytes cannot be a list. After an error the
  // splitter is unusable.
  base::Result<void> Feed(std::string_view bytes, const DocumentSink& item);
  // The document with `"items":[]`, after the whole body was fed. Errors: kMalformed when the
  // document is not complete or no JSON object.
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
  // Each returns how many bytes it took; none only where it went to another place.
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
  std::size_t offset_ = 0;  // of the bytes not yet looked at, for messages
  Place place_ = Place::kBefore;
  NestingScanner scanner_;
  std::string envelope_;
  std::string item_;           // the beginning of an item whose end has not come yet
  std::size_t key_begin_ = 0;  // where in envelope_ the last key stands, with its quotes
  std::size_t key_end_ = 0;
  bool expect_key_ = true;  // the next string between the braces is a key
};

}  // namespace json
