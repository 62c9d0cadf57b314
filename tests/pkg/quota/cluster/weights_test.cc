// Compares decisions in random trees with the definition of the weights in
// pkg/quota/cluster/DESIGN.md, which is computed from the stored objects of each namespace.

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>

#include "pkg/quota/cluster/tree_place.h"
#include "pkg/quota/guarantee.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::weights_test {
namespace {

using Enforcement = ClusterSpec::Enforcement;
using Names = std::vector<std::string>;
using Kind = Verdict::Kind;

const Names kResources = {"cpu", "pods"};
constexpr int kNamespaces = 6;

const Evaluator kThings{
    .resource = {.group = "", .resource = "things"},
    .owns = [](std::string_view name) { return name == "cpu" || name == "pods"; },
    .fields = {},
    .scopes = {"Long"},
    .facts_of = nullptr,
};

using Amounts = std::map<std::string, int>;  // by resource

ResourceList ListOf(const Amounts& amounts) {
  ResourceList list;
  for (const auto& [name, amount] : amounts) list.Set(name, Quantity::FromInt(amount));
  return list;
}

struct Object {
  std::string ns;
  bool is_long = false;
  Amounts usage;
};

class World {
 public:
  World(unsigned seed, bool shared) : random_(seed), shared_(shared) {
    for (const char* name : {"a", "b", "c", "d", "e", "f"}) AddQuota(name);
    for (int i = 0; i < kNamespaces; ++i) AddNamespace("n" + std::to_string(i));
  }

  void Step() {
    if (!objects_.empty() && Below(3) == 0) {
      objects_.erase(objects_.begin() + Below(static_cast<int>(objects_.size())));
      return;
    }
    Object object{.ns = "n" + std::to_string(Below(kNamespaces)), .is_long = Below(2) == 0};
    for (const std::string& resource : kResources) {
      if (const int amount = Below(8); amount > 0) object.usage[resource] = amount;
    }
    if (Judge(object)) objects_.push_back(object);
  }

  void CheckAvailable() {
    for (const auto& [name, quota] : quotas_) {
      const auto standings = Standings(tree_.WayUp(name));
      const auto counts_all = [](const auto& standing) { return standing.quota->selector.empty(); };
      const bool simple = std::ranges::all_of(standings, counts_all) &&
                          standings[0].tree.promised_below.empty() &&
                          quota.cluster->enforcement == Enforcement::kDeny;
      if (!simple) continue;
      for (const auto& available : Available(standings, 0)) {
        const auto& resource = available.first;
        const Quantity& left = available.second;
        const auto fits = [&](const Quantity& amount) {
          Request request{.evaluator = &kThings, .uid = {1}};
          request.after.usage.Set(resource, amount);
          return Decide(request, standings).kind != Kind::kRefused;
        };
        CHECK(fits(left));
        CHECK_FALSE(fits(left.Add(Quantity::FromInt(1))));
        ++available_;
      }
    }
  }

  int admitted() const { return admitted_; }
  int refused() const { return refused_; }
  int held_back() const { return held_back_; }
  int available() const { return available_; }

 private:
  int Below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

  void AddQuota(const std::string& name) {
    Quota quota{.key = {"", name}};
    ClusterSpec& spec = quota.cluster.emplace();
    for (const std::string& resource : kResources) {
      const int limit = 5 + Below(40);
      if (Below(5) > 0) quota.hard.Set(resource, Quantity::FromInt(limit));
      if (Below(2) > 0) spec.guaranteed.Set(resource, Quantity::FromInt(Below(limit + 3)));
    }
    auto above = quotas_.begin();
    if (!quotas_.empty()) std::advance(above, Below(static_cast<int>(quotas_.size())));
    if (above != quotas_.end() && Below(5) > 0) spec.parent = above->first;
    if (Below(6) == 0) spec.enforcement = Below(2) > 0 ? Enforcement::kWarn : Enforcement::kAudit;
    if (Below(6) == 0) quota.selector = {{.scope = "Long"}};
    spec.selector = api::LabelSelector::Parse(name).value();
    quota.status.hard = quota.hard;
    tree_.PutQuota(quota);
    quotas_[name] = std::move(quota);
  }

  void AddNamespace(const std::string& name) {
    json::Object labels;
    for (int i = shared_ ? 2 : 1; i > 0; --i) labels.Set(std::string(1, "abcdef"[Below(6)]), "");
    const json::Value value = labels;
    tree_.PutNamespace(name, LabelText(&value));
  }

  static int Count(const Quota& quota, const Object& object, const std::string& resource) {
    if (quota.hard.Find(resource) == nullptr) return 0;
    if (!quota.selector.empty() && !object.is_long) return 0;
    const auto amount = object.usage.find(resource);
    return amount == object.usage.end() ? 0 : amount->second;
  }
  bool Reaches(const std::string& quota, const std::string& ns) const {
    const auto& reach = tree_.QuotasOf(ns);
    return std::ranges::find(reach, quota, &QuotaTree::Reaching::name) != reach.end();
  }
  int Used(const std::string& quota, const std::string& resource) const {
    int used = 0;
    for (const Object& object : objects_) {
      if (Reaches(quota, object.ns)) used += Count(quotas_.at(quota), object, resource);
    }
    return used;
  }

  // Returns the sum that is promised to the children of a quota.
  int PromisedBelow(const std::string& quota, const std::string& resource) const {
    int sum = 0;
    for (const auto& [name, child] : quotas_) {
      const Quantity* limit = child.hard.Find(resource);
      if (child.cluster->parent != quota || limit == nullptr) continue;
      const Quantity guaranteed = std::min(child.cluster->guaranteed.Get(resource), *limit);
      const int amount = static_cast<int>(guaranteed.nanos() / quantity::kNanosPerOne);
      sum += std::max(0, amount - Used(name, resource));
    }
    return sum;
  }
  int Weight(const std::string& quota, const std::string& resource) const {
    return Used(quota, resource) + PromisedBelow(quota, resource);
  }

  std::vector<Standing> Standings(const QuotaTree::Reach& reach) {
    for (auto& [name, quota] : quotas_) {
      for (const auto& [resource, limit] : quota.hard) {
        quota.status.used.Set(resource, Quantity::FromInt(Used(name, resource)));
      }
      tree_.SetPromised(name, Promised(quota, quota.status.used));
    }
    std::vector<TreePlace> places = PlacesOf(tree_, reach);
    std::vector<Standing> standings;
    for (std::size_t i = 0; i < reach.size(); ++i) {
      const Quota& quota = quotas_[reach[i].name];
      standings.push_back({&quota, quota.status.used, nullptr, nullptr, std::move(places[i])});
    }
    return standings;
  }

  // Returns the quotas that must refuse the object by definition.
  Names Objecting(const Object& object) {
    std::map<std::pair<std::string, std::string>, int> before;
    for (const auto& [name, quota] : quotas_) {
      for (const std::string& resource : kResources) {
        before[{name, resource}] = Weight(name, resource);
      }
    }
    objects_.push_back(object);
    Names names;
    for (const auto& [name, quota] : quotas_) {
      if (!Reaches(name, object.ns)) continue;
      const bool objects = std::ranges::any_of(kResources, [&, &name = name](const auto& resource) {
        if (Count(quotas_[name], object, resource) == 0) return false;
        const Quantity limit = quotas_[name].hard.Get(resource);
        const int weight = Weight(name, resource);
        const bool above = Quantity::FromInt(weight) > limit;
        const bool charged = weight > before[{name, resource}];
        if (charged && above && weight > Used(name, resource)) ++held_back_;
        return Quantity::FromInt(Used(name, resource)) > limit || (charged && above);
      });
      if (objects) names.push_back(name);
    }
    objects_.pop_back();
    return names;
  }

  // If some of the quotas were written and others were not, a second decision must be the same.
  void CheckDecidedAgain(const Request& request, std::vector<Standing> standings,
                         const std::vector<Need>& needs) {
    std::vector<Need> written;
    std::ranges::copy_if(needs, std::back_inserter(written), [&](auto&) { return Below(2) > 0; });
    Apply(written, standings);
    for (const Need& need : written) standings[need.standing].answer = &need.absolute;
    const Verdict again = Decide(request, standings);
    INFO(again.message);
    REQUIRE(again.kind != Kind::kRefused);
    REQUIRE(again.needs.size() == needs.size() - written.size());
  }

  bool Judge(const Object& object) {
    const std::vector<Standing> standings = Standings(tree_.QuotasOf(object.ns));
    Request request{.evaluator = &kThings, .uid = {1}};
    request.after.usage = ListOf(object.usage);
    if (object.is_long) request.after.attributes = {{"Long", ""}};
    const Verdict verdict = Decide(request, standings);
    const Names objecting = Objecting(object);
    const bool refused = std::ranges::any_of(objecting, [&](const auto& name) {
      return quotas_[name].cluster->enforcement == Enforcement::kDeny;
    });
    INFO(verdict.message);
    REQUIRE((verdict.kind == Kind::kRefused) == refused);
    ++(refused ? refused_ : admitted_);
    if (refused) return false;
    Names told;
    for (const WouldRefuse& would : verdict.would_refuse) told.push_back(would.quota.name);
    std::ranges::sort(told);
    REQUIRE(told == objecting);
    CheckDecidedAgain(request, standings, verdict.needs);
    return true;
  }

  std::mt19937 random_;
  bool shared_;
  std::map<std::string, Quota> quotas_;
  QuotaTree tree_;
  std::vector<Object> objects_;
  int admitted_ = 0;
  int refused_ = 0;
  int held_back_ = 0;
  int available_ = 0;
};

TEST_CASE("weights: decisions in random trees follow the definition", "[quota]") {
  int admitted = 0;
  int refused = 0;
  int held_back = 0;
  int available = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    INFO("seed " << seed);
    World world(seed, seed % 2 == 1);
    for (int step = 0; step < 40; ++step) {
      world.Step();
      world.CheckAvailable();
    }
    admitted += world.admitted();
    refused += world.refused();
    held_back += world.held_back();
    available += world.available();
  }
  // Checks that all outcomes occur often.
  CHECK(admitted > 500);
  CHECK(refused > 500);
  CHECK(held_back > 100);
  CHECK(available > 500);
}

}  // namespace
}  // namespace quota::weights_test
