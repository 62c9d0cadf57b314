#pragma once

// Decodes the wanted fields of large documents while their bytes arrive, in one pass: for a
// DocumentSplitter or a ListSplitter it finds the end of each document, and meanwhile it copies the
// text of the wanted members into a small document, which is then parsed. Unwanted members are
// skipped by matching brackets and quotes, many bytes at a time; mistakes in them go unnoticed. For
// a correct document the result is that of ParseProjected(). Any other ends where it ends for a
// NestingScanner.
//
// One thread.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/json/bounded_lists.h"
#include "pkg/json/nesting.h"
#include "pkg/json/projection.h"
#include "pkg/json/value.h"

namespace json {

class Skimmer final : public Scanner {
 public:
  // The projection must outlive it.
  explicit Skimmer(const Projection& projection, ParseLimits limits = {})
      : projection_(projection), limits_(limits), lists_(limits.list_elements) {
    limits_.cuts_deeper = true;  // as in ParseProjected()
  }

  std::size_t Scan(std::string_view bytes) override;
  [[nodiscard]] bool Complete() const override { return place_ == Place::kEnd; }

  // Returns the wanted fields of the document that Scan() completed last; without one, reads `text`
  // now. `text` is the whole document, which is only read again to say what is wrong with it, or if
  // the name of a member is written with escapes. Errors: as in ParseProjected().
  base::Result<Value> Take(std::string_view text);

 private:
  using Node = Projection::Node;

  enum class Place {
    kEnd,           // between documents
    kValue,         // before a value
    kFirstElement,  // after [
    kFirstName,     // after {
    kName,          // after a comma in an object
    kColon,         // after a name
    kNext,          // after a value in an object or an array
    kInName,        // the scanner is in a name
    kInScalar,      // in a value that is no object, no array and no string
    kInValue,       // the scanner is in a value that is copied or skipped as one
    kUnclear,       // the scanner looks for the end of a document that needs the parser
  };
  struct Open {
    const Node* node;
    bool array;
    std::size_t copied_to;  // where it begins in out_
  };

  void Begin();
  std::size_t Step(std::string_view bytes, std::size_t at);
  std::size_t FollowToken(std::string_view bytes, std::size_t at);
  std::size_t FollowScalar(std::string_view bytes, std::size_t at);
  std::size_t BeginValue(std::string_view bytes, std::size_t at);
  std::size_t Close(std::size_t at);
  void EndName(std::string_view quoted);
  void EndValue();
  std::size_t GiveUp(std::size_t at);
  void Copy(std::string_view text);
  std::size_t LeaveOutList(std::size_t at);

  const Projection& projection_;
  ParseLimits limits_;
  Place place_ = Place::kEnd;
  std::vector<Open> open_;  // whose members or elements are looked at
  BoundedLists lists_;
  const Node* next_ = nullptr;  // what is wanted of the next value; nullptr: nothing
  NestingScanner scanner_;
  std::string name_;  // the beginning of a name that was cut
  std::string out_;
  bool scanned_ = false;    // since the last Take()
  bool unclear_ = false;    // this is not clearly a document
  bool too_large_ = false;  // the wanted part exceeds the limit
};

}  // namespace json
