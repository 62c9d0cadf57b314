// The syntax of names: Kubernetes' rules, with its messages.

#include <algorithm>

#include "cmd/sandbox-apiserver/validation.h"

namespace sandbox {
namespace {

constexpr std::string_view kLabelText =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must "
    "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kSubdomainText =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kDns1035Text =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kNamePartText =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation "
    "is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kLabelValueText =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool IsLowerAlnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlnum(char c) { return IsLowerAlnum(c) || (c >= 'A' && c <= 'Z'); }

bool IsLabel(std::string_view text) {
  if (text.empty() || !IsLowerAlnum(text.front()) || !IsLowerAlnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return IsLowerAlnum(c) || c == '-'; });
}

bool IsSubdomain(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!IsLabel(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool IsNamePart(std::string_view text) {
  if (text.empty() || !IsAlnum(text.front()) || !IsAlnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

std::string TooLong(std::size_t bytes) {
  return "must be no more than " + std::to_string(bytes) + " bytes";
}

std::vector<std::string> Check(bool too_long, std::size_t limit, bool well_formed,
                               std::string_view text) {
  std::vector<std::string> wrong;
  if (too_long) wrong.push_back(TooLong(limit));
  if (!well_formed) wrong.emplace_back(text);
  return wrong;
}

std::vector<std::string> CheckNamePart(std::string_view name) {
  std::vector<std::string> wrong;
  if (name.empty()) {
    wrong.emplace_back("name part must be non-empty");
  } else if (name.size() > 63) {
    wrong.push_back("name part " + TooLong(63));
  }
  if (!IsNamePart(name)) wrong.push_back("name part " + std::string(kNamePartText));
  return wrong;
}

}  // namespace

std::vector<std::string> CheckDns1123Label(std::string_view text) {
  const bool only_dots = !IsLabel(text) && IsSubdomain(text);
  return Check(text.size() > 63, 63, IsLabel(text),
               only_dots ? "must not contain dots" : kLabelText);
}

std::vector<std::string> CheckDns1123Subdomain(std::string_view text) {
  return Check(text.size() > 253, 253, IsSubdomain(text), kSubdomainText);
}

std::vector<std::string> CheckDns1035Label(std::string_view text) {
  const bool begins_well = !text.empty() && text.front() >= 'a' && text.front() <= 'z';
  return Check(text.size() > 63, 63, begins_well && IsLabel(text), kDns1035Text);
}

std::vector<std::string> CheckLabelValue(std::string_view text) {
  return Check(text.size() > 63, 63, text.empty() || IsNamePart(text), kLabelValueText);
}

std::vector<std::string> CheckQualifiedName(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return CheckNamePart(text);
  if (text.find('/', slash + 1) != std::string_view::npos) {
    return {"a qualified name " + std::string(kNamePartText) +
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
  }
  std::vector<std::string> wrong;
  const std::string_view prefix = text.substr(0, slash);
  if (prefix.empty()) wrong.emplace_back("prefix part must be non-empty");
  if (!prefix.empty()) {
    for (const std::string& message : CheckDns1123Subdomain(prefix)) {
      wrong.push_back("prefix part " + message);
    }
  }
  for (std::string& message : CheckNamePart(text.substr(slash + 1))) {
    wrong.push_back(std::move(message));
  }
  return wrong;
}

}  // namespace sandbox
