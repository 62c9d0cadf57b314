#pragma once

// A server with the parts of ironcore that quotas need: definitions of its kinds
// (tests/e2e/ironcore), machines, volumes, buckets and their classes. The scenario deletes the
// definitions with all objects at its end, because other scenarios do not expect them.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/json/value.h"
#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e {

// The rules of the definitions besides the shape of objects.
enum class Rules {
  // Capabilities are quantities with the names that ironcore requires. Neither they nor references
  // to classes can change.
  kAll,
  // Capabilities are anything, and can change; a machine need not refer to a class.
  kNone,
  // As kAll, but without subresources: a write of an object writes its status, as on ironcore's own
  // server.
  kStatusInObject,
};

struct CloudOptions {
  bool serve = true;  // the definitions exist before the daemon starts
  Rules rules = Rules::kAll;
  std::string enforce = "ironcore";  // "": nothing is enforced, as beside ironcore's own plugin
  std::string kubeconfig{};          // the daemon's; "": directly to the server
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

  // The path of any ironcore kind; "resourcequotas" means ironcore's. Classes have no namespace.
  [[nodiscard]] std::string Path(std::string_view resource, std::string_view name = {},
                                 std::string_view subresource = {}) const;

  // Creates a quota and returns when all its names are enforced and counted.
  void Limit(const std::string& name, const Quantities& hard, const std::string& more_spec = "");
  // The same for a quota that can never be counted: returns when it is stored.
  void WriteQuota(const std::string& name, const Quantities& hard,
                  const std::string& more_spec = "");

  Attempt Post(std::string_view resource, const json::Value& object, bool dry_run = false) const;
  Attempt Patch(std::string_view resource, const std::string& name,
                const std::string& merge_patch) const;
  Attempt Replace(const std::string& path, const json::Value& object) const;
  // Throws unless the server accepts it.
  void Make(std::string_view resource, const json::Value& object) const;
  void MakeMachine(const std::string& name, const std::string& machine_class) const;
  void MakeClass(const std::string& name, const std::string& cpu, const std::string& memory) const;
  // Sets the state as the poollet does.
  void SetState(std::string_view resource, const std::string& name, const std::string& state) const;
  void Delete(std::string_view resource, const std::string& name) const;

  [[nodiscard]] json::Value GetQuota(const std::string& name) const;
  [[nodiscard]] Quantities Used(const std::string& quota) const;
  // Waits until status.used is exactly this.
  void WaitUsed(const std::string& quota, const Quantities& used,
                std::chrono::milliseconds timeout = Patience()) const;
  // The same, and prints how long it took since the call.
  void WaitAndTell(const std::string& quota, const Quantities& used, const std::string& what) const;
  // Checks that status.used stays unchanged for this time.
  void StaysUsed(const std::string& quota, const Quantities& used,
                 std::chrono::milliseconds period) const;
  // Waits for an event on the quota with this reason whose message contains `words`.
  void WaitSaid(const std::string& quota, const std::string& reason, const std::string& words,
                std::chrono::milliseconds timeout = Stretched(20s)) const;
  [[nodiscard]] std::size_t Count(std::string_view resource) const;

 private:
  explicit Cloud(ApiServer& server) : scenario_(server) {}
  void Define(const std::string& plural, Rules rules);
  void Start(const CloudOptions& options);

  mutable Scenario scenario_;
  DaemonOptions daemon_options_;
  bool started_ = false;
};

inline constexpr const char* kCloudKinds[] = {"resourcequotas", "machineclasses", "machines",
                                              "volumeclasses",  "volumes",        "bucketclasses",
                                              "buckets"};
// The definition of one of ironcore's kinds.
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
// Returns {"scopeSelector":{"matchExpressions":[{"scopeName":…,"operator":…,"values":[…]}]}} with
// an element for each expression.
struct Expression {
  std::string scope;
  std::string op;
  std::vector<std::string> values{};
};
std::string Selector(const std::vector<Expression>& expressions);

}  // namespace e2e
