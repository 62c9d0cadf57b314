#include "pkg/quota/ledger_ties.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "pkg/quota/ledger.h"
#include "pkg/quota/ledger_state.h"

namespace ledger_ties_test {

using quota::Ledger;
using quota::ObjectFacts;
using quota::Quantity;
using quota::Tie;
using quota::Ties;
using quota::Uid;

namespace {

constexpr const char* kGpu = "requests.example.com/gpu";

ObjectFacts Using(int gpus, std::optional<Tie> tie) {
  ObjectFacts facts;
  facts.now.usage.Set(kGpu, Quantity::FromInt(gpus));
  facts.tie = std::move(tie);
  return facts;
}

// A claim with the owner that it names, or an owner with the claim that it names.
struct Object {
  int gpus = 0;
  std::optional<Tie> tie;
};
using Objects = std::map<std::uint64_t, Object>;  // by uid

Uid UidOf(const Objects::value_type& object) { return {object.first}; }

constexpr std::uint64_t kFirstClaim = 100;
constexpr std::uint64_t kFirstOwner = 200;

// Returns the claim that shares its owner's usage: the one that the owner names, else the oldest.
std::string MeantBy(const Objects::value_type& owner, const Objects& claims) {
  if (owner.second.tie) return owner.second.tie->name;
  std::pair<std::string, std::string> oldest;
  for (const auto& claim : claims) {
    const Tie& tie = *claim.second.tie;
    const std::pair age(tie.created, tie.name);
    const bool older = oldest.second.empty() || age < oldest;
    if (tie.owner == UidOf(owner) && older) oldest = age;
  }
  return oldest.second;
}

// The expected usage of the claims beyond that of their owners, computed object by object.
int UsedBeyondOwners(const Objects& claims, const Objects& owners) {
  int used = 0;
  for (const auto& claim : claims) {
    used += claim.second.gpus;
    for (const auto& owner : owners) {
      const bool meant = claim.second.tie->owner == UidOf(owner) &&
                         claim.second.tie->name == MeantBy(owner, claims);
      if (meant) used -= std::min(claim.second.gpus, owner.second.gpus);
    }
  }
  return used;
}

// A ledger of claims, a ledger of owners, and the objects in both. All change at random.
struct Random {
  int Draw(int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); }

  void ChangeClaim() {
    const auto number = static_cast<std::uint64_t>(Draw(12));
    const std::uint64_t key = kFirstClaim + number;
    const Uid uid{key};
    if (Draw(4) == 0) {
      claims.erase(key);
      claim_ledger.Remove("ns", uid);
      return;
    }
    Tie tie{.owner = Uid{kFirstOwner + static_cast<std::uint64_t>(Draw(5))},
            .name = "c" + std::to_string(number % 9),
            .created = std::to_string(Draw(3))};
    claims[key] = {.gpus = Draw(4), .tie = tie};
    claim_ledger.Set("ns", uid, Using(claims[key].gpus, tie));
  }
  void ChangeOwner() {
    const std::uint64_t key = kFirstOwner + static_cast<std::uint64_t>(Draw(5));
    const Uid uid{key};
    if (Draw(4) == 0) {
      owners.erase(key);
      owner_ledger->Remove("ns", uid);
      return;
    }
    Object owner{.gpus = Draw(4), .tie = {}};
    if (Draw(2) == 0)
      owner.tie = Tie{.owner = {}, .name = "c" + std::to_string(Draw(9)), .created = ""};
    owners[key] = owner;
    owner_ledger->Set("ns", uid, Using(owner.gpus, owner.tie));
  }
  // Reads the owners again, into a new ledger.
  void ReplaceOwners() {
    owner_ledger.emplace();
    for (const auto& owner : owners) {
      owner_ledger->Set("ns", UidOf(owner), Using(owner.second.gpus, owner.second.tie));
    }
  }
  [[nodiscard]] std::string Sum() const {
    return claim_ledger.Sum({.ns = "ns"}, {}, {}, {kGpu}, {.owners = &*owner_ledger})->ToString();
  }

  std::mt19937 random{7};
  Objects claims;
  Objects owners;
  Ledger claim_ledger;
  std::optional<Ledger> owner_ledger{std::in_place};
};

}  // namespace

TEST_CASE("ties: a sum has the usage of each object beyond that of its owner", "[quota]") {
  Random random;
  for (int i = 0; i < 20'000; ++i) {
    const int what = random.Draw(100);
    if (what == 0) random.ReplaceOwners();
    what % 2 == 0 ? random.ChangeClaim() : random.ChangeOwner();
    if (random.Draw(3) != 0) continue;
    INFO("change " << i);
    REQUIRE(random.Sum() == std::string(kGpu) + "=" +
                                std::to_string(UsedBeyondOwners(random.claims, random.owners)));
  }
}

TEST_CASE("ties: only changed ties are evaluated again, however many there are", "[quota]") {
  constexpr std::uint64_t kObjects = 10'000;
  const auto stale = std::make_shared<quota::StaleTies>();
  const quota::FactsPool pool;
  quota::Namespace space("ns", pool, stale);
  Ties& ties = space.ties;
  const auto owners = std::make_shared<quota::FollowedOwners>();
  auto facts = std::make_shared<const quota::Facts>();
  int looks = 0;
  const Ties::Lookup lookup{.owner =
                                [&](const Uid&) {
                                  ++looks;
                                  return facts;
                                },
                            .tie_of_owner = [](const Uid&) -> const Tie* { return nullptr; },
                            .object = [&](const Uid&) { return facts; }};
  const auto tie_to = [](std::uint64_t owner) {
    return Tie{.owner = Uid{owner}, .name = "c", .created = ""};
  };
  for (std::uint64_t i = 0; i < kObjects; ++i) ties.Set({i}, tie_to(i));
  const Ties::Pairs& shared = space.contents.shared();
  ties.LookUp(owners, lookup);
  REQUIRE(shared.size() == 1);
  CHECK(shared.begin()->second == kObjects);
  CHECK(stale->empty());  // so a group does not visit this namespace
  looks = 0;
  owners->OnChange({kObjects + 1});
  CHECK(stale->empty());
  owners->OnChange({19});
  CHECK(*stale == quota::StaleTies{&ties});
  ties.OnFacts({17});
  ties.Set({kObjects}, tie_to(kObjects));
  ties.Set({5}, std::nullopt);
  ties.LookUp(owners, lookup);
  CHECK(shared.begin()->second == kObjects);
  CHECK(looks == 3);
}

}  // namespace ledger_ties_test
