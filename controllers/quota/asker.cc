#include "controllers/quota/asker.h"

#include <memory>
#include <utility>

#include "informers/lister.h"
#include "pkg/api/object_meta.h"
#include "pkg/api/resource_version.h"
#include "pkg/base/task_group.h"

namespace controllers {
namespace {

constexpr std::chrono::milliseconds kTurnPoll{10};

}  // namespace

void Asker::Stop() {
  stopped_ = true;
  for (const Asking& one : asking_) one.alarm->Wake();
}

base::Task<bool> Asker::AwaitTurn() {
  while (!stopped_ && asking_.size() >= kMostAtOnce) {
    if (context_.scheduler->Now() - asking_.front().since >= kHangs) co_return false;
    co_await context_.scheduler->Sleep(kTurnPoll);
  }
  co_return !stopped_;
}

bool Asker::MayAsk(const std::string& resource, base::TimePoint deadline) {
  const auto resting = resting_.find(resource);
  if (resting == resting_.end()) return true;
  if (context_.scheduler->Now() < resting->second) return false;
  resting->second = deadline;  // others leave it alone while this question asks
  return true;
}

base::Task<Asker::Told> Asker::Ask(std::map<std::string, Lists> lists, base::Duration patience) {
  Told told;
  const bool turn = co_await AwaitTurn();
  if (!turn) {
    told.busy = true;
    co_return told;
  }
  bool ended = false;
  std::string current;  // the resource that is being asked
  const base::TimePoint deadline = context_.scheduler->Now() + patience;
  const std::unique_ptr<base::Alarm> alarm = context_.scheduler->NewAlarm();
  const auto here = asking_.insert(asking_.end(), {context_.scheduler->Now(), alarm.get()});
  base::TaskGroup asking(context_.executor);
  asking.Spawn("ask", [&]() -> base::Task<void> {
    co_await base::DeferCancellation();
    bool stopping = false;
    for (auto list = lists.begin(); list != lists.end() && !stopping; ++list) {
      if (!MayAsk(list->first, deadline)) {
        told.trouble = list->first + " was not answered in time, and is asked again later";
        continue;
      }
      current = list->first;
      auto answer = co_await AskAbout(list->second);
      stopping = co_await base::Stopping();
      if (!stopping) resting_.erase(current);
      if (answer) {
        told.answers[list->first] = std::move(*answer);
      } else {
        told.trouble = answer.error().message;
      }
    }
    ended = true;
    alarm->Wake();
  });
  while (!ended && !stopped_ && context_.scheduler->Now() < deadline) {
    co_await alarm->WaitUntil(deadline);
  }
  if (!ended) {
    if (!stopped_) resting_[current] = context_.scheduler->Now() + kRests;
    asking.Cancel();
  }
  co_await asking.Join();
  asking_.erase(here);
  co_return told;
}

// An object that is passed twice, because a list started over, changes nothing.
base::Task<base::Result<Listed>> Asker::AskAbout(Lists lists) {
  Listed listed;
  informers::ReflectorOptions options = context_.reflector;
  options.resource = lists.resource;
  options.fields = {};  // no fields: metadata only
  const auto take = [&](const json::Value& object) {
    const quota::Uid uid = quota::Uid::FromText(api::Uid(object));
    const std::string_view ns = api::Namespace(object);
    const std::string_view version = api::ResourceVersion(object);
    if (lists.objects.contains(uid)) {
      listed.objects[uid] = {.ns = std::string(ns), .version = std::string(version)};
    }
    if (!lists.whole) return;
    api::RaiseVersion(listed.newest, version);
    const TrackedResource* tracked = tracker_.Find(lists.resource.WithoutVersion());
    const bool shown = tracked != nullptr && tracked->HasShown(ns, uid, version);
    if (!shown) api::RaiseVersion(listed.unshown, version);
  };
  std::set<std::string> namespaces = lists.namespaces;
  if (lists.whole) namespaces = {lists.within};
  for (const std::string& ns : namespaces) {
    options.ns = ns;  // "": all
    auto version =
        co_await informers::ListAll(*context_.client, *context_.scheduler, options, take, [] {});
    if (!version) co_return version.error();
    listed.version = std::move(*version);
  }
  if (namespaces.empty()) {
    auto version =
        co_await informers::CurrentVersion(*context_.client, *context_.scheduler, options);
    if (!version) co_return version.error();
    listed.version = std::move(*version);
  }
  co_return listed;
}

}  // namespace controllers
