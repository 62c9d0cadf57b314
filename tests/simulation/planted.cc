#include "tests/simulation/planted.h"

#include <functional>

#include "pkg/json/value.h"

namespace simulation {
namespace {

bool IsStatusPatch(const client::ApiRequest& request) {
  return request.verb == "PATCH" && request.path.ends_with("/status");
}

std::string WithoutGuards(const std::string& body) {
  json::Value patch = json::Parse(body).value();
  patch.AsObject()->Erase("metadata");
  return json::Write(patch);
}

// A patch whose list of reservations lacks this.
std::string WithoutMember(const std::string& body, const char* member) {
  json::Value patch = json::Parse(body).value();
  const std::string name(quota::kReservations);
  const json::Value* text = patch.At({"metadata", "annotations", name});
  if (text == nullptr) return body;
  json::Value list = json::Parse(*text->AsString()).value();
  list.AsObject()->Erase(member);
  patch.Make({"metadata", "annotations", name}) = json::Write(list);
  return json::Write(patch);
}

// Of the objects' events every fifth never comes.
class LossyBody final : public http::BodyStream {
 public:
  LossyBody(std::unique_ptr<http::BodyStream> inner, int& events)
      : inner_(std::move(inner)), events_(events) {}
  base::Task<base::Result<std::optional<std::string>>> Read(
      std::chrono::milliseconds timeout) override {
    for (;;) {
      auto read = co_await inner_->Read(timeout);
      if (!read || !*read || ++events_ % 5 != 0) co_return read;
    }
  }

 private:
  std::unique_ptr<http::BodyStream> inner_;
  int& events_;
};

// Of the classes' events those of one type never come.
class PartialBody final : public http::BodyStream {
 public:
  PartialBody(std::unique_ptr<http::BodyStream> inner, std::string lost)
      : inner_(std::move(inner)), lost_(std::move(lost)) {}
  base::Task<base::Result<std::optional<std::string>>> Read(
      std::chrono::milliseconds timeout) override {
    for (;;) {
      auto read = co_await inner_->Read(timeout);
      if (!read || !*read || (*read)->find(lost_) == std::string::npos) co_return read;
    }
  }

 private:
  std::unique_ptr<http::BodyStream> inner_;
  std::string lost_;
};

// What comes, in other words.
class ReworkedBody final : public http::BodyStream {
 public:
  ReworkedBody(std::unique_ptr<http::BodyStream> inner, std::function<void(json::Value&)> rework)
      : inner_(std::move(inner)), rework_(std::move(rework)) {}
  base::Task<base::Result<std::optional<std::string>>> Read(
      std::chrono::milliseconds timeout) override {
    auto read = co_await inner_->Read(timeout);
    if (!read || !*read) co_return read;
    json::Value said = json::Parse(**read).value();
    rework_(said);
    co_return std::optional<std::string>(json::Write(said) + "\n");
  }

 private:
  std::unique_ptr<http::BodyStream> inner_;
  std::function<void(json::Value&)> rework_;
};

// Of one namespace nobody learns the labels.
void TakeLabels(json::Value& said) {
  json::Object* const members = said.AsObject();
  if (json::Value* const items = members->Find("items")) {
    for (json::Value& item : *items->AsArray()) TakeLabels(item);
    return;
  }
  if (json::Value* const object = members->Find("object")) return TakeLabels(*object);
  if (said.StringAt({"metadata", "name"}) != "ns1") return;
  said.Make({"metadata", "labels"}) = json::Object();
}

}  // namespace

const std::vector<PlantedName>& AllPlanted() {
  static const std::vector<PlantedName> all = {
      {Planted::kChargePerCall, "charge-per-call", "used is above what is stored and asked for"},
      {Planted::kUnguardedWrite, "unguarded-write", "used is below what is stored"},
      {Planted::kLoweredTooEarly, "lowered-too-early", "used is below what is stored"},
      {Planted::kNoExpiry, "no-expiry", "is not the truth"},
      {Planted::kLeaseTrusted, "lease-trusted", "lead at once"},
      {Planted::kStaleBatch, "stale-batch", "does not fit, and is admitted"},
      {Planted::kEventLost, "event-lost", "is not the truth"},
      {Planted::kDoubleWrite, "double-write", "changed nothing"},
      {Planted::kForgottenOld, "forgotten-old", "needs nothing"},
      {Planted::kAnswerTrusted, "answer-trusted", "used is below what is stored"},
      {Planted::kNeighbourIgnored, "neighbour-ignored", "used is below what is stored"},
      {Planted::kNewestKept, "newest-kept", "fits, and is refused"},
      {Planted::kGoingFree, "going-free", "used is below what is stored"},
      {Planted::kClassFrozen, "class-frozen", "is not the truth", Api::kIroncore},
      {Planted::kClassRemembered, "class-remembered", "without its class", Api::kIroncore},
      {Planted::kMissingFree, "missing-free", "what nobody knows is lowered", Api::kIroncore},
      {Planted::kClassNotRead, "class-not-read", "for a class that there is", Api::kIroncore},
      {Planted::kDroppedEarly, "dropped-early", "used is below what is stored"},
      {Planted::kNotAsked, "not-asked", "used is below what is stored"},
      {Planted::kNoFloor, "no-floor", "used is below what is stored"},
      {Planted::kParentForgotten, "parent-forgotten", "used is below what is stored",
       Api::kCluster},
      {Planted::kGuaranteeGiven, "guarantee-given", "what is guaranteed to others is taken",
       Api::kCluster},
      {Planted::kNamespaceMissed, "namespace-missed", "is not the truth", Api::kCluster},
      {Planted::kLabelsFrozen, "labels-frozen", "is not the truth", Api::kCluster},
  };
  return all;
}

base::Task<base::Result<client::ApiResponse>> PlantedClient::Do(client::ApiRequest request) {
  const bool patch = IsStatusPatch(request);
  if (patch && planted_ == Planted::kUnguardedWrite) request.body = WithoutGuards(request.body);
  if (patch && planted_ == Planted::kAnswerTrusted) {
    client::ApiRequest read{.path = request.path.substr(0, request.path.rfind('/'))};
    const auto stored = co_await inner_.Do(std::move(read));
    const auto written = co_await inner_.Do(std::move(request));
    const bool unanswered = !written && written.error().http_status == 0;
    co_return unanswered ? stored : written;
  }
  if (planted_ == Planted::kNewestKept) {
    const bool quotas = request.path.find("/resourcequotas") != std::string::npos;
    auto answer = co_await inner_.Do(std::move(request));
    if (quotas && answer) answer->body = Newest(answer->body);
    co_return answer;
  }
  if (patch && planted_ == Planted::kNoFloor) request.body = WithoutMember(request.body, "floor");
  if (patch && planted_ == Planted::kDroppedEarly) {
    request.body = WithoutMember(request.body, "reservations");
  }
  if (!patch || planted_ != Planted::kDoubleWrite) co_return co_await inner_.Do(std::move(request));
  const auto first = co_await inner_.Do(request);
  if (!first) co_return first;
  request.body = WithoutGuards(request.body);
  co_return co_await inner_.Do(std::move(request));
}

base::Task<base::Result<std::unique_ptr<http::BodyStream>>> PlantedClient::Stream(
    client::ApiRequest request) {
  using Body = std::unique_ptr<http::BodyStream>;
  bool watch = false;
  for (const auto& [name, value] : request.query) watch = watch || name == "watch";
  const bool quotas = request.path.ends_with("/resourcequotas");
  const bool classes = request.path.ends_with("/machineclasses");
  const bool namespaces = request.path.ends_with("/namespaces");
  const bool asked = !quotas && !watch && request.path.find("/namespaces/") != std::string::npos;
  auto opened = co_await inner_.Stream(std::move(request));
  if (opened && quotas && planted_ == Planted::kNewestKept) {
    Body body = std::make_unique<ReworkedBody>(std::move(*opened),
                                               [this](json::Value& said) { KeepNewest(said); });
    co_return base::Result<Body>(std::move(body));
  }
  if (opened && asked && planted_ == Planted::kNotAsked) {
    Body body = std::make_unique<ReworkedBody>(
        std::move(*opened), [](json::Value& said) { said.Make({"items"}) = json::Array(); });
    co_return base::Result<Body>(std::move(body));
  }
  if (opened && namespaces && planted_ == Planted::kNamespaceMissed) {
    Body body = std::make_unique<ReworkedBody>(std::move(*opened), TakeLabels);
    co_return base::Result<Body>(std::move(body));
  }
  if (!opened || !watch) co_return opened;
  if (!quotas && planted_ == Planted::kEventLost) {
    Body body = std::make_unique<LossyBody>(std::move(*opened), events_);
    co_return base::Result<Body>(std::move(body));
  }
  if (namespaces && planted_ == Planted::kLabelsFrozen) {
    Body body = std::make_unique<PartialBody>(std::move(*opened), "MODIFIED");
    co_return base::Result<Body>(std::move(body));
  }
  const bool frozen = planted_ == Planted::kClassFrozen;
  if (classes && (frozen || planted_ == Planted::kClassRemembered)) {
    std::string lost = frozen ? "MODIFIED" : "DELETED";
    Body body = std::make_unique<PartialBody>(std::move(*opened), std::move(lost));
    co_return base::Result<Body>(std::move(body));
  }
  co_return opened;
}

// Of a quota, a list of them, or an event of one.
void PlantedClient::KeepNewest(json::Value& said) {
  json::Value* const items = said.IsObject() ? said.AsObject()->Find("items") : nullptr;
  if (items != nullptr) {
    for (json::Value& item : *items->AsArray()) KeepNewest(item);
    return;
  }
  json::Value* const object = said.IsObject() ? said.AsObject()->Find("object") : nullptr;
  if (object != nullptr) return KeepNewest(*object);
  const std::string uid(said.StringAt({"metadata", "uid"}));
  const auto version = [](const json::Value& quota) {
    return std::stoull(std::string(quota.StringAt({"metadata", "resourceVersion"})));
  };
  if (uid.empty()) return;
  const auto [newest, added] = newest_.try_emplace(uid, said);
  if (!added && version(said) < version(newest->second)) {
    said = newest->second;
  } else {
    newest->second = said;
  }
}

std::string PlantedClient::Newest(const std::string& body) {
  json::Value said = json::Parse(body).value();
  KeepNewest(said);
  return json::Write(said);
}

std::vector<admission::BookedQuota> StaleQuotas::Age(std::vector<admission::BookedQuota> quotas) {
  for (admission::BookedQuota& booked : quotas) {
    const quota::Quota& quota = *booked.quota;
    const auto [entry, added] = known_.try_emplace(quota.uid, Known{quota, quota});
    Known& known = entry->second;
    if (known.now.resource_version != quota.resource_version) {
      known.shown = quota;
      known.shown.status.used = known.now.status.used;
      known.now = quota;
    }
    booked.quota = &known.shown;
  }
  return quotas;
}

void Plant(Planted planted, std::uint64_t call, admission::Review& review) {
  if (planted == Planted::kChargePerCall) {
    review.object.Make({"metadata", "uid"}) =
        "00000000-0000-4000-9000-" + std::to_string(100'000'000'000 + call);
  }
  if (planted == Planted::kForgottenOld)
    review.old_object.Make({"metadata", "resourceVersion"}) = "";
  const bool going = !review.old_object.StringAt({"metadata", "deletionTimestamp"}).empty();
  if (planted == Planted::kGoingFree && going) review.object = review.old_object;
}

void Plant(Planted planted, std::vector<admission::BookedQuota>& quotas) {
  if (planted != Planted::kParentForgotten) return;
  std::erase_if(quotas, [](const auto& booked) { return !booked.above.empty(); });
}

void Plant(Planted planted, std::vector<quota::TreePlace>& places) {
  if (planted != Planted::kGuaranteeGiven) return;
  for (quota::TreePlace& place : places) place.promised = place.held_back = {};
}

void Plant(Planted planted, quota::QuotaApi& api) {
  if (planted != Planted::kMissingFree) return;
  for (quota::Evaluator& evaluator : api.evaluators) {
    if (evaluator.classes) evaluator.classes->missing = quota::MissingClass::kUsesNothing;
  }
}

}  // namespace simulation
