// Streams of documents and lists, as a watch and a list send them: the documents are the same
// wherever the bytes are cut, also if they are decoded meanwhile, and a correct list gives exactly
// its items.

#include "pkg/json/splitter.h"

#include "informers/watch_event.h"
#include "pkg/json/skimmer.h"
#include "pkg/json/value.h"
#include "tests/fuzz/target.h"

namespace {

constexpr std::size_t kMaxBytes = 1024;

// The splitter's complete output for a stream, as text.
template <typename Splitter>
std::string Told(Splitter& splitter, const std::vector<std::string>& pieces,
                 std::vector<std::string>& documents) {
  const auto sink = [&](std::string_view document) -> base::Result<void> {
    documents.emplace_back(document);
    return {};
  };
  for (const std::string& piece : pieces) {
    const auto fed = splitter.Feed(piece, sink);
    if (!fed) return fed.error().message;
  }
  return "";
}

informers::WatchEventDecoder Decoder() {
  informers::ReflectorOptions options;
  options.fields = {"spec.hard"};
  return {informers::ObjectDecoder(options), "/w"};
}

void CheckDocuments(std::string_view input, const std::vector<std::string>& pieces) {
  json::DocumentSplitter whole(kMaxBytes);
  json::DocumentSplitter cut(kMaxBytes);
  std::vector<std::string> documents;
  std::vector<std::string> others;
  const std::string told = Told(whole, {std::string(input)}, documents);
  fuzz::RequireSame(Told(cut, pieces, others), told, "the same error");
  fuzz::Require(documents == others, "the same documents");
  if (told.empty()) fuzz::Require(whole.AtBoundary() == cut.AtBoundary(), "the same end");

  static const informers::WatchEventDecoder decoder = Decoder();
  json::Skimmer skimmer = decoder.NewSkimmer();
  for (const std::string& document : documents) {
    fuzz::Require(document.size() <= kMaxBytes, "no larger than is allowed");
    bool server_said = false;
    const auto event = decoder.Decode(informers::WireForm::kJson, document, skimmer, server_said);
    if (!event) continue;
    // Unwanted parts of an event are skipped, whether they parse or not.
    fuzz::Require(event->object.IsObject(), "an event has an object");
    const auto value = json::Parse(document);
    if (!value) continue;
    fuzz::RequireSame(event->version, value->StringAt({"object", "metadata", "resourceVersion"}),
                      "its version");
  }
}

void CheckAgainstParser(std::string_view input, const std::vector<std::string>& items,
                        const json::ListSplitter& splitter) {
  const auto list = json::Parse(input);
  if (!list) return;
  const auto envelope = splitter.Envelope();
  fuzz::Require(envelope.has_value(), "a list that parses is complete");
  const auto rest = json::Parse(*envelope);
  fuzz::Require(rest.has_value(), "what is beside the items parses");
  const json::Value* const array = list->At({"items"});
  // For repeated members the parser keeps the last value, but the splitter passes on all items.
  if (array == nullptr || !array->IsArray() || items.size() != array->AsArray()->size()) return;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto item = json::Parse(items[i]);
    fuzz::Require(item && *item == (*array->AsArray())[i], "an item is what the parser reads");
  }
  json::Value expected = *list;
  expected.Make({"items"}) = json::Array();
  fuzz::Require(*rest == expected, "what is beside the items is the same");
}

void CheckList(std::string_view input, const std::vector<std::string>& pieces) {
  json::ListSplitter whole(kMaxBytes);
  json::ListSplitter cut(kMaxBytes);
  std::vector<std::string> items;
  std::vector<std::string> others;
  const std::string told = Told(whole, {std::string(input)}, items);
  fuzz::RequireSame(Told(cut, pieces, others), told, "the same error");
  fuzz::Require(items == others, "the same items");
  if (!told.empty()) return;
  const auto envelope = whole.Envelope();
  const auto other = cut.Envelope();
  fuzz::Require(envelope.has_value() == other.has_value(), "both complete or none");
  if (envelope) fuzz::RequireSame(*envelope, *other, "the same envelope");
  CheckAgainstParser(input, items, whole);
}

std::string TextOf(const base::Result<json::Value>& value) {
  return value ? json::Write(*value) : value.error().message;
}

// A splitter whose documents a skimmer decodes passes on the same ones, each decoded as if it came
// alone.
template <typename Splitter>
void CheckSkimmed(const std::vector<std::string>& pieces) {
  static const json::Projection fields({"metadata.name", "a.b", "x", "items.a", "*.c"});
  Splitter plain(kMaxBytes);
  std::vector<std::string> documents;
  const std::string told = Told(plain, pieces, documents);
  json::Skimmer skimmer(fields);
  Splitter skimming(kMaxBytes, &skimmer);
  std::size_t passed = 0;
  const auto check = [&](std::string_view document) -> base::Result<void> {
    fuzz::Require(passed < documents.size(), "no more documents");
    fuzz::RequireSame(document, documents[passed++], "the same documents");
    fuzz::RequireSame(TextOf(skimmer.Take(document)), TextOf(json::Skim(document, fields)),
                      "decoded as alone");
    return {};
  };
  std::string said;
  for (const std::string& piece : pieces) {
    const auto fed = skimming.Feed(piece, check);
    if (fed) continue;
    said = fed.error().message;
    break;
  }
  fuzz::RequireSame(said, told, "the same error");
  fuzz::Require(passed == documents.size(), "all documents");
}

FUZZ_TARGET(splitter) {
  fuzz::Chance chance(input);
  const std::vector<std::string> pieces = fuzz::Pieces(input, chance);
  CheckDocuments(input, pieces);
  CheckList(input, pieces);
  CheckSkimmed<json::DocumentSplitter>(pieces);
  CheckSkimmed<json::ListSplitter>(pieces);
}

}  // namespace
