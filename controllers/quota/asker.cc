#include "controllers/quota/asker.h"

#include <utility>

#include "informers/reflector.h"

namespace controllers {

base::Task<base::Result<Answers>> Asker::Ask(
    std::string ns, std::map<std::string, api::GroupVersionResource> resources,
    base::TimePoint deadline) {
  Answers answers;
  for (const auto& [name, resource] : resources) {
    const base::Duration left = deadline - context_.scheduler->Now();
    if (left <= base::Duration::zero()) {
      co_return base::Error{.code = base::ErrorCode::kTimeout,
                            .message = "the lists of namespace " + ns + " take too long"};
    }
    informers::ReflectorOptions options = context_.reflector;
    options.resource = resource;
    options.fields = {};  // metadata
    options.ns = ns;
    options.list_idle_timeout = std::chrono::ceil<std::chrono::seconds>(left);
    Listed& listed = answers[name];
    auto version = co_await informers::ListAll(
        *context_.client, std::move(options),
        [&listed](const json::Value& object) {
          listed.objects[quota::Uid::FromText(object.StringAt({"metadata", "uid"}))] =
              object.StringAt({"metadata", "resourceVersion"});
        },
        [&listed] { listed.objects.clear(); });
    if (!version) co_return version.error();
    listed.version = std::move(*version);
  }
  co_return answers;
}

}  // namespace controllers
