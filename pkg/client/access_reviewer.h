#pragma once

// Asks the API server whether the owner of a token may read one of our paths: a TokenReview
// identifies the user, and a SubjectAccessReview tells whether that user may `get` the non-resource
// URL.
//
// Guarantees: an allowed answer is cached for a minute and a refusal for ten seconds, so a revoked
// right ends within a minute. The cache is bounded and holds a digest, never a token. Only a few
// reviews run at once, however many ask. No error and no log line contains a token. Failing reviews
// are logged once.
//
// Needs `create` on tokenreviews and subjectaccessreviews. Single-threaded. The client and the
// clock must outlive it, and it must outlive the tasks that it returns.

#include <map>
#include <string>
#include <string_view>

#include "pkg/base/asio.h"
#include "pkg/base/clock.h"
#include "pkg/base/error.h"
#include "pkg/client/api_client.h"
#include "pkg/json/value.h"

namespace client {

struct AccessReviewerOptions {
  base::Duration remember_allowed = std::chrono::minutes(1);
  base::Duration remember_refused = std::chrono::seconds(10);
  std::size_t max_remembered = 256;
  std::size_t max_under_way = 8;
  std::chrono::milliseconds timeout{5'000};  // for each of the two reviews
};

class AccessReviewer {
 public:
  AccessReviewer(ApiClient& client, const base::Clock& clock, AccessReviewerOptions options = {});

  // Errors: kUnauthorized for an invalid token, kForbidden for a user without the right,
  // kTooManyRequests, kUnavailable if the API server does not decide.
  base::Task<base::Result<void>> MayGet(std::string token, std::string path);

 private:
  struct Remembered {
    base::Result<void> verdict;
    base::TimePoint until;
  };
  base::Task<base::Result<void>> Review(std::string token, std::string path);
  base::Task<base::Result<json::Value>> Post(std::string kind, json::Value review);
  void Remember(const std::string& key, const base::Result<void>& verdict);
  void SayTrouble(const std::string& trouble);

  ApiClient& client_;
  const base::Clock& clock_;
  const AccessReviewerOptions options_;
  std::map<std::string, Remembered> remembered_;  // by digest and path
  std::size_t under_way_ = 0;
  std::string trouble_;  // logged last
};

}  // namespace client
