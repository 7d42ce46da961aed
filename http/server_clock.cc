#include "http/server_clock.h"

#include <utility>

#include "http/date.h"

namespace http {

absl::Duration ClockReading::Certain() const {
  if (at_least > absl::ZeroDuration()) return at_least;
  return at_most < absl::ZeroDuration() ? at_most : absl::ZeroDuration();
}

std::optional<ClockReading> ReadServerClock(const Headers& headers, absl::Time sent,
                                            absl::Time received) {
  const std::optional<absl::Time> date = ParseDate(FindHeader(headers, "date"));
  if (!date.has_value()) return std::nullopt;
  // The server wrote it between the two, and within the second that it names.
  return ClockReading{sent - *date - absl::Seconds(1), received - *date};
}

DatedTransport::DatedTransport(std::shared_ptr<Transport> inner, base::Clock& clock)
    : inner_(std::move(inner)), clock_(clock) {}

absl::StatusOr<Response> DatedTransport::Send(const Request& request) {
  const absl::Time sent = clock_.Now();
  absl::StatusOr<Response> response = inner_->Send(request);
  if (!response.ok()) return response;
  const std::optional<ClockReading> reading =
      ReadServerClock(response->headers, sent, clock_.Now());
  if (reading.has_value()) {
    absl::MutexLock lock(&mutex_);
    last_ = reading;
  }
  return response;
}

absl::Status DatedTransport::Stream(const Request& request, StreamHandler& handler,
                                    std::shared_ptr<Cancellation> cancellation) {
  return inner_->Stream(request, handler, std::move(cancellation));
}

std::optional<ClockReading> DatedTransport::last() const {
  absl::MutexLock lock(&mutex_);
  return last_;
}

}  // namespace http
