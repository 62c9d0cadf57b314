#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/foreign_text.h"

namespace kubectl_quota {
namespace {

const api::GroupVersionResource kDeployments{"apps", "v1", "deployments"};
constexpr const char* kDaemonLabel = "app.kubernetes.io/name=quota-controller-manager";

// "quota-controller-manager:0.1.0 in quota-system" for each container of the Deployment.
std::string ImagesOf(const json::Value& deployment) {
  std::string text;
  for (const json::Value& container :
       deployment.ArrayAt({"spec", "template", "spec", "containers"})) {
    text += inspect::Line(std::string(container.StringAt({"image"})) + " in " +
                          std::string(api::Namespace(deployment)));
  }
  return text;
}

}  // namespace

base::Task<Outcome> DaemonVersion(Session& session) {
  std::string text;
  informers::ReflectorOptions what =
      Listing(kDeployments, "", "spec.template.spec.containers.image");
  what.label_selector = kDaemonLabel;
  const auto add = [&](const json::Value& deployment) { text += ImagesOf(deployment); };
  auto listed = co_await session.cluster.List(std::move(what), add, [&] { text.clear(); });
  if (!listed) {
    session.terminal().Warn("shown without the daemon's version: " + ErrorText(listed.error()));
  }
  session.terminal().Write(text);
  co_return kYes;
}

}  // namespace kubectl_quota
