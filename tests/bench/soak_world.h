#pragma once

// What a soak keeps busy: namespaces with quotas of all quota APIs, the objects that are made and
// deleted in them, and the truth about each quota, counted from what the server lists. In some of
// them crowds of pods come now and then, for which a daemon charges in advance.
//
// One thread.

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "pkg/quantity/quantity.h"
#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/objects.h"

namespace bench {

// One resource of a namespace that a quota counts.
struct Crop {
  std::string collection;  // "/api/v1/namespaces/a/pods"
  std::string everywhere;  // "/api/v1/pods"
  std::function<json::Value(const std::string& name)> make;
  e2e::Quantities each;            // what one object adds to the quota
  std::vector<std::string> alive;  // names, as far as is known
};

struct Room {
  std::string ns;
  std::string quotas;  // the collection of its quota
  std::string quotas_everywhere;
  json::Value quota;
  std::vector<Crop> crops;
};

// What the quotas say beside what is there.
struct Standing {
  int untrue = 0;          // quotas whose used is not the truth
  int over = 0;            // quotas with more used than hard
  std::string first = {};  // of the untrue ones, in words
};

struct SoakRooms {
  int core = 0;
  int karmada = 0;
  int ironcore = 0;
  int crowds = 0;
};

class SoakWorld {
 public:
  explicit SoakWorld(const SoakRooms& rooms);

  // Everything but objects: on a server that is new, or has lost all.
  void Create(e2e::Api& api) const;
  // Creates, changes or deletes something: next requests of a load, for a tick of it; with what a
  // crowd adds.
  std::vector<client::ApiRequest> NextTick(std::size_t count);
  // By the server's own lists, which also say which names are alive.
  Standing Look(e2e::Api& api);
  void Forget();  // all names
  [[nodiscard]] std::size_t quotas() const { return rooms_.size(); }
  [[nodiscard]] std::size_t objects() const;

 private:
  void AddCore(const std::string& ns);
  void AddKarmada(const std::string& ns);
  void AddIroncore(const std::string& ns);
  void AddCrowd(const std::string& ns);
  client::ApiRequest NextRequest();
  client::ApiRequest Post(Crop& crop);
  static client::ApiRequest Delete(Crop& crop);  // the last
  void AddCrowdOfTick(Crop& crop, std::vector<client::ApiRequest>& requests);

  std::vector<Room> rooms_;
  std::vector<std::size_t> crowded_;  // of them
  std::vector<json::Value> definitions_;
  std::mt19937_64 random_{11};
  int next_ = 0;
  int tick_ = 0;
};

// "" unless a name that status.used of this quota has is above status.hard; then its words.
std::string Overcommitted(const json::Value& quota);

}  // namespace bench
