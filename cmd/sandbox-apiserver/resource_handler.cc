#include "cmd/sandbox-apiserver/resource_handler.h"

#include <utility>

#include "cmd/sandbox-apiserver/responses.h"
#include "cmd/sandbox-apiserver/table.h"

namespace sandbox {
namespace {

// How often a write without a version is retried after a lost race, as in kube-apiserver.
constexpr int kWriteAttempts = 6;

json::Object ListMetadata(const ListPage& page) {
  json::Object metadata{{"resourceVersion", std::to_string(page.resource_version)}};
  if (!page.continue_token.empty()) metadata.Set("continue", page.continue_token);
  if (page.remaining) metadata.Set("remainingItemCount", *page.remaining);
  return metadata;
}

void AppendItem(std::string& text, const json::Object& item, bool with_type) {
  text.push_back('{');
  bool first = true;
  for (const auto& [name, value] : item) {
    if (!with_type && (name == "kind" || name == "apiVersion")) continue;
    if (!std::exchange(first, false)) text.push_back(',');
    text += json::Quote(name);
    text.push_back(':');
    text += json::Write(value);
  }
  text.push_back('}');
}

// Written in pieces, so that the tens of thousands of objects of a list are not copied.
std::string ListText(const ResourceType& type, const ListPage& page) {
  std::string text = "{\"kind\":" + json::Quote(type.list_kind) +
                     ",\"apiVersion\":" + json::Quote(type.ApiVersion()) +
                     ",\"metadata\":" + json::Write(ListMetadata(page)) + ",\"items\":[";
  for (std::size_t i = 0; i < page.items.size(); ++i) {
    if (i > 0) text.push_back(',');
    // Items of built-in lists have no type of their own, those of custom resources do.
    AppendItem(text, *page.items[i]->AsObject(), type.custom);
  }
  text += "]}";
  return text;
}

json::Value MetadataList(const ListPage& page) {
  json::Array items;
  for (const ObjectPtr& item : page.items) items.push_back(PartialMetadata(*item));
  return json::Object{{"kind", "PartialObjectMetadataList"},
                      {"apiVersion", "meta.k8s.io/v1"},
                      {"metadata", ListMetadata(page)},
                      {"items", std::move(items)}};
}

json::Value OptionsOf(const Exchange& exchange, const PendingWrite& write) {
  json::Object options{{"kind", OptionsKind(exchange.verb)}};
  options.Set("apiVersion", "meta.k8s.io/v1");
  if (write.dry_run) options.Set("dryRun", json::Array{"All"});
  for (const char* name : {"fieldManager", "fieldValidation", "propagationPolicy"}) {
    if (exchange.target.Has(name)) options.Set(name, exchange.target.Get(name));
  }
  if (write.delete_options.grace_period_seconds) {
    options.Set("gracePeriodSeconds", *write.delete_options.grace_period_seconds);
  }
  return options;
}

std::string_view NameOf(Operation operation) {
  if (operation == Operation::kCreate) return "CREATE";
  return operation == Operation::kUpdate ? "UPDATE" : "DELETE";
}

api::Status Deleted(const ResourceType& type, const json::Value& object) {
  api::Status status;
  status.status = "Success";
  status.details.name = object.StringAt({"metadata", "name"});
  status.details.group = type.group;
  status.details.kind = type.resource;
  status.details.uid = object.StringAt({"metadata", "uid"});
  return status;
}

}  // namespace

base::Task<http::Response> ResourceHandler::Handle(const Exchange& exchange) {
  switch (exchange.verb) {
    case Verb::kGet:
      co_return Get(exchange);
    case Verb::kList:
      co_return List(exchange);
    case Verb::kDeleteCollection:
      co_return co_await DeleteCollection(exchange);
    default:
      co_return co_await Change(exchange);
  }
}

http::Response ResourceHandler::Get(const Exchange& exchange) const {
  const Outcome<ObjectPtr> object = store_.objects().Get(exchange.store_target());
  if (!object) return StatusResponse(object.error());
  return Represent(exchange, 200, *object);
}

http::Response ResourceHandler::List(const Exchange& exchange) const {
  const Outcome<ListQuery> query = ListQueryOf(exchange);
  if (!query) return StatusResponse(query.error());
  const Outcome<ListPage> page = store_.objects().List(exchange.type, *query);
  if (!page) return StatusResponse(page.error());
  return RepresentList(exchange, *page);
}

http::Response ResourceHandler::Represent(const Exchange& exchange, int status,
                                          const ObjectPtr& object) const {
  if (exchange.form == Form::kObject) return JsonResponse(status, *object);
  if (exchange.form == Form::kMetadata) return JsonResponse(status, PartialMetadata(*object));
  json::Object metadata{{"resourceVersion", object->StringAt({"metadata", "resourceVersion"})}};
  return JsonResponse(status,
                      MakeTable(*exchange.type, {object}, std::move(metadata), clock_.WallNow()));
}

http::Response ResourceHandler::RepresentList(const Exchange& exchange,
                                              const ListPage& page) const {
  if (exchange.form == Form::kObject) return JsonText(200, ListText(*exchange.type, page));
  if (exchange.form == Form::kMetadata) return JsonResponse(200, MetadataList(page));
  return JsonResponse(200,
                      MakeTable(*exchange.type, page.items, ListMetadata(page), clock_.WallNow()));
}

base::Task<http::Response> ResourceHandler::Change(const Exchange& exchange) {
  Outcome<Prepare> prepare = PreparationOf(exchange);
  if (!prepare) co_return StatusResponse(prepare.error());
  const Outcome<WriteResult> result = co_await Write(exchange, *std::move(prepare), false);
  co_return Answer(exchange, result);
}

Outcome<ResourceHandler::Prepare> ResourceHandler::PreparationOf(const Exchange& exchange) const {
  const Target target = exchange.store_target();
  if (exchange.verb == Verb::kDelete) {
    const Outcome<DeleteOptions> options = DeleteOptionsOf(exchange);
    if (!options) return options.error();
    return Prepare(
        [this, target, options = *options] { return store_.preparer().Delete(target, options); });
  }
  const Outcome<WriteOptions> options = WriteOptionsOf(exchange);
  if (!options) return options.error();
  if (exchange.verb == Verb::kPatch) {
    const Outcome<PatchRequest> patch = PatchOf(exchange);
    if (!patch) return patch.error();
    return Prepare([this, target, patch = *patch, options = *options] {
      return store_.preparer().Patch(target, patch, options);
    });
  }
  const Outcome<json::Value> body = BodyOf(exchange);
  if (!body) return body.error();
  const bool creates = exchange.verb == Verb::kCreate;
  return Prepare([this, target, body = *body, options = *options, creates] {
    return creates ? store_.preparer().Create(target, body, options)
                   : store_.preparer().Update(target, body, options);
  });
}

base::Task<http::Response> ResourceHandler::DeleteCollection(const Exchange& exchange) {
  const Outcome<DeleteOptions> options = DeleteOptionsOf(exchange);
  if (!options) co_return StatusResponse(options.error());
  Outcome<ListQuery> query = ListQueryOf(exchange);
  if (!query) co_return StatusResponse(query.error());
  query->limit = 0;
  Outcome<ListPage> page = store_.objects().List(exchange.type, *query);
  if (!page) co_return StatusResponse(page.error());
  ListPage deleted;
  for (const ObjectPtr& item : page->items) {
    const Target target{exchange.type, std::string(item->StringAt({"metadata", "namespace"})),
                        std::string(item->StringAt({"metadata", "name"})), ""};
    Prepare prepare = [this, &target, &options] {
      return store_.preparer().Delete(target, *options);
    };
    Outcome<WriteResult> result = co_await Write(exchange, std::move(prepare), true);
    if (result) deleted.items.push_back(result->object);
    // A 404 means that another deletion was first.
    if (!result && result.error().code != 404) co_return StatusResponse(result.error());
  }
  deleted.resource_version = store_.objects().current_version();
  co_return RepresentList(exchange, deleted);
}

base::Task<Outcome<WriteResult>> ResourceHandler::Write(const Exchange& exchange, Prepare prepare,
                                                        bool by_collection) {
  for (int attempt = 1;; ++attempt) {
    Outcome<PendingWrite> write = prepare();
    if (!write) co_return write.error();
    if (Outcome<void> completed = store_.preparer().Complete(*write); !completed)
      co_return completed.error();
    Outcome<std::vector<std::string>> warnings = co_await Admit(exchange, *write, by_collection);
    if (!warnings) co_return warnings.error();
    const bool again = write->unconditional && attempt < kWriteAttempts;
    Outcome<WriteResult> result = store_.Commit(*std::move(write));
    // Another write came between prepare() and Commit(), for example during a call of a webhook.
    if (!result && again && result.error().reason == "Conflict") continue;
    if (result) {
      result->warnings.insert(result->warnings.end(), warnings->begin(), warnings->end());
    }
    co_return result;
  }
}

base::Task<Outcome<std::vector<std::string>>> ResourceHandler::Admit(const Exchange& exchange,
                                                                     const PendingWrite& write,
                                                                     bool by_collection) {
  Admission admission;
  admission.operation = NameOf(write.operation);
  admission.type = write.target.type;
  admission.subresource = write.target.subresource;
  admission.ns = write.target.ns;
  // In a review, the namespace of a Namespace is its own name, as with kube-apiserver.
  if (write.target.type->IsCore("namespaces")) admission.ns = write.target.name;
  if (!by_collection) admission.name = write.target.name;
  if (write.operation != Operation::kDelete) admission.object = &write.object;
  admission.old_object = write.old_object.get();
  admission.options = OptionsOf(exchange, write);
  admission.dry_run = write.dry_run;
  admission.user = exchange.user;
  co_return co_await webhooks_.Admit(admission);
}

http::Response ResourceHandler::Answer(const Exchange& exchange,
                                       const Outcome<WriteResult>& result) const {
  if (!result) return StatusResponse(result.error());
  http::Response response;
  if (result->show_status) {
    response = JsonResponse(200, Deleted(*exchange.type, *result->object).ToJson());
  } else {
    response = Represent(exchange, result->created ? 201 : 200, result->object);
  }
  AddWarnings(response.headers, result->warnings);
  return response;
}

}  // namespace sandbox
