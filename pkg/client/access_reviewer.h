#pragma once

// Whether the bearer of a token may read a path of ours, as the API server judges it: a TokenReview
// says who it is, a SubjectAccessReview whether that user may `get` the non-resource URL.
//
// Promises: who may is remembered for a minute, who may not for ten seconds, so a right that is
// taken away ends within a minute. What is remembered is bounded, and holds a digest, never a
// token. At most a few reviews are under way at once, whoever asks how often. No error and no log
// line contains a token; that the API server cannot be asked is said once.
//
// Needs `create` on tokenreviews and subjectaccessreviews. Single-threaded; client and clock
// outlive it, and it outlives the tasks that it returns.

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
  std::chrono::milliseconds timeout{5'000};  // of each of the two reviews
};

class AccessReviewer {
 public:
  AccessReviewer(ApiClient& client, const base::Clock& clock, AccessReviewerOptions options = {});

  // Errors: kUnauthorized for a token that is none, kForbidden for a user without the right,
  // kTooManyRequests, kUnavailable when the API server does not say.
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
  std::string trouble_;  // said already
};

}  // namespace client
