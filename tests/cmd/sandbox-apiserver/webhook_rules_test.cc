#include "cmd/sandbox-apiserver/webhook_rules.h"

#include <catch2/catch.hpp>

#include "cmd/sandbox-apiserver/registry.h"
#include "tests/cmd/sandbox-apiserver/show_result.h"

namespace sandbox::webhook_rules_test {
namespace {

json::Value J(const std::string& text) { return json::Parse(text).value(); }

Webhook One(const std::string& members) {
  return WebhooksOf(J(R"({"webhooks":[{"name":"w.example.com",)" + members + "}]}")).at(0);
}

Webhook For(const std::string& resource, const std::string& more = "") {
  return One(R"("rules":[{"operations":["CREATE","UPDATE"],"apiGroups":[""],"apiVersions":["v1"],)"
             R"("resources":[")" +
             resource + "\"]}]" + more);
}

struct Write {
  Write(const std::string& operation, const std::string& resource, const std::string& sub = "") {
    admission.operation = operation;
    admission.type = registry.Find("", "v1", resource);
    admission.subresource = sub;
    admission.ns = "a";
    admission.name = "x";
    admission.object = &object;
  }
  Registry registry;
  json::Value object = J(R"({"metadata":{"name":"x","labels":{"tier":"gold"}}})");
  Admission admission;
};

bool Hits(const Webhook& webhook, const Write& write, const std::string& labels = "{}") {
  const json::Value of_namespace = J(labels);
  return Selects(webhook, write.admission, &of_namespace);
}

}  // namespace

TEST_CASE("webhook rules: resources and subresources are matched", "[sandbox]") {
  const Write pod("CREATE", "pods");
  const Write status("UPDATE", "pods", "status");
  CHECK(Hits(For("pods"), pod));
  CHECK_FALSE(Hits(For("pods"), status));
  CHECK(Hits(For("pods/status"), status));
  CHECK_FALSE(Hits(For("pods/status"), pod));
  CHECK(Hits(For("*/*"), pod));
  CHECK(Hits(For("*/*"), status));
  CHECK(Hits(For("*"), pod));
  CHECK_FALSE(Hits(For("*"), status));
  CHECK_FALSE(Hits(For("services"), pod));
}

TEST_CASE("webhook rules: operations and groups are matched", "[sandbox]") {
  CHECK_FALSE(Hits(For("pods"), Write("DELETE", "pods")));
  const Webhook other =
      One(R"("rules":[{"operations":["*"],"apiGroups":["apps"],"apiVersions":["*"],)"
          R"("resources":["*"]}])");
  CHECK_FALSE(Hits(other, Write("CREATE", "pods")));
}

TEST_CASE("webhook rules: the scope is matched", "[sandbox]") {
  const auto scoped = [](const std::string& scope) {
    return One(R"("rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],)"
               R"("resources":["*"],"scope":")" +
               scope + "\"}]");
  };
  CHECK(Hits(scoped("Namespaced"), Write("CREATE", "pods")));
  CHECK_FALSE(Hits(scoped("Cluster"), Write("CREATE", "pods")));
  CHECK(Hits(scoped("Cluster"), Write("CREATE", "nodes")));
  CHECK(Hits(scoped("Cluster"), Write("CREATE", "namespaces")));
}

TEST_CASE("webhook rules: namespace and object selectors are matched", "[sandbox]") {
  const Write pod("CREATE", "pods");
  const Webhook by_namespace = For(
      "pods",
      R"(,"namespaceSelector":{"matchExpressions":[{"key":"skip","operator":"DoesNotExist"}]})");
  CHECK(Hits(by_namespace, pod));
  CHECK_FALSE(Hits(by_namespace, pod, R"({"skip":""})"));
  CHECK(Hits(For("pods", R"(,"objectSelector":{"matchLabels":{"tier":"gold"}})"), pod));
  const Webhook silver = For("pods", R"(,"objectSelector":{"matchLabels":{"tier":"silver"}})");
  CHECK_FALSE(Hits(silver, pod));

  Write changed("UPDATE", "pods");
  const json::Value before = J(R"({"metadata":{"labels":{"tier":"silver"}}})");
  changed.admission.old_object = &before;
  CHECK(Hits(silver, changed));
}

TEST_CASE("webhook rules: a delete is matched by its old object", "[sandbox]") {
  Write gone("UPDATE", "pods");
  gone.admission.old_object = &gone.object;
  gone.admission.object = nullptr;
  gone.admission.operation = "DELETE";
  const json::Value review = MakeReview(gone.admission, "u1");
  CHECK(review.At({"request", "object"})->IsNull());
  CHECK(review.StringAt({"request", "oldObject", "metadata", "name"}) == "x");
  CHECK(review.StringAt({"request", "operation"}) == "DELETE");
  CHECK(review.StringAt({"request", "uid"}) == "u1");
  CHECK(review.StringAt({"request", "resource", "resource"}) == "pods");
  CHECK(review.StringAt({"request", "kind", "kind"}) == "Pod");
}

TEST_CASE("webhook rules: webhook configurations are exempt", "[sandbox]") {
  Write write("CREATE", "pods");
  write.admission.type =
      write.registry.Find("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations");
  const Webhook all = One(R"("rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],)"
                          R"("resources":["*/*"]}])");
  CHECK_FALSE(Hits(all, write));
}

TEST_CASE("webhook rules: answers are read", "[sandbox]") {
  const Webhook webhook = For("pods");
  const auto read = [&webhook](const std::string& response) {
    return ReadReview(
        webhook,
        R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":)" + response +
            "}",
        "u1");
  };
  CHECK(read(R"({"uid":"u1","allowed":true,"warnings":["w"]})")->warnings ==
        std::vector<std::string>{"w"});
  const Verdict denied =
      read(R"({"uid":"u1","allowed":false,"status":{"code":403,"reason":"Forbidden",)"
           R"("message":"no","details":{"name":"p","causes":[{"reason":"R","field":"f"}]}}})")
          .value();
  CHECK_FALSE(denied.allowed);
  CHECK(denied.denial.code == 403);
  CHECK(denied.denial.message == "admission webhook \"w.example.com\" denied the request: no");
  CHECK(denied.denial.details.name == "p");
  CHECK(denied.denial.details.causes ==
        std::vector<api::StatusCause>{{.reason = "R", .field = "f"}});
  const Verdict silent = read(R"({"uid":"u1","allowed":false})").value();
  CHECK(silent.denial.code == 400);
  CHECK(silent.denial.message ==
        "admission webhook \"w.example.com\" denied the request without explanation");
  CHECK_FALSE(read(R"({"uid":"other","allowed":true})"));
  CHECK_FALSE(read(R"({"uid":"u1","allowed":true,"patchType":"JSONPatch","patch":"W10="})"));
  CHECK_FALSE(ReadReview(webhook, R"({"kind":"Status","apiVersion":"v1"})", "u1"));
  CHECK_FALSE(ReadReview(webhook, "<html>", "u1"));
}

}  // namespace sandbox::webhook_rules_test
