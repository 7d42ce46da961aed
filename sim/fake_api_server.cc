#include "sim/fake_api_server.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "sim/kube_access_review.h"
#include "sim/kube_discovery.h"
#include "sim/kube_render.h"

namespace sim {
namespace {

constexpr absl::string_view kBodyTypes = "application/json";
constexpr absl::string_view kPatchTypes =
    "application/merge-patch+json, application/strategic-merge-patch+json, "
    "application/apply-patch+yaml";

std::string ManagerOf(const http::Request& request, const KubeRequestInfo& info) {
  const std::string& named = info.Parameter("fieldManager");
  if (!named.empty()) return named;
  const absl::string_view agent = http::FindHeader(request.headers, "User-Agent");
  return agent.empty() ? "unknown" : std::string(agent.substr(0, agent.find('/')));
}

std::optional<PatchType> PatchTypeOf(const http::Request& request) {
  const absl::string_view type = http::FindHeader(request.headers, "Content-Type");
  if (absl::StartsWith(type, "application/merge-patch+json")) return PatchType::kMerge;
  if (absl::StartsWith(type, "application/strategic-merge-patch+json")) {
    return PatchType::kStrategic;
  }
  if (absl::StartsWith(type, "application/apply-patch+yaml")) return PatchType::kApply;
  return std::nullopt;
}

KubeError ErrorOfStatus(int status) {
  static const std::map<int, std::pair<std::string, std::string>>* const texts =
      new std::map<int, std::pair<std::string, std::string>>{
          {401, {"Unauthorized", "Unauthorized"}},
          {403, {"Forbidden", "forbidden"}},
          {409,
           {"Conflict",
            "the object has been modified; please apply your changes to the "
            "latest version and try again"}},
          {410, {"Expired", "The resourceVersion for the provided watch is too old."}},
          {429, {"TooManyRequests", "Too many requests, please try again later."}},
          {500, {"InternalError", "Internal error occurred: etcdserver: request timed out"}},
          {503, {"ServiceUnavailable", "apiserver is shutting down"}},
          {504, {"Timeout", "Timeout: request did not complete within requested timeout"}},
      };
  const auto found = texts->find(status);
  if (found == texts->end()) return {.code = status, .message = "an injected fault"};
  return {.code = status, .reason = found->second.first, .message = found->second.second};
}

KubeError ForbiddenTo(const std::string& user, const KubeRequestInfo& info) {
  if (info.resource == nullptr) {
    return {.code = 403,
            .reason = "Forbidden",
            .message = absl::StrCat("forbidden: User \"", user, "\" cannot ", info.verb, " path \"",
                                    info.path, "\""),
            .details = JsonTree::Object{}};
  }
  const KubeResource& resource = *info.resource;
  JsonTree details = JsonTree::Object{};
  if (!info.name.empty()) details.Set("name", info.name);
  if (!resource.group.empty()) details.Set("group", resource.group);
  details.Set("kind", resource.plural);
  return {.code = 403,
          .reason = "Forbidden",
          .message = absl::StrCat(
              resource.group_resource(), info.name.empty() ? "" : " \"" + info.name + "\"",
              " is forbidden: User \"", user, "\" cannot ", info.verb, " resource \"",
              resource.plural, info.subresource.empty() ? "" : "/", info.subresource,
              "\" in API group \"", resource.group, "\"",
              info.ns.empty() ? " at the cluster scope" : " in the namespace \"" + info.ns + "\""),
          .details = details};
}

// But for the namespace.
bool CoversAttempt(const KubeAccessRule& rule, absl::string_view verb, absl::string_view resource) {
  return (rule.verb.empty() || rule.verb == verb) &&
         (rule.resource.empty() || rule.resource == resource);
}

bool Covers(const KubeAccessRule& rule, const KubeRequestInfo& info) {
  const std::string resource =
      info.resource == nullptr
          ? ""
          : absl::StrCat(info.resource->plural, info.subresource.empty() ? "" : "/",
                         info.subresource);
  return CoversAttempt(rule, info.verb, resource) && (rule.ns.empty() || rule.ns == info.ns);
}

http::Response Text(int status, std::string body) {
  return {.status = status, .headers = {{"Content-Type", "text/plain"}}, .body = std::move(body)};
}

}  // namespace

FakeApiServer::FakeApiServer(FakeApiServerOptions options)
    : options_(std::move(options)),
      store_(options_.first_resource_version, options_.history_per_resource),
      objects_(store_, options_.seed),
      watches_(store_, faults_, options_.bookmark_interval) {
  objects_.SetFieldOwnership(options_.field_ownership);
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    objects_.Create(resources::Namespaces(), "",
                    JsonTree::Object{{"metadata", JsonTree::Object{{"name", name}}}},
                    {"kube-apiserver", options_.start});
  }
  store_.Compact();
}

KubeAnswer FakeApiServer::Handle(const http::Request& request, absl::Time now) {
  Advance(now);
  const KubeRequestInfo info = ParseKubeRequest(request);
  KubeRequestRecord record;
  if (on_request_ || options_.log_limit > 0) {
    record = {now,
              "",
              info.verb,
              request.method,
              request.target,
              std::string(http::FindHeader(request.headers, "User-Agent")),
              request.body};
  }
  KubeAnswer answer;
  const std::optional<KubeFault> fault = faults_.Hit(info);
  if (fault.has_value() && fault->kind == KubeFault::Kind::kStatus) {
    answer.response = ErrorOfStatus(fault->status).ToResponse();
    if (!fault->body.empty()) answer.response.body = fault->body;
  } else if (fault.has_value() && fault->kind == KubeFault::Kind::kRefuse) {
    answer.lose = true;
  } else {
    answer = Serve(request, info, now, record);
    if (fault.has_value()) answer.delay = fault->delay;
    answer.lose = fault.has_value() && fault->kind == KubeFault::Kind::kLoseReply;
  }
  if (answer.lose && answer.watch.has_value()) {
    watches_.Close(*std::exchange(answer.watch, std::nullopt));
  }
  record.status = answer.lose ? 0 : answer.response.status;
  if (on_request_) on_request_(record);
  if (options_.log_limit > 0) log_.push_back(std::move(record));
  if (log_.size() > options_.log_limit) log_.pop_front();
  Advance(now);
  return answer;
}

KubeAnswer FakeApiServer::Serve(const http::Request& request, const KubeRequestInfo& info,
                                absl::Time now, KubeRequestRecord& record) {
  const std::optional<std::string> user = UserOf(request);
  if (!user.has_value()) return {.response = kube_error::Unauthorized().ToResponse()};
  record.user = *user;
  if (!IsAllowed(*user, info)) return {.response = ForbiddenTo(*user, info).ToResponse()};
  if (info.resource != nullptr) return ServeResource(request, info, now);
  if (info.path == "/apis/authentication.k8s.io/v1/tokenreviews" && request.method == "POST") {
    return {.response = ReviewToken(request, now)};
  }
  if (info.path == kAccessReviewPath && request.method == "POST") {
    return {.response = ReviewAccess(request, *user, now)};
  }
  if (request.method != "GET" || info.path == kAccessReviewPath) {
    return {.response = kube_error::MethodNotAllowed().ToResponse()};
  }
  if (info.path == "/healthz" || info.path == "/livez" || info.path == "/readyz") {
    return {.response = Text(200, "ok")};
  }
  const std::optional<JsonTree> document = DiscoveryDocument(info.path);
  if (!document.has_value()) return {.response = Text(404, "404 page not found\n")};
  return {.response = JsonResponse(200, document->Dump() + "\n")};
}

std::optional<std::string> FakeApiServer::UserOf(const http::Request& request) const {
  if (options_.users_by_token.empty()) return "admin";
  absl::string_view token = http::FindHeader(request.headers, "Authorization");
  if (token.empty() && !options_.user_without_token.empty()) return options_.user_without_token;
  if (!absl::ConsumePrefix(&token, "Bearer ")) return std::nullopt;
  const auto found = options_.users_by_token.find(std::string(token));
  if (found == options_.users_by_token.end()) return std::nullopt;
  return found->second;
}

bool FakeApiServer::IsAllowed(const std::string& user, const KubeRequestInfo& info) const {
  const auto covers = [&](const KubeAccessRule& rule) { return Covers(rule, info); };
  if (info.resource != nullptr && absl::c_any_of(forbidden_, covers)) return false;
  const auto rules = allowed_.find(user);
  return rules == allowed_.end() || info.resource == nullptr ||
         absl::c_any_of(rules->second, covers);
}

KubeAnswer FakeApiServer::ServeResource(const http::Request& request, const KubeRequestInfo& info,
                                        absl::Time now) {
  if (!info.subresource.empty() &&
      !(info.subresource == "status" && info.resource->traits.status)) {
    return {.response = Text(404, "404 page not found\n")};
  }
  const auto view = ChooseView(request.headers);
  if (const auto* error = std::get_if<KubeError>(&view)) return {.response = error->ToResponse()};
  if (info.verb == "watch") return OpenWatch(request, info, now);
  if (info.verb == "list") {
    KubeSelector selector;
    auto error = selector.AddLabels(info.Parameter("labelSelector"));
    if (!error.has_value()) error = selector.AddFields(info.Parameter("fieldSelector"));
    if (error.has_value()) return {.response = error->ToResponse()};
    return {.response = RenderList(store_, info, selector, std::get<KubeView>(view))};
  }
  if (info.verb == "get") {
    const KubeObject object = store_.Find(info.ref());
    if (object == nullptr) return {.response = kube_error::NotFound(info.ref()).ToResponse()};
    return {.response = JsonResponse(
                200, RenderObject(*info.resource, *object, std::get<KubeView>(view)) + "\n")};
  }
  if (info.verb == "delete" && info.subresource.empty()) {
    return {.response = DeleteObject(request, info, now)};
  }
  if (info.verb == "create" || info.verb == "update" || info.verb == "patch") {
    return {.response = Write(request, info, now)};
  }
  return {.response = kube_error::MethodNotAllowed().ToResponse()};
}

KubeAnswer FakeApiServer::OpenWatch(const http::Request& request, const KubeRequestInfo& info,
                                    absl::Time now) {
  KubeWatchOptions watch;
  watch.resource = info.resource;
  watch.ns = info.ns;
  watch.view = std::get<KubeView>(ChooseView(request.headers));
  std::optional<KubeError> error = watch.selector.AddLabels(info.Parameter("labelSelector"));
  if (!error.has_value()) error = watch.selector.AddFields(info.Parameter("fieldSelector"));
  if (watch.view == KubeView::kMetadataList) {
    error = kube_error::NotAcceptable(
        "you requested PartialObjectMetadataList, but the requested object is not a list");
  }
  const std::string& bookmarks = info.Parameter("allowWatchBookmarks");
  watch.bookmarks = bookmarks == "true" || bookmarks == "1";
  const std::string& version = info.Parameter("resourceVersion");
  if (!version.empty() && !absl::SimpleAtoi(version, &watch.after)) {
    error = kube_error::BadRequest(
        absl::StrCat("resourceVersion: Invalid value: \"", version, "\": invalid syntax"));
  }
  if (error.has_value()) return {.response = error->ToResponse()};
  int64_t seconds = 0;
  watch.end = now + options_.watch_timeout;
  if (absl::SimpleAtoi(info.Parameter("timeoutSeconds"), &seconds) && seconds > 0) {
    watch.end = now + absl::Seconds(seconds);
  }
  KubeAnswer answer{.response = JsonResponse(200, "")};
  answer.watch = watches_.Open(std::move(watch), now);
  return answer;
}

http::Response FakeApiServer::Write(const http::Request& request, const KubeRequestInfo& info,
                                    absl::Time now) {
  if (!info.Parameter("dryRun").empty()) {
    return kube_error::BadRequest("this fake does not know dryRun").ToResponse();
  }
  // kubectl tries another encoding first and goes by this answer.
  const absl::string_view type = http::FindHeader(request.headers, "Content-Type");
  if (info.verb != "patch" && !type.empty() && !absl::StartsWith(type, kBodyTypes)) {
    return kube_error::UnsupportedMediaType(kBodyTypes).ToResponse();
  }
  const auto body = JsonTree::Parse(request.body, "the request's body");
  if (!body.ok()) return kube_error::BadRequest(std::string(body.status().message())).ToResponse();
  if (!body->is_object()) {
    return kube_error::BadRequest("the request's body is no JSON object").ToResponse();
  }
  const KubeWriter writer{ManagerOf(request, info), now, info.subresource};
  KubeResult result;
  if (info.verb == "create") {
    if (!info.name.empty()) return kube_error::MethodNotAllowed().ToResponse();
    result = objects_.Create(*info.resource, info.ns, *body, writer);
  } else if (info.verb == "update") {
    if (info.name.empty()) return kube_error::MethodNotAllowed().ToResponse();
    result = objects_.Replace(info.ref(), *body, writer);
  } else {
    const std::optional<PatchType> type = PatchTypeOf(request);
    if (!type.has_value()) return kube_error::UnsupportedMediaType(kPatchTypes).ToResponse();
    if (info.name.empty()) return kube_error::MethodNotAllowed().ToResponse();
    if (type == PatchType::kApply && info.Parameter("fieldManager").empty()) {
      return kube_error::BadRequest(
                 "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is "
                 "required for apply patch")
          .ToResponse();
    }
    const bool force = info.Parameter("force") == "true";
    result = objects_.Patch(info.ref(), *type, *body, force, writer);
  }
  if (!result.ok()) return result.error->ToResponse();
  return JsonResponse(result.code,
                      RenderObject(*info.resource, *result.object, KubeView::kFull) + "\n");
}

http::Response FakeApiServer::DeleteObject(const http::Request& request,
                                           const KubeRequestInfo& info, absl::Time now) {
  KubeDeleteOptions options;
  int64_t grace = 0;
  if (absl::SimpleAtoi(info.Parameter("gracePeriodSeconds"), &grace)) {
    options.grace_seconds = grace;
  }
  if (!request.body.empty()) {
    const auto body = JsonTree::Parse(request.body, "the request's body");
    if (!body.ok()) {
      return kube_error::BadRequest(std::string(body.status().message())).ToResponse();
    }
    const JsonTree& asked = (*body)["gracePeriodSeconds"];
    if (asked.is_int()) options.grace_seconds = asked.AsInt();
    options.uid = (*body)["preconditions"]["uid"].AsString();
    options.resource_version = (*body)["preconditions"]["resourceVersion"].AsString();
  }
  const KubeResult result = objects_.Delete(info.ref(), options, now);
  if (!result.ok()) return result.error->ToResponse();
  if (info.resource->kind == "Pod" || store_.Find(info.ref()) != nullptr) {
    return JsonResponse(200, RenderObject(*info.resource, *result.object, KubeView::kFull) + "\n");
  }
  JsonTree details = JsonTree::Object{{"name", info.name}};
  if (!info.resource->group.empty()) details.Set("group", info.resource->group);
  details.Set("kind", info.resource->plural);
  details.Set("uid", (*result.object)["metadata"]["uid"]);
  const JsonTree status = JsonTree::Object{{"kind", "Status"},
                                           {"apiVersion", "v1"},
                                           {"metadata", JsonTree::Object{}},
                                           {"status", "Success"},
                                           {"details", details}};
  return JsonResponse(200, status.Dump() + "\n");
}

http::Response FakeApiServer::ReviewToken(const http::Request& request, absl::Time now) const {
  const auto body = JsonTree::Parse(request.body, "the request's body");
  if (!body.ok()) return kube_error::BadRequest(std::string(body.status().message())).ToResponse();
  const auto user = options_.users_by_token.find((*body)["spec"]["token"].AsString());
  const bool known = user != options_.users_by_token.end();
  return JsonResponse(201,
                      TokenReview(*body, known ? user->second : "", KubeTime(now)).Dump() + "\n");
}

http::Response FakeApiServer::ReviewAccess(const http::Request& request, const std::string& user,
                                           absl::Time now) const {
  const absl::string_view type = http::FindHeader(request.headers, "Content-Type");
  if (!type.empty() && !absl::StartsWith(type, kBodyTypes)) {
    return kube_error::UnsupportedMediaType(kBodyTypes).ToResponse();
  }
  const auto body = JsonTree::Parse(request.body, "the request's body");
  if (!body.ok()) return kube_error::BadRequest(std::string(body.status().message())).ToResponse();
  if (const auto error = CheckAccessReview(*body); error.has_value()) return error->ToResponse();
  const AccessAttributes asked = AttributesOf(*body);
  const auto granted = [&](const KubeAccessRule& rule) {
    return CoversAttempt(rule, asked.verb, asked.resource) &&
           (rule.ns.empty() || rule.ns == asked.ns);
  };
  // Who asks about all namespaces asks about each.
  const auto refused = [&](const KubeAccessRule& rule) {
    return CoversAttempt(rule, asked.verb, asked.resource) &&
           (rule.ns.empty() || asked.ns.empty() || rule.ns == asked.ns);
  };
  const auto rules = allowed_.find(user);
  const bool allowed = asked.resource.empty() ||
                       (!absl::c_any_of(forbidden_, refused) &&
                        (rules == allowed_.end() || absl::c_any_of(rules->second, granted)));
  return JsonResponse(201, AnswerAccessReview(*body, allowed, user, KubeTime(now)).Dump() + "\n");
}

KubeResult FakeApiServer::ApplyManifest(const JsonTree& manifest, absl::Time now) {
  const std::string& api_version = manifest["apiVersion"].AsString();
  const std::string& kind = manifest["kind"].AsString();
  const KubeResource* resource = FindKubeKind(api_version, kind);
  if (resource == nullptr) {
    const std::string message =
        absl::StrCat("no matches for kind \"", kind, "\" in version \"", api_version, "\"");
    return {.code = 404, .error = KubeError{.code = 404, .message = message}};
  }
  std::string ns;
  if (resource->traits.namespaced) {
    ns = manifest["metadata"]["namespace"].AsString();
    if (ns.empty()) ns = "default";
    // Already there is as good.
    objects_.Create(resources::Namespaces(), "",
                    JsonTree::Object{{"metadata", JsonTree::Object{{"name", ns}}}},
                    {"kubectl", now});
  }
  KubeResult result = objects_.Create(*resource, ns, manifest, {"kubectl", now});
  Advance(now);
  return result;
}

void FakeApiServer::Restrict(const std::string& user, std::vector<KubeAccessRule> rules) {
  allowed_[user] = std::move(rules);
}

void FakeApiServer::PermitAll() {
  allowed_.clear();
  forbidden_.clear();
}

void FakeApiServer::Restart() {
  watches_.Cut("");
  store_.Compact();
}

}  // namespace sim
