#include "health/probe_server.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace health {
namespace {

constexpr absl::Duration kPoke = absl::Seconds(1);

std::string Line(bool ok, absl::string_view name, absl::string_view note) {
  return absl::StrCat(ok ? "[+] " : "[-] ", name, note.empty() ? "" : ": ", note, "\n");
}

std::string Verbose(const VitalsReport& report) {
  std::string body;
  for (const PartReport& part : report.parts) {
    absl::StrAppend(&body, Line(part.ok, part.name, part.note));
  }
  for (const LoopReport& loop : report.loops) {
    const double seconds = absl::ToDoubleSeconds(loop.age);
    const std::string note = loop.stuck ? absl::StrFormat("stuck, for %.1f s", seconds)
                                        : absl::StrFormat("ticked %.1f s ago", seconds);
    absl::StrAppend(&body, Line(!loop.stuck, loop.name, note));
  }
  return body;
}

// The first thing that is wrong.
std::string WhyNotReady(const VitalsReport& report) {
  if (report.wedged) return report.wedge;
  for (const LoopReport& loop : report.loops) {
    if (loop.stuck) return absl::StrCat(loop.name, " is stuck");
  }
  for (const PartReport& part : report.parts) {
    if (!part.ok) return absl::StrCat(part.name, part.note.empty() ? "" : ": ", part.note);
  }
  return "";
}

}  // namespace

HttpAnswer AnswerProbe(absl::string_view target, const VitalsReport& report,
                       const MetricsText& metrics, const Pages& pages) {
  const size_t mark = target.find('?');
  const absl::string_view path = target.substr(0, mark);
  const bool verbose = mark != absl::string_view::npos && target.substr(mark) == "?verbose";
  if (path == "/metrics" && metrics != nullptr) {
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics(report)};
  }
  const bool live = path == "/livez";
  if (!live && path != "/readyz") {
    if (pages != nullptr) {
      if (auto page = pages(target, report); page.has_value()) return *std::move(page);
    }
    return {.status = 404,
            .body =
                "expected /livez, /readyz, /metrics, /statusz, /statusz.json or "
                "/explainz/NAMESPACE/POD\n"};
  }
  const bool ok = live ? !report.wedged : report.ready;
  HttpAnswer answer;
  answer.status = ok ? 200 : 503;
  answer.body =
      ok ? "ok\n" : absl::StrCat(live ? "not live: " : "not ready: ", WhyNotReady(report), "\n");
  if (verbose) answer.body += Verbose(report);
  return answer;
}

absl::StatusOr<std::unique_ptr<ProbeServer>> ProbeServer::Start(Vitals& vitals, base::Clock& clock,
                                                                ProbeOptions options) {
  const HttpServerOptions http = options.http;
  std::unique_ptr<ProbeServer> server(new ProbeServer(vitals, clock, std::move(options)));
  ProbeServer* const self = server.get();
  std::vector<HttpServer::Chore> chores = {{kLook, [self] { self->Look(); }}};
  if (server->options_.poke != nullptr) chores.push_back({kPoke, server->options_.poke});
  auto started = HttpServer::Start(
      [self](absl::string_view target) {
        return AnswerProbe(target, self->Look(), self->options_.metrics, self->options_.pages);
      },
      std::move(chores), http);
  if (!started.ok()) return started.status();
  server->http_ = *std::move(started);
  return server;
}

VitalsReport ProbeServer::Look() {
  const absl::Duration now = clock_.Monotonic();
  VitalsReport report = vitals_.Look(now);
  if (!report.wedged) return report;
  if (!std::exchange(wedge_told_, true)) {
    wedged_at_ = now;
    if (options_.on_wedge != nullptr) options_.on_wedge(report.wedge);
  }
  if (now - wedged_at_ >= options_.farewell && !std::exchange(farewell_over_, true) &&
      options_.on_farewell_over != nullptr) {
    options_.on_farewell_over();
  }
  return report;
}

}  // namespace health
