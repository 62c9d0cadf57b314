// Oddities: duplicate creations.

#include "tests/simulation/drawer.h"

namespace simulation {

void Drawer::AddOddities() {
  random_.seed(schedule_.seed * 0x2545f4914f6cdd1dULL + 7);
  const auto part = schedule_.seed % 12;
  if (part % 3 == 1) AddDuplicates();
}

// Names that exist: the server calls the webhook, and answers 409 at the store. Or the object was
// deleted meanwhile, and the creation is stored.
void Drawer::AddDuplicates() {
  for (Action& action : schedule_.actions) {
    const bool creates = action.what == "claim" || action.what == "secret";
    if (creates && Percent(20)) action.numbers["create"] = 1;
  }
}

}  // namespace simulation
