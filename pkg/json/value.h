#pragma once

// A JSON value. API objects that are handled whole are held as one (the sandbox, tests, small
// answers). The hot path of the informers decodes with pkg/json/projection.h instead.
//
// Numbers keep their text, so that 9007199254740993, 1e3 and 0.50 survive a round trip. Objects
// keep the order of their members. Names are unique; while parsing, the last value wins, as in Go.
// Values; any thread.

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pkg/base/error.h"

namespace json {

class Value;
using Array = std::vector<Value>;
using Member = std::pair<std::string, Value>;

struct Number {
  std::string text;  // as in the document, a valid JSON number
  bool operator==(const Number&) const = default;
};

// Members in document order. Look-ups are linear, and so is Set(): API objects have few members per
// level. Maps of API objects can have tens of thousands: whoever decodes one collects its members,
// and calls FromMembers() once.
class Object {
 public:
  Object() = default;
  Object(std::initializer_list<Member> members);
  // Of members with the same name, the last value wins, at the position of the first. Costs O(n) if
  // the names ascend, as API servers write maps, and O(n log n) otherwise.
  static Object FromMembers(std::vector<Member> members);
  [[nodiscard]] const Value* Find(std::string_view name) const;
  [[nodiscard]] Value* Find(std::string_view name);
  // Returns the member; adds it as null at the end if it is absent.
  Value& operator[](std::string_view name);
  void Set(std::string_view name, Value value);
  bool Erase(std::string_view name);  // true if it was there
  [[nodiscard]] bool Contains(std::string_view name) const { return Find(name) != nullptr; }
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }
  // Names must not be changed through these iterators: they would no longer be unique.
  [[nodiscard]] std::vector<Member>::const_iterator begin() const;
  [[nodiscard]] std::vector<Member>::const_iterator end() const;
  [[nodiscard]] std::vector<Member>::iterator begin();
  [[nodiscard]] std::vector<Member>::iterator end();
  // Equal whatever the order of members. Costs as FromMembers().
  bool operator==(const Object& other) const;

 private:
  std::vector<Member> members_;
};

class Value {
 public:
  Value() = default;                                             // null
  Value(std::nullptr_t) {}                                       // NOLINT: literals read as JSON
  Value(bool value) : data_(value) {}                            // NOLINT
  Value(int value) : Value(static_cast<std::int64_t>(value)) {}  // NOLINT
  Value(std::int64_t value) : data_(Number{std::to_string(value)}) {}   // NOLINT
  Value(std::uint64_t value) : data_(Number{std::to_string(value)}) {}  // NOLINT
  Value(double value);                                          // NOLINT; null if not finite
  Value(const char* value) : data_(std::string(value)) {}       // NOLINT
  Value(std::string_view value) : data_(std::string(value)) {}  // NOLINT
  Value(std::string value) : data_(std::move(value)) {}         // NOLINT
  Value(Number value) : data_(std::move(value)) {}              // NOLINT
  Value(Array value);                                           // NOLINT
  Value(Object value);                                          // NOLINT

  [[nodiscard]] bool IsNull() const { return std::holds_alternative<std::monostate>(data_); }
  [[nodiscard]] bool IsBool() const { return std::holds_alternative<bool>(data_); }
  [[nodiscard]] bool IsNumber() const { return std::holds_alternative<Number>(data_); }
  [[nodiscard]] bool IsString() const { return std::holds_alternative<std::string>(data_); }
  [[nodiscard]] bool IsArray() const { return std::holds_alternative<Array>(data_); }
  [[nodiscard]] bool IsObject() const { return std::holds_alternative<Object>(data_); }
  // "null", "boolean", "number", "string", "array" or "object", for messages.
  [[nodiscard]] std::string_view TypeName() const;

  // The content; nullptr or nullopt if it is of another type.
  [[nodiscard]] const std::string* AsString() const { return std::get_if<std::string>(&data_); }
  [[nodiscard]] const Array* AsArray() const { return std::get_if<Array>(&data_); }
  [[nodiscard]] Array* AsArray() { return std::get_if<Array>(&data_); }
  [[nodiscard]] const Object* AsObject() const { return std::get_if<Object>(&data_); }
  [[nodiscard]] Object* AsObject() { return std::get_if<Object>(&data_); }
  [[nodiscard]] const Number* AsNumber() const { return std::get_if<Number>(&data_); }
  [[nodiscard]] std::optional<bool> AsBool() const;
  // nullopt also for a number that is not an integer of 64 bits ("1.0" and "1e3" are not).
  [[nodiscard]] std::optional<std::int64_t> AsInt64() const;
  [[nodiscard]] std::optional<double> AsDouble() const;

  // The member at this path ({"metadata", "name"}); nullptr if any step is absent.
  [[nodiscard]] const Value* At(std::initializer_list<std::string_view> path) const;
  // The string at this path; "" if it is absent or not a string.
  [[nodiscard]] std::string_view StringAt(std::initializer_list<std::string_view> path) const;
  // The array at this path; an empty one if it is absent or not an array.
  [[nodiscard]] const Array& ArrayAt(std::initializer_list<std::string_view> path) const;
  // Returns the member at this path. Makes this value an object if it is not one, and adds absent
  // members on the way.
  Value& Make(std::initializer_list<std::string_view> path);

  // Deep equality. Numbers are equal if their values are ("1", "1.0", "1e0").
  bool operator==(const Value& other) const;

 private:
  std::variant<std::monostate, bool, Number, std::string, Array, Object> data_;
};

inline std::size_t Object::size() const { return members_.size(); }
inline std::vector<Member>::const_iterator Object::begin() const { return members_.begin(); }
inline std::vector<Member>::const_iterator Object::end() const { return members_.end(); }
inline std::vector<Member>::iterator Object::begin() { return members_.begin(); }
inline std::vector<Member>::iterator Object::end() { return members_.end(); }

struct ParseLimits {
  std::size_t depth = 200;  // deeper nesting is refused, to bound the stack
  // What is nested deeper is not refused, but read as null.
  bool cuts_deeper = false;
  // Bounds the memory of the values: two bytes of text ("0,") can become 72 bytes.
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
  std::size_t list_elements = 10'000;  // of a list that a projection bounds (projection.h)
};

// Parses one JSON document with optional white space around it. Errors: kMalformed with the reason
// and the offset; kTooLarge beyond `limits.bytes`.
base::Result<Value> Parse(std::string_view text, ParseLimits limits = {});

// Bytes of memory that the value takes, including everything below it.
std::size_t SizeInMemory(const Value& value);

// Compact, members in order. Invalid UTF-8 bytes become U+FFFD.
std::string Write(const Value& value);
// Indented by four blanks, as an API server answers to `?pretty=true`.
std::string WritePretty(const Value& value);

// Returns `text` as a JSON string with quotes.
std::string Quote(std::string_view text);

}  // namespace json
