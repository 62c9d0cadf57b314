#pragma once

// The namespaces in which nothing is refused: by name, and by their labels as a watch shows them.
// API servers match the labels themselves, so the rules need no list. This one is for requests that
// arrive nevertheless, and for what conditions and events say.
//
// Single-threaded. Client and scheduler outlive it; Run() must have returned before it is
// destroyed.

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "informers/reflector.h"
#include "pkg/base/asio.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"

namespace webhook {

class ExemptNamespaces final : public informers::CollectionSink {
 public:
  using Names = std::set<std::string, std::less<>>;
  // `label_selector` ("tier=system") selects further exempt namespaces; "": none. `on_change` is
  // called after all() changed.
  ExemptNamespaces(base::Scheduler& scheduler, client::ApiClient& client, Names names,
                   std::string label_selector, informers::ReflectorOptions options,
                   std::function<void()> on_change);

  // Runs until cancelled.
  base::Task<void> Run();

  // Those that are exempt by name. They never change.
  [[nodiscard]] const Names& named() const { return named_; }
  // All that are known. The set changes.
  [[nodiscard]] std::shared_ptr<const Names> all() const { return all_; }

  void BeginList() override { listed_.clear(); }
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  void EndList() override;

 private:
  void Forget(const std::string& ns);

  const Names named_;
  std::shared_ptr<Names> all_;
  Names listed_;  // since BeginList()
  std::function<void()> on_change_;
  std::unique_ptr<informers::Reflector> reflector_;  // null: there is no selector
};

}  // namespace webhook
