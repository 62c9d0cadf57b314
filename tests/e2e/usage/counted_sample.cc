#include "tests/e2e/usage/counted_sample.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "pkg/config/yaml.h"
#include "tests/e2e/harness/files.h"
#include "tests/source_dir.h"

namespace e2e {
namespace {

using by_hand::Sums;

std::vector<json::Value> Documents(const std::string& path) {
  auto documents = config::ParseYamlDocuments(ReadFile(tests::SourcePath(path)));
  INFO(path);
  REQUIRE(documents.has_value());
  REQUIRE_FALSE(documents->empty());
  return std::move(*documents);
}

// A team whose quota limits all names of a sample.
class CountedSample {
 public:
  CountedSample(Admission& a, UsageDefinitions& definitions, const UsageSample& sample)
      : a_(a), definitions_(definitions), sample_(sample) {}

  void Run(const std::function<std::string(const std::string& ns)>& collection) {
    const json::Value definition =
        Documents("/manifests/samples/usage/" + sample_.file + ".yaml").front();
    const std::string name(definition.StringAt({"metadata", "name"}));
    a_.api().Create(UsageDefinitions::Path(), definition);
    definitions_.WaitCondition(name, "Ready", "True NotLimited");
    collection_ = collection(ns_.name());
    std::vector<json::Value> objects = SampleObjects(sample_.objects);
    for (const json::Value& amount : definition.ArrayAt({"spec", "usage"})) {
      hard_[std::string(amount.StringAt({"name"}))] = "1000P";
    }
    quotas_.Create(team_, SelectTeam(team_, Limits()));
    WaitSums({});

    for (const json::Value& object : objects) {
      INFO(json::Write(object));
      const Attempt created = ToAttempt(a_.api().Do(PostOf(collection_, object)));
      INFO(created.Text());
      REQUIRE(created.ok());
    }
    Compare(objects.size());
    for (const auto& [object, patch] : sample_.changes) {
      INFO(object << ": " << patch);
      const Attempt changed = ToAttempt(a_.api().Do(PatchOf(collection_ + "/" + object, patch)));
      INFO(changed.Text());
      REQUIRE(changed.ok());
    }
    Compare(objects.size());
    a_.api().Delete(collection_ + "/" + NameOf(objects.back()));
    Compare(objects.size() - 1);
    TryRefused(objects.front());
    for (const ScopedSpec& scoped : sample_.scoped) TryScoped(scoped, objects.front());
    TryOneMore(objects[1]);
  }

 private:
  static std::string NameOf(const json::Value& object) {
    return std::string(object.StringAt({"metadata", "name"}));
  }

  [[nodiscard]] std::string Limits() const { return R"("hard":)" + json::Write(ToObject(hard_)); }

  Sums ByHand() {
    Sums sums;
    const json::Value list = a_.api().Get(collection_);
    for (const json::Value& object : list.ArrayAt({"items"})) {
      for (const auto& [name, sum] : sample_.uses(object)) sums[name] += sum;
    }
    return sums;
  }

  void WaitSums(const Sums& sums) {
    Sums wanted;
    for (const auto& [name, limit] : hard_) wanted[name] = 0;
    for (const auto& [name, sum] : sums) wanted[name] = sum;
    Eventually("counted as by hand: " + by_hand::ToText(wanted), [&]() -> std::string {
      const json::Value quota = quotas_.Get(team_);
      Sums used;
      for (const auto& [name, text] : ToQuantities(quota.At({"status", "used"}))) {
        used[name] = by_hand::ReadAmount(text);
      }
      return used == wanted ? "" : json::Write(quota);
    });
  }

  void Compare(std::size_t objects) {
    const json::Value list = a_.api().Get(collection_);
    REQUIRE(list.ArrayAt({"items"}).size() == objects);
    const Sums sums = ByHand();
    REQUIRE(sums.size() == hard_.size());
    for (const auto& [name, sum] : sums) {
      INFO(name);
      CHECK(static_cast<double>(sum) > 0);  // or nothing is compared
    }
    WaitSums(sums);
  }

  void TryRefused(const json::Value& object) {
    for (const auto& [spec, message] : sample_.refused) {
      json::Value one = object;
      one.Make({"metadata", "name"}) = "refused";
      one.Make({"spec"}) = Json(spec);
      const Attempt attempt = ToAttempt(a_.api().Do(PostOf(collection_, one)));
      INFO(spec << ": " << attempt.Text());
      CHECK(attempt.code == 403);
      CHECK(attempt.message.find(message) != std::string::npos);
    }
  }

  void TryScoped(const ScopedSpec& scoped, json::Value object) {
    const std::string forbidden = FreshName("forbidden");
    json::Array scopes{json::Object{{"scopeName", scoped.scope},
                                    {"operator", scoped.any_but_it ? "NotIn" : "In"},
                                    {"values", json::Array{scoped.value}}}};
    if (scoped.any_but_it) {
      scopes.push_back(json::Object{{"scopeName", scoped.scope}, {"operator", "Exists"}});
    }
    quotas_.Create(forbidden, SelectTeam(team_, R"("scopeSelector":{"matchExpressions":)" +
                                                    json::Write(scopes) + R"(},"hard":{")" +
                                                    scoped.limit + R"(":"0"})"));
    quotas_.WaitUsed(forbidden, {{scoped.limit, "0"}});
    object.Make({"metadata", "name"}) = "scoped";
    object.Make({"spec"}) = Json(scoped.spec);
    const Attempt attempt = ToAttempt(a_.api().Do(PostOf(collection_, object)));
    INFO(attempt.Text());
    CHECK(attempt.code == 403);
    CHECK(attempt.message.find("exceeded cluster quota: " + forbidden) != std::string::npos);
    a_.api().Delete(ClusterQuotas::Path(forbidden));
  }

  // With limits that are used up, there is no room for a copy of an object.
  void TryOneMore(json::Value object) {
    Quantities full = ToQuantities(quotas_.Get(team_).At({"status", "used"}));
    a_.api().MergePatch(ClusterQuotas::Path(team_),
                        json::Object{{"spec", json::Object{{"hard", ToObject(full)}}}});
    quotas_.WaitUsed(team_, full);
    object.Make({"metadata", "name"}) = "one-more";
    const Attempt attempt = ToAttempt(a_.api().Do(PostOf(collection_, object)));
    INFO(attempt.Text());
    CHECK(attempt.code == 403);
    CHECK(attempt.message.find("exceeded cluster quota: " + team_) != std::string::npos);
  }

  Admission& a_;
  UsageDefinitions& definitions_;
  const UsageSample& sample_;
  ClusterQuotas quotas_{a_.api()};
  const std::string team_ = FreshName("team");
  TeamNamespace ns_{a_.api(), team_};
  Quantities hard_;
  std::string collection_;
};

}  // namespace

OperatorCrd::OperatorCrd(Api& api, const std::string& name, const std::string& folder)
    : api_(api), name_(name) {
  const std::string plural = name.substr(0, name.find('.'));
  json::Value crd = Documents("/tests/e2e/" + folder + "/" + plural + "-crd.yaml").front();
  if (const char* whole_ones = std::getenv("QCM_OPERATOR_CRDS")) {
    const std::string file = std::string(whole_ones) + "/" + name + ".yaml";
    auto whole = config::ParseYaml(ReadFile(file));
    INFO(file);
    REQUIRE(whole.has_value());
    crd = std::move(*whole);
  }
  REQUIRE(crd.StringAt({"metadata", "name"}) == name);
  for (const json::Value& version : crd.ArrayAt({"spec", "versions"})) {
    if (!version.At({"storage"})->AsBool().value()) continue;
    version_ = "/apis/" + std::string(crd.StringAt({"spec", "group"})) + "/" +
               std::string(version.StringAt({"name"}));
  }
  plural_ = "/" + plural;
  api_.Create(PathOf("customresourcedefinitions"), crd);
  WaitServed(api_, version_ + plural_);
}

OperatorCrd::~OperatorCrd() {
  const std::string path = PathOf("customresourcedefinitions", "", name_);
  (void)api_.Do({.verb = "DELETE", .path = path});
  (void)PollUntil([&] { return !api_.Exists(path); }, Stretched(60s));
}

std::vector<json::Value> SampleObjects(const std::string& file) {
  return Documents("/tests/e2e/usage/" + file + ".yaml");
}

void TrySample(Admission& a, UsageDefinitions& definitions, const UsageSample& sample,
               const std::function<std::string(const std::string& ns)>& collection) {
  CountedSample(a, definitions, sample).Run(collection);
}

}  // namespace e2e
