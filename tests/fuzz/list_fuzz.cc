// The options of a list on the sandbox, one on each line (labels, fields, continue token, version,
// Accept header), "====", an object: refused, or understood as written.

#include "cmd/sandbox-apiserver/negotiation.h"
#include "cmd/sandbox-apiserver/query.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "cmd/sandbox-apiserver/table.h"
#include "tests/fuzz/target.h"

namespace {

std::string_view TakeLine(std::string_view& lines) {
  const std::size_t end = lines.find('\n');
  const std::string_view line = lines.substr(0, end);
  lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  return line;
}

void CheckToken(std::string_view text) {
  const auto token = sandbox::DecodeToken(text);
  if (!token) {
    fuzz::Require(token.error().code == 400 || token.error().code == 410, "no token of ours");
    return;
  }
  const auto again = sandbox::DecodeToken(sandbox::EncodeToken(*token));
  fuzz::Require(again && again->resource_version == token->resource_version &&
                    again->start_key == token->start_key,
                "a token is read as it was made");
}

void CheckAccept(std::string_view text) {
  const auto single = sandbox::Negotiate(text, sandbox::Shape::kSingle);
  const auto list = sandbox::Negotiate(text, sandbox::Shape::kList);
  const bool plain = single == sandbox::Form::kObject && list == sandbox::Form::kObject;
  fuzz::Require(!text.empty() || plain, "nothing asked for is the object itself");
  fuzz::Require(sandbox::MediaType(sandbox::MediaType(text)) == sandbox::MediaType(text), "once");
}

// Types differ in their selectable fields, and in the columns of their tables.
sandbox::TypePtr TypeFor(std::string_view fields) {
  static const sandbox::Registry registry;
  constexpr const char* kResources[] = {"pods", "secrets", "resourcequotas"};
  fuzz::Chance chance(fields);
  sandbox::TypePtr type = registry.Find("", "v1", kResources[chance.Below(std::size(kResources))]);
  fuzz::Require(type != nullptr, "a built-in type");
  return type;
}

void CheckSelection(std::string_view labels, std::string_view fields, const json::Value& object) {
  const sandbox::TypePtr found = TypeFor(fields);
  const sandbox::ResourceType& type = *found;
  const auto all = sandbox::Selection::Make(type, "", labels, fields);
  const auto of_labels = sandbox::Selection::Make(type, "", labels, "");
  const auto of_fields = sandbox::Selection::Make(type, "", "", fields);
  fuzz::Require(all.has_value() == (of_labels.has_value() && of_fields.has_value()),
                "each selector stands by itself");
  if (!all) {
    fuzz::Require(all.error().code == 400, "a bad request");
    return;
  }
  fuzz::Require(all->Matches(object) == (of_labels->Matches(object) && of_fields->Matches(object)),
                "both must hold");
  const auto shared = std::make_shared<const json::Value>(object);
  (void)sandbox::MakeTable(type, {shared}, json::Object(), base::WallTime());
  (void)sandbox::PartialMetadata(object);
}

FUZZ_TARGET(list) {
  const auto parts = fuzz::Parts(input, 2);
  std::string_view lines = parts[0];
  const std::string_view labels = TakeLine(lines);
  const std::string_view fields = TakeLine(lines);
  CheckToken(TakeLine(lines));
  const std::string_view version = TakeLine(lines);
  const auto number = sandbox::ParseVersion(version);
  if (number) fuzz::Require(number->has_value() == !version.empty(), "a number, or none given");
  CheckAccept(TakeLine(lines));
  const auto object = json::Parse(parts[1]);
  CheckSelection(labels, fields, object ? *object : json::Value(json::Object()));
}

}  // namespace
