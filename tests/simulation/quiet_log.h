#pragma once

namespace simulation {

// Turns off the log: thousands of simulated processes would log as the daemon does. Crashes are
// still logged.
void QuietLog();

}  // namespace simulation
