// Our own, because yaml-cpp's emitter writes the string "1" as 1, and indents lists in a way that
// kubectl does not.

#include <algorithm>

#include "pkg/config/yaml.h"
#include "pkg/config/yaml_scalar.h"

namespace config {
namespace {

using json::Value;

bool IsPlainByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._/+-=@ ").find(c) != std::string_view::npos;
}

// True if `text` without quotes is read as the same string. When in doubt false: quotes do no harm.
bool IsPlain(std::string_view text) {
  const auto word = [](char c) { return IsPlainByte(c) && c != ' ' && c != '-' && c != '='; };
  if (text.empty() || !word(text.front()) || text.back() == ' ') return false;
  // An @ must not begin a plain scalar; three dots at its beginning end a document.
  if (text.front() == '@' || text.starts_with("...")) return false;
  if (!std::all_of(text.begin(), text.end(), IsPlainByte)) return false;
  const auto value = ResolveScalar(text);
  return value && value->IsString();
}

std::string Text(std::string_view text) {
  return IsPlain(text) ? std::string(text) : json::Quote(text);
}

class Writer {
 public:
  std::string Take() { return std::move(out_); }

  // After "key:" or "-": scalars and empty containers stay on the line, others begin on the next
  // one.
  void WriteBehind(const Value& value, std::size_t indent) {
    const json::Object* object = value.AsObject();
    const json::Array* array = value.AsArray();
    if (object != nullptr && !object->empty()) {
      out_ += '\n';
      WriteObject(*object, indent + 2, false);
    } else if (array != nullptr && !array->empty()) {
      out_ += '\n';
      WriteArray(*array, indent);
    } else {
      out_ += ' ';
      WriteInline(value);
    }
  }

  void WriteObject(const json::Object& object, std::size_t indent, bool first_in_place) {
    for (const auto& [name, value] : object) {
      if (!first_in_place) out_.append(indent, ' ');
      first_in_place = false;
      WriteKey(name, indent);
      WriteBehind(value, indent);
    }
  }

  void WriteArray(const json::Array& array, std::size_t indent) {
    for (const Value& value : array) {
      out_.append(indent, ' ').append("-");
      const json::Object* object = value.AsObject();
      if (object != nullptr && !object->empty()) {
        out_ += ' ';
        WriteObject(*object, indent + 2, true);
      } else if (value.IsArray() && !value.AsArray()->empty()) {
        out_ += '\n';
        WriteArray(*value.AsArray(), indent + 2);
      } else {
        out_ += ' ';
        WriteInline(value);
      }
    }
  }

  void WriteInline(const Value& value) {
    out_ += value.IsString() ? Text(*value.AsString()) : json::Write(value);
    out_ += '\n';
  }

 private:
  // YAML accepts a key of more than 1024 characters only if it is marked with "?". Who shows the
  // document may write an escape of ten characters for each character beyond ASCII, and for DEL.
  void WriteKey(std::string_view name, std::size_t indent) {
    constexpr std::size_t kLongest = 1000;
    constexpr std::size_t kEscape = 10;
    const std::string key = Text(name);
    const auto escapes = std::ranges::count_if(key, [](unsigned char c) { return c >= 0x7F; });
    if (key.size() + kEscape * static_cast<std::size_t>(escapes) > kLongest) {
      out_.append("? ").append(key).append("\n").append(indent, ' ').append(":");
    } else {
      out_.append(key).append(":");
    }
  }

  std::string out_;
};

}  // namespace

std::string WriteYaml(const Value& value) {
  Writer writer;
  const json::Object* object = value.AsObject();
  const json::Array* array = value.AsArray();
  if (object != nullptr && !object->empty()) {
    writer.WriteObject(*object, 0, false);
  } else if (array != nullptr && !array->empty()) {
    writer.WriteArray(*array, 0);
  } else {
    writer.WriteInline(value);
  }
  return writer.Take();
}

}  // namespace config
