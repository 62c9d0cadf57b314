#include "pkg/json/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace json {
namespace {

// A JSON number as sign · 0.digits · 10^exponent, with digits neither beginning nor ending in 0, so
// that equal numbers have equal parts. Zero has no digits, no sign and exponent 0.
struct Normal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;
  bool operator==(const Normal&) const = default;
};

std::int64_t ExponentOf(std::string_view text) {
  if (text.empty()) return 0;
  text.remove_prefix(1);  // the e
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  std::int64_t exponent = 0;
  // An exponent beyond 64 bits is as good as the largest one: no quantity is that large.
  const auto end = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (end.ec != std::errc::result_out_of_range) return exponent;
  return (text.front() == '-' ? -1 : 1) * (std::int64_t{1} << 62);
}

Normal Normalise(std::string_view text) {
  Normal normal;
  normal.negative = text.starts_with('-');
  if (normal.negative) text.remove_prefix(1);
  const std::size_t mantissa_end = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, mantissa_end);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  normal.digits = mantissa.substr(0, point);
  if (point < mantissa.size()) normal.digits += mantissa.substr(point + 1);
  const std::size_t first = normal.digits.find_first_not_of('0');
  if (first == std::string::npos) return {};
  normal.digits.erase(normal.digits.find_last_not_of('0') + 1);
  normal.digits.erase(0, first);
  normal.exponent = ExponentOf(text.substr(mantissa_end)) + static_cast<std::int64_t>(point) -
                    static_cast<std::int64_t>(first);
  return normal;
}

bool SameNumber(const Number& a, const Number& b) {
  return a.text == b.text || Normalise(a.text) == Normalise(b.text);
}

template <typename T>
std::optional<T> FromChars(const std::string& text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

// Up to this number, comparing all pairs is faster than sorting.
constexpr std::size_t kFewMembers = 24;

bool HasDuplicate(const std::vector<Member>& members) {
  for (std::size_t i = 1; i < members.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (members[i].first == members[j].first) return true;
    }
  }
  return false;
}

bool Ascends(const std::vector<Member>& members) {
  return std::ranges::adjacent_find(members, std::greater_equal<>(), &Member::first) ==
         members.end();
}

bool AreUnique(const std::vector<Member>& members) {
  return Ascends(members) || (members.size() <= kFewMembers && !HasDuplicate(members));
}

// The places of the members by name, and of the same name by place. Sorted, not hashed: strangers
// choose the names, and could choose them so that all hashes collide.
std::vector<std::size_t> PlacesByName(const std::vector<Member>& members) {
  std::vector<std::size_t> places(members.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, [&](std::size_t a, std::size_t b) {
    const int order = members[a].first.compare(members[b].first);
    return order != 0 ? order < 0 : a < b;
  });
  return places;
}

// Moves the last value of each name to the first member with the name, and removes the others.
void KeepLastOfEachName(std::vector<Member>& members) {
  const std::vector<std::size_t> places = PlacesByName(members);
  std::vector<bool> superfluous(members.size());
  for (std::size_t i = 0, first = 0; i < places.size(); ++i) {
    if (members[places[i]].first != members[places[first]].first) first = i;
    if (i == first) continue;
    members[places[first]].second = std::move(members[places[i]].second);
    superfluous[places[i]] = true;
  }
  std::size_t place = 0;
  std::erase_if(members, [&](const Member&) { return superfluous[place++]; });
}

}  // namespace

Object Object::FromMembers(std::vector<Member> members) {
  if (!AreUnique(members)) KeepLastOfEachName(members);
  Object object;
  object.members_ = std::move(members);
  return object;
}

Object::Object(std::initializer_list<Member> members) {
  for (const Member& member : members) Set(member.first, member.second);
}

const Value* Object::Find(std::string_view name) const {
  for (const Member& member : members_) {
    if (member.first == name) return &member.second;
  }
  return nullptr;
}

Value* Object::Find(std::string_view name) {
  for (Member& member : members_) {
    if (member.first == name) return &member.second;
  }
  return nullptr;
}

Value& Object::operator[](std::string_view name) {
  if (Value* found = Find(name)) return *found;
  return members_.emplace_back(std::string(name), Value()).second;
}

void Object::Set(std::string_view name, Value value) { (*this)[name] = std::move(value); }

bool Object::Erase(std::string_view name) {
  return std::erase_if(members_, [&](const Member& member) { return member.first == name; }) > 0;
}

bool Object::operator==(const Object& other) const {
  if (size() != other.size()) return false;
  // Both mostly have the same order.
  const auto same_name = [](const Member& a, const Member& b) { return a.first == b.first; };
  if (std::ranges::equal(members_, other.members_, same_name)) return members_ == other.members_;
  const std::vector<std::size_t> ours = PlacesByName(members_);
  const std::vector<std::size_t> theirs = PlacesByName(other.members_);
  return std::ranges::equal(
      ours, theirs, [&](std::size_t a, std::size_t b) { return members_[a] == other.members_[b]; });
}

Value::Value(double value) {
  if (!std::isfinite(value)) return;
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value);
  data_ = Number{std::string(text, end.ptr)};
}

Value::Value(Array value) : data_(std::move(value)) {}
Value::Value(Object value) : data_(std::move(value)) {}

std::string_view Value::TypeName() const {
  constexpr std::string_view kNames[] = {"null", "boolean", "number", "string", "array", "object"};
  return kNames[data_.index()];
}

std::optional<bool> Value::AsBool() const {
  const bool* value = std::get_if<bool>(&data_);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<std::int64_t> Value::AsInt64() const {
  const Number* number = AsNumber();
  return number == nullptr ? std::nullopt : FromChars<std::int64_t>(number->text);
}

std::optional<double> Value::AsDouble() const {
  const Number* number = AsNumber();
  return number == nullptr ? std::nullopt : FromChars<double>(number->text);
}

const Value* Value::At(std::initializer_list<std::string_view> path) const {
  const Value* value = this;
  for (const std::string_view name : path) {
    const Object* object = value->AsObject();
    value = object == nullptr ? nullptr : object->Find(name);
    if (value == nullptr) return nullptr;
  }
  return value;
}

std::string_view Value::StringAt(std::initializer_list<std::string_view> path) const {
  const Value* value = At(path);
  const std::string* text = value == nullptr ? nullptr : value->AsString();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

const Array& Value::ArrayAt(std::initializer_list<std::string_view> path) const {
  static const Array none;
  const Value* value = At(path);
  const Array* array = value == nullptr ? nullptr : value->AsArray();
  return array == nullptr ? none : *array;
}

Value& Value::Make(std::initializer_list<std::string_view> path) {
  Value* value = this;
  if (!value->IsObject()) *value = Object();
  for (const std::string_view name : path) {
    if (!value->IsObject()) *value = Object();
    value = &(*value->AsObject())[name];
  }
  return *value;
}

std::size_t SizeInMemory(const Value& value) {
  std::size_t bytes = sizeof(Value);
  if (const std::string* text = value.AsString()) bytes += text->size();
  if (const Number* number = value.AsNumber()) bytes += number->text.size();
  if (const Array* array = value.AsArray()) {
    for (const Value& element : *array) bytes += SizeInMemory(element);
  }
  if (const Object* object = value.AsObject()) {
    for (const auto& [name, member] : *object) {
      bytes += sizeof(std::string) + name.size() + SizeInMemory(member);
    }
  }
  return bytes;
}

bool Value::operator==(const Value& other) const {
  const Number* number = AsNumber();
  if (number != nullptr && other.IsNumber()) return SameNumber(*number, *other.AsNumber());
  return data_ == other.data_;
}

}  // namespace json
