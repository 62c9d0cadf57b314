#include "pkg/admission/refusal_digest.h"

#include <glog/logging.h>

#include <utility>

#include "pkg/api/names.h"

namespace admission {
namespace {

constexpr const char* kReason = "RefusedByQuota";
constexpr const char* kTriedReason = "WouldBeRefusedByQuota";

client::Event EventOn(const client::ObjectReference& about, bool tried, std::string message) {
  return {.about = about,
          .type = client::EventType::kWarning,
          .reason = tried ? kTriedReason : kReason,
          .message = std::move(message)};
}

client::ObjectReference ReferenceTo(const Owner& owner, const std::string& ns) {
  return {.api_version = owner.api_version,
          .kind = owner.kind,
          .ns = ns,
          .name = owner.name,
          .uid = owner.uid,
          .resource_version = ""};
}

}  // namespace

// An event's name begins with that of its object, so only valid object names can have events.
bool RefusalDigest::CanHaveEvents(const Owner& owner) {
  return !owner.kind.empty() && !owner.uid.empty() && api::IsDns1123Subdomain(owner.name);
}

RefusalDigest::Events RefusalDigest::Add(const client::ObjectReference& quota_type,
                                         const Refusal& refusal, base::TimePoint now) {
  Events events = TakeDue(now);
  client::ObjectReference quota = quota_type;
  quota.ns = refusal.quota.ns;
  quota.name = refusal.quota.name;
  quota.uid = refusal.quota_uid;
  AddTo(std::move(quota), refusal.quota_uid, refusal, now, events);
  if (refusal.owner && CanHaveEvents(*refusal.owner)) {
    AddTo(ReferenceTo(*refusal.owner, refusal.ns), refusal.quota_uid, refusal, now, events);
  }
  return events;
}

RefusalDigest::Events RefusalDigest::AddWorkload(const Owner& workload, const Refusal& refusal,
                                                 base::TimePoint now) {
  Events events = TakeDue(now);
  if (CanHaveEvents(workload)) AddTo(ReferenceTo(workload, refusal.ns), "", refusal, now, events);
  return events;
}

void RefusalDigest::AddTo(client::ObjectReference about, std::string quota_uid,
                          const Refusal& refusal, base::TimePoint now, Events& events) {
  const bool tried = refusal.mode != quota::ClusterSpec::Enforcement::kDeny;
  // A quota may change its mode within a period: refusals and trials have separate events.
  const Key key(std::move(quota_uid), (tried ? "tried/" : "") + about.kind + "/" + about.uid);
  const auto found = subjects_.find(key);
  if (found != subjects_.end()) {
    ++found->second.gathered;
    found->second.last.assign(refusal.message, 0, kMostText);
    return;
  }
  if (subjects_.size() >= options_.most) return;
  events.push_back(EventOn(about, tried, refusal.message));
  subjects_.emplace(
      key, Subject{.about = std::move(about), .tried = tried, .due = now + options_.period});
  by_due_.push_back(key);
  CHECK_EQ(by_due_.size(), subjects_.size()) << "events are due that are not gathered, or not due";
}

client::Event RefusalDigest::Gathered(Subject& subject) {
  const std::size_t count = std::exchange(subject.gathered, 0);
  std::string message = std::exchange(subject.last, "");
  if (count == 1) return EventOn(subject.about, subject.tried, std::move(message));
  return EventOn(subject.about, subject.tried,
                 (subject.tried ? "would have refused " : "refused ") + std::to_string(count) +
                     " requests within a minute, the last one: " + message);
}

RefusalDigest::Events RefusalDigest::TakeDue(base::TimePoint now) {
  Events events;
  while (!by_due_.empty()) {
    const auto first = subjects_.find(by_due_.front());
    CHECK(first != subjects_.end()) << "an event is due, and nothing was gathered for it";
    Subject& subject = first->second;
    if (subject.due > now) break;
    // A period without a refusal ends the pair: the next refusal is sent at once again.
    if (subject.gathered == 0) {
      subjects_.erase(first);
      by_due_.pop_front();
      continue;
    }
    events.push_back(Gathered(subject));
    subject.due = now + options_.period;
    // All periods are equally long, so the renewed one is due last.
    by_due_.splice(by_due_.end(), by_due_, by_due_.begin());
  }
  return events;
}

RefusalDigest::Events RefusalDigest::TakeAll() {
  Events events;
  for (auto& [key, subject] : subjects_) {
    if (subject.gathered > 0) events.push_back(Gathered(subject));
  }
  subjects_.clear();
  by_due_.clear();
  return events;
}

std::optional<base::TimePoint> RefusalDigest::NextDue() const {
  if (by_due_.empty()) return std::nullopt;
  return subjects_.at(by_due_.front()).due;
}

}  // namespace admission
