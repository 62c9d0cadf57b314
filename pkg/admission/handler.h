#pragma once

// The HTTP side of admission: POST /validate/<quota api> with an AdmissionReview, answered by that
// quota API's Admitter. Everything else is refused, each with its own words:
//
//   404 another path           405 another method (Allow: POST)   415 another content type
//   400 no review, not of admission.k8s.io/v1, without an object, or an unreadable ?timeout=
//   413                        its wanted fields are larger than any stored object's
//   429 with Retry-After       too many reviews in hand (the newest is refused, at once), too much
//                              memory held for them, or busy
//   503 without Retry-After    not decided in time
//
// A body that is too large, never ends or does not fit beside others is the server's to refuse
// (pkg/http/server.h). The bodies of refusals are Status objects: of a plain text a kube-apiserver
// would show its user nothing but the status code's usual sentence.
//
// Single-threaded.

#include <vector>

#include "pkg/admission/admitter.h"
#include "pkg/admission/observer.h"
#include "pkg/base/clock.h"
#include "pkg/http/server.h"

namespace admission {

struct HandlerOptions {
  std::string path = "/validate";                     // above the quota APIs' names
  base::Duration max_wait = std::chrono::seconds(5);  // what an admitter gets at most
  // So much of the caller's ?timeout= is left for the way there and back, of a short one a quarter.
  base::Duration margin = std::chrono::milliseconds(500);
  std::size_t max_in_hand = 4096;
};

// The admitters, the observer and the clock outlive the handler.
http::Handler NewHandler(const std::vector<Admitter*>& admitters, Observer& observer,
                         const base::Clock& clock, HandlerOptions options = {});

// What such a server bears: two objects of the largest size that an API server stores, in JSON and
// with room to spare, and three such reviews at once, or thousands of the usual size; connections
// that are spread over all replicas again after some minutes.
http::ServerOptions WebhookServerOptions();

}  // namespace admission
