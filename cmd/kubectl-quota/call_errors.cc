#include "cmd/kubectl-quota/call_errors.h"

#include <algorithm>

namespace kubectl_quota {
namespace {

// Returns "none, client or server" of "…{none,client,server}…"; "" if there are no braces.
std::string Alternatives(std::string_view text) {
  const std::size_t open = text.find('{');
  const std::size_t close = text.find('}');
  if (open == std::string_view::npos || close == std::string_view::npos) return "";
  text = text.substr(open + 1, close - open - 1);
  std::string words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const bool last = end == text.size();
    if (!words.empty()) words += last ? " or " : ", ";
    words += text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

std::string SentenceOf(std::string_view error) {
  const std::string_view flag = error.substr(0, std::min(error.find(": "), error.size()));
  const std::string_view rest = error.substr(std::min(flag.size() + 2, error.size()));
  const std::string alternatives = Alternatives(rest);
  if (rest.starts_with("1 required ") && rest.ends_with(" missing")) {
    const std::string needs = std::string(flag) + " needs a value";
    return alternatives.empty() ? needs : needs + ": " + alternatives;
  }
  const std::size_t excluded = rest.find(" not in {");
  if (excluded == std::string_view::npos) return std::string(error);
  return std::string(flag) + " must be " + alternatives + ", not " +
         std::string(rest.substr(0, excluded));
}

}  // namespace kubectl_quota
