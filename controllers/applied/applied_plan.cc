#include "controllers/applied/applied_plan.h"

#include <algorithm>
#include <utility>

#include "pkg/api/resource_version.h"
#include "pkg/client/api_error.h"

namespace controllers {
namespace {

// Each comparison takes up to some ten microseconds.
constexpr std::size_t kComparedAStep = 8;
constexpr int kMarkedAStep = 128;
constexpr int kCountedAStep = 256;
constexpr std::chrono::seconds kBetweenMarks{1};
// Between two comparisons of an object that was up to date.
constexpr std::chrono::seconds kBetweenLooks{2};
// Until the source, or the watch, may know more.
constexpr std::chrono::seconds kUntilKnown{2};
constexpr std::chrono::milliseconds kUntilSynced{250};
// For a namespace that refuses creations: a terminating namespace refuses all of them.
constexpr std::chrono::minutes kUntilAccepted{1};
constexpr std::chrono::seconds kLongestPause{30};
// A policy, or a quota of somebody else, may refuse what the daemon writes in some namespaces, for
// ever. The others must not wait for these.
constexpr std::chrono::minutes kLongestRefusal{10};
constexpr std::chrono::milliseconds kPauseAfterRefusal{250};
constexpr int kMostDoublings = 10;

}  // namespace

void AppliedPlan::OnClusterQuota(const std::string& name, Changed what) {
  const base::TimePoint now = clock_.Now();
  usage_changed_ = what == Changed::kUsage ? now : base::TimePoint::min();
  if (what == Changed::kMore) next_round_ = base::TimePoint::min();
  if (changed_.empty()) next_marks_ = std::max(next_marks_, now + pace_.settle);
  changed_.try_emplace(name, now);
}

// One quota may move ten thousand namespaces at once, so only their names are stored here. They
// arrive in order.
void AppliedPlan::OnReachOf(const std::string& ns) { moved_.emplace_hint(moved_.end(), ns); }

bool AppliedPlan::TakeMoved() {
  if (moved_.empty()) return false;
  for (int i = 0; i < kMarkedAStep && !moved_.empty(); ++i) {
    const auto first = moved_.extract(moved_.begin());
    Space& space = spaces_[first.value()];
    space.moved = true;
    space.not_before = base::TimePoint::min();  // may be a new namespace of this name
    Touch(first.value(), space);
  }
  return true;
}

void AppliedPlan::OnUsageIn(const std::string& ns) {
  const auto found = spaces_.find(ns);
  if (found != spaces_.end()) Touch(ns, found->second);
}

void AppliedPlan::Mark(Entry& entry) const {
  entry.since = std::min(entry.since, clock_.Now());
  entry.slow = false;
}

// The status of its quota changed.
void AppliedPlan::MarkSince(Entry& entry, base::TimePoint changed) {
  if (entry.since == kNever) entry.slow = entry.above;
  entry.since = std::min(entry.since, changed);
}

void AppliedPlan::Touch(const std::string& ns, Space& space) {
  if (std::exchange(space.touched, true)) return;
  for (Entry& entry : space.entries) Mark(entry);
  soon_.AddAfter(ns, pace_.settle);
}

// Continues the walk over the namespaces that marks the objects of all quotas that changed before
// it began. Returns true if the walk is not over.
bool AppliedPlan::MarkSome() {
  const base::TimePoint now = clock_.Now();
  if (marking_.empty()) {
    if (changed_.empty() || now < next_marks_) return false;
    marking_ = std::exchange(changed_, {});
    marked_.clear();
    next_marks_ = now + kBetweenMarks;
  }
  auto at = spaces_.upper_bound(marked_);
  for (int i = 0; i < kMarkedAStep && at != spaces_.end(); ++i, ++at) {
    base::TimePoint due = kNever;
    base::TimePoint due_above = kNever;
    for (Entry& entry : at->second.entries) {
      const auto changed = marking_.find(entry.name);
      if (changed == marking_.end()) continue;
      MarkSince(entry, changed->second);
      base::TimePoint& earliest = entry.above ? due_above : due;
      earliest = std::min(earliest, std::max(entry.due, now));
    }
    if (due < kNever) soon_.AddAfter(at->first, due - now);
    if (due_above < kNever) round_.AddAfter(at->first, due_above - now);
    marked_ = at->first;
  }
  if (at == spaces_.end()) marking_.clear();
  return true;
}

AppliedPlan::Queue* AppliedPlan::PickQueue() {
  // Time passes between two reads of the clock. A namespace whose time has come counts as ready,
  // even if the queue has not moved it to the ready ones yet.
  const auto ready = [this](const Queue& queue) {
    return queue.Len() > 0 || queue.NextReady() <= clock_.Now();
  };
  const bool soon = ready(soon_);
  const bool round = ready(round_) && clock_.Now() >= next_round_;
  if (soon && (soon_is_next_ || !round)) return &soon_;
  return round ? &round_ : nullptr;
}

// On a busy cluster the usage of the quotas at the top changes all the time, and concerns every
// namespace.
void AppliedPlan::NoteWrite(const Queue& queue) {
  const base::TimePoint now = clock_.Now();
  soon_is_next_ = &queue == &round_;
  next_write_ = now + pace_.any;
  if (&queue != &round_) return;
  const bool rests = usage_changed_ == base::TimePoint::min() || now - usage_changed_ >= pace_.rest;
  next_round_ = now + (rests ? pace_.any : pace_.above);
}

AppliedPlan::Next AppliedPlan::Decide() {
  const base::TimePoint now = clock_.Now();
  if (!leads_since_) leads_since_ = now;
  if (!listed_ || listing_ || !source_.Synced()) return {std::nullopt, now + kUntilSynced};
  if (TakeMoved() || MarkSome()) return {std::nullopt, now};
  if (now < next_write_) return {std::nullopt, next_write_};
  Queue* const queue = PickQueue();
  if (queue == nullptr) {
    const base::TimePoint marks = changed_.empty() ? kNever : next_marks_;
    const base::TimePoint round =
        std::max(round_.Len() > 0 ? now : round_.NextReady(), next_round_);
    return {std::nullopt, std::min({soon_.NextReady(), round, marks})};
  }
  const std::optional<std::string> ns = queue->Get();
  if (!ns) return {std::nullopt, now};  // it becomes ready at the next call
  std::optional<AppliedWrite> write = LookAt(*ns, *queue);
  queue->Done(*ns);
  if (write) NoteWrite(*queue);
  return {std::move(write), now};
}

std::optional<AppliedWrite> AppliedPlan::LookAt(const std::string& ns, Queue& queue) {
  const auto found = spaces_.find(ns);
  if (found == spaces_.end()) return std::nullopt;
  Space& space = found->second;
  space.touched = false;
  if (std::exchange(space.moved, false)) Reconcile(ns, space);
  const base::TimePoint now = clock_.Now();
  base::TimePoint again = kNever;
  std::optional<AppliedWrite> write;
  if (now < space.not_before) {
    again = space.not_before;
  } else {
    write = LookAtEntries(ns, space, &queue == &round_, again);
  }
  if (space.entries.empty()) {
    spaces_.erase(found);
  } else if (again < kNever) {
    queue.AddAfter(ns, again - now);
  }
  return write;
}

// Makes the entries those of wanted and of stored objects.
void AppliedPlan::Reconcile(const std::string& ns, Space& space) {
  std::vector<std::string> wanted = source_.QuotasOf(ns);
  std::ranges::sort(wanted);
  for (Entry& entry : space.entries) {
    entry.wanted = std::ranges::binary_search(wanted, entry.name);
    if (!entry.wanted) Mark(entry);
  }
  std::erase_if(space.entries,
                [](const Entry& entry) { return !entry.wanted && entry.version.empty(); });
  for (const std::string& name : wanted) {
    Entry& entry = Add(space, name);
    entry.above = source_.IsAbove(ns, name);
    if (!std::exchange(entry.wanted, true)) Mark(entry);
  }
}

std::optional<AppliedWrite> AppliedPlan::LookAtEntries(const std::string& ns, Space& space,
                                                       bool slow_too, base::TimePoint& again) {
  const base::TimePoint now = clock_.Now();
  const std::size_t size = space.entries.size();
  const std::size_t first = space.next;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t index = (first + i) % size;
    Entry& entry = space.entries[index];
    if (entry.since == kNever || (entry.slow && !slow_too)) continue;
    if (entry.wanted && now < entry.due) {
      again = std::min(again, entry.due);
      continue;
    }
    space.next = static_cast<std::uint32_t>(index);
    if (compared++ == kComparedAStep) {
      again = now;
      return std::nullopt;
    }
    std::optional<AppliedWrite> write = Compare(ns, entry, again);
    if (!write) continue;
    ++space.next;
    again = now;  // the other entries come later: this namespace had its write
    return write;
  }
  return std::nullopt;
}

// Returns the write that the entry needs. Returns nothing if the entry is up to date, or if the
// source does not know its content yet.
std::optional<AppliedWrite> AppliedPlan::Compare(const std::string& ns, Entry& entry,
                                                 base::TimePoint& again) {
  const bool stored = !entry.version.empty();
  if (entry.taken || (!entry.wanted && !stored)) {
    entry.since = kNever;
    return std::nullopt;
  }
  AppliedWrite write{.verb = AppliedWrite::Verb::kDelete,
                     .ns = ns,
                     .name = entry.name,
                     .version = entry.version,
                     .object = {},
                     .since = entry.since};
  std::uint64_t digest = 0;
  if (entry.wanted) {
    const std::optional<AppliedContent> content = source_.ContentOf(ns, entry.name);
    if (!content) {
      // It stays outdated. Without `due` the next step would compare it again: with more such
      // entries than a step compares, the steps never end.
      entry.due = std::max(entry.due, clock_.Now() + kUntilKnown);
      again = std::min(again, entry.due);
      return std::nullopt;
    }
    write.verb = stored ? AppliedWrite::Verb::kUpdate : AppliedWrite::Verb::kCreate;
    write.object = AppliedObject(ns, entry.name, *content);
    digest = DigestOf(write.object);
  }
  entry.since = kNever;
  if (entry.wanted && stored && digest == entry.digest) {
    entry.due = std::max(entry.due, clock_.Now() + kBetweenLooks);
    return std::nullopt;
  }
  in_flight_ = InFlight{.ns = ns, .name = entry.name, .digest = digest};
  return write;
}

void AppliedPlan::OnWritten(const AppliedWrite& write, std::string_view version) {
  failures_ = 0;
  const std::optional<InFlight> written = std::exchange(in_flight_, std::nullopt);
  const auto space = spaces_.find(write.ns);
  Entry* const entry = Find(write.ns, write.name);
  if (entry == nullptr || !written) return;
  space->second.refusals = 0;
  if (write.verb == AppliedWrite::Verb::kDelete) return Lose(write.ns, space->second, *entry);
  entry->due = clock_.Now() + pace_.each;
  // The watch has shown that the written object was deleted since.
  if (api::ReachesVersion(written->gone, version)) return;
  Take(*entry, version, written->digest);
}

AppliedPlan::Failure AppliedPlan::OnFailed(const AppliedWrite& write, const base::Error& error) {
  using base::ErrorCode;
  in_flight_.reset();
  const auto space = spaces_.find(write.ns);
  Entry* const entry = Find(write.ns, write.name);
  if (entry == nullptr) return Failure::kExpected;
  const bool creates = write.verb == AppliedWrite::Verb::kCreate;
  const base::TimePoint now = clock_.Now();
  entry->since = std::min(entry->since, write.since);
  entry->slow = false;
  entry->due = now + pace_.each;
  soon_.Add(write.ns);
  // Somebody else's object, unless the watch shows one with our label: Take() resets this.
  if (creates && error.Is(ErrorCode::kAlreadyExists)) {
    return std::exchange(entry->taken, true) ? Failure::kExpected : Failure::kTaken;
  }
  // Deleted meanwhile: Lose() has it created again if it is still wanted.
  if (!creates && error.Is(ErrorCode::kNotFound)) {
    Lose(write.ns, space->second, *entry);
    return Failure::kExpected;
  }
  // The namespace is gone or terminating, so its missing objects are not late.
  if (creates && (error.Is(ErrorCode::kNotFound) || client::IsTerminating(error))) {
    for (Entry& missing : space->second.entries) {
      if (missing.version.empty() && missing.since != kNever) missing.since = now;
    }
    space->second.not_before = now + kUntilAccepted;
    return Failure::kExpected;
  }
  if (error.Is(ErrorCode::kConflict)) {
    space->second.not_before = now + kUntilKnown;  // until the watch shows the newer version
    return Failure::kExpected;
  }
  const bool refuses = error.Is(ErrorCode::kForbidden) || error.Is(ErrorCode::kInvalid);
  int& refusals = space->second.refusals;
  const base::Duration rest = pace_.each * (1 << refusals);
  space->second.not_before = now + std::min<base::Duration>(rest, kLongestRefusal);
  refusals = refuses ? std::min(refusals + 1, kMostDoublings) : 0;
  failures_ = std::min(failures_ + 1, kMostDoublings);
  const base::Duration longest = refuses ? kPauseAfterRefusal : base::Duration(kLongestPause);
  const base::Duration pause = std::min<base::Duration>(pace_.any * (1 << failures_), longest);
  next_write_ = now + std::max<base::Duration>(pause, error.retry_after);
  return Failure::kFailed;
}

bool AppliedPlan::Count(Tally& tally) const {
  if (tally.place.empty()) tally = {.oldest_change = kNever, .place = {}};
  auto at = spaces_.upper_bound(tally.place);
  for (int i = 0; i < kCountedAStep && at != spaces_.end(); ++i, ++at) {
    for (const Entry& entry : at->second.entries) {
      if (!entry.version.empty()) ++tally.stored;
      if (entry.since == kNever || entry.taken || !leads_since_) continue;
      ++tally.changed;
      tally.oldest_change = std::min(tally.oldest_change, std::max(entry.since, *leads_since_));
    }
    tally.place = at->first;
  }
  if (at != spaces_.end()) return true;
  tally.place.clear();
  return false;
}

}  // namespace controllers
