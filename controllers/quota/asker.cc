#include "controllers/quota/asker.h"

#include <memory>
#include <utility>

#include "informers/lister.h"
#include "pkg/api/object_meta.h"
#include "pkg/api/resource_version.h"
#include "pkg/base/task_group.h"

namespace controllers {

base::Task<Asker::Told> Asker::Ask(std::map<std::string, Lists> lists, base::TimePoint deadline) {
  Told told;
  bool ended = false;
  const std::unique_ptr<base::Alarm> alarm = context_.scheduler->NewAlarm();
  base::TaskGroup asking(context_.executor);
  asking.Spawn("ask", [&]() -> base::Task<void> {
    co_await base::DeferCancellation();
    bool stopping = false;
    for (auto list = lists.begin(); list != lists.end() && !stopping; ++list) {
      auto answer = co_await AskAbout(list->second);
      if (answer) {
        told.answers[list->first] = std::move(*answer);
      } else {
        told.trouble = answer.error().message;
      }
      stopping = co_await base::Stopping();
    }
    ended = true;
    alarm->Wake();
  });
  bool stopping = co_await base::Stopping();
  while (!ended && !stopping && context_.scheduler->Now() < deadline) {
    co_await alarm->WaitUntil(deadline);
    stopping = co_await base::Stopping();
  }
  if (!ended) asking.Cancel();
  co_await asking.Join();
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
