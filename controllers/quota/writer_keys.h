#pragma once

// Which writer of admission a namespace's requests wait for, where quotas reach many namespaces:
// all whose quotas hang together have one. Two quotas hang together if a namespace was seen that
// both reach, so learning costs nothing but for namespaces in which somebody creates. They stay
// together when no namespace has both any more: it costs nothing but a shared batch.
//
// Values; one thread.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/resource.h"

namespace controllers {

class WriterKeys {
 public:
  // `quotas` reach the namespace, and there are so many in all. No namespace has the name of a
  // writer that is not its own.
  std::string Of(std::string_view ns, const std::vector<api::ObjectKey>& quotas, std::size_t all);
  // Quotas that it remembers.
  [[nodiscard]] std::size_t size() const { return above_.size(); }

 private:
  const std::string& First(const std::string& quota);

  std::map<std::string, std::string, std::less<>>
      above_;  // quota -> another of its group, or itself
};

}  // namespace controllers
