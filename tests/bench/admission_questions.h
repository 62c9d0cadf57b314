#pragma once

// The questions about admission. Each starts the servers it needs, prints its answer in Markdown,
// and writes its progress to stderr.

namespace bench {

struct Size {
  int rounds = 15;
  int creations = 1500;     // in each round, for each contender
  int reviews = 1'000'000;  // sent directly to the daemon
};

// 64 clients create pods under one quota: how many a second, how long does each wait, how often is
// the quota written, what does a review cost?
void AskRate(const Size& size);
// What do 1 000 label patches and as many status updates of pods cost?
void AskQuietUpdates();
// 64 clients create and delete pods at the limit: which requests fail, and is the limit ever
// exceeded?
void AskLimit();
// 20 creations that the store refuses after admission: when is `used` right again?
void AskRefusedByStore();
// The component that counts is killed while pods are deleted, and restarted: when is `used` right?
void AskKilled();
// How much memory do very many reviews leave in use?
void AskMemory(const Size& size);
// 100 clients create pods, each in its own namespace: how often does the daemon open a connection
// to the API server for its writes?
void AskNamespaces();
// 64 clients create pods in 100 namespaces under one ClusterQuota, and 64 under one ResourceQuota
// that the built-in plugin decides: how many a second, how many quota writes, is a limit filled
// exactly, when does `used` show a deletion?
void AskCluster(const Size& size);
// 64 clients create pods under a ResourceQuota, with and without a ClusterQuota above: how many a
// second, what does a review cost?
void AskBoth(const Size& size);
// 64 clients create pods under a ClusterQuota of names of a UsageDefinition, or of the names of
// Kubernetes that say the same: how many a second, what does a review cost?
void AskDefined(const Size& size);
// 64 clients create pods in 100 namespaces, below five of 1 000 ClusterQuotas or below one: how
// many a second, how many writes, how long until all quotas are counted, how much memory?
void AskTree(const Size& size);
// One ClusterQuota over 1 000 namespaces with 10 000 pods: how long until it is counted, how much
// memory, when does `used` show a deletion, a new quota, a namespace that is relabelled?
void AskReach();
// Two daemons, each of which decides half of the creations at the limit.
void AskTwoDaemons();
// 64 clients create pods under one quota that one or two replicas behind a balancer decide: how
// many a second, how often is the quota written, how often in vain?
void AskReplicas(const Size& size);

}  // namespace bench
