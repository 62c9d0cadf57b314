// The runner of differential_test: Catch2's, with --upstream, --count and --seed.

#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "tests/differential/settings.h"

namespace differential {

Settings& TheSettings() {
  static Settings settings;
  return settings;
}

}  // namespace differential

int main(int argc, char** argv) {
  using Catch::clara::Opt;
  differential::Settings& settings = differential::TheSettings();
  Catch::Session session;
  session.cli(session.cli() |
              Opt(settings.upstream,
                  "program")["--upstream"]("the program that tests/differential/build.sh prints") |
              Opt(settings.count, "n")["--count"]("objects, and pairs of quantities, to compare") |
              Opt(settings.seed, "seed")["--seed"]("of the random objects"));
  const int wrong = session.applyCommandLine(argc, argv);
  return wrong != 0 ? wrong : session.run();
}
