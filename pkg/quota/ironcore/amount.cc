#include "pkg/quota/ironcore/amount.h"

#include <cstdint>
#include <limits>
#include <string>

#include "pkg/quota/quantity_field.h"

namespace quota::ironcore {

base::Result<Quantity> AmountFrom(const json::Value& value, std::string_view field,
                                  Notation notation) {
  constexpr quantity::Int128 kOne = 1'000'000'000;
  const auto most = Quantity::FromInt(std::numeric_limits<std::int64_t>::max());
  base::Result<Quantity> amount = QuantityFrom(value, field);
  if (!amount) return amount;
  std::string_view wrong;
  if (amount->Sign() < 0) wrong = ": must not be negative";
  if (*amount >= most) wrong = ": is too much";
  if (!wrong.empty()) {
    return base::Error{.code = base::ErrorCode::kMalformed,
                       .message = std::string(field).append(wrong)};
  }
  if (!notation || !amount->IsInteger()) return amount;
  return Quantity::FromInt(static_cast<std::int64_t>(amount->nanos() / kOne), *notation);
}

}  // namespace quota::ironcore
