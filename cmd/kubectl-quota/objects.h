#pragma once

// Finds objects by their names on a command line, and the evaluator of an object. Single-threaded.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cmd/kubectl-quota/cluster.h"
#include "cmd/kubectl-quota/counting.h"
#include "pkg/inspect/fit.h"

namespace kubectl_quota {

// "deployment/web", "deploy/web", "deployments.apps/web", "deploy.v1.apps/web"; a bare name is a
// pod's.
struct NamedKind {
  const client::ApiResource* resource = nullptr;
  std::string name;
};
// Returns TYPE/NAME for each name if the first of several arguments without a slash is a type, as
// in `deploy web api`; else the arguments. Errors: kInvalidArgument for a type without a name, or
// one that is mistyped.
base::Task<base::Result<std::vector<std::string>>> WithTypes(Cluster& cluster,
                                                             std::vector<std::string> arguments,
                                                             std::string ns);
// Errors: kInvalidArgument, in kubectl's words, for a kind that the server does not have.
base::Task<base::Result<NamedKind>> FindNamed(Cluster& cluster, std::string argument);

// Errors: of the server; kNotFound with kubectl's text.
base::Task<base::Result<json::Value>> GetObject(Cluster& cluster, NamedKind named, std::string ns);

// Returns the usual plural of a kind: "machineclasses" of "MachineClass".
std::string GuessedResource(std::string_view kind);

// Finds the evaluator of an object, for all kinds that manifests may have.
class Counters {
 public:
  // `kinds` and `api` must outlive it. If there are no kinds, the resource of a kind is guessed.
  // `rules` are the server's.
  Counters(const client::Discovered& kinds, const quota::QuotaApi& api, quota::Rules rules)
      : kinds_(kinds), api_(api), rules_(rules) {}

  // The resource of a kind that is not served is its plural in these CustomResourceDefinitions, or
  // else in a name of a quota that looks like it. Call first.
  void SetNames(const std::vector<json::Value>& definitions, const std::set<std::string>& limited);
  // Returns the resource of a kind if only its guessed plural tells that no quota limits it; ""
  // else.
  [[nodiscard]] std::string GuessOf(std::string_view api_version, std::string_view kind) const;
  // Returns the resource of a kind; nullopt if it is served, and in no namespace.
  [[nodiscard]] std::optional<api::GroupResource> ResourceOf(std::string_view api_version,
                                                             std::string_view kind) const;
  // Takes over the classes of the sources.
  void SetClasses(std::vector<Source> sources);
  // nullptr: no quota counts such objects.
  const inspect::Counter* Of(std::string_view api_version, std::string_view kind);

 private:
  // Returns the resource of a kind that is not served, without a guess; nullopt if none is known.
  [[nodiscard]] std::optional<std::string> NamedPlural(const std::string& group,
                                                       std::string_view kind) const;
  struct Entry {
    std::shared_ptr<const quota::Evaluator> evaluator;
    inspect::Counter counter;
  };
  const client::Discovered& kinds_;
  const quota::QuotaApi& api_;
  quota::Rules rules_;
  std::map<std::pair<std::string, std::string>, std::string> plurals_;  // by group and kind
  std::vector<api::GroupResource> limited_;  // with a limited object count
  std::vector<Source> sources_;
  std::map<std::string, std::unique_ptr<Entry>, std::less<>> entries_;  // "apps/v1 Deployment"
};

}  // namespace kubectl_quota
