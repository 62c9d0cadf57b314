#include "controllers/quota/asker.h"

#include <utility>

#include "informers/reflector.h"

namespace controllers {
namespace {

// For more namespaces than this, one list of all namespaces is cheaper.
constexpr std::size_t kMostLists = 64;

}  // namespace

base::Task<base::Result<Answers>> Asker::Ask(std::map<std::string, Lists> lists,
                                             base::TimePoint deadline) {
  Answers answers;
  for (auto& [name, list] : lists) {
    const bool all = list.namespaces.contains("") || list.namespaces.size() > kMostLists;
    if (all) list.namespaces = {""};
    Listed& answer = answers[name];
    for (const std::string& ns : list.namespaces) {
      auto listed = co_await List(list.resource, ns, deadline);
      if (!listed) co_return listed.error();
      answer.version = std::move(listed->version);
      answer.objects.merge(listed->objects);
    }
  }
  co_return answers;
}

base::Task<base::Result<Listed>> Asker::List(api::GroupVersionResource resource, std::string ns,
                                             base::TimePoint deadline) {
  const base::Duration left = deadline - context_.scheduler->Now();
  if (left <= base::Duration::zero()) {
    const std::string where = ns.empty() ? "all namespaces" : "namespace " + ns;
    co_return base::Error{.code = base::ErrorCode::kTimeout,
                          .message = "the lists of " + where + " take too long"};
  }
  informers::ReflectorOptions options = context_.reflector;
  options.resource = std::move(resource);
  options.fields = {};  // no fields: metadata only
  options.ns = std::move(ns);
  options.list_timeout = std::chrono::ceil<std::chrono::seconds>(left);
  Listed listed;
  auto version = co_await informers::ListAll(
      *context_.client, *context_.scheduler, std::move(options),
      [&listed](const json::Value& object) {
        listed.objects[quota::Uid::FromText(object.StringAt({"metadata", "uid"}))] = {
            .ns = std::string(object.StringAt({"metadata", "namespace"})),
            .version = std::string(object.StringAt({"metadata", "resourceVersion"}))};
      },
      [&listed] { listed.objects.clear(); });
  if (!version) co_return version.error();
  listed.version = std::move(*version);
  co_return listed;
}

}  // namespace controllers
