#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "http/cpprest_transport.h"
#include "kube/recorded.h"
#include "kube/rest_kube_api.h"
#include "sim/contract.h"
#include "sim/fake_api_server_http.h"
#include "sim/in_memory_kube_api.h"
#include "sim/json_tree.h"

namespace sim {
namespace {

void Must(FakeApiServer& server, const http::Request& request, absl::Time now) {
  const http::Response response = server.Handle(request, now).response;
  CHECK_LT(response.status, 300) << request.target << ": " << response.body;
}

http::Request Sent(const std::string& method, const std::string& path, std::string body,
                   const std::string& type = "application/json") {
  return {.method = method,
          .target = path,
          .headers = {{"Content-Type", type}},
          .body = std::move(body)};
}

void MakePod(FakeApiServer& server, int index, absl::Time now) {
  const std::string name = absl::StrCat("shop-", index);
  const std::string pods = "/api/v1/namespaces/fx/pods";
  // The recorded Pod is held by a finalizer.
  JsonTree pod = *JsonTree::Parse(kube::ReadRecorded("pod-create-0").request_body, "pod");
  pod.Child("metadata").Set("name", name);
  Must(server, Sent("POST", pods, pod.Dump()), now);
  const std::string ip = absl::StrCat("10.244.9.", index + 1);
  Must(server,
       Sent("PATCH", absl::StrCat(pods, "/", name, "/status"),
            absl::StrCat(R"({"status":{"phase":"Running","podIP":")", ip, R"(","podIPs":[{"ip":")",
                         ip, R"("}]}})"),
            "application/strategic-merge-patch+json"),
       now);
}

// What controllers made of it, as recorded.
void MakeFromRecorded(FakeApiServer& server, const JsonTree& recorded, const std::string& path,
                      const char* kind, absl::Time now) {
  JsonTree object = recorded;
  for (const char* name : {"uid", "resourceVersion", "managedFields", "generation",
                           "creationTimestamp", "ownerReferences"}) {
    object.Child("metadata").Erase(name);
  }
  object.Set("kind", kind);
  Must(server, Sent("POST", path, object.Dump()), now);
}

// Answers the version before the deletion of shop-1.
std::string MakeShop(FakeApiServer& server, absl::Time now) {
  Must(server, Sent("POST", "/api/v1/namespaces", R"({"metadata":{"name":"fx"}})"), now);
  Must(server,
       Sent("POST", "/api/v1/namespaces/fx/services",
            kube::ReadRecorded("service-create").request_body),
       now);
  for (int i = 0; i < 3; ++i) MakePod(server, i, now);
  const JsonTree slices =
      *JsonTree::Parse(kube::ReadRecorded("endpointslices-list").body, "slices");
  JsonTree slice = slices["items"].items()[0];
  slice.Set("apiVersion", "discovery.k8s.io/v1");
  MakeFromRecorded(server, slice, "/apis/discovery.k8s.io/v1/namespaces/fx/endpointslices",
                   "EndpointSlice", now);
  MakeFromRecorded(server, *JsonTree::Parse(kube::ReadRecorded("endpoints-get").body, "endpoints"),
                   "/api/v1/namespaces/fx/endpoints", "Endpoints", now);
  std::string before = absl::StrCat(server.store().resource_version());
  Must(server, Sent("DELETE", "/api/v1/namespaces/fx/pods/shop-1", R"({"gracePeriodSeconds":60})"),
       now);
  return before;
}

class InMemoryDoor final : public KubeWorldDoor {
 public:
  InMemoryDoor() : before_(MakeShop(server_, clock_.Now())), api_(server_, clock_) {}
  kube::KubeApi& api() override { return api_; }
  std::string VersionBeforeDeletion() override { return before_; }
  void ForbidPods() override { server_.Forbid({.verb = "list", .resource = "pods"}); }
  void With(const std::function<void(FakeApiServer&)>& change) override { change(server_); }

 private:
  StillClock clock_;
  FakeApiServer server_;
  const std::string before_;
  InMemoryKubeApi api_;
};

class HttpDoor final : public KubeWorldDoor {
 public:
  HttpDoor() {
    FakeClusterOptions options;
    options.controllers_run = false;
    cluster_ = FakeCluster::Start(options, base::RealClock()).value();
    With([this](FakeApiServer& server) { before_ = MakeShop(server, base::RealClock().Now()); });
    http::TransportOptions transport;
    transport.base_url = cluster_->url();
    auto calls = http::MakeCpprestTransport(transport);
    auto watches = http::MakeCpprestTransport(transport);
    CHECK(calls.ok() && watches.ok()) << calls.status();
    api_ = std::make_unique<kube::RestKubeApi>(*std::move(calls), *std::move(watches), nullptr);
  }
  kube::KubeApi& api() override { return *api_; }
  std::string VersionBeforeDeletion() override { return before_; }
  void ForbidPods() override {
    With([](FakeApiServer& server) { server.Forbid({.verb = "list", .resource = "pods"}); });
  }
  void With(const std::function<void(FakeApiServer&)>& change) override {
    cluster_->With([&](FakeApiServer& server, Controllers&) { change(server); });
  }

 private:
  std::unique_ptr<FakeCluster> cluster_;
  std::string before_;
  std::unique_ptr<kube::RestKubeApi> api_;
};

// Gives to each call the answer that was recorded for one like it.
class RecordedTransport final : public http::Transport {
 public:
  absl::StatusOr<http::Response> Send(const http::Request& request) override {
    const kube::Recorded recorded = kube::ReadRecorded(Choose(request));
    CHECK_EQ(recorded.method, request.method) << request.target;
    return http::Response{.status = recorded.status, .headers = {}, .body = recorded.body};
  }

  absl::Status Stream(const http::Request& request, http::StreamHandler& handler,
                      std::shared_ptr<http::Cancellation>) override {
    const bool old = absl::StrContains(request.target, "resourceVersion=1&") ||
                     absl::EndsWith(request.target, "resourceVersion=1");
    const kube::Recorded recorded =
        kube::ReadRecorded(old ? "watch-expired" : "pods-watch-metadata");
    absl::Status status = handler.OnHead(recorded.status, {});
    for (const std::string& line : recorded.lines) {
      if (status.ok()) status = handler.OnData(absl::StrCat(line, "\n"));
    }
    return status;
  }

  bool forbidden = false;

 private:
  std::string Choose(const http::Request& request) {
    const auto has = [&](absl::string_view part) {
      return absl::StrContains(request.target, part);
    };
    if (has("/events/")) return "event-series-patch";
    if (has("/events"))
      return std::exchange(created_, true) ? "event-create-exists" : "event-create";
    if (has("/status?")) {
      return absl::StrContains(request.body, "00000000-0000") ? "pod-status-apply-wrong-uid"
                                                              : "pod-status-apply";
    }
    if (has("/pods/")) return "get-not-found";
    if (has("/pods") && has("continue=")) return "list-continue-bad";
    if (has("/pods")) return forbidden ? "forbidden" : "pods-list-metadata";
    if (has("/endpoints/")) return "endpoints-get";
    if (has("/endpointslices")) return "endpointslices-list";
    CHECK(has("/services")) << "nothing was recorded for " << request.target;
    return "service-list";
  }

  bool created_ = false;
};

class RecordedDoor final : public KubeDoor {
 public:
  kube::KubeApi& api() override { return api_; }
  std::string VersionBeforeDeletion() override { return "881"; }
  void ForbidPods() override { transport_->forbidden = true; }

 private:
  const std::shared_ptr<RecordedTransport> transport_ = std::make_shared<RecordedTransport>();
  kube::RestKubeApi api_{transport_, transport_, nullptr};
};

}  // namespace

std::unique_ptr<KubeWorldDoor> MakeInMemoryKubeDoor() { return std::make_unique<InMemoryDoor>(); }
std::unique_ptr<KubeWorldDoor> MakeHttpKubeDoor() { return std::make_unique<HttpDoor>(); }
std::unique_ptr<KubeDoor> MakeRecordedKubeDoor() { return std::make_unique<RecordedDoor>(); }

}  // namespace sim
