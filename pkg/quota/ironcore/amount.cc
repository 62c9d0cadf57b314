#include "pkg/quota/ironcore/amount.h"

#include <string>

#include "pkg/quota/quantity_field.h"

namespace quota::ironcore {

base::Result<Quantity> AmountFrom(const json::Value& value, std::string_view field,
                                  Notation notation) {
  base::Result<Quantity> amount = QuantityFrom(value, field);
  if (!amount) return amount;
  if (amount->Sign() < 0) {
    return base::Error{.code = base::ErrorCode::kMalformed,
                       .message = std::string(field).append(": must not be negative")};
  }
  if (!notation || !amount->IsInteger() || amount->IsSaturated()) return amount;
  return Quantity::FromInt(1, *notation).Mul(amount->nanos() / quantity::kNanosPerOne);
}

}  // namespace quota::ironcore
