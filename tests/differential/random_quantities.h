#pragma once

// Texts that are quantities, almost are, or are not at all. Pure except for the source of
// randomness.

#include <string>

#include "tests/differential/random.h"

namespace differential {

// Any text made of the parts of quantities: most are well-formed, in every format and many sizes;
// some are broken by one character.
std::string RandomQuantityText(Random& random);

// Amounts as people and controllers write them, including odd formats; always well-formed, and
// rarely near the limits.
std::string RandomAmount(Random& random);

}  // namespace differential
