#pragma once

// What the quickstart shows: a namespace with a quota and pods, the quota's status as the daemon
// counts it, a pod deleted, and how long the status took to follow.
//
// It is a program and not a script of curl calls, so that it needs nothing but what was built,
// reads any kubeconfig as the daemon does, and measures time from inside a watch. Single-threaded.

#include <ostream>

#include "cmd/quickstart/stage.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"

namespace quickstart {

// Tells the story on `out`, and leaves the namespace behind. `client`, `scheduler` and `out`
// outlive the task.
base::Task<base::Result<void>> TellStory(client::ApiClient& client, base::Scheduler& scheduler,
                                         StoryOptions options, std::ostream& out);

// The same of a KarmadaQuota over three member clusters: limit and use in one object, a binding
// refused, one deleted, the refused one passing. No Karmada runs: the story writes the bindings
// that Karmada's detector and scheduler would. Fails where anything is not as told.
base::Task<base::Result<void>> TellKarmadaStory(client::ApiClient& client,
                                                base::Scheduler& scheduler, StoryOptions options,
                                                std::ostream& out);

// The same of ironcore's ResourceQuota: usage limited as a sum and by class, two machines refused,
// one that terminates and frees what it used, a class that changes. No ironcore runs: the story
// reports the state that a poollet would.
base::Task<base::Result<void>> TellIroncoreStory(client::ApiClient& client,
                                                 base::Scheduler& scheduler, StoryOptions options,
                                                 std::ostream& out);

}  // namespace quickstart
