#pragma once

// Authentication by a static bearer token or a verified client certificate. There is no
// authorization: every known user may do everything.
//
// Values; one thread.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pkg/http/message.h"
#include "pkg/http/server.h"
#include "pkg/json/value.h"

namespace sandbox {

struct User {
  std::string name;
  std::vector<std::string> groups;
};

struct AuthOptions {
  std::map<std::string, User> tokens;  // by bearer token
  bool anonymous = false;              // requests without credentials are allowed
};

class Authenticator {
 public:
  explicit Authenticator(AuthOptions options) : options_(std::move(options)) {}

  // Returns the user; nullopt means 401. An unknown token is refused even if anonymous requests are
  // allowed. Impersonate-User and Impersonate-Group are obeyed.
  [[nodiscard]] std::optional<User> Authenticate(const http::Headers& headers,
                                                 const http::Peer& peer) const;
  [[nodiscard]] std::optional<User> UserOfToken(std::string_view token) const;

 private:
  AuthOptions options_;
};

// The JSON of a user in AdmissionReviews and review objects.
json::Value UserInfo(const User& user);

// The answer to a posted TokenReview, SubjectAccessReview or SelfSubjectAccessReview.
json::Value AnswerReview(const Authenticator& authenticator, const User& user,
                         const std::string& resource, json::Value review);

}  // namespace sandbox
