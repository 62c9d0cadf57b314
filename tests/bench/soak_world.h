#pragma once

// The objects of a soak: namespaces with quotas of all quota APIs, the objects created and deleted
// in them, and the right usage of each quota, counted from the server's lists. Some namespaces have
// bursts of pods now and then, for which a daemon charges in advance.
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
  std::vector<std::string> alive;  // names, as far as known
};

struct Room {
  std::string ns;
  std::string quotas;  // the collection of its quota
  std::string quotas_everywhere;
  json::Value quota;
  std::vector<Crop> crops;
};

// The quotas compared with what exists.
struct Standing {
  int untrue = 0;          // quotas whose used is wrong
  int over = 0;            // quotas with more used than hard
  std::string first = {};  // of the wrong ones, in words
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

  // Creates everything except objects, on a server that is new or has lost everything.
  void Create(e2e::Api& api) const;
  // Returns the next requests of one tick of the load: creations, changes and deletions, and those
  // of a burst.
  std::vector<client::ApiRequest> NextTick(std::size_t count);
  // Compares by the server's own lists, which also tell the existing names.
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

// "" unless status.used is above status.hard for a name of this quota; then its description.
std::string Overcommitted(const json::Value& quota);

}  // namespace bench
