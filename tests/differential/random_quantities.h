#pragma once

// Texts that are quantities, nearly are, or are not at all. Pure but for the source of chance.

#include <string>

#include "tests/differential/random.h"

namespace differential {

// Any text made of what quantities are made of: most are well-formed, of every notation and many
// sizes; some are broken by one character.
std::string RandomQuantityText(Random& random);

// As people and controllers write amounts, odd notations included; always well-formed, and rarely
// near the limits.
std::string RandomAmount(Random& random);

}  // namespace differential
