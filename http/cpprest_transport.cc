#include "http/cpprest_transport.h"

#include <cpprest/http_client.h>
#include <cpprest/producerconsumerstream.h>
#include <pplx/threadpool.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "http/cpprest_body.h"
#include "http/tls.h"
#include "http/url.h"

namespace http {
namespace {

namespace cpprest = web::http;
namespace streams = concurrency::streams;

// None of the library's tasks waits for anything, and each hands the next one on: where
// there are more threads that wakes another of them, several times for each event of a
// watch.
constexpr size_t kPoolThreads = 1;
// What the library takes from the socket at a time.
constexpr size_t kChunkBytes = 256 << 10;
// The library's own timeout, which restarts with each chunk; ours end sooner.
constexpr std::chrono::hours kLibraryTimeout{24 * 365};

SteadyClock::time_point DeadlineAfter(absl::Duration timeout) {
  return SteadyClock::now() + absl::ToChronoNanoseconds(
                                  std::clamp(timeout, absl::ZeroDuration(), absl::Hours(24 * 365)));
}

bool IsRead(const Request& request) { return request.method == "GET" || request.method == "HEAD"; }

bool HasControlCharacter(absl::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); });
}

absl::Status CheckRequest(const Request& request) {
  const bool visible = std::all_of(request.target.begin(), request.target.end(),
                                   [](char c) { return c > ' ' && c < '\x7f'; });
  if (!visible || request.target.empty() || request.target.front() != '/') {
    return absl::InvalidArgumentError(
        absl::StrCat("request target is not a percent-encoded path: \"",
                     absl::CHexEscape(request.target.substr(0, 200)), "\""));
  }
  for (const auto& [name, value] : request.headers) {
    if (name.empty() || HasControlCharacter(name) || HasControlCharacter(value)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "header ", absl::CHexEscape(name), ": a control character, a line end perhaps, in it"));
    }
  }
  return absl::OkStatus();
}

cpprest::http_request ToLibrary(const Request& request) {
  cpprest::http_request message(request.method);
  message.set_request_uri(web::uri(request.target));
  for (const auto& [name, value] : request.headers) message.headers().add(name, value);
  if (!IsRead(request)) {
    // A body that cannot be rewound, even if it is empty: the library would send
    // any other again when a kept connection breaks, a PUT too.
    streams::producer_consumer_buffer<uint8_t> body;
    if (!request.body.empty()) {
      body.putn_nocopy(reinterpret_cast<const uint8_t*>(request.body.data()), request.body.size())
          .wait();
    }
    body.close(std::ios_base::out).wait();
    message.set_body(body.create_istream(), request.body.size());
    if (FindHeader(request.headers, "content-type").empty()) {
      message.headers().remove("Content-Type");
    }
  }
  return message;
}

// What the library's error codes mean: numbers of several origins without them.
std::string CodeText(int code) {
  switch (code) {
    case 0:
      return "";
    case 1:  // asio.ssl: stream truncated
    case 2:  // asio.misc: end of file
    case ECONNABORTED:
      return ": closed by the server";
    default:
      break;
  }
  const std::string tls = TlsErrorText(code);
  if (!tls.empty()) return absl::StrCat(": ", tls);
  return absl::StrCat(": ", std::generic_category().message(code));
}

struct Failure {
  absl::Status status;
  bool stale_connection = false;
};

class CpprestTransport final : public Transport {
 public:
  CpprestTransport(const ServerUrl& url, std::shared_ptr<Tls> tls)
      : server_(url.ToString()), tls_(std::move(tls)), client_(server_, Config(tls_)) {}

  absl::StatusOr<Response> Send(const Request& request) override {
    if (absl::Status checked = Check(request); !checked.ok()) return checked;
    const SteadyClock::time_point deadline = DeadlineAfter(request.timeout);
    bool stale_connection = false;
    absl::StatusOr<Response> response = SendOnce(request, deadline, &stale_connection);
    if (stale_connection && IsRead(request)) {
      response = SendOnce(request, deadline, &stale_connection);
    }
    return response;
  }

  absl::Status Stream(const Request& request, StreamHandler& handler,
                      std::shared_ptr<Cancellation> cancellation) override {
    if (absl::Status checked = Check(request); !checked.ok()) return checked;
    bool stale_connection = false;
    absl::Status status = StreamOnce(request, handler, cancellation, &stale_connection);
    if (stale_connection && IsRead(request)) {
      status = StreamOnce(request, handler, cancellation, &stale_connection);
    }
    return status;
  }

  void EndCalls() override {
    std::set<std::shared_ptr<Exchange>> running;
    {
      absl::MutexLock lock(&mutex_);
      ended_ = true;
      running = running_;
    }
    for (const std::shared_ptr<Exchange>& exchange : running) exchange->Cancel();
  }

 private:
  // Makes an exchange known to EndCalls while it runs.
  class Registration {
   public:
    Registration(CpprestTransport& transport, const std::shared_ptr<Exchange>& exchange)
        : transport_(transport), exchange_(exchange) {
      bool ended = false;
      {
        absl::MutexLock lock(&transport_.mutex_);
        transport_.running_.insert(exchange_);
        ended = transport_.ended_;
      }
      if (ended) exchange_->Cancel();
    }
    ~Registration() {
      absl::MutexLock lock(&transport_.mutex_);
      transport_.running_.erase(exchange_);
    }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

   private:
    CpprestTransport& transport_;
    const std::shared_ptr<Exchange> exchange_;
  };

  bool Ended() {
    absl::MutexLock lock(&mutex_);
    return ended_;
  }

  static cpprest::client::http_client_config Config(const std::shared_ptr<Tls>& tls) {
    cpprest::client::http_client_config config;
    config.set_timeout(std::chrono::duration_cast<std::chrono::microseconds>(kLibraryTimeout));
    config.set_max_redirects(0);
    config.set_chunksize(kChunkBytes);
    if (tls != nullptr) {
      config.set_ssl_context_callback(
          [tls](boost::asio::ssl::context& context) { tls->Apply(context.native_handle()); });
    }
    return config;
  }

  absl::Status Check(const Request& request) const {
    if (absl::Status checked = CheckRequest(request); !checked.ok()) return checked;
    try {
      const web::uri whole =
          web::uri_builder(client_.base_uri()).append(web::uri(request.target)).to_uri();
      if (whole.resource().to_string() == request.target) return absl::OkStatus();
    } catch (const std::exception&) {
    }
    return absl::InvalidArgumentError(
        absl::StrCat("request target would not go out as it is: \"", request.target, "\""));
  }

  absl::StatusOr<Response> SendOnce(const Request& request, SteadyClock::time_point deadline,
                                    bool* stale_connection) {
    auto exchange = std::make_shared<Exchange>();
    const Registration registration(*this, exchange);
    absl::StatusOr<Response> result = absl::UnknownError("");
    const Failure failure = Guarded(request, [&] {
      result = Receive(request, exchange, deadline);
      return absl::OkStatus();
    });
    if (!failure.status.ok()) result = failure.status;
    if (!result.ok()) exchange->Cancel();
    *stale_connection = failure.stale_connection;
    if (!result.ok() && Ended()) {
      // The library may have told the end of the call in words of its own.
      *stale_connection = false;
      return absl::CancelledError(absl::StrCat(Name(request), ": ended"));
    }
    return result;
  }

  absl::StatusOr<Response> Receive(const Request& request,
                                   const std::shared_ptr<Exchange>& exchange,
                                   SteadyClock::time_point deadline) {
    const auto too_large = [&] {
      return absl::ResourceExhaustedError(absl::StrCat(
          Name(request), ": the answer is larger than ", request.max_response_bytes, " bytes"));
    };
    exchange->LimitWhole(request.max_response_bytes);
    const cpprest::http_response answer = Begin(request, exchange, deadline);
    Response response = Head(answer);
    const uint64_t length = answer.headers().content_length();
    if (length > request.max_response_bytes) return too_large();
    exchange->Expect(static_cast<size_t>(length));
    try {
      response.body = exchange->TakeWhole(deadline);
    } catch (const BodyTooLarge&) {
      return too_large();
    }
    return response;
  }

  // Sends the request and answers when there is a head; the body goes to the exchange.
  cpprest::http_response Begin(const Request& request, const std::shared_ptr<Exchange>& exchange,
                               SteadyClock::time_point deadline) {
    cpprest::http_request message = ToLibrary(request);
    message.set_response_stream(exchange->MakeSink());
    cpprest::http_response answer =
        exchange->Await(client_.request(message, exchange->token()), deadline);
    exchange->EndWith(answer.content_ready().then([](const cpprest::http_response&) {}));
    return answer;
  }

  absl::Status StreamOnce(const Request& request, StreamHandler& handler,
                          const std::shared_ptr<Cancellation>& cancellation,
                          bool* stale_connection) {
    auto exchange = std::make_shared<Exchange>();
    const Registration registration(*this, exchange);
    if (cancellation != nullptr) cancellation->OnCancel([exchange] { exchange->Cancel(); });
    const Failure failure =
        Guarded(request, [&] { return ReceiveStream(request, handler, exchange); });
    if (cancellation != nullptr) cancellation->OnCancel(nullptr);
    if (!failure.status.ok()) exchange->Cancel();
    *stale_connection = failure.stale_connection;
    const bool cancelled = (cancellation != nullptr && cancellation->cancelled()) || Ended();
    if (cancelled && !failure.status.ok()) {
      *stale_connection = false;
      return absl::CancelledError(absl::StrCat(Name(request), ": cancelled"));
    }
    return failure.status;
  }

  absl::Status ReceiveStream(const Request& request, StreamHandler& handler,
                             const std::shared_ptr<Exchange>& exchange) {
    const cpprest::http_response answer = Begin(request, exchange, DeadlineAfter(request.timeout));
    const Response head = Head(answer);
    if (absl::Status wanted = handler.OnHead(head.status, head.headers); !wanted.ok()) {
      return wanted;
    }
    std::string bytes;
    while (exchange->TakeSome(bytes, DeadlineAfter(request.timeout))) {
      if (absl::Status wanted = handler.OnData(bytes); !wanted.ok()) return wanted;
    }
    return absl::OkStatus();
  }

  static Response Head(const cpprest::http_response& answer) {
    Response head;
    head.status = answer.status_code();
    for (const auto& [name, value] : answer.headers()) head.headers.emplace_back(name, value);
    return head;
  }

  // Runs `body` and turns what it throws into a status.
  template <typename Body>
  Failure Guarded(const Request& request, Body body) {
    try {
      return {body()};
    } catch (const DeadlinePassed&) {
      return {absl::DeadlineExceededError(absl::StrCat(Name(request), ": nothing heard within ",
                                                       absl::FormatDuration(request.timeout)))};
    } catch (const WasCancelled&) {
      return {absl::CancelledError(absl::StrCat(Name(request), ": cancelled"))};
    } catch (const cpprest::http_exception& error) {
      return ToFailure(request, error.what(), error.error_code().value());
    } catch (const std::exception& error) {
      return ToFailure(request, error.what(), 0);
    }
  }

  Failure ToFailure(const Request& request, absl::string_view what, int code) const {
    const auto unavailable = [&](absl::string_view cause) {
      return absl::UnavailableError(absl::StrCat(Name(request), ": ", cause));
    };
    if (what == "Failed to connect to any resolved endpoint") {
      // The library reports a refused connection as an unreachable host.
      return {unavailable(code == EHOSTUNREACH ? "connection refused or host unreachable"
                                               : absl::StrCat("cannot connect", CodeText(code)))};
    }
    if (what == "Error resolving address" || what == "Failed to resolve address") {
      return {unavailable("the host name cannot be resolved")};
    }
    if (what == "Error in SSL handshake") {
      return {unavailable(absl::StrCat(
          "TLS: ", IsCertificateRefusal(code) ? tls_->LastRefusal()
                                              : absl::StrCat("handshake failed", CodeText(code))))};
    }
    if (IsTlsRefusalByServer(code)) {
      return {unavailable(absl::StrCat("TLS: the server refused us", CodeText(code)))};
    }
    if (what == "Failed to write request headers" || what == "Failed to write request body") {
      // An incomplete request, which no server acts on. With TLS 1.3 a server
      // refuses a client certificate only after the handshake.
      return {unavailable(absl::StrCat(
                  "the connection broke before the request was out", CodeText(code),
                  tls_ != nullptr ? "; the server may have refused our certificate" : "")),
              /*stale_connection=*/true};
    }
    return {absl::DeadlineExceededError(
        absl::StrCat(Name(request), ": the connection broke before the answer was complete (", what,
                     CodeText(code), ")"))};
  }

  // "PUT https://host/path": without the query, which may be long.
  std::string Name(const Request& request) const {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(request.target, absl::MaxSplits('?', 1));
    return absl::StrCat(request.method, " ", server_, parts.first);
  }

  const std::string server_;
  const std::shared_ptr<Tls> tls_;  // null for http
  cpprest::client::http_client client_;
  absl::Mutex mutex_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<std::shared_ptr<Exchange>> running_ ABSL_GUARDED_BY(mutex_);
};

void LimitPoolThreads() {
  static const bool once = [] {
    try {
      crossplat::threadpool::initialize_with_threads(kPoolThreads);
    } catch (const std::exception&) {  // In use already: its size stays.
    }
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> MakeCpprestTransport(const TransportOptions& options) {
  const absl::StatusOr<ServerUrl> url = ParseServerUrl(options.base_url);
  if (!url.ok()) return url.status();
  std::shared_ptr<Tls> tls;
  if (url->tls) {
    absl::StatusOr<std::shared_ptr<Tls>> made =
        Tls::Make({.server_name = url->host,
                   .ca_pem = options.ca_pem,
                   .client_certificate_pem = options.client_certificate_pem,
                   .client_key_pem = options.client_key_pem});
    if (!made.ok()) {
      return absl::Status(made.status().code(),
                          absl::StrCat(url->ToString(), ": ", made.status().message()));
    }
    tls = *std::move(made);
  }
  LimitPoolThreads();
  try {
    return std::make_unique<CpprestTransport>(*url, std::move(tls));
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(url->ToString(), ": ", error.what()));
  }
}

void PostToPool(std::function<void()> task) {
  LimitPoolThreads();
  boost::asio::post(crossplat::threadpool::shared_instance().service(), std::move(task));
}

}  // namespace http
