#pragma once

// The HTTP side of admission: POST /validate/<quota api> with an AdmissionReview, or
// /validate/<name> for quota APIs that share a webhook (Together()). The Admitter answers it. All
// other requests fail:
//
//   404 another path           405 another method (Allow: POST)   415 another content type
//   400 not an AdmissionReview of admission.k8s.io/v1, no object, or an invalid ?timeout=
//   413                        the wanted fields are larger than those of any stored object
//   429 with Retry-After       too many reviews in hand (the newest is refused at once), too much
//                              memory held for them, or the admitter is busy
//   503 without Retry-After    not decided in time
//
// The server itself refuses a body that is too large, never ends, or does not fit beside others
// (pkg/http/server.h). The body of a failed call is a Status object: if it is plain text, a
// kube-apiserver shows the user only its usual sentence for the status code.
//
// Single-threaded.

#include <vector>

#include "pkg/admission/admitter.h"
#include "pkg/admission/observer.h"
#include "pkg/base/clock.h"
#include "pkg/http/server.h"

namespace webhook {

struct HandlerOptions {
  std::string path = "/validate";                     // of all quota APIs; their names follow
  base::Duration max_wait = std::chrono::seconds(5);  // the longest deadline of an admitter
  // This part of the caller's ?timeout= is kept for the transport. Of a short timeout it is a
  // quarter.
  base::Duration margin = std::chrono::milliseconds(500);
  // Further reviews are answered 429. Less than the server's connections, each of which has one
  // review at a time, so that there is one left to say so.
  std::size_t max_in_hand = 1792;
};

// The admitter, the observer and the clock outlive the handler.
http::Handler NewHandler(admission::Admitter& admitter, admission::Observer& observer,
                         const base::Clock& clock, HandlerOptions options = {});

// The limits of the server. A review has at most two objects of the largest size that an API server
// stores, as JSON and with room to spare. Three such reviews, or thousands of usual ones, fit at
// the same time. Connections end after some minutes, so that they spread over all replicas again.
http::ServerOptions WebhookServerOptions();

}  // namespace webhook
