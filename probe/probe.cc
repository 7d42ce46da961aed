#include "probe/probe.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/ssl/context.hpp"
#include "boost/asio/steady_timer.hpp"
#include "probe/client.h"
#include "probe/stream.h"

namespace probe {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr absl::Duration kLook = absl::Milliseconds(20);
constexpr absl::Duration kProgress = absl::Seconds(1);
// Of a run that is bounded by its requests alone.
constexpr absl::Duration kLongest = absl::Hours(1);

absl::Status Expected(absl::string_view name, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", what));
}

bool IsTarget(const std::string& target) {
  if (target.empty() || target[0] != '/' || target.size() > 8192) return false;
  for (const char c : target) {
    if (c <= ' ' || c > '~') return false;
  }
  return true;
}

absl::StatusOr<std::vector<tcp::endpoint>> Resolve(const Options& options, asio::io_context& io) {
  tcp::resolver resolver(io);
  Stream::Code code;
  const auto found =
      resolver.resolve(options.host, std::to_string(options.port), tcp::resolver::flags(), code);
  if (code || found.empty()) {
    return absl::UnavailableError(
        absl::StrCat(options.host, ": has no address: ", code.message(), "; name another host"));
  }
  std::vector<tcp::endpoint> endpoints;
  for (const auto& entry : found) endpoints.push_back(entry.endpoint());
  return endpoints;
}

absl::Status SetUpTls(const Options& options, asio::ssl::context& context) {
  Stream::Code code;
  if (options.insecure) {
    context.set_verify_mode(asio::ssl::verify_none, code);
    return absl::OkStatus();
  }
  context.set_verify_mode(asio::ssl::verify_peer, code);
  if (options.ca_file.empty()) {
    context.set_default_verify_paths(code);
  } else {
    context.load_verify_file(options.ca_file, code);
  }
  if (!code) return absl::OkStatus();
  return Expected("ca_file", absl::StrCat(options.ca_file, ": ", code.message(),
                                          "; expected a PEM file of certificates"));
}

class Runner {
 public:
  Runner(const Options& options, base::Clock& clock, const Observer& observer)
      : options_(options),
        clock_(clock),
        observer_(observer),
        io_(1),
        tls_(asio::ssl::context::tls_client),
        timer_(io_),
        shared_{.options = options,
                .clock = clock,
                .io = io_,
                .endpoints = {},
                .make_stream = nullptr,
                .on_failure = observer.on_failure,
                .on_client_ended = [this] { ++ended_; }} {}

  absl::StatusOr<RunFigures> Run() {
    auto endpoints = Resolve(options_, io_);
    if (!endpoints.ok()) return endpoints.status();
    shared_.endpoints = *std::move(endpoints);
    if (options_.tls) {
      if (const absl::Status status = SetUpTls(options_, tls_); !status.ok()) return status;
      shared_.make_stream = [this] { return MakeTlsStream(io_, tls_, options_.host); };
    } else {
      shared_.make_stream = [this] { return MakePlainStream(io_); };
    }
    start_ = clock_.Monotonic();
    shared_.figures.start = clock_.Now();
    // Spread, so that clients with a rate do not ask all at the same moment.
    const absl::Duration spread =
        options_.rate > 0 ? absl::Seconds(1 / options_.rate) : absl::ZeroDuration();
    for (int i = 0; i < options_.clients; ++i) {
      clients_.push_back(std::make_unique<Client>(shared_, i));
      clients_.back()->Start(spread * i);
    }
    LookAgain();
    io_.run();
    shared_.figures.end = clock_.Now();
    return std::move(shared_.figures);
  }

 private:
  void LookAgain() {
    timer_.expires_after(absl::ToChronoNanoseconds(kLook));
    timer_.async_wait([this](const Stream::Code&) { Look(); });
  }

  void Look() {
    const absl::Duration now = clock_.Monotonic();
    const absl::Duration longest =
        options_.duration > absl::ZeroDuration() ? options_.duration : kLongest;
    if (now - start_ >= longest) shared_.ending = true;
    if (observer_.interrupted != nullptr && *observer_.interrupted) {
      shared_.ending = true;
      shared_.figures.interrupted = true;
    }
    for (const auto& client : clients_) client->Look(now);
    if (observer_.on_progress && now - shown_ >= kProgress) {
      shown_ = now;
      observer_.on_progress(shared_.figures, clock_.Now());
    }
    if (ended_ < options_.clients) LookAgain();
  }

  const Options& options_;
  base::Clock& clock_;
  const Observer& observer_;
  asio::io_context io_;
  asio::ssl::context tls_;
  asio::steady_timer timer_;
  RunShared shared_;
  std::vector<std::unique_ptr<Client>> clients_;
  int ended_ = 0;
  absl::Duration start_;
  absl::Duration shown_;
};

}  // namespace

absl::Status CheckOptions(const Options& options) {
  if (options.duration == absl::ZeroDuration() && options.requests == 0) {
    return Expected("duration, requests", "a run needs an end: set one of them, or both");
  }
  if (options.duration < absl::ZeroDuration() || options.duration > Options::kMaxDuration) {
    return Expected("duration", "expected at most 24h");
  }
  if (options.requests < 0 || options.requests > Options::kMaxRequests) {
    return Expected("requests", absl::StrCat("expected 0 to ", Options::kMaxRequests));
  }
  if (options.clients < 1 || options.clients > Options::kMaxClients) {
    return Expected("clients", absl::StrCat("expected 1 to ", Options::kMaxClients));
  }
  if (!(options.rate >= 0 && options.rate <= 1e6)) {
    return Expected("rate", "expected 0 to 1000000 requests a second");
  }
  if (!(options.slow_fraction >= 0 && options.slow_fraction <= 1)) {
    return Expected("slow_fraction", "expected 0 to 1");
  }
  if (options.timeout < absl::Milliseconds(1) || options.timeout > absl::Hours(1)) {
    return Expected("request_timeout", "expected 1ms to 1h");
  }
  if (!IsTarget(options.target) || !IsTarget(options.slow_target)) {
    return Expected("URL, slow_path", "expected a path that begins with / and has no spaces");
  }
  if (options.host.empty() || options.port < 1 || options.port > 65535) {
    return Expected("URL", "expected a host, and a port from 1 to 65535");
  }
  return absl::OkStatus();
}

absl::StatusOr<RunFigures> Run(const Options& options, base::Clock& clock,
                               const Observer& observer) {
  if (const absl::Status status = CheckOptions(options); !status.ok()) return status;
  return Runner(options, clock, observer).Run();
}

}  // namespace probe
