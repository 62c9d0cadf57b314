#include "pkg/quota/cluster/limited_places.h"

#include <algorithm>
#include <random>

#include "tests/pkg/quota/quota_testing.h"

namespace quota::limited_places_test {
namespace {

const api::GroupResource kPods{"", "pods"};
const api::GroupResource kSecrets{"", "secrets"};

std::string Text(const Place& place) {
  if (place.kind == Place::Kind::kAll) return "*";
  return (place.kind == Place::Kind::kLabelled ? "has " : "is ") + place.text;
}

// "has team, is shop": sorted.
std::string Text(const LimitedPlaces::Counts& counts) {
  std::string text;
  for (const auto& [place, count] : counts) {
    text.append(text.empty() ? "" : ", ").append(Text(place));
  }
  return text;
}

std::string Of(std::string_view selector) {
  std::string text;
  for (const Place& place : PlacesOf(api::LabelSelector::Parse(selector).value())) {
    text.append(text.empty() ? "" : ", ").append(Text(place));
  }
  return text;
}

std::vector<Place> Labelled(const std::string& key) { return {{Place::Kind::kLabelled, key}}; }

// What it must say, from the definition.
struct Model {
  struct Quota {
    LimitedPlaces::Resources limited;
    std::vector<Place> selected;
    std::string parent;
  };
  [[nodiscard]] std::set<Place> Below(const std::string& name) const {
    std::set<Place> places(quotas.at(name).selected.begin(), quotas.at(name).selected.end());
    for (const auto& [child, quota] : quotas) {
      if (quota.parent != name) continue;
      places.merge(Below(child));
    }
    return places;
  }
  [[nodiscard]] std::set<Place> In(const api::GroupResource& resource) const {
    std::set<Place> places;
    for (const auto& [name, quota] : quotas) {
      if (quota.limited.contains(resource)) places.merge(Below(name));
    }
    return places;
  }
  // True if `name` is `of`, or above it.
  [[nodiscard]] bool IsAbove(const std::string& name, std::string of) const {
    while (!of.empty() && of != name) of = quotas.contains(of) ? quotas.at(of).parent : "";
    return of == name;
  }
  std::map<std::string, Quota> quotas;
};

std::set<Place> PlacesIn(const LimitedPlaces::Counts& counts) {
  std::set<Place> places;
  for (const auto& [place, count] : counts) places.insert(place);
  return places;
}

}  // namespace

TEST_CASE("limited places: a selector is in the places of a label that it demands", "[quota]") {
  CHECK(Of("team=a") == "has team");
  CHECK(Of("team in (a,b)") == "has team");
  CHECK(Of("team") == "has team");
  CHECK(Of("team=a,env=prod") == "has env");  // the first in alphabetical order
  CHECK(Of("env!=test,team") == "has team");
  CHECK(Of("team,!team") == "has team");
  CHECK(Of("kubernetes.io/metadata.name in (shop,web)") == "is shop, is web");
  CHECK(Of("a=b,kubernetes.io/metadata.name=shop") == "is shop");
  CHECK(Of("kubernetes.io/metadata.name,team=a") == "has team");
  CHECK(Of("kubernetes.io/metadata.name!=shop,team=a") == "has team");
  for (const char* anywhere :
       {"", "team!=a", "team notin (a,b)", "!team", "!team,env!=test",
        "kubernetes.io/metadata.name", "kubernetes.io/metadata.name!=shop"}) {
    INFO(anywhere);
    CHECK(Of(anywhere) == "*");
  }
}

TEST_CASE("limited places: a parent limits where its children select", "[quota]") {
  LimitedPlaces limited;
  limited.Put("company", {kPods}, {});
  CHECK(limited.In(kPods).empty());
  REQUIRE(limited.Below("company") != nullptr);
  CHECK(limited.Below("company")->empty());
  CHECK(limited.Below("team-a") == nullptr);
  limited.Put("team-a", {kSecrets}, Labelled("team"));
  CHECK(Text(limited.In(kSecrets)) == "has team");
  CHECK(Text(limited.In(kPods)).empty());
  limited.Move({{"team-a", "company"}});
  CHECK(Text(limited.In(kPods)) == "has team");
  CHECK(Text(*limited.Below("company")) == "has team");
  limited.Put("team-b", {}, {{Place::Kind::kNamed, "shop"}});
  limited.Move({{"team-b", "team-a"}});
  CHECK(Text(limited.In(kPods)) == "has team, is shop");
  CHECK(Text(limited.In(kSecrets)) == "has team, is shop");
  limited.Put("team-a", {kSecrets}, {Place{}});
  CHECK(Text(limited.In(kPods)) == "*, is shop");
  limited.Remove("team-a");
  CHECK(limited.In(kPods).empty());
  CHECK(limited.In(kSecrets).empty());
  CHECK(Text(*limited.Below("team-b")) == "is shop");
  limited.Put("team-b", {kPods}, {});
  CHECK(limited.In(kPods).empty());
}

TEST_CASE("limited places: two quotas may change places", "[quota]") {
  LimitedPlaces limited;
  limited.Put("a", {kPods}, Labelled("a"));
  limited.Put("b", {kSecrets}, Labelled("b"));
  limited.Move({{"a", "b"}});
  CHECK(Text(limited.In(kSecrets)) == "has a, has b");
  limited.Move({{"b", "a"}, {"a", ""}});
  CHECK(Text(limited.In(kPods)) == "has a, has b");
  CHECK(Text(limited.In(kSecrets)) == "has b");
}

TEST_CASE("limited places: after any changes they are what the definition says", "[quota]") {
  std::mt19937 random(20261127);
  const auto pick = [&](int below) { return static_cast<int>(random() % below); };
  LimitedPlaces limited;
  Model model;
  for (int step = 0; step < 3000; ++step) {
    const std::string name(1, static_cast<char>('a' + pick(7)));
    Model::Quota& quota = model.quotas[name];
    switch (pick(4)) {
      case 0:
        model.quotas.erase(name);
        for (auto& [other, one] : model.quotas) {
          if (one.parent == name) one.parent.clear();
        }
        limited.Remove(name);
        break;
      case 1: {
        std::string parent(1, static_cast<char>('a' + pick(9)));
        if (!model.quotas.contains(parent) || model.IsAbove(name, parent)) parent.clear();
        quota.parent = parent;
        break;
      }
      case 2:
        quota.limited = {};
        if (pick(2) == 0) quota.limited.insert(kPods);
        if (pick(2) == 0) quota.limited.insert(kSecrets);
        break;
      default:
        quota.selected = {};
        for (int i = pick(4); i > 0; --i) {
          const auto kind = static_cast<Place::Kind>(pick(3));
          quota.selected.push_back({kind, std::string(1, static_cast<char>('x' + pick(3)))});
        }
    }
    if (model.quotas.contains(name)) {
      limited.Put(name, quota.limited, quota.selected);
      limited.Move({{name, quota.parent}});
    }
    INFO("step " << step);
    REQUIRE(PlacesIn(limited.In(kPods)) == model.In(kPods));
    REQUIRE(PlacesIn(limited.In(kSecrets)) == model.In(kSecrets));
    for (const auto& [known, one] : model.quotas) {
      REQUIRE(PlacesIn(*limited.Below(known)) == model.Below(known));
    }
  }
}

}  // namespace quota::limited_places_test
