#include "tests/fuzz/growth.h"

#include <algorithm>
#include <optional>
#include <set>

#include "pkg/json/value.h"
#include "tests/fuzz/target.h"

namespace fuzz {
namespace {

// "a" and "b" to "a.b".
std::string MemberOf(std::string place, std::string_view name) {
  if (!place.empty()) place += ".";
  return place.append(name);
}

bool IsContainer(const json::Value& value) { return value.IsObject() || value.IsArray(); }

// The places of all objects and lists that have members.
void FindPlaces(const json::Value& value, const std::string& place, std::set<std::string>& places) {
  if (value.IsObject()) {
    if (!value.AsObject()->empty()) places.insert(place);
    for (const auto& [name, member] : *value.AsObject()) {
      FindPlaces(member, MemberOf(place, name), places);
    }
  } else if (value.IsArray()) {
    if (!value.AsArray()->empty()) places.insert(place);
    for (const json::Value& element : *value.AsArray()) FindPlaces(element, place + "[]", places);
  }
}

// Writes a value. The first container at `place` gets more members, until the text has `bytes`.
class Writer {
 public:
  Writer(std::string place, std::size_t bytes) : place_(std::move(place)), bytes_(bytes) {}

  std::string Text(const json::Value& value) {
    Append(value, "");
    return std::move(text_);
  }

 private:
  void Append(const json::Value& value, const std::string& place) {
    if (!IsContainer(value)) {
      text_ += json::Write(value);
      return;
    }
    const bool grows = !grown_ && place == place_;
    grown_ = grown_ || grows;
    value.IsObject() ? AppendObject(value, place, grows) : AppendArray(value, place, grows);
  }

  void AppendObject(const json::Value& value, const std::string& place, bool grows) {
    const json::Object& members = *value.AsObject();
    char separator = '{';
    for (const auto& [name, member] : members) {
      text_ += std::exchange(separator, ',');
      text_.append(json::Quote(name)).append(":");
      Append(member, MemberOf(place, name));
    }
    const std::string like = members.empty() ? "" : json::Write(members.begin()->second);
    for (int i = 0; grows && text_.size() < bytes_; ++i) {
      text_ += std::exchange(separator, ',');
      text_.append(json::Quote(members.begin()->first + std::to_string(i))).append(":" + like);
    }
    text_ += separator == '{' ? "{}" : "}";
  }

  void AppendArray(const json::Value& value, const std::string& place, bool grows) {
    const json::Array& elements = *value.AsArray();
    char separator = '[';
    for (const json::Value& element : elements) {
      text_ += std::exchange(separator, ',');
      Append(element, place + "[]");
    }
    for (int i = 0; grows && text_.size() < bytes_; ++i) {
      text_ += std::exchange(separator, ',');
      text_ += json::Write(Numbered(elements.front(), i));
    }
    text_ += separator == '[' ? "[]" : "]";
  }

  // Like the element, with another name.
  static json::Value Numbered(json::Value element, int number) {
    json::Value* const name = element.IsObject() ? element.AsObject()->Find("name") : &element;
    if (name != nullptr && name->IsString()) *name = *name->AsString() + std::to_string(number);
    return element;
  }

  const std::string place_;
  const std::size_t bytes_;
  bool grown_ = false;
  std::string text_;
};

void GrowText(std::string_view text, std::size_t bytes, std::vector<Grown>& all) {
  if (text.empty()) return;
  std::string whole;
  while (whole.size() < bytes) whole += text;
  all.push_back({"whole", std::move(whole)});
  const std::size_t middle = text.size() / 2;
  std::string byte(text.substr(0, middle));
  byte.append(bytes, text[middle]).append(text.substr(middle));
  all.push_back({"byte", std::move(byte)});
  if (text.find('\n') == std::string_view::npos) return;
  std::string lines;
  for (int i = 0; lines.size() < bytes; ++i) {
    for (std::string_view left = text; !left.empty();) {
      const std::size_t end = std::min(left.find('\n'), left.size());
      lines.append(left.substr(0, end)).append(std::to_string(i)).append("\n");
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  }
  all.push_back({"lines", std::move(lines)});
}

// `only`: as of Grow(), without the number of the part.
std::vector<Grown> GrowPart(std::string_view part, std::size_t bytes,
                            const std::optional<std::string_view>& only) {
  std::vector<Grown> all;
  const auto value = json::Parse(part);
  if (!value || !IsContainer(*value)) {
    GrowText(part, bytes, all);
    if (only) std::erase_if(all, [&](const Grown& grown) { return grown.place != *only; });
    return all;
  }
  std::set<std::string> places;
  FindPlaces(*value, "", places);
  for (const std::string& place : places) {
    if (!only || *only == place) all.push_back({place, Writer(place, bytes).Text(*value)});
  }
  return all;
}

}  // namespace

std::vector<Grown> Grow(std::string_view input, std::size_t bytes, std::string_view place) {
  std::vector<std::string_view> parts;
  for (std::string_view left = input;;) {
    const std::size_t end = left.find(kBetweenParts);
    parts.push_back(left.substr(0, end));
    if (end == std::string_view::npos) break;
    left.remove_prefix(end + kBetweenParts.size());
  }
  std::vector<Grown> all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string number = std::to_string(i + 1) + ":";
    std::optional<std::string_view> only;
    if (!place.empty() && !place.starts_with(number)) continue;
    if (!place.empty()) only = place.substr(number.size());
    for (Grown& grown : GrowPart(parts[i], bytes, only)) {
      std::string text;
      for (std::size_t part = 0; part < parts.size(); ++part) {
        if (part > 0) text += kBetweenParts;
        text += part == i ? std::string_view(grown.text) : parts[part];
      }
      all.push_back({number + grown.place, std::move(text)});
    }
  }
  return all;
}

}  // namespace fuzz
