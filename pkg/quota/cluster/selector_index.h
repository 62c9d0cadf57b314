#pragma once

// Finds the selectors that may match a set of labels, without trying all of them: most selectors
// require one value of one label. No I/O; not thread-safe.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "pkg/api/selector.h"
#include "pkg/quota/cluster/label_text.h"

namespace quota {

class SelectorIndex {
 public:
  // `name` is the owner's and must stay valid until it is removed with an equal selector.
  void Put(std::string_view name, const api::LabelSelector& selector);
  void Remove(std::string_view name, const api::LabelSelector& selector);
  // Passes the owner of each selector that may match once, in no particular order. Selectors that
  // are not passed do not match.
  void VisitCandidates(const LabelText& labels,
                       const std::function<void(std::string_view name)>& visit) const;

 private:
  using Names = std::set<std::string_view>;
  using ByText = std::map<std::string, Names, std::less<>>;
  void Change(std::string_view name, const api::LabelSelector& selector, bool adds);

  std::map<std::string, ByText, std::less<>> by_label_;  // by key, then by a required value
  ByText by_key_;                                        // that require the key, with any value
  Names others_;                                         // that may match without any label
};

}  // namespace quota
