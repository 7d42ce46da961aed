#include "sim/kube_transport.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace sim {
namespace {

absl::Status Broken() {
  return absl::DeadlineExceededError("kubernetes.invalid: the connection broke");
}

}  // namespace

KubeTransport::~KubeTransport() {
  for (const auto& [id, stream] : streams_) server_.CloseWatch(stream.watch);
}

absl::StatusOr<KubeAnswer> KubeTransport::Ask(const http::Request& request) {
  KubeAnswer answer = server_.Handle(request, clock_.Now());
  const bool late = answer.delay > request.timeout;
  clock_.SleepFor(std::min(answer.delay, request.timeout));
  if (late || answer.lose) {
    if (answer.watch.has_value()) server_.CloseWatch(*answer.watch);
    return late ? absl::DeadlineExceededError("kubernetes.invalid: no answer in time") : Broken();
  }
  if (answer.response.body.size() > request.max_response_bytes) {
    return absl::ResourceExhaustedError("kubernetes.invalid: the answer is too long");
  }
  return answer;
}

absl::StatusOr<http::Response> KubeTransport::Send(const http::Request& request) {
  absl::StatusOr<KubeAnswer> answer = Ask(request);
  if (!answer.ok()) return answer.status();
  // Whoever sends a watch as a request gets what is there.
  if (answer->watch.has_value()) {
    answer->response.body = server_.TakeWatch(*answer->watch).bytes;
    server_.CloseWatch(*answer->watch);
  }
  return std::move(answer->response);
}

absl::Status KubeTransport::Stream(const http::Request& request, http::StreamHandler& handler,
                                   std::shared_ptr<http::Cancellation> cancellation) {
  std::optional<absl::Status> end;
  const int64_t id =
      OpenStream(request, handler, [&](const absl::Status& status) { end = status; });
  while (!end.has_value()) {
    if (cancellation != nullptr && cancellation->cancelled()) {
      CloseStream(id);
      return absl::CancelledError("the stream was cancelled");
    }
    if (Deliver()) continue;
    if (pump_ == nullptr || !pump_()) {
      CloseStream(id);
      return absl::CancelledError("nothing more happens");
    }
  }
  return *end;
}

int64_t KubeTransport::OpenStream(const http::Request& request, http::StreamHandler& handler,
                                  std::function<void(const absl::Status&)> on_end) {
  const int64_t id = next_id_++;
  const absl::StatusOr<KubeAnswer> answer = Ask(request);
  if (!answer.ok()) {
    on_end(answer.status());
    return id;
  }
  absl::Status status = handler.OnHead(answer->response.status, answer->response.headers);
  if (!answer->watch.has_value()) {
    if (status.ok()) status = handler.OnData(answer->response.body);
    on_end(status);
    return id;
  }
  if (!status.ok()) {
    server_.CloseWatch(*answer->watch);
    on_end(status);
    return id;
  }
  streams_[id] = {*answer->watch, &handler, std::move(on_end), request.timeout, clock_.Now()};
  return id;
}

std::optional<absl::Status> KubeTransport::HandOn(Open& stream, bool& any) {
  const KubeWatchBytes taken = server_.TakeWatch(stream.watch);
  if (!taken.bytes.empty()) {
    any = true;
    stream.last_heard = clock_.Now();
    absl::Status status = stream.handler->OnData(taken.bytes);
    if (!status.ok()) {
      server_.CloseWatch(stream.watch);
      return status;
    }
  }
  if (taken.state == KubeWatchBytes::State::kEnded) return absl::OkStatus();
  if (taken.state == KubeWatchBytes::State::kCut) return Broken();
  if (clock_.Now() - stream.last_heard >= stream.silence) {
    server_.CloseWatch(stream.watch);
    return absl::DeadlineExceededError("kubernetes.invalid: silent for too long");
  }
  return std::nullopt;
}

bool KubeTransport::Deliver() {
  bool any = false;
  server_.Advance(clock_.Now());
  std::vector<int64_t> ids;
  for (const auto& [id, stream] : streams_) ids.push_back(id);
  for (const int64_t id : ids) {
    // A handler may have closed it, or opened another.
    const auto found = streams_.find(id);
    if (found == streams_.end()) continue;
    const std::optional<absl::Status> end = HandOn(found->second, any);
    if (!end.has_value()) continue;
    any = true;
    const auto ended = streams_.find(id);
    if (ended == streams_.end()) continue;
    const auto on_end = std::move(ended->second.on_end);
    streams_.erase(ended);
    on_end(*end);
  }
  return any;
}

absl::Time KubeTransport::NextSilence() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [id, stream] : streams_) {
    next = std::min(next, stream.last_heard + stream.silence);
  }
  return next;
}

void KubeTransport::CloseStream(int64_t id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  server_.CloseWatch(found->second.watch);
  streams_.erase(found);
}

}  // namespace sim
