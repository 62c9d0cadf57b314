#pragma once

// Internal to pkg/admission: the answers to reviews. Each refusal has its causes, for programs
// (pkg/quota/cause.h). Pure functions; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/admission/review.h"
#include "pkg/base/error.h"
#include "pkg/quota/decision.h"

namespace admission {

// What the API server would answer when it stores.
Answer AlreadyExists(const Review& review);
// A refusal by no quota. `reason`: one of quota::cause::kAll.
Answer Refuse(int code, std::string message, std::string_view reason);
Answer Unavailable(std::string message);
// The answer after a write that failed permanently. It has the API server's own text.
Answer Failed(const base::Error& error);
Answer AnswerOf(const quota::QuotaApi& api, const quota::Verdict& verdict,
                std::vector<std::string> warnings);
// Adds what another quota API says about a request that both allow.
void AddTo(Answer& all, Answer one);

}  // namespace admission
