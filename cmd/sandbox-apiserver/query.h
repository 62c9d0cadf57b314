#pragma once

// Selection of objects for lists and watches: the query parameters, raw and parsed. Values; any
// thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "pkg/api/selector.h"
#include "pkg/json/value.h"

namespace sandbox {

using ObjectPtr = std::shared_ptr<const json::Value>;

struct ListQuery {
  std::string ns;  // "" = all
  std::string label_selector;
  std::string field_selector;
  std::int64_t limit = 0;
  std::string continue_token;
  std::string resource_version;
  std::string resource_version_match;
  bool has_send_initial_events = false;
};

struct ListPage {
  std::vector<ObjectPtr> items;
  std::uint64_t resource_version = 0;
  std::string continue_token;             // "" on the last page
  std::optional<std::int64_t> remaining;  // remainingItemCount
};

struct WatchQuery {
  std::string ns;
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;
  std::string resource_version_match;
  std::optional<bool> send_initial_events;  // the watch-list form, if given
};

// Whether the parameters may be combined. Errors: 422, and 400 for a version beside a token.
Outcome<void> CheckQuery(const ListQuery& query);
Outcome<void> CheckQuery(const WatchQuery& query);

// Namespace and selectors, parsed: matches objects of one type.
class Selection {
 public:
  // Errors: 400 for a malformed selector or an unsupported field label.
  static Outcome<Selection> Make(const ResourceType& type, std::string_view ns,
                                 std::string_view label_selector, std::string_view field_selector);
  [[nodiscard]] bool Matches(const json::Value& object) const;
  [[nodiscard]] bool HasSelectors() const { return has_selectors_; }
  [[nodiscard]] const std::string& ns() const { return ns_; }

 private:
  std::string ns_;
  api::LabelSelector labels_;
  api::FieldSelector fields_;
  bool has_selectors_ = false;
};

// The text of the field that a field selector names ("spec.nodeName"), "" if it is not set.
std::string FieldText(const json::Value& object, std::string_view field);
// True if objects of this type can be selected by the field.
bool SupportsField(const ResourceType& type, std::string_view field);

// Continue tokens: the start of the next page, and the version of all pages (0: inconsistent pages,
// each of the current version).
struct ContinueToken {
  std::uint64_t resource_version = 0;
  std::string start_key;  // the first key of the next page is greater than this
};
std::string EncodeToken(const ContinueToken& token);
Outcome<ContinueToken> DecodeToken(std::string_view text);

// Parses a resourceVersion parameter. "" gives nullopt. Errors: 400 with upstream's text if it is
// not a number.
Outcome<std::optional<std::uint64_t>> ParseVersion(std::string_view text);

}  // namespace sandbox
