// A JSON document, "====", and dotted paths, one on each line: the projected decoder and the
// skimming one keep what the simple rule keeps of the whole value.

#include "pkg/json/projection.h"

#include <limits>

#include "tests/fuzz/kept.h"
#include "tests/fuzz/target.h"

namespace {

using json::Projection;

std::vector<std::string> PathsOf(std::string_view lines) {
  std::vector<std::string> paths;
  while (!lines.empty() && paths.size() < 12) {
    const std::size_t end = lines.find('\n');
    paths.emplace_back(lines.substr(0, end));
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  }
  return paths;
}

FUZZ_TARGET(projection) {
  const auto parts = fuzz::Parts(input, 2);
  const Projection projection(PathsOf(parts[1]));
  const auto whole = json::Parse(parts[0], {.cuts_deeper = true});
  constexpr json::ParseLimits kUnbounded{.list_elements = std::numeric_limits<std::size_t>::max()};
  const auto projected = json::ParseProjected(parts[0], projection, kUnbounded);
  const auto skimmed = json::Skim(parts[0], projection, kUnbounded);
  fuzz::Require(whole.has_value() == projected.has_value(), "both decoders accept the same");
  if (!whole) {
    fuzz::RequireSame(projected.error().message, whole.error().message, "for the same reason");
    return;
  }
  const std::string kept = json::Write(fuzz::Kept(*whole, projection.root()));
  fuzz::RequireSame(json::Write(*projected), kept, "the projection");
  fuzz::Require(skimmed.has_value(), "what is correct can be skimmed");
  fuzz::RequireSame(json::Write(*skimmed), kept, "the skimmed document");
  constexpr json::ParseLimits kShort{.list_elements = 3};
  const auto projected_short = json::ParseProjected(parts[0], projection, kShort);
  const auto skimmed_short = json::Skim(parts[0], projection, kShort);
  fuzz::Require(projected_short && skimmed_short, "with short lists, too");
  fuzz::RequireSame(json::Write(*skimmed_short), json::Write(*projected_short), "short lists");

  if (projection.paths().empty()) return;
  const auto enveloped = json::ParseProjected(
      std::string(R"({"x":[1],"type":"ADDED","object":)").append(parts[0]).append("}"),
      projection.Under("object", {"type"}),
      {.depth = 201, .list_elements = kUnbounded.list_elements});
  fuzz::Require(enveloped.has_value() && enveloped->At({"object"}) != nullptr, "in an envelope");
  fuzz::RequireSame(json::Write(*enveloped->At({"object"})), kept, "the same in an envelope");
}

}  // namespace
