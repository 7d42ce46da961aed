#include "probe/client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace probe {
namespace {

constexpr absl::Duration kPauseAfterFailure = absl::Milliseconds(50);
constexpr size_t kMaxCookies = 16;

absl::string_view CookieName(const std::string& cookie) {
  return absl::string_view(cookie).substr(0, cookie.find('='));
}

}  // namespace

Client::Client(RunShared& shared, int index)
    : shared_(shared),
      index_(index),
      random_(shared.options.seed * 1'000'003 + static_cast<uint64_t>(index)),
      timer_(shared.io),
      parser_({.body_bytes = shared.options.max_response_bytes}),
      next_endpoint_(static_cast<size_t>(index)) {
  request_ = MakeRequest(false);
  slow_request_ = MakeRequest(true);
}

std::string Client::MakeRequest(bool slow) const {
  const Options& options = shared_.options;
  const bool own_port = options.port == (options.tls ? 443 : 80);
  const std::string host = !options.host_header.empty() ? options.host_header
                           : own_port                   ? options.host
                                      : absl::StrCat(options.host, ":", options.port);
  return absl::StrCat(
      "GET ", slow ? options.slow_target : options.target, " HTTP/1.1\r\nHost: ", host,
      "\r\nUser-Agent: oci-drain-probe\r\nAccept: */*\r\n",
      options.new_connections ? "Connection: close\r\n" : "",
      cookies_.empty() ? "" : absl::StrCat("Cookie: ", absl::StrJoin(cookies_, "; "), "\r\n"),
      "\r\n");
}

void Client::Start(absl::Duration delay) { Wait(delay); }

void Client::Wait(absl::Duration pause) {
  if (shared_.ending) return End();
  // Not called from here: the stack would grow with each answer.
  timer_.expires_after(absl::ToChronoNanoseconds(pause));
  timer_.async_wait([this](const Stream::Code& code) {
    if (!code) Begin();
  });
}

void Client::Begin() {
  const int64_t most = shared_.options.requests;
  if (shared_.ending || (most > 0 && shared_.begun >= most)) return End();
  ++shared_.begun;
  busy_ = true;
  slow_ = shared_.options.slow_fraction > 0 && random_.Fraction() < shared_.options.slow_fraction;
  begun_at_ = shared_.clock.Monotonic();
  parser_.Reset();
  if (stream_ == nullptr) return Connect();
  Send();
}

void Client::Connect() {
  stream_ = shared_.make_stream();
  connected_ = false;
  requests_on_connection_ = 0;
  const auto& endpoint = shared_.endpoints[next_endpoint_++ % shared_.endpoints.size()];
  stream_->Connect(endpoint, [this](const Stream::Code& code) { OnConnected(code); });
}

void Client::OnConnected(const Stream::Code& code) {
  if (code) {
    const Phase phase = stream_->in_handshake() ? Phase::kHandshake : Phase::kConnecting;
    return Fail(ClassifyError(code, phase), code.message());
  }
  connected_ = true;
  connected_at_ = shared_.clock.Monotonic();
  ++shared_.figures.connections;
  Send();
  ReadOn();
}

void Client::Send() {
  ++requests_on_connection_;
  const std::string& request = slow_ ? slow_request_ : request_;
  // What is wrong with a connection is told by reading from it: the response may have
  // come before the error.
  stream_->Write(request.data(), request.size(), [](const Stream::Code&) {});
}

void Client::ReadOn() {
  stream_->Read(buffer_.data(), buffer_.size(),
                [this](const Stream::Code& code, size_t size) { OnRead(code, size); });
}

void Client::OnRead(const Stream::Code& code, size_t size) {
  if (code) return OnClosed(code);
  if (!busy_) {
    // Bytes that nobody asked for, such as a 408 on an idle connection.
    ++shared_.figures.closed_idle;
    return CloseStream();
  }
  size_t used = 0;
  switch (parser_.Feed({buffer_.data(), size}, used)) {
    case ResponseParser::State::kMore:
      return ReadOn();
    case ResponseParser::State::kMalformed:
      return Fail(FailureClass::kMalformed, std::string(parser_.error()));
    case ResponseParser::State::kDone:
      if (used < size) return Fail(FailureClass::kMalformed, "bytes after the response");
      return OnResponse();
  }
}

void Client::OnClosed(const Stream::Code& code) {
  const FailureClass orderly = ClassifyErrno(0, Phase::kWaiting);
  if (!busy_) {
    ++shared_.figures.closed_idle;
    return CloseStream();
  }
  const Phase phase = parser_.bytes() > 0 ? Phase::kReceiving : Phase::kWaiting;
  const FailureClass failure = ClassifyError(code, phase);
  const bool reset = failure != orderly && failure != FailureClass::kClosedMidResponse;
  if (!reset && parser_.EndsByClose()) return OnResponse();
  Fail(failure, reset ? code.message() : "");
}

void Client::OnResponse() {
  const absl::Duration now = shared_.clock.Monotonic();
  TakeCookies();
  if (parser_.status() >= 500) {
    const bool keep = parser_.keep_alive() && !shared_.options.new_connections;
    std::shared_ptr<Stream> kept = keep ? std::move(stream_) : nullptr;
    Fail(FailureClass::kServerError, absl::StrCat("status ", parser_.status()));
    if (kept != nullptr && !ended_) {
      stream_ = std::move(kept);
      ReadOn();
    }
    return;
  }
  busy_ = false;
  shared_.figures.AddSuccess(shared_.clock.Now(), parser_.status(), now - begun_at_);
  if (!parser_.keep_alive()) {
    if (!shared_.options.new_connections) ++shared_.figures.closed_as_told;
    CloseStream();
  } else if (shared_.options.new_connections) {
    CloseStream();
  } else {
    ReadOn();
  }
  const absl::Duration pause = PauseAt(now);
  pause > absl::ZeroDuration() || stream_ == nullptr ? Wait(pause) : Begin();
}

absl::Duration Client::PauseAt(absl::Duration now) const {
  const Options& options = shared_.options;
  if (options.rate <= 0) return absl::ZeroDuration();
  const absl::Duration interval = absl::Seconds(options.clients / options.rate);
  return std::max(begun_at_ + interval - now, absl::ZeroDuration());
}

void Client::TakeCookies() {
  if (!shared_.options.cookies || parser_.cookies().empty()) return;
  bool changed = false;
  for (const std::string& cookie : parser_.cookies()) {
    const auto same = std::find_if(cookies_.begin(), cookies_.end(), [&](const std::string& old) {
      return CookieName(old) == CookieName(cookie);
    });
    if (same == cookies_.end()) {
      if (cookies_.size() == kMaxCookies) continue;
      cookies_.push_back(cookie);
    } else {
      if (*same == cookie) continue;
      ++shared_.figures.cookie_changes;
      *same = cookie;
    }
    changed = true;
  }
  if (!changed) return;
  request_ = MakeRequest(false);
  slow_request_ = MakeRequest(true);
}

void Client::Fail(FailureClass failure, std::string detail) {
  const absl::Duration now = shared_.clock.Monotonic();
  Failure made;
  made.time = shared_.clock.Now();
  made.failure = failure;
  made.status = failure == FailureClass::kServerError ? parser_.status() : 0;
  made.client = index_;
  made.connection_age = connected_ ? now - connected_at_ : absl::ZeroDuration();
  made.request_number = requests_on_connection_;
  made.bytes_received = parser_.bytes();
  made.since_sent = now - begun_at_;
  made.slow = slow_;
  made.detail = std::move(detail);
  busy_ = false;
  CloseStream();
  if (shared_.on_failure) shared_.on_failure(made);
  shared_.figures.AddFailure(std::move(made));
  Wait(std::max(PauseAt(now), kPauseAfterFailure));
}

void Client::CloseStream() {
  if (stream_ != nullptr) stream_->Close();
  stream_ = nullptr;
}

void Client::Look(absl::Duration now) {
  if (busy_ && now - begun_at_ > shared_.options.timeout) {
    return Fail(FailureClass::kTimeout, "");
  }
  if (!busy_ && shared_.ending) End();
}

void Client::End() {
  if (ended_) return;
  ended_ = true;
  busy_ = false;
  timer_.cancel();
  CloseStream();
  shared_.on_client_ended();
}

}  // namespace probe
