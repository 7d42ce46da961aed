#include "cmd/logging.h"

#include <unistd.h>

#include <ctime>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/json.h"
#include "gflags/gflags.h"
#include "glog/logging.h"

DEFINE_string(log_format, "text", "text: glog's lines; json: one object a line");

namespace cmd {
namespace {

class JsonSink final : public google::LogSink {
 public:
  void send(google::LogSeverity severity, const char*, const char* base_filename, int line,
            const google::LogMessageTime&, const char* message, size_t length) override {
    const std::string text =
        absl::StrCat("{\"time\":",
                     base::QuoteJson(absl::FormatTime(absl::RFC3339_full, base::RealClock().Now(),
                                                      absl::UTCTimeZone())),
                     ",\"severity\":", base::QuoteJson(google::GetLogSeverityName(severity)),
                     ",\"file\":", base::QuoteJson(base_filename), ",\"line\":", line,
                     ",\"message\":", base::QuoteJson({message, length}), "}\n");
    // One write a line, so that lines of several threads do not mix.
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  }
};

}  // namespace

absl::Status StartLogging(const char* program) {
  FLAGS_logtostderr = true;
  FLAGS_logbufsecs = 0;
  google::InitGoogleLogging(program);
  if (FLAGS_log_format == "text") return absl::OkStatus();
  if (FLAGS_log_format != "json") {
    return absl::InvalidArgumentError(
        absl::StrCat("--log_format=", FLAGS_log_format, ": expected text or json"));
  }
  static JsonSink* const sink = new JsonSink;
  google::AddLogSink(sink);
  FLAGS_logtostderr = false;
  FLAGS_stderrthreshold = google::NUM_SEVERITIES;
  for (int severity = google::GLOG_INFO; severity < google::NUM_SEVERITIES; ++severity) {
    google::SetLogDestination(severity, "");
  }
  return absl::OkStatus();
}

}  // namespace cmd
