#include "informers/splitters.h"

#include "pkg/protobuf/envelope.h"
#include "pkg/protobuf/kinds.h"

namespace informers {
namespace {

// Creates the splitter for the format of the first byte, then feeds it.
template <typename Json, typename Protobuf, typename Splitter>
base::Result<void> FeedEither(Splitter& splitter, bool protobuf, std::size_t max_bytes,
                              json::Skimmer* skimmer, std::string_view bytes,
                              const PieceSink& sink) {
  if (bytes.empty()) return {};
  if (std::holds_alternative<std::monostate>(splitter)) {
    if (protobuf) {
      splitter.template emplace<Protobuf>(max_bytes);
    } else {
      splitter.template emplace<Json>(max_bytes, skimmer);
    }
  }
  const auto with = [&sink](WireForm form) {
    return [&sink, form](std::string_view piece) { return sink(form, piece); };
  };
  if (Json* const json = std::get_if<Json>(&splitter)) {
    return json->Feed(bytes, with(WireForm::kJson));
  }
  return std::get<Protobuf>(splitter).Feed(bytes, with(WireForm::kProtobuf));
}

base::Result<std::string> EnvelopeOf(const protobuf::ListSplitter& splitter) {
  const auto list = splitter.Finish();
  if (!list) return list.error();
  const bool failure = list->kind == "Status";
  base::Result<json::Value> value = failure
                                        ? protobuf::DecodeWhole(protobuf::Status(), list->object)
                                        : protobuf::DecodeWhole(protobuf::ListMeta(), list->meta);
  if (!value) return value.error();
  if (failure) {
    value->Make({"kind"}) = list->kind;
    return json::Write(*value);
  }
  return json::Write(json::Object{
      {"kind", list->kind}, {"metadata", std::move(*value)}, {"items", json::Array()}});
}

}  // namespace

base::Result<void> WatchSplitter::Feed(std::string_view bytes, const PieceSink& sink) {
  // JSON begins with a bracket or with white space, of which '\t' is the smallest.
  const bool length = !bytes.empty() && static_cast<unsigned char>(bytes.front()) < '\t';
  return FeedEither<json::DocumentSplitter, protobuf::FrameSplitter>(splitter_, length, max_bytes_,
                                                                     skimmer_, bytes, sink);
}

bool WatchSplitter::AtBoundary() const {
  if (const auto* const json = std::get_if<json::DocumentSplitter>(&splitter_)) {
    return json->AtBoundary();
  }
  const auto* const protobuf = std::get_if<protobuf::FrameSplitter>(&splitter_);
  return protobuf == nullptr || protobuf->AtBoundary();
}

base::Result<void> ListSplitter::Feed(std::string_view bytes, const PieceSink& sink) {
  const bool magic = !bytes.empty() && bytes.front() == protobuf::kMagic.front();
  return FeedEither<json::ListSplitter, protobuf::ListSplitter>(splitter_, magic, max_bytes_,
                                                                skimmer_, bytes, sink);
}

base::Result<std::string> ListSplitter::Envelope() const {
  if (const auto* const protobuf = std::get_if<protobuf::ListSplitter>(&splitter_)) {
    return EnvelopeOf(*protobuf);
  }
  const auto* const json = std::get_if<json::ListSplitter>(&splitter_);
  return json == nullptr ? json::ListSplitter(max_bytes_).Envelope() : json->Envelope();
}

}  // namespace informers
