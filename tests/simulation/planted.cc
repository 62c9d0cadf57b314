#include "tests/simulation/planted.h"

#include <algorithm>
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

// Returns the patch without this member in its list of reservations.
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

// Drops every fifth event of objects.
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

// Drops the events of one type.
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

// Reworks each object in the events of a watch.
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

// Applies `rework` to each item of a list, to the object of an event, or to a single object.
void ForEachObject(json::Value& said, const std::function<void(json::Value&)>& rework) {
  json::Object* const members = said.AsObject();
  if (members == nullptr) return;
  if (json::Value* const items = members->Find("items")) {
    for (json::Value& item : *items->AsArray()) rework(item);
  } else if (json::Value* const object = members->Find("object")) {
    rework(*object);
  } else {
    rework(said);
  }
}

// Removes the labels of one namespace.
void TakeLabels(json::Value& ns) {
  if (ns.StringAt({"metadata", "name"}) == "ns1") ns.Make({"metadata", "labels"}) = json::Object();
}

// Removes the labels of a terminating namespace, so that no quota selects it.
void TakeLabelsOfGoing(json::Value& ns) {
  if (ns.At({"metadata", "deletionTimestamp"}) == nullptr) return;
  ns.Make({"metadata", "labels"}) = json::Object();
}

// Replaces each occurrence.
void Replace(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), by);
    at += by.size();
  }
}

void ShrinkHuge(json::Value& object) {
  std::string text = json::Write(object);
  Replace(text, R"("1e30")", R"("3")");
  Replace(text, R"("1e29")", R"("3")");
  object = json::Parse(text).value();
}

// Takes the limits and the status from a quota with an amount that is none.
void DropUnreadable(json::Value& quota) {
  if (json::Write(quota).find(kGarbage) == std::string::npos) return;
  quota.Make({"spec", "hard"}) = json::Object();
  quota.Make({"status"}) = json::Object();
}

// Lets `change` change the list of reservations in a quota of core.
void ReworkList(json::Value& quota, const std::function<void(json::Value& list)>& change) {
  const std::string name(quota::kReservations);
  const auto list = json::Parse(quota.StringAt({"metadata", "annotations", name}));
  if (!list || !list->IsObject()) return;
  json::Value changed = *list;
  change(changed);
  quota.Make({"metadata", "annotations", name}) = json::Write(changed);
}

void TakeFormat(json::Value& quota) {
  ReworkList(quota, [](json::Value& list) { list.AsObject()->Erase("format"); });
}

void TakeForOwn(json::Value& quota) {
  const std::string uid(quota.StringAt({"metadata", "uid"}));
  ReworkList(quota, [&](json::Value& list) { list.Make({"uid"}) = uid; });
}

// Removes the entries that were forged in this name.
void TakeForged(json::Value& quota, const std::string& name) {
  ReworkList(quota, [&](json::Value& list) {
    if (list.At({"reservations"}) == nullptr) return;
    std::erase_if(*list.Make({"reservations"}).AsArray(), [&](const json::Value& entry) {
      return entry.StringAt({"by"}) == name && *entry.At({"n"})->AsInt64() >= kFirstForged;
    });
  });
}

// Replaces `used` by the value of the last write of a replica.
void TakeExternal(json::Value& quota) {
  const std::string_view text =
      quota.StringAt({"metadata", "annotations", std::string(quota::kReservations)});
  const auto list = json::Parse(text);
  const json::Value* const used = list ? list->At({"used"}) : nullptr;
  if (used == nullptr || quota.At({"status", "used"}) == nullptr) return;
  for (auto& [name, amount] : *quota.Make({"status", "used"}).AsObject()) {
    const json::Value* const written = used->At({name});
    if (written != nullptr) amount = *written;
  }
}

}  // namespace

const std::vector<PlantedName>& AllPlanted() {
  static const std::vector<PlantedName> all = {
      {Planted::kChargePerCall, "charge-per-call", "what is admitted is not reserved"},
      {Planted::kUnguardedWrite, "unguarded-write", "used is below what is stored"},
      {Planted::kLoweredTooEarly, "lowered-too-early", "used is below what is stored"},
      {Planted::kNoExpiry, "no-expiry", "is not the truth"},
      {Planted::kLeaseTrusted, "lease-trusted", "lead at once"},
      {Planted::kStaleBatch, "stale-batch", "does not fit, and is admitted"},
      {Planted::kEventLost, "event-lost", "is not the truth"},
      {Planted::kDoubleWrite, "double-write", "changed nothing"},
      {Planted::kForgottenOld, "forgotten-old", "needs nothing"},
      {Planted::kAnswerTrusted, "answer-trusted", "used is below what is stored"},
      {Planted::kErrorTrusted, "error-trusted", "used is below what is stored"},
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
      {Planted::kGoingGone, "going-gone", "used is below what is stored", Api::kCluster},
      {Planted::kRecreatedMissed, "recreated-missed", "is not the truth", Api::kCluster},
      {Planted::kModeFrozen, "mode-frozen", "more is reserved than the limit", Api::kCluster},
      {Planted::kExternalMissed, "external-missed", "used is below what is stored"},
      {Planted::kWithdrawForgotten, "withdraw-forgotten", "what is refused is reserved still",
       Api::kJoint},
      {Planted::kShortHold, "short-hold", "used is below what is stored", Api::kCore, true},
      {Planted::kDuplicatePassed, "duplicate-passed", "used is below what is stored", Api::kCore,
       true},
      // What cannot be read is refused only where a quota that refuses limits it. So the quotas
      // that only warn or audit show it.
      {Planted::kAmountUnreadable, "amount-unreadable", "told not to fit", Api::kCluster, true},
      {Planted::kAmountWraps, "amount-wraps", "is not the truth", Api::kCore, true},
      {Planted::kUnreadableDropped, "unreadable-dropped", "is not the truth", Api::kCore, true},
      {Planted::kDeletionKept, "deletion-kept", "is not the truth", Api::kCluster},
      {Planted::kLaterOverwritten, "later-overwritten", "of a later format is overwritten",
       Api::kCore, true},
      {Planted::kForeignTaken, "foreign-taken", "is not the truth", Api::kCore, true},
      {Planted::kFloorProves, "floor-proves", "times though nothing was wrong", Api::kCore, true},
      {Planted::kSumKept, "sum-kept", "a request that fits is refused", Api::kCluster},
      {Planted::kUnreadWhole, "unread-whole", "is not the truth", Api::kCluster, true},
      {Planted::kForgedKept, "forged-kept", "still has reservations", Api::kCore, true},
      {Planted::kEachAlone, "each-alone", "what is admitted is not reserved", Api::kJoint},
      {Planted::kLeftToOther, "left-to-other", "what is admitted is not reserved", Api::kJoint},
  };
  return all;
}

base::Task<base::Result<client::ApiResponse>> PlantedClient::Do(client::ApiRequest request) {
  const bool patch = IsStatusPatch(request);
  if (patch && planted_ == Planted::kUnguardedWrite) request.body = WithoutGuards(request.body);
  const bool error_trusted = planted_ == Planted::kErrorTrusted;
  if (patch && (error_trusted || planted_ == Planted::kAnswerTrusted)) {
    client::ApiRequest read{.path = request.path.substr(0, request.path.rfind('/'))};
    const auto stored = co_await inner_.Do(std::move(read));
    const auto written = co_await inner_.Do(std::move(request));
    const int status = written ? 200 : written.error().http_status;
    const bool trusted = error_trusted ? status >= 500 : status == 0;
    co_return trusted ? stored : written;
  }
  const Rework rework =
      planted_ == Planted::kExternalMissed && patch ? nullptr : ReworkOf(request.path);
  if (rework) {
    auto answer = co_await inner_.Do(std::move(request));
    if (answer) {
      json::Value said = json::Parse(answer->body).value();
      ForEachObject(said, rework);
      answer->body = json::Write(said);
    }
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
  const Rework rework = ReworkOf(request.path);
  const bool quotas = request.path.ends_with("/resourcequotas");
  const bool claims = request.path.ends_with("/persistentvolumeclaims");
  const bool classes = request.path.ends_with("/machineclasses");
  const bool namespaces = request.path.ends_with("/namespaces");
  const bool asked = !quotas && !watch && request.path.find("/namespaces/") != std::string::npos;
  auto opened = co_await inner_.Stream(std::move(request));
  if (opened && rework) {
    Body body = std::make_unique<ReworkedBody>(
        std::move(*opened), [rework](json::Value& said) { ForEachObject(said, rework); });
    co_return base::Result<Body>(std::move(body));
  }
  if (opened && asked && planted_ == Planted::kNotAsked) {
    Body body = std::make_unique<ReworkedBody>(
        std::move(*opened), [](json::Value& said) { said.Make({"items"}) = json::Array(); });
    co_return base::Result<Body>(std::move(body));
  }
  if (opened && asked && planted_ == Planted::kFloorProves) {
    Body body = std::make_unique<ReworkedBody>(std::move(*opened),
                                               [this](json::Value& said) { AgeBelowFloor(said); });
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
  if (claims && planted_ == Planted::kDeletionKept) {
    Body body = std::make_unique<PartialBody>(std::move(*opened), "DELETED");
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

PlantedClient::Rework PlantedClient::ReworkOf(const std::string& path) {
  if (path.ends_with("/namespaces")) {
    if (planted_ == Planted::kNamespaceMissed) return TakeLabels;
    if (planted_ == Planted::kGoingGone) return TakeLabelsOfGoing;
    if (planted_ != Planted::kRecreatedMissed) return nullptr;
    return [this](json::Value& ns) { TakeLabelsOfRecreated(ns); };
  }
  const bool claims = path.ends_with("/persistentvolumeclaims");
  if (claims && planted_ == Planted::kAmountWraps) return ShrinkHuge;
  if (path.find("/resourcequotas") == std::string::npos) return nullptr;
  if (planted_ == Planted::kUnreadableDropped) return DropUnreadable;
  if (planted_ == Planted::kLaterOverwritten) return TakeFormat;
  if (planted_ == Planted::kForeignTaken) return TakeForOwn;
  if (planted_ == Planted::kForgedKept) {
    return [this](json::Value& quota) { TakeForged(quota, name_); };
  }
  if (planted_ == Planted::kFloorProves) return [this](json::Value& quota) { NoteFloor(quota); };
  if (planted_ == Planted::kExternalMissed) return TakeExternal;
  if (planted_ != Planted::kNewestKept) return nullptr;
  return [this](json::Value& quota) { KeepNewest(quota); };
}

void PlantedClient::TakeLabelsOfRecreated(json::Value& ns) {
  const std::string uid(ns.StringAt({"metadata", "uid"}));
  const std::string name(ns.StringAt({"metadata", "name"}));
  if (first_uid_.try_emplace(name, uid).first->second == uid) return;
  ns.Make({"metadata", "labels"}) = json::Object();
}

void PlantedClient::NoteFloor(json::Value& quota) {
  ReworkList(quota, [&](json::Value& list) {
    const json::Value* const floor = list.At({"floor"});
    if (floor == nullptr || !floor->IsObject()) return;
    for (const auto& [resource, version] : *floor->AsObject()) {
      floor_ = std::max<std::uint64_t>(floor_, std::stoull(*version.AsString()));
    }
  });
}

void PlantedClient::AgeBelowFloor(json::Value& answer) const {
  json::Value& version = answer.Make({"metadata", "resourceVersion"});
  if (std::stoull(*version.AsString()) < floor_) version = "1";
}

void PlantedClient::KeepNewest(json::Value& said) {
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

void StaleQuotas::Age(admission::NamespaceQuotas& here) {
  for (admission::BookedQuota& booked : here.quotas) {
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
}

void FrozenModes::Freeze(admission::NamespaceQuotas& here) {
  for (admission::BookedQuota& booked : here.quotas) {
    const quota::Quota& quota = *booked.quota;
    if (!quota.cluster) continue;
    Known& known =
        known_.try_emplace(quota.uid, Known{quota.cluster->enforcement, {}}).first->second;
    known.shown = quota;
    known.shown.cluster->enforcement = known.mode;
    booked.quota = &known.shown;
  }
}

void FrozenSums::Freeze(admission::NamespaceQuotas& here) {
  for (admission::BookedQuota& booked : here.quotas) {
    quota::ResourceList& below = booked.tree.promised_below;
    below = below_.try_emplace(booked.quota->uid, below).first->second;
  }
}

void Plant(Planted planted, std::uint64_t call, admission::Review& review) {
  if (planted == Planted::kChargePerCall) {
    review.object.Make({"metadata", "uid"}) =
        "00000000-0000-4000-9000-" + std::to_string(100'000'000'000 + call);
  }
  if (planted == Planted::kForgottenOld)
    review.old_object.Make({"metadata", "resourceVersion"}) = "";
  if (planted == Planted::kAmountWraps) ShrinkHuge(review.object);
  if (planted == Planted::kAmountUnreadable) {
    std::string text = json::Write(review.object);
    Replace(text, R"("1e30")", R"("garbage")");
    review.object = json::Parse(text).value();
  }
  const bool going = !review.old_object.StringAt({"metadata", "deletionTimestamp"}).empty();
  if (planted == Planted::kGoingFree && going) review.object = review.old_object;
}

void Plant(Planted planted, admission::NamespaceQuotas& here) {
  if (planted == Planted::kParentForgotten) {
    std::erase_if(here.quotas, [](const auto& booked) { return !booked.tree.above.empty(); });
  }
  for (admission::BookedQuota& booked : here.quotas) {
    if (planted == Planted::kParentForgotten) booked.tree.parent.reset();
    if (planted == Planted::kGuaranteeGiven) booked.tree.promised = booked.tree.promised_below = {};
  }
}

void Plant(Planted planted, quota::QuotaApi& api) {
  const quota::Evaluators all = api.evaluators;
  for (quota::Evaluator evaluator : all) {
    if (planted != Planted::kUnreadWhole) break;
    evaluator.facts_of =
        [facts_of = evaluator.facts_of](
            const json::Value& object,
            const quota::ReadOptions& options) -> base::Result<quota::ObjectFacts> {
      auto facts = facts_of(object, options);
      if (!facts || facts->now.unread.empty()) return facts;
      return base::Error{.code = base::ErrorCode::kMalformed, .message = facts->flaw};
    };
    api.evaluators.Put(std::move(evaluator));
  }
  if (planted != Planted::kMissingFree) return;
  for (quota::Evaluator evaluator : all) {
    if (!evaluator.classes) continue;
    evaluator.classes->missing = quota::MissingClass::kUsesNothing;
    api.evaluators.Put(std::move(evaluator));
  }
}

}  // namespace simulation
