#include "pkg/api/object_meta.h"

#include <catch2/catch.hpp>

#include "pkg/api/time.h"

namespace api::object_meta_test {
namespace {

TEST_CASE("object meta: present members are read", "[api]") {
  const json::Value pod = *json::Parse(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"a","uid":"u",
        "resourceVersion":"7","labels":{"x":"y","n":1},"annotations":{"k":"v"},
        "finalizers":["f",3],"creationTimestamp":"2026-01-02T03:04:05Z",
        "deletionTimestamp":"2026-01-02T03:04:06Z"}})");
  CHECK(Kind(pod) == "Pod");
  CHECK(ApiVersion(pod) == "v1");
  CHECK(KeyOf(pod) == ObjectKey{"a", "p"});
  CHECK(Uid(pod) == "u");
  CHECK(ResourceVersion(pod) == "7");
  CHECK(Labels(pod)->AsObject()->size() == 2);
  CHECK(Annotations(pod)->StringAt({"k"}) == "v");
  CHECK(Label(pod, "x") == "y");
  CHECK(Label(pod, "n") == std::nullopt);
  CHECK(HasFinalizer(pod, "f"));
  CHECK_FALSE(HasFinalizer(pod, "g"));
  CHECK(IsBeingDeleted(pod));
  CHECK(*DeletionTimestamp(pod) - *CreationTimestamp(pod) == std::chrono::seconds(1));
}

TEST_CASE("object meta: absent and misshapen members read as empty", "[api]") {
  for (const char* text : {"{}", "null", R"({"metadata":5})", R"({"metadata":{"name":1,"labels":[],
        "finalizers":"f","creationTimestamp":null,"deletionTimestamp":null}})"}) {
    const json::Value object = *json::Parse(text);
    CHECK(Name(object).empty());
    CHECK(Namespace(object).empty());
    CHECK(Labels(object) == nullptr);
    CHECK(Annotations(object) == nullptr);
    CHECK(Label(object, "x") == std::nullopt);
    CHECK_FALSE(HasFinalizer(object, "f"));
    CHECK_FALSE(CreationTimestamp(object).has_value());
    CHECK_FALSE(IsBeingDeleted(object));
  }
}

TEST_CASE("object meta: the owner is the controller, else the first owner", "[api]") {
  const auto owner = [](const std::string& references) {
    const json::Value pod = *json::Parse(R"({"metadata":{"ownerReferences":)" + references + "}}");
    const json::Value* found = OwnerReference(pod);
    return found == nullptr ? "none" : std::string(found->StringAt({"name"}));
  };
  CHECK(owner(R"([{"name":"a"},{"name":"b","controller":true}])") == "b");
  CHECK(owner(R"([{"name":"a","controller":false},{"name":"b"}])") == "a");
  CHECK(owner(R"([{"name":"a"},{"name":"b","controller":"true"}])") == "a");
  CHECK(owner("[]") == "none");
  CHECK(owner(R"({"name":"a"})") == "none");
}

TEST_CASE("object meta: an unreadable deletion timestamp is still a deletion", "[api]") {
  const json::Value object = *json::Parse(R"({"metadata":{"deletionTimestamp":"soon"}})");
  CHECK(IsBeingDeleted(object));
  CHECK_FALSE(DeletionTimestamp(object).has_value());
}

}  // namespace
}  // namespace api::object_meta_test
