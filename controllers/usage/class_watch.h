#pragma once

// The classes that one evaluator reads (quota::ClassSource): a reflector and a table. The table
// keeps only what one unit of each class uses. Single-threaded.

#include <string>
#include <string_view>

#include "controllers/usage/shared_watch.h"
#include "pkg/base/log_limit.h"

namespace controllers {

class ClassWatch final : public SharedWatch {
 public:
  // REQUIRES: `evaluator` reads classes.
  ClassWatch(TrackingContext context, api::GroupVersionResource resource,
             const quota::Evaluator& evaluator);

  [[nodiscard]] const quota::ClassTable& table() const { return table_; }

  void BeginList() override;
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  void EndList() override;
  void OnState() override;

 private:
  void TellChange(const std::string& name) const;
  void SayUnknown(const std::string& name, std::string_view what, const std::string& why);

  quota::ClassTable table_;
  base::LogLimit lines_;
};

}  // namespace controllers
