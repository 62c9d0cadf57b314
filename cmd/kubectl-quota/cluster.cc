#include "cmd/kubectl-quota/cluster.h"

#include <algorithm>

#include "cmd/kubectl-quota/usage_names.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/base/text.h"
#include "pkg/client/server_version.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/ironcore/ironcore_quota.h"
#include "pkg/quota/karmada/karmada_quota.h"
#include "pkg/quota/usage/definition_set.h"

namespace kubectl_quota {
namespace {

ServedQuotaApi Titled(quota::QuotaApi api) {
  std::string kind = base::ToLower(api.kind) + "." + api.resource.group;
  return {.api = std::move(api), .kind = std::move(kind)};
}

// True if no other request can succeed either.
bool IsUnreachable(const base::Error& error) {
  const bool answered =
      error.Is(base::ErrorCode::kMalformed) || error.Is(base::ErrorCode::kTooLarge);
  return error.http_status == 0 ? !answered : error.http_status == 401;
}

// True if discovery does not tell all resources of the group.
bool MayServe(const client::Discovered& kinds, const std::string& group) {
  return kinds.resources.empty() ||
         std::ranges::any_of(kinds.failed, [&](const client::GroupVersion& version) {
           return version.group == group;
         });
}

}  // namespace

std::vector<ServedQuotaApi> KnownQuotaApis() {
  return {{quota::CoreQuotaApi(), ""},
          Titled(quota::KarmadaQuotaApi()),
          Titled(quota::IroncoreQuotaApi())};
}

bool Serves(const client::Discovered& kinds, const api::GroupVersionResource& gvr) {
  return std::ranges::any_of(kinds.resources,
                             [&](const auto& resource) { return resource.gvr == gvr; });
}

informers::ReflectorOptions QuotaList(const quota::QuotaApi& api, const std::string& ns,
                                      const std::string& selector) {
  return {.resource = api.resource,
          .fields = api.fields,
          .ns = ns,
          .field_selector = "",
          .label_selector = selector,
          .backoff = {}};
}

informers::ReflectorOptions Listing(api::GroupVersionResource resource, std::string ns,
                                    std::string_view fields) {
  informers::ReflectorOptions what{.resource = std::move(resource), .ns = std::move(ns)};
  while (!fields.empty()) {
    const std::size_t end = std::min(fields.find(' '), fields.size());
    what.fields.emplace_back(fields.substr(0, end));
    fields.remove_prefix(std::min(end + 1, fields.size()));
  }
  return what;
}

Cluster::Cluster(client::ApiClient& client, const base::Clock& clock, Terminal& terminal)
    : client_(client), clock_(clock), terminal_(terminal), core_(quota::CoreQuotaApi()) {}

base::Task<const client::Discovered*> Cluster::Kinds() {
  if (kinds_) co_return &*kinds_;
  terminal_.Reading("what the server serves");
  auto discovered = co_await client::DiscoverResources(client_);
  if (discovered) {
    kinds_ = std::move(*discovered);
    co_return &*kinds_;
  }
  if (IsUnreachable(discovered.error())) {
    unreachable_ = discovered.error();
  } else {
    terminal_.Doubt("only ResourceQuotas are read: " + ErrorText(discovered.error()));
  }
  // Store the empty answer, too: discovery is not tried again, and there is only one warning.
  kinds_ = client::Discovered();
  co_return &*kinds_;
}

base::Task<quota::Rules> Cluster::Rules() {
  if (rules_) co_return *rules_;
  rules_.emplace();
  if (unreachable_) co_return *rules_;
  const auto version = co_await client::ReadServerVersion(client_);
  if (version) {
    rules_ = quota::RulesOf(*version);
  } else {
    terminal_.Warn("pods that are being resized are counted as before Kubernetes 1.37: " +
                   ErrorText(version.error()));
  }
  co_return *rules_;
}

base::Task<const std::vector<json::Value>*> Cluster::UsageDefinitions() {
  if (!definitions_) {
    const api::GroupVersionResource resource{std::string(quota::usage::kGroup), "v1alpha1",
                                             "usagedefinitions"};
    std::vector<json::Value> all;
    base::Result<void> listed;
    const client::Discovered* kinds = co_await Kinds();
    if (Serves(*kinds, resource)) {
      informers::ReflectorOptions what = Listing(resource, "", "");
      what.fields = quota::usage::DefinitionSet::Fields();
      const auto add = [&](const json::Value& object) { all.push_back(object); };
      const auto clear = [&] { all.clear(); };
      listed = co_await List(std::move(what), add, clear);
    } else if (MayServe(*kinds, resource.group)) {
      listed = base::Error{.code = base::ErrorCode::kUnavailable,
                           .message = "the server may have UsageDefinitions"};
    }
    if (listed) {
      definitions_ = std::move(all);
    } else {
      definitions_ = listed.error();
    }
  }
  co_return definitions_->has_value() ? &**definitions_ : nullptr;
}

base::Task<const std::vector<ServedQuotaApi>*> Cluster::QuotaApis() {
  if (!apis_.empty()) co_return &apis_;
  const client::Discovered* kinds = co_await Kinds();
  const auto* definitions = co_await UsageDefinitions();
  for (ServedQuotaApi& known : KnownQuotaApis()) {
    const bool own = known.kind.empty();
    if (definitions != nullptr) Define(*definitions, known.api, kinds);
    if (own || Serves(*kinds, known.api.resource)) apis_.push_back(std::move(known));
  }
  co_return &apis_;
}

base::Task<base::Result<void>> Cluster::List(informers::ReflectorOptions what,
                                             std::function<void(const json::Value&)> object,
                                             std::function<void()> restart) {
  if (unreachable_) co_return *unreachable_;
  terminal_.Reading(what.resource.WithoutVersion().ToString());
  const auto count = [this, object = std::move(object)](const json::Value& value) {
    terminal_.CountRead();
    object(value);
  };
  auto version =
      co_await informers::ListAll(client_, clock_, std::move(what), count, std::move(restart));
  if (!version) co_return version.error();
  co_return base::Result<void>();
}

base::Task<base::Result<json::Value>> Cluster::Get(std::string path) {
  if (unreachable_) co_return *unreachable_;
  client::ApiRequest request;
  request.path = std::move(path);
  co_return co_await client::DoJson(client_, std::move(request));
}

base::Task<base::Result<void>> Cluster::DryRun(std::string path, json::Value object) {
  client::ApiRequest request;
  request.verb = "POST";
  request.path = std::move(path);
  request.query.emplace_back("dryRun", "All");
  request.content_type = client::kJson;
  request.body = json::Write(object);
  auto answer = co_await client_.Do(std::move(request));
  if (!answer) co_return answer.error();
  co_return base::Result<void>();
}

base::Task<base::Result<void>> Cluster::QuotasOf(const ServedQuotaApi& served, std::string ns,
                                                 std::string selector,
                                                 std::vector<ReadQuota>& quotas) {
  const std::size_t before = quotas.size();
  const auto add = [&](const json::Value& object) {
    auto quota = quota::ParseQuota(object, served.api.form);
    const std::string wrong = quota ? quota->unreadable.why : quota.error().message;
    if (!wrong.empty()) {
      terminal_.Doubt("quota " + api::KeyOf(object).ToString() + " cannot be read: " + wrong);
    }
    if (quota) quotas.push_back({.of = &served, .quota = std::move(*quota)});
  };
  co_return co_await List(QuotaList(served.api, ns, selector), add,
                          [&, before] { quotas.resize(before); });
}

base::Task<base::Result<std::vector<ReadQuota>>> Cluster::Quotas(std::string ns,
                                                                 std::string selector) {
  std::vector<ReadQuota> quotas;
  const std::vector<ServedQuotaApi>* apis = co_await QuotaApis();
  for (const ServedQuotaApi& served : *apis) {
    auto listed = co_await QuotasOf(served, ns, selector, quotas);
    if (listed) continue;
    if (served.kind.empty()) co_return listed.error();
    terminal_.Doubt("shown without " + served.kind + ": " + ErrorText(listed.error()));
  }
  co_return quotas;
}

}  // namespace kubectl_quota
