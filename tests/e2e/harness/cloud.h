#pragma once

// A server that is an ironcore as far as quota goes: definitions of its kinds (tests/e2e/ironcore),
// machines, volumes, buckets and their classes. The definitions, and with them all objects, go with
// the scenario, since others do not expect them.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/json/value.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e {

// What definitions say beyond the shape of objects.
enum class Rules {
  // Capabilities are amounts, of the names that ironcore demands; neither they nor references to
  // classes ever change.
  kAll,
  // They are anything, and change; a machine need not refer to a class.
  kNone,
  // As kAll, but there is no subresource: who writes an object writes its status, as at ironcore's
  // own server.
  kStatusInObject,
};

struct CloudOptions {
  bool serve = true;  // the definitions exist before the daemon starts
  Rules rules = Rules::kAll;
  std::string enforce = "ironcore";  // "": nothing is decided, as beside ironcore's own plugin
  std::string kubeconfig{};          // the daemon's; "": straight to the server
  std::string resync_period = "5m";
  std::vector<std::string> more_flags{};
};

class Cloud {
 public:
  explicit Cloud(const CloudOptions& options = {}) : Cloud(SharedServer(), options) {}
  Cloud(ApiServer& server, const CloudOptions& options);
  ~Cloud();
  Cloud(const Cloud&) = delete;
  Cloud& operator=(const Cloud&) = delete;

  [[nodiscard]] Scenario& scenario() { return scenario_; }
  [[nodiscard]] Api& api() { return scenario_.api(); }
  [[nodiscard]] Daemon& daemon() { return scenario_.daemon(); }
  [[nodiscard]] const DaemonOptions& daemon_options() const { return daemon_options_; }

  void Serve(const std::string& plural, Rules rules = Rules::kAll);
  void ServeAll(Rules rules = Rules::kAll);
  void StopServing(const std::string& plural);

  // Of any kind of ironcore; "resourcequotas" are its own. Classes have no namespace.
  [[nodiscard]] std::string Path(std::string_view resource, std::string_view name = {},
                                 std::string_view subresource = {}) const;

  // A quota; returns when all its names are in force and counted.
  void Limit(const std::string& name, const Quantities& hard, const std::string& more_spec = "");
  // The same of one that will never be: returns when it is stored.
  void WriteQuota(const std::string& name, const Quantities& hard,
                  const std::string& more_spec = "");

  Attempt Post(std::string_view resource, const json::Value& object, bool dry_run = false) const;
  Attempt Patch(std::string_view resource, const std::string& name,
                const std::string& merge_patch) const;
  Attempt Replace(const std::string& path, const json::Value& object) const;
  // Throw unless the server agrees.
  void Make(std::string_view resource, const json::Value& object) const;
  void MakeMachine(const std::string& name, const std::string& machine_class) const;
  void MakeClass(const std::string& name, const std::string& cpu, const std::string& memory) const;
  // As the poollet does it.
  void SetState(std::string_view resource, const std::string& name, const std::string& state) const;
  void Delete(std::string_view resource, const std::string& name) const;

  [[nodiscard]] json::Value GetQuota(const std::string& name) const;
  [[nodiscard]] Quantities Used(const std::string& quota) const;
  // Waits until status.used is exactly this.
  void WaitUsed(const std::string& quota, const Quantities& used,
                std::chrono::milliseconds timeout = Patience()) const;
  // The same, and tells how long it took since it was called.
  void WaitAndTell(const std::string& quota, const Quantities& used, const std::string& what) const;
  // status.used stays what it is for so long.
  void StaysUsed(const std::string& quota, const Quantities& used,
                 std::chrono::milliseconds period) const;
  // Waits for an event on the quota with this reason that says `words`.
  void WaitSaid(const std::string& quota, const std::string& reason, const std::string& words,
                std::chrono::milliseconds timeout = Stretched(20s)) const;
  [[nodiscard]] std::size_t Count(std::string_view resource) const;

 private:
  explicit Cloud(ApiServer& server) : scenario_(server) {}
  void Define(const std::string& plural, Rules rules);
  void WaitServed(const std::string& plural);
  void Start(const CloudOptions& options);

  mutable Scenario scenario_;
  DaemonOptions daemon_options_;
  bool started_ = false;
};

inline constexpr const char* kCloudKinds[] = {"resourcequotas", "machineclasses", "machines",
                                              "volumeclasses",  "volumes",        "bucketclasses",
                                              "buckets"};
// The definition of one of them.
json::Value CloudDefinition(const std::string& plural, Rules rules = Rules::kAll);

json::Value MachineClass(const std::string& name, const Quantities& capabilities);
json::Value VolumeClass(const std::string& name);
json::Value BucketClass(const std::string& name, const Quantities& capabilities);
json::Value Machine(const std::string& name, const std::string& machine_class);
// Without a class there is no size.
json::Value Volume(const std::string& name, const std::string& volume_class,
                   const std::string& size);
json::Value Bucket(const std::string& name, const std::string& bucket_class);
json::Value CloudQuota(const std::string& name, const Quantities& hard);
// {"scopeSelector":{"matchExpressions":[{"scopeName":…,"operator":…,"values":[…]}]}}, one more for
// each.
struct Expression {
  std::string scope;
  std::string op;
  std::vector<std::string> values{};
};
std::string Selector(const std::vector<Expression>& expressions);

}  // namespace e2e
