#include "pkg/http/message.h"

#include <algorithm>

namespace http {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

}  // namespace

void Headers::Add(std::string_view name, std::string_view value) {
  fields_.emplace_back(name, value);
}

void Headers::Set(std::string_view name, std::string_view value) {
  const auto same = [name](const auto& field) { return SameName(field.first, name); };
  const auto first = std::find_if(fields_.begin(), fields_.end(), same);
  if (first == fields_.end()) return Add(name, value);
  first->second = value;
  fields_.erase(std::remove_if(std::next(first), fields_.end(), same), fields_.end());
}

void Headers::Remove(std::string_view name) {
  std::erase_if(fields_, [name](const auto& field) { return SameName(field.first, name); });
}

std::string_view Headers::Get(std::string_view name) const {
  for (const auto& field : fields_) {
    if (SameName(field.first, name)) return field.second;
  }
  return {};
}

bool Headers::Has(std::string_view name) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [name](const auto& field) { return SameName(field.first, name); });
}

}  // namespace http
