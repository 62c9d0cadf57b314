#pragma once

// The quickstart's stories. The first: a namespace with a quota and pods, the quota's status as the
// daemon counts it, a deleted pod, and how long the status took to follow.
//
// They are a program, not a script of curl calls: it needs only what was built, reads any
// kubeconfig as the daemon does, and measures time from inside a watch. Single-threaded.

#include <ostream>

#include "cmd/quickstart/stage.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"

namespace quickstart {

// Runs the story, prints it to `out`, and leaves the namespace behind. `client`, `scheduler` and
// `out` must outlive the task.
base::Task<base::Result<void>> TellStory(client::ApiClient& client, base::Scheduler& scheduler,
                                         StoryOptions options, std::ostream& out);

// The same for a KarmadaQuota over three member clusters: limit and usage in one object, a refused
// binding, a deleted one, and the refused one admitted. Karmada does not run: the story writes the
// bindings as Karmada's detector and scheduler would. Fails if anything differs from the story.
base::Task<base::Result<void>> TellKarmadaStory(client::ApiClient& client,
                                                base::Scheduler& scheduler, StoryOptions options,
                                                std::ostream& out);

// The same for ironcore's ResourceQuota: usage limited in total and by class, two refused machines,
// one that terminates and frees its resources, and a class that changes. ironcore does not run: the
// story reports the states as a poollet would.
base::Task<base::Result<void>> TellIroncoreStory(client::ApiClient& client,
                                                 base::Scheduler& scheduler, StoryOptions options,
                                                 std::ostream& out);

// The same for ClusterQuotas of two teams below one company: a team borrows what the other does not
// use, the guarantee of the other stays free, and a new limit warns before it is enforced. The
// namespaces of the teams are left behind.
base::Task<base::Result<void>> TellClusterStory(client::ApiClient& client,
                                                base::Scheduler& scheduler, StoryOptions options,
                                                std::ostream& out);

// The same for a kind of another project: a UsageDefinition says what its objects use, and a
// ClusterQuota limits that over the namespaces of a team. A creation and an update are refused. The
// namespaces are left behind.
base::Task<base::Result<void>> TellUsageStory(client::ApiClient& client, base::Scheduler& scheduler,
                                              StoryOptions options, std::ostream& out);

}  // namespace quickstart
