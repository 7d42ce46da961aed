#include "controller/barrier_relay.h"

#include <boost/asio/ip/address.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/barrier_request.h"

namespace controller {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

}  // namespace

absl::StatusOr<asio::ip::tcp::endpoint> ParseBarrierAddress(absl::string_view address) {
  const size_t colon = address.rfind(':');
  absl::string_view host = address.substr(0, colon);
  const bool bracketed = absl::StartsWith(host, "[") && absl::EndsWith(host, "]");
  if (bracketed) host = host.substr(1, host.size() - 2);
  error_code error;
  const asio::ip::address ip = asio::ip::make_address(std::string(host), error);
  uint32_t port = 0;
  if (colon == absl::string_view::npos || error || ip.is_v6() != bracketed ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port == 0 || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", address, "\" is no address of a drain barrier; like 10.0.0.7:8090"));
  }
  return asio::ip::tcp::endpoint(ip, static_cast<uint16_t>(port));
}

BarrierRelay::BarrierRelay(const asio::any_io_executor& executor, absl::string_view target,
                           Done done)
    : stream_(executor), done_(std::move(done)) {
  request_.method(http::verb::get);
  request_.target(std::string(target));
  request_.set(http::field::host, "drain-barrier");
  request_.set(kRelayedHeader, "1");
  parser_.body_limit(kMaxAnswerBytes);
}

std::shared_ptr<BarrierRelay> BarrierRelay::Start(const asio::any_io_executor& executor,
                                                  const asio::ip::tcp::endpoint& leader,
                                                  absl::string_view target, absl::Duration hold,
                                                  Done done) {
  auto relay = std::make_shared<BarrierRelay>(executor, target, std::move(done));
  relay->stream_.expires_after(absl::ToChronoMilliseconds(kPatience));
  relay->stream_.async_connect(leader, [relay, hold](error_code error) {
    if (error) return relay->End("");
    relay->Send(hold);
  });
  return relay;
}

void BarrierRelay::Cancel() {
  done_ = nullptr;
  stream_.close();
}

void BarrierRelay::Send(absl::Duration hold) {
  stream_.expires_after(absl::ToChronoMilliseconds(hold + kPatience));
  http::async_write(stream_, request_, [self = shared_from_this()](error_code error, size_t) {
    if (error) return self->End("");
    self->Read();
  });
}

void BarrierRelay::Read() {
  http::async_read_header(stream_, buffer_, parser_,
                          [self = shared_from_this()](error_code error, size_t) {
                            if (error) return self->End("");
                            // Beast 1.74 forgets its body limit where a response says how long it
                            // is.
                            if (self->parser_.content_length().value_or(0) > kMaxAnswerBytes)
                              return self->End("");
                            self->ReadBody();
                          });
}

void BarrierRelay::ReadBody() {
  http::async_read(
      stream_, buffer_, parser_, [self = shared_from_this()](error_code error, size_t) {
        const int status = error ? 0 : self->parser_.get().result_int();
        // What else it may say, that it is full for example, is no answer to the question.
        const bool answered = status == 200 || status == 202 || status == 404;
        self->End(answered ? EncodeBarrierBody(status, self->parser_.get().body()) : "");
      });
}

void BarrierRelay::End(std::string answer) {
  const Done done = std::exchange(done_, nullptr);
  stream_.close();
  if (done != nullptr) done(std::move(answer));
}

}  // namespace controller
