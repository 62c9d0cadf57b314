#pragma once

namespace simulation {

// Thousands of lives log as the daemon does: nobody reads that. Crashes still say why.
void QuietLog();

}  // namespace simulation
