#include "informers/reflector.h"

#include <glog/logging.h>

#include <random>
#include <utility>

#include "informers/collection_requests.h"
#include "informers/lister.h"
#include "informers/reflector_fsm.h"
#include "informers/trouble.h"
#include "informers/watch_event.h"
#include "informers/watch_reader.h"
#include "pkg/api/resource_version.h"
#include "pkg/base/task_group.h"
#include "pkg/json/value.h"
#include "pkg/metrics/informer_metrics.h"

namespace informers {
namespace {

using base::Error;
using base::ErrorCode;

// How long after timeoutSeconds a server may take to end a watch.
constexpr std::chrono::seconds kWatchGrace{30};
// A list may replace a known state for so long until that is reported.
constexpr std::chrono::seconds kLongList{60};

class ReflectorImpl final : public Reflector {
 public:
  ReflectorImpl(client::ApiClient& client, base::Scheduler& scheduler, CollectionSink& sink,
                ReflectorOptions options)
      : client_(client),
        scheduler_(scheduler),
        sink_(sink),
        options_(std::move(options)),
        name_(options_.resource.ToString()),
        decoder_(ObjectDecoder(options_), options_.resource.Path()),
        random_(options_.seed != 0 ? options_.seed : std::random_device{}()),
        fsm_(options_.backoff, random_()),
        trouble_(name_, scheduler_, options_.metrics, state_, sink_) {}

  base::Task<void> Run() override;
  void Relist() override;
  void Reopen() override;
  [[nodiscard]] const ReflectorState& state() const override { return state_; }

 private:
  base::Task<Step> List();
  base::Task<base::Result<std::string>> ReadList();
  base::Task<void> ReportLongList();
  base::Task<Step> Watch();
  base::Task<void> HealIfItLasts();
  base::Task<WatchEnd> FollowUntilCalled(std::unique_ptr<http::BodyStream> body,
                                         base::TimePoint limit);
  base::Task<void> CheckPlace();
  void Take(const WatchEvent& event, base::TimePoint began);
  bool TakeIfWhole(const json::Value& object);
  void SetVersion(const std::string& version);
  void Enter(const Step& step);
  std::chrono::seconds DrawWatchTimeout();

  client::ApiClient& client_;
  base::Scheduler& scheduler_;
  CollectionSink& sink_;
  const ReflectorOptions options_;
  const std::string name_;
  const WatchEventDecoder decoder_;
  std::mt19937_64 random_;
  ReflectorFsm fsm_;
  bool relist_ = false;               // list before the next step
  bool reopen_ = false;               // end the open watch
  base::Alarm* following_ = nullptr;  // wakes FollowUntilCalled() to end the open watch
  ReflectorState state_;
  Trouble trouble_;
};

base::Task<void> ReflectorImpl::Run() {
  co_await base::DeferCancellation();
  Step step;
  for (bool stopping = co_await base::Stopping(); !stopping;) {
    if (relist_ || step.act == Step::Act::kList) {
      step = co_await List();
    } else {
      step = co_await Watch();
    }
    stopping = co_await base::Stopping();
    if (stopping) co_return;  // the cancellation ended the last step: do not report it
    Enter(step);
    if (step.wait > base::Duration::zero()) co_await scheduler_.Sleep(step.wait);
    stopping = co_await base::Stopping();
  }
}

void ReflectorImpl::Relist() {
  relist_ = true;
  if (following_ != nullptr) following_->Wake();
}

// Without an open watch there is nothing to end: the next one is new anyway.
void ReflectorImpl::Reopen() {
  if (following_ == nullptr) return;
  reopen_ = true;
  following_->Wake();
}

base::Task<Step> ReflectorImpl::List() {
  base::TaskGroup beside(co_await base::asio::this_coro::executor);
  // Before the first list nobody takes the state for known.
  if (state_.synced) beside.Spawn("list " + name_, [this] { return ReportLongList(); });
  bool in_turn = false;
  if (options_.lists != nullptr) {
    in_turn = co_await options_.lists->Enter(scheduler_.Now() + kLongestTurn);
  }
  const bool stopping = co_await base::Stopping();
  const base::TimePoint asked = scheduler_.Now();
  // Cleared before the list: a Relist() during the list asks for another one.
  if (std::exchange(relist_, false)) fsm_.LosePlace();
  base::Result<std::string> version = Error{.code = ErrorCode::kCancelled, .message = "cancelled"};
  if (!stopping) version = co_await ReadList();
  if (in_turn) options_.lists->Leave();
  beside.Cancel();
  co_await beside.Join();
  if (!version) co_return fsm_.ListFailed(scheduler_.Now(), version.error());
  sink_.OnListed(*version);
  // Large sinks sweep in steps, so that one list does not block the event loop.
  while (sink_.SweepSome()) co_await base::NextTurn();
  sink_.EndList();
  ++state_.lists;
  if (options_.metrics != nullptr) options_.metrics->Listed();
  state_.current_as_of = asked;
  state_.gap.OnList(asked);
  SetVersion(*version);
  const bool first = !std::exchange(state_.synced, true);
  if (first) {
    VLOG(1) << "synced resource=" << name_ << " version=" << *version;
    if (options_.metrics != nullptr) options_.metrics->SetSynced(true);
    // With trouble, OnProgress() below reports the new state.
    if (!state_.trouble) sink_.OnState();
  }
  trouble_.OnProgress();
  co_return fsm_.Listed(*version);
}

base::Task<base::Result<std::string>> ReflectorImpl::ReadList() {
  ListSink sink;
  sink.begin = [this] { sink_.BeginList(); };
  sink.object = [this](const json::Value& object) {
    if (TakeIfWhole(object)) sink_.Upsert(object);
  };
  return ListPages(client_, scheduler_, options_, std::move(sink));
}

base::Task<void> ReflectorImpl::ReportLongList() {
  co_await base::DeferCancellation();
  const std::unique_ptr<base::Alarm> alarm = scheduler_.NewAlarm();
  co_await alarm->WaitUntil(scheduler_.Now() + kLongList);
  const bool ended = co_await base::Stopping();
  if (ended || state_.trouble) co_return;
  trouble_.OnFailure({.code = ErrorCode::kTimeout,
                      .message = "it is listed again, which takes longer than a minute"});
}

base::Task<Step> ReflectorImpl::Watch() {
  CHECK(!fsm_.version().empty()) << "a watch of " << name_ << " without a list before it";
  const std::chrono::seconds timeout = DrawWatchTimeout();
  auto opened =
      co_await client_.Stream(WatchRequest(options_, decoder_.objects(), fsm_.version(), timeout));
  const base::TimePoint begin = scheduler_.Now();
  WatchEnd end;
  if (!opened) {
    end.phase = WatchEnd::Phase::kOpening;
    end.error = opened.error();
    if (end.error->too_large_resource_version) co_await CheckPlace();
    co_return fsm_.WatchEnded(begin, std::move(end));
  }
  ++state_.watches;
  if (options_.metrics != nullptr) options_.metrics->Watched();
  state_.current_as_of = begin;
  state_.gap.OnWatch(begin);
  // A restore takes the server away, so a watch that opens at the first attempt needs no check.
  if (state_.trouble) co_await CheckPlace();
  if (fsm_.OpeningHeals()) trouble_.OnProgress();
  base::TaskGroup beside(co_await base::asio::this_coro::executor);
  // The watch of a quiet collection brings no event to report recovery by.
  if (state_.trouble && fsm_.LastingHeals()) {
    beside.Spawn("watch " + name_, [this] { return HealIfItLasts(); });
  }
  end = co_await FollowUntilCalled(std::move(*opened), begin + timeout + kWatchGrace);
  beside.Cancel();
  co_await beside.Join();
  const base::TimePoint now = scheduler_.Now();
  end.lasted = now - begin;
  state_.gap.OnWatchEnd(now);
  // A server that was restored behind our version accepts the watch and stays silent.
  const bool silent = end.error && end.error->Is(ErrorCode::kTimeout);
  if (silent) co_await CheckPlace();
  co_return fsm_.WatchEnded(now, std::move(end));
}

// Reports recovery once the watch was open for kShortWatch. In a quiet collection the next bookmark
// may be a minute away.
base::Task<void> ReflectorImpl::HealIfItLasts() {
  co_await base::DeferCancellation();
  const std::unique_ptr<base::Alarm> alarm = scheduler_.NewAlarm();
  co_await alarm->WaitUntil(scheduler_.Now() + ReflectorFsm::kShortWatch);
  const bool ended = co_await base::Stopping();
  if (!ended) trouble_.OnProgress();
}

// Reads events until the stream ends, or until Relist() or Reopen() cancels the read.
base::Task<WatchEnd> ReflectorImpl::FollowUntilCalled(std::unique_ptr<http::BodyStream> body,
                                                      base::TimePoint limit) {
  WatchEnd end;
  bool ended = false;
  WatchReading reading{
      .decoder = decoder_,
      .name = name_,
      .max_object_bytes = options_.max_object_bytes,
      .idle_timeout = options_.idle_timeout,
      .limit = limit,
      .take = [this](const WatchEvent& event, base::TimePoint began) { Take(event, began); }};
  const std::unique_ptr<base::Alarm> alarm = scheduler_.NewAlarm();
  base::TaskGroup readers(co_await base::asio::this_coro::executor);
  readers.Spawn("follow " + name_, [&]() -> base::Task<void> {
    co_await base::DeferCancellation();
    end = co_await ReadWatch(scheduler_, std::move(body), std::move(reading));
    ended = true;
    alarm->Wake();
  });
  CHECK(following_ == nullptr) << "two watches at once of " << name_;
  following_ = alarm.get();
  bool stopping = co_await base::Stopping();
  while (!ended && !relist_ && !reopen_ && !stopping) {
    co_await alarm->WaitUntil(base::TimePoint::max());
    stopping = co_await base::Stopping();
  }
  following_ = nullptr;
  reopen_ = false;
  // The task uses `end` and `alarm`, so it must end before this function returns.
  readers.Cancel();
  co_await readers.Join();
  co_return end;
}

// Lists again if the server was restored to a state older than our version. A watch shows nothing
// until the server passes that version again. The sink may know more than our version.
base::Task<void> ReflectorImpl::CheckPlace() {
  relist_ = relist_ || sink_.IsAhead();
  if (relist_) co_return;
  const auto current = co_await CurrentVersion(client_, scheduler_, options_);
  const bool behind =
      current && api::IsOlderVersion(*current, fsm_.version()) == std::optional(true);
  LOG_IF(WARNING, behind) << "the server went back to an earlier state, listing again resource="
                          << name_ << " version=" << *current << " ours=" << fsm_.version();
  relist_ = relist_ || behind;  // Relist() may have been called meanwhile
}

void ReflectorImpl::Take(const WatchEvent& event, base::TimePoint began) {
  ++state_.events;
  state_.current_as_of = began;
  const bool bookmark = event.type == WatchEvent::Type::kBookmark;
  if (!bookmark && TakeIfWhole(event.object)) {
    if (event.type == WatchEvent::Type::kDeleted) {
      sink_.Remove(event.object);
    } else {
      sink_.Upsert(event.object);
    }
  }
  // Only now: the version must not pass an event that the sink does not have.
  fsm_.Applied(event.version, bookmark);
  SetVersion(event.version);
  if (options_.metrics != nullptr) {
    options_.metrics->Received();
    options_.metrics->Processed(scheduler_.Now() - began);
  }
  trouble_.OnProgress();
}

bool ReflectorImpl::TakeIfWhole(const json::Value& object) {
  if (IsWhole(object)) return true;
  LOG_IF(ERROR, state_.skipped == 0)
      << "object left out, it has no metadata.uid or no metadata.name resource=" << name_
      << " key=" << KeyOf(object) << " (further ones are counted, not logged)";
  ++state_.skipped;
  if (options_.metrics != nullptr) options_.metrics->Skipped();
  return false;
}

void ReflectorImpl::SetVersion(const std::string& version) {
  if (version.empty()) return;
  state_.resource_version = version;
  if (options_.metrics != nullptr) options_.metrics->SetResourceVersion(version);
}

void ReflectorImpl::Enter(const Step& step) {
  if (step.trouble) {
    trouble_.OnFailure(*step.trouble);
  } else if (step.wait == base::Duration::zero()) {
    trouble_.OnProgress();
  } else if (step.act == Step::Act::kList) {
    LOG(INFO) << "the resource version has expired, listing again resource=" << name_;
  }
}

std::chrono::seconds ReflectorImpl::DrawWatchTimeout() {
  // Random, so that the watches of all reflectors do not end at the same time.
  const auto low = options_.watch_timeout_min.count();
  return std::chrono::seconds(
      std::uniform_int_distribution<std::chrono::seconds::rep>(low, 2 * low - 1)(random_));
}

}  // namespace

std::unique_ptr<Reflector> NewReflector(client::ApiClient& client, base::Scheduler& scheduler,
                                        CollectionSink& sink, ReflectorOptions options) {
  return std::make_unique<ReflectorImpl>(client, scheduler, sink, std::move(options));
}

}  // namespace informers
