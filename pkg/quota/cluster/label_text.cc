#include "pkg/quota/cluster/label_text.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace quota {
namespace {

constexpr char kEndOfKey = '=';
constexpr char kEndOfValue = ',';
// In place of a value that is none. It is none either, so no selector names it.
constexpr std::string_view kNoValue = "?";

using Label = std::pair<std::string_view, std::string_view>;

// An API server accepts neither sign in a label.
bool HasSign(std::string_view text) {
  return text.find(kEndOfKey) != std::string_view::npos ||
         text.find(kEndOfValue) != std::string_view::npos;
}

// The first label of the text.
Label First(std::string_view text) {
  const std::size_t key = text.find(kEndOfKey);
  return {text.substr(0, key), text.substr(key + 1, text.find(kEndOfValue, key) - key - 1)};
}

// The length of the label with its signs.
std::size_t LengthOf(const Label& label) { return label.first.size() + label.second.size() + 2; }

}  // namespace

LabelText::LabelText(const json::Value* labels) {
  const json::Object* const object = labels != nullptr ? labels->AsObject() : nullptr;
  if (object == nullptr) return;
  std::vector<Label> sorted;
  sorted.reserve(object->size());
  std::size_t length = 0;
  for (const auto& [key, value] : *object) {
    const std::string* const text = value.AsString();
    if (text == nullptr || HasSign(key)) continue;  // no selector names such a key
    sorted.emplace_back(key, HasSign(*text) ? kNoValue : *text);
    length += LengthOf(sorted.back());
  }
  std::ranges::sort(sorted);
  text_.reserve(length);
  for (const auto& [key, value] : sorted) {
    text_.append(key).append(1, kEndOfKey).append(value).append(1, kEndOfValue);
  }
}

std::optional<std::string_view> LabelText::Find(std::string_view key) const {
  std::string_view rest = text_;  // a label that is there is in here
  while (!rest.empty()) {
    const std::string_view before = rest.substr(0, rest.size() / 2);
    const std::size_t end = before.rfind(kEndOfValue);
    const std::size_t begin = end == std::string_view::npos ? 0 : end + 1;
    const Label label = First(rest.substr(begin));
    if (label.first == key) return label.second;
    if (label.first < key) {
      rest.remove_prefix(begin + LengthOf(label));
    } else {
      rest = rest.substr(0, begin);
    }
  }
  return std::nullopt;
}

void LabelText::Visit(
    const std::function<void(std::string_view key, std::string_view value)>& visit) const {
  for (std::string_view rest = text_; !rest.empty();) {
    const Label label = First(rest);
    visit(label.first, label.second);
    rest.remove_prefix(LengthOf(label));
  }
}

}  // namespace quota
