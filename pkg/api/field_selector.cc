#include <algorithm>

#include "pkg/api/selector.h"

namespace api {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

Error BadField(std::string message) {
  return {.code = ErrorCode::kInvalidArgument, .message = std::move(message)};
}

// Returns the length of the first term of `text`: it ends at an unescaped comma.
std::size_t TermLength(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == ',') {
      return at;
    }
  }
  return text.size();
}

Result<std::string> Unescape(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      if (++at == text.size() ||
          std::string_view("\\,=").find(text[at]) == std::string_view::npos) {
        return BadField("invalid field selector: invalid escape sequence in '" + std::string(text) +
                        "'");
      }
    } else if (text[at] == ',' || text[at] == '=') {
      return BadField("invalid field selector: unescaped '" + std::string(1, text[at]) +
                      "' in value '" + std::string(text) + "'");
    }
    plain += text[at];
  }
  return plain;
}

Result<FieldRequirement> ParseTerm(std::string_view selector, std::string_view term) {
  const std::size_t sign = term.find('=');
  if (sign == std::string_view::npos || sign == 0 || (sign == 1 && term.front() == '!')) {
    return BadField("invalid selector: '" + std::string(selector) + "'; can't understand '" +
                    std::string(term) + "'");
  }
  FieldRequirement requirement;
  requirement.equal = term[sign - 1] != '!';
  requirement.field = term.substr(0, requirement.equal ? sign : sign - 1);
  std::string_view value = term.substr(sign + 1);
  if (requirement.equal && value.starts_with('=')) value.remove_prefix(1);
  auto plain = Unescape(value);
  if (!plain) return plain.error();
  requirement.value = std::move(*plain);
  return requirement;
}

}  // namespace

Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  FieldSelector selector;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view term = rest.substr(0, TermLength(rest));
    rest.remove_prefix(std::min(term.size() + 1, rest.size()));
    // As upstream: an empty term requires nothing.
    if (term.empty()) continue;
    auto requirement = ParseTerm(text, term);
    if (!requirement) return requirement.error();
    selector.requirements_.push_back(std::move(*requirement));
  }
  return selector;
}

bool FieldSelector::Matches(const std::function<std::string(std::string_view)>& field) const {
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const FieldRequirement& requirement) {
                       return (field(requirement.field) == requirement.value) == requirement.equal;
                     });
}

}  // namespace api
