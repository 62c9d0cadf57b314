// How many instructions does the nastiest object of each kind cost, for each byte? Every kind that
// some quota API counts, every list, map and text that its evaluator reads or passes over
// (tests/pkg/quota/nasty_objects.h), as an event in both formats, with its recount, and as a
// review. To be run under callgrind (tests/bench/worst_objects.sh), which counts what runs inside
// Counted().
//
//   worst_objects KIND        prints "BYTES FORM WHAT" for each counted object, in order

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "informers/object_decoder.h"
#include "informers/splitters.h"
#include "informers/watch_event.h"
#include "pkg/admission/review.h"
#include "pkg/protobuf/kinds.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/ironcore/ironcore_quota.h"
#include "pkg/quota/karmada/karmada_quota.h"
#include "pkg/quota/ledger.h"
#include "pkg/quota/limited_names.h"
#include "tests/bench/counted.h"
#include "tests/bench/run_main.h"
#include "tests/pkg/protobuf/encode.h"
#include "tests/pkg/quota/nasty_objects.h"

namespace bench {
namespace {

namespace nasty = quota::nasty;

// What is quadratic costs at this size some ten times what is linear.
constexpr std::size_t kObjectBytes = 100'000;
constexpr std::size_t kReadBytes = 16'384;
constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // as ReflectorOptions::max_object_bytes

struct KindOfObject {
  std::string name;  // "core/pods"
  quota::Evaluator evaluator;
};

std::vector<KindOfObject> Kinds() {
  std::vector<KindOfObject> kinds;
  for (const quota::QuotaApi& api :
       std::vector{quota::CoreQuotaApi(), quota::KarmadaQuotaApi(), quota::IroncoreQuotaApi()}) {
    for (const quota::Evaluator& evaluator : api.evaluators) {
      kinds.push_back({api.name + "/" + evaluator.resource.resource, evaluator});
    }
  }
  return kinds;
}

// What a controller does with events and reviews of one kind, without its input and output.
class Reader {
 public:
  explicit Reader(const quota::Evaluator& evaluator) : evaluator_(evaluator) {
    options_.resource = {evaluator.resource.group,
                         evaluator.version.empty() ? "v1" : evaluator.version,
                         evaluator.resource.resource};
    options_.fields = evaluator.fields;
    fields_ = evaluator.fields;
    fields_.insert(fields_.end(), evaluator.guard.fields.begin(), evaluator.guard.fields.end());
    for (const char* name : {"pods", "requests.example.com/r000007"}) limited_.Add(name);
  }

  // The message of the kind's events; null if they are JSON.
  [[nodiscard]] const protobuf::Message* message() const {
    const bool metadata = std::ranges::all_of(
        options_.fields, [](const std::string& path) { return path.starts_with("metadata."); });
    return metadata ? &protobuf::PartialObjectMetadata() : protobuf::MessageOf(options_.resource);
  }

  void Event(std::string_view bytes) {
    const informers::WatchEventDecoder decoder(informers::ObjectDecoder(options_), "bench");
    json::Skimmer skimmer = decoder.NewSkimmer();
    informers::WatchSplitter splitter(kMostBytes, &skimmer);
    bool decoded = false;
    Feed(splitter, bytes, [&](informers::WireForm form, std::string_view frame) {
      bool server_said = false;
      const auto event = decoder.Decode(form, frame, skimmer, server_said);
      if (!event) return base::Result<void>(event.error());
      Count(event->object);
      decoded = true;
      return base::Result<void>();
    });
    if (!decoded) throw std::runtime_error("the event has no end");
  }

  void List(std::string_view bytes) {
    const informers::ObjectDecoder decoder(options_);
    json::Skimmer skimmer = decoder.NewSkimmer();
    informers::ListSplitter splitter(kMostBytes, &skimmer);
    bool decoded = false;
    Feed(splitter, bytes, [&](informers::WireForm form, std::string_view item) {
      const auto object = decoder.Decode(form, item, skimmer);
      if (!object) return base::Result<void>(object.error());
      Count(*object);
      decoded = true;
      return base::Result<void>();
    });
    if (!decoded || !splitter.Envelope()) throw std::runtime_error("the list has no end");
  }

  void Review(const std::string& body) {
    const auto review = parser_.Parse(body, [this](const auto&) { return fields_; });
    if (!review) throw std::runtime_error(review.error().message);
    const quota::Guard& guard = evaluator_.guard;
    if (guard.facts_of) {
      (void)guard.facts_of(review->object, &review->old_object, {});
    } else {
      (void)evaluator_.facts_of(review->object, Options());
    }
    if (guard.constraints) (void)guard.constraints(review->object, {"cpu", "limits.memory"});
  }

 private:
  [[nodiscard]] quota::ReadOptions Options() const {
    return {.now = {}, .limited = limited_.AsFunction()};
  }

  // Gives the splitter the bytes as they come from a socket.
  static void Feed(auto& splitter, std::string_view bytes, const informers::PieceSink& sink) {
    while (!bytes.empty()) {
      const std::string_view read = bytes.substr(0, kReadBytes);
      if (const auto fed = splitter.Feed(read, sink); !fed) {
        throw std::runtime_error(fed.error().message);
      }
      bytes.remove_prefix(read.size());
    }
  }

  void Count(const json::Value& object) {
    const quota::Uid uid = quota::Uid::FromText("uid");
    auto facts = evaluator_.facts_of(object, Options());
    if (!facts) {
      ledger_.SetUnknown("a", uid, facts.error().message);
      return;
    }
    limited_.Bound(*facts, nullptr);
    ledger_.Set("a", uid, std::move(*facts));
    (void)ledger_.Sum({.ns = "a"}, {}, evaluator_.scopes, {"pods", "requests.example.com/r000007"});
  }

  const quota::Evaluator& evaluator_;
  informers::ReflectorOptions options_;
  std::vector<std::string> fields_;
  quota::LimitedNames limited_;
  quota::Ledger ledger_;
  admission::ReviewParser parser_;
};

std::string ReviewOf(const quota::Evaluator& evaluator, const std::string& object) {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",)"
         R"("operation":"UPDATE","namespace":"a","name":"n","resource":{"group":")" +
         evaluator.resource.group + R"(","version":"v1","resource":")" +
         evaluator.resource.resource + R"("},"object":)" + object + R"(,"oldObject":)" + object +
         "}}";
}

void Measure(const KindOfObject& kind) {
  Reader reader(kind.evaluator);
  const auto count = [](const char* form, const nasty::Object& object, const std::string& bytes,
                        const std::function<void()>& work) {
    if (bytes.size() < kObjectBytes / 2) return;  // a form in which it is not read
    Counted(work);
    WriteCount();
    std::printf("%zu %s %s\n", bytes.size(), form, object.what.c_str());
  };
  nasty::ForEachObject(kind.evaluator, kObjectBytes, [&](const nasty::Object& object) {
    const std::string text = json::Write(object.value);
    const std::string event = R"({"type":"MODIFIED","object":)" + text + "}\n";
    count("event-json", object, event, [&] { reader.Event(event); });
    const std::string list =
        R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[)" + text +
        "]}";
    count("list-json", object, list, [&] { reader.List(list); });
    if (const protobuf::Message* message = reader.message()) {
      const std::string encoded = wire::Encoded(*message, object.value);
      const std::string frame = wire::Frame("MODIFIED", "Kind", encoded);
      count("event-protobuf", object, frame, [&] { reader.Event(frame); });
      const std::string listed =
          wire::Enveloped("List", wire::Bytes(1, wire::Bytes(2, "1")) + wire::Bytes(2, encoded));
      count("list-protobuf", object, listed, [&] { reader.List(listed); });
    }
    const std::string review = ReviewOf(kind.evaluator, text);
    count("review", object, review, [&] { reader.Review(review); });
  });
}

int Main(const std::vector<std::string>& arguments) {
  const std::string_view name = arguments.size() == 1 ? std::string_view(arguments[0]) : "";
  const std::vector<KindOfObject> kinds = Kinds();
  const auto kind = std::ranges::find(kinds, name, &KindOfObject::name);
  if (kind != kinds.end()) {
    Measure(*kind);
    return 0;
  }
  std::fprintf(stderr, "usage: worst_objects KIND\nkinds:");
  for (const KindOfObject& one : kinds) std::fprintf(stderr, " %s", one.name.c_str());
  std::fprintf(stderr, "\n");
  return 2;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::RunMain("worst_objects", argc, argv, bench::Main); }
