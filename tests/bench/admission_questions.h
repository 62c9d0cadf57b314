#pragma once

// What is asked about admission. Each question starts the servers it needs, prints its answer in
// Markdown, and says on stderr what it is doing.

namespace bench {

struct Size {
  int rounds = 15;
  int creations = 1500;     // in a round, for each contender
  int reviews = 1'000'000;  // sent straight to the daemon
};

// 64 clients create pods under one quota: how many a second, how long each waits, how often the
// quota is written, what a review costs?
void AskRate(const Size& size);
// What do 1 000 label patches and as many status updates of pods cost?
void AskQuietUpdates();
// 64 clients create and delete at the limit: who fails, and is it ever exceeded?
void AskLimit();
// 20 creations that the store refuses after admission: when is `used` true again?
void AskRefusedByStore();
// What do very many reviews leave behind in memory?
void AskMemory(const Size& size);
// 100 clients create pods, everyone in a namespace of its own: how often does the daemon open a
// connection to the API server for its writes?
void AskNamespaces();
// Two daemons, each asked about half of the creations at the limit.
void AskTwoDaemons();

}  // namespace bench
