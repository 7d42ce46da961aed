#include "health/status_page.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "health/html.h"

namespace health {
namespace {

// Less than a work request takes: what is not confirmed by now is hardly in time.
constexpr absl::Duration kTight = absl::Seconds(15);

std::string Clock(absl::Time time) {
  return absl::StrCat("<time datetime=\"",
                      absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone()), "\">",
                      absl::FormatTime("%H:%M:%SZ", time, absl::UTCTimeZone()), "</time>");
}

// "4.2 s", "3 min 5 s", "2 h 4 min", "3 d 2 h".
std::string Span(absl::Duration duration) {
  if (duration == absl::InfiniteDuration() || duration == -absl::InfiniteDuration()) return "ever";
  const double seconds = absl::ToDoubleSeconds(absl::AbsDuration(duration));
  if (seconds < 60) return absl::StrFormat("%.1f s", seconds);
  const auto whole = static_cast<int64_t>(seconds);
  if (whole < 3600) return absl::StrFormat("%d min %d s", whole / 60, whole % 60);
  if (whole < 86400) return absl::StrFormat("%d h %d min", whole / 3600, whole / 60 % 60);
  return absl::StrFormat("%d d %d h", whole / 86400, whole / 3600 % 24);
}

std::string Ago(absl::Time time, absl::Time now) {
  return time <= now ? absl::StrCat(Span(now - time), " ago")
                     : absl::StrCat("in ", Span(time - now));
}

std::string AndMore(size_t more, absl::string_view what) {
  if (more == 0) return "";
  return absl::StrCat("<p class=\"quiet\">and ", more, " more ", what, "</p>");
}

std::string Pill(absl::string_view style, absl::string_view text) {
  return absl::StrCat("<span class=\"pill ", style, "\">", EscapeHtml(text), "</span>");
}

// The end of an OCID, which tells two apart; the whole of it for who asks.
std::string ShortId(const std::string& id) {
  constexpr size_t kTail = 10;
  if (id.size() <= 2 * kTail) return absl::StrCat("<span class=\"id\">", EscapeHtml(id), "</span>");
  return absl::StrCat("<span class=\"id\" title=\"", EscapeHtml(id), "\">&hellip;",
                      EscapeHtml(id.substr(id.size() - kTail)), "</span>");
}

std::string Id(const std::string& text) {
  if (text.empty()) return "";
  return absl::StrCat("<span class=\"id\">", EscapeHtml(text), "</span>");
}

std::string Text(absl::string_view text) {
  return absl::StrCat("<span class=\"text\">", EscapeHtml(text), "</span>");
}

// What tables and lists are made of, section by section.
class Page {
 public:
  Page(const Status& status, const VitalsReport& vitals)
      : status_(status), vitals_(vitals), now_(status.at) {}

  std::string Title() const {
    return absl::StrCat(State().second, " &middot; ", Drains(),
                        " drains &middot; oci-backend-drain");
  }
  std::string Header() const;
  std::string Alarm() const;
  std::string Summary() const;
  std::string DrainsSection() const;
  std::string LoadBalancersSection() const;
  std::string WorkRequestsSection() const;
  std::string LoopsSection() const;
  std::string DecisionsSection() const;
  std::string Footer() const;

 private:
  // Style and words.
  std::pair<absl::string_view, absl::string_view> State() const {
    if (vitals_.wedged) return {"bad", "stuck"};
    if (!vitals_.ready) return {"warn", "not ready"};
    if (status_.dry_run) return {"warn", "dry run"};
    return status_.leads ? std::make_pair("good", "leads") : std::make_pair("", "stands by");
  }
  // Of drains whose confirmation is still to come.
  size_t Drains() const {
    return static_cast<size_t>(std::count_if(
               status_.drains.items.begin(), status_.drains.items.end(),
               [](const DrainStatus& drain) { return drain.state != DrainState::kConfirmed; })) +
           status_.drains.more;
  }
  std::string Slack(const DrainStatus& drain) const;
  std::string Balancer(const LoadBalancerStatus& item) const;
  std::string SetRow(const SetSlots& set) const;
  std::string Loop(const LoopReport& loop) const;

  const Status& status_;
  const VitalsReport& vitals_;
  const absl::Time now_;
};

std::string Section(absl::string_view id, absl::string_view title, absl::string_view note,
                    absl::string_view body) {
  return absl::StrCat("<section id=\"", id, "\" data-part aria-labelledby=\"", id,
                      "-title\"><div class=\"top\"><h2 id=\"", id, "-title\">", title,
                      "</h2><div class=\"quiet\">", note, "</div></div>", body, "</section>\n");
}

std::string Page::Header() const {
  const auto [style, words] = State();
  return absl::StrCat("<div id=\"state\" data-part role=\"status\">", Pill(style, words),
                      status_.dry_run && words != "dry run" ? Pill("warn", "dry run") : "",
                      "</div>");
}

std::string Page::Alarm() const {
  std::string text = vitals_.wedge;
  for (const PartReport& part : vitals_.parts) {
    if (part.ok) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", part.name, part.note.empty() ? "" : ": ",
                    part.note);
  }
  if (text.empty()) return "<div id=\"alarm\" data-part></div>\n";
  return absl::StrCat("<div id=\"alarm\" data-part><section class=\"alarm\" role=\"alert\">",
                      vitals_.wedged ? "<strong>This process is stuck</strong> and writes no more: "
                                     : "<strong>Not ready</strong>: ",
                      Text(text), "</section></div>\n");
}

std::string Tile(absl::string_view name, absl::string_view value, absl::string_view note) {
  return absl::StrCat("<div><dt>", name, "</dt><dd>", value, "<small>", note,
                      "</small></dd></div>");
}

std::string Page::Summary() const {
  absl::Duration tightest = absl::InfiniteDuration();
  for (const DrainStatus& drain : status_.drains.items) {
    if (drain.state != DrainState::kConfirmed) tightest = std::min(tightest, drain.Slack(now_));
  }
  int in_use = 0;
  for (const LoadBalancerStatus& item : status_.load_balancers.items) in_use += item.slots.in_use;
  const auto under_way = std::count_if(
      status_.work_requests.items.begin(), status_.work_requests.items.end(),
      [](const WorkRequestStatus& r) { return r.finished == absl::InfiniteFuture(); });
  const auto stuck = std::count_if(vitals_.loops.begin(), vitals_.loops.end(),
                                   [](const LoopReport& loop) { return loop.stuck; });
  const std::string leader = !status_.elects          ? "no election"
                             : status_.leads          ? "this replica"
                             : status_.leader.empty() ? "nobody known"
                                                      : Id(status_.leader);
  const size_t balancers = status_.load_balancers.items.size() + status_.load_balancers.more;
  return absl::StrCat(
      "<section id=\"summary\" data-part data-at=\"",
      absl::FormatTime("%H:%M:%SZ", now_, absl::UTCTimeZone()), "\" aria-label=\"Summary\"><dl>",
      Tile("Drains in progress", absl::StrCat(Drains()),
           Drains() == 0                          ? "none is under way"
           : tightest == absl::InfiniteDuration() ? "without a deadline"
           : tightest < absl::ZeroDuration()
               ? absl::StrCat("<span class=\"bad-text\">late by ", Span(tightest), "</span>")
               : absl::StrCat("tightest: ", Span(tightest), " left")),
      Tile("Backends", absl::StrCat(in_use),
           absl::StrCat("on ", balancers, balancers == 1 ? " load balancer" : " load balancers")),
      Tile("Work requests running", absl::StrCat(under_way),
           absl::StrCat(status_.queue, " passes wait")),
      Tile("Loops", absl::StrCat(vitals_.loops.size()),
           stuck == 0 ? "<span class=\"good-text\">all tick</span>"
                      : absl::StrCat("<span class=\"bad-text\">", stuck, " stuck</span>")),
      Tile(
          "Leader", leader,
          absl::StrCat(status_.terms, status_.terms == 1 ? " term" : " terms", " of this replica")),
      Tile("Up", Span(now_ - status_.started), EscapeHtml(status_.version)), "</dl></section>\n");
}

std::string Page::Slack(const DrainStatus& drain) const {
  const absl::Duration slack = drain.Slack(now_);
  const bool confirmed = drain.state == DrainState::kConfirmed;
  if (slack == absl::InfiniteDuration()) {
    return drain.deadline == absl::InfiniteFuture() ? "no deadline" : "in time";
  }
  const std::string span = Span(slack);
  if (slack < absl::ZeroDuration()) {
    return absl::StrCat("<span class=\"bad-text\">", span, " late</span>");
  }
  if (confirmed) return absl::StrCat("<span class=\"good-text\">", span, " to spare</span>");
  if (slack < kTight)
    return absl::StrCat("<span class=\"warn-text\">", span, " left, tight</span>");
  return absl::StrCat(span, " left");
}

std::string Page::DrainsSection() const {
  if (status_.drains.items.empty()) {
    return Section("drains", "Drains in progress", "",
                   "<p class=\"quiet\">No backend is draining.</p>");
  }
  TableWriter table("Drains in progress, the earliest deadline first",
                    {"Pod", "Backend", "State", "Deadline", "Slack"});
  for (const DrainStatus& drain : status_.drains.items) {
    const auto [style, words] =
        drain.state == DrainState::kConfirmed ? std::make_pair("good", "confirmed")
        : drain.state == DrainState::kWritten ? std::make_pair("", "written")
                                              : std::make_pair("warn", "waits");
    std::string reason = EscapeHtml(drain.reason);
    if (drain.until != absl::InfiniteFuture()) {
      absl::StrAppend(&reason, ", at the latest ", Ago(drain.until, now_));
    }
    table.Row()
        .Cell(drain.pod.empty() ? "<span class=\"quiet\">not known</span>" : Id(drain.pod), "name")
        .Cell(absl::StrCat("<span>", Id(drain.backend), "<small>", Id(drain.backend_set), " on ",
                           ShortId(drain.load_balancer), "</small></span>"),
              "name")
        .Cell(absl::StrCat("<span>", Pill(style, words), "<small>", reason, "</small></span>"))
        .Cell(drain.deadline == absl::InfiniteFuture()
                  ? "<span class=\"quiet\">none</span>"
                  : absl::StrCat("<span>", Clock(drain.deadline), "<small>",
                                 Ago(drain.deadline, now_), "</small></span>"),
              "when")
        .Cell(absl::StrCat("<span>", Slack(drain), "</span>"), "when");
  }
  return Section("drains", "Drains in progress",
                 absl::StrCat(Drains(), " not confirmed yet, the earliest deadline first"),
                 absl::StrCat(std::move(table).Html(), AndMore(status_.drains.more, "drains")));
}

std::string Page::SetRow(const SetSlots& set) const {
  const int free = std::max(0, set.free);
  const std::string words =
      absl::StrFormat("%d live, %d draining, %d foreign, %d reserved, %d free of %d", set.live,
                      set.draining, set.foreign, set.reserved, free, set.limit);
  return TableWriter::RowOf(
      {{"Set",
        absl::StrCat("<span>", Id(set.backend_set), "<small>", Id(set.service), "</small></span>"),
        "name"},
       {"Slots", Bar(set, words), "bar-cell"},
       {"Live", absl::StrCat(set.live), "number counts"},
       {"Draining", absl::StrCat(set.draining), "number counts"},
       {"Foreign", absl::StrCat(set.foreign), "number counts"},
       {"Waiting",
        set.waiting > 0 ? absl::StrCat("<span class=\"bad-text\">", set.waiting, "</span>") : "0",
        "number counts"},
       {"Reserved", absl::StrCat(set.reserved), "number counts"},
       {"Free", free == 0 ? "<span class=\"bad-text\">0</span>" : absl::StrCat(free),
        "number counts"},
       {"Limit", absl::StrCat(set.limit), "number counts"}});
}

std::string Page::Balancer(const LoadBalancerStatus& item) const {
  std::string notes;
  if (!item.classes.empty()) {
    absl::StrAppend(&notes, "IngressClass ", Text(absl::StrJoin(item.classes, ", ")), " &middot; ");
  }
  if (item.read_at == absl::InfinitePast()) {
    absl::StrAppend(&notes, "not read yet");
  } else {
    absl::StrAppend(&notes, "read ", Ago(item.read_at, now_));
    if (item.slots.limit > 0) {
      absl::StrAppend(&notes, " &middot; ", item.slots.in_use, " of ", item.slots.limit,
                      " backends in use");
    }
  }
  if (item.next_look != absl::InfiniteFuture()) {
    absl::StrAppend(&notes, " &middot; next look ",
                    item.next_look > now_ ? Ago(item.next_look, now_) : "is due");
  }
  std::string html = absl::StrCat(
      "<div class=\"balancer\"><div class=\"top\"><h3 class=\"text\">",
      EscapeHtml(item.name.empty() ? item.id : item.name), "</h3>",
      item.state.empty() ? "" : Pill(item.state == "ACTIVE" ? "good" : "warn", item.state),
      item.paused ? Pill("warn", "paused") : "", "</div>",
      item.name.empty() ? "" : absl::StrCat("<p class=\"quiet\">", Id(item.id), "</p>"),
      "<p class=\"quiet\">", notes, "</p>");
  if (!item.trouble.empty()) {
    absl::StrAppend(&html, "<p class=\"bad-text\">", EscapeHtml(item.trouble), "</p>");
  }
  if (!item.sets.items.empty()) {
    TableWriter table(absl::StrCat("Backend sets of ", item.name.empty() ? item.id : item.name),
                      {"Backend set", "Slots in use of the limit", "Live", "Draining", "Foreign",
                       "Waiting", "Reserved", "Free", "Limit"},
                      2);
    for (const SetSlots& set : item.sets.items) table.Raw(SetRow(set));
    absl::StrAppend(&html, std::move(table).Html());
  }
  return absl::StrCat(html, AndMore(item.sets.more, "backend sets"), "</div>");
}

std::string Page::LoadBalancersSection() const {
  const auto& all = status_.load_balancers;
  if (all.items.empty()) {
    return Section("load-balancers", "Load balancers", "",
                   status_.leads || !status_.elects
                       ? "<p class=\"quiet\">No IngressClass names a load balancer.</p>"
                       : "<p class=\"quiet\">This replica stands by: ask the leader's page.</p>");
  }
  std::string body;
  for (const LoadBalancerStatus& item : all.items) body += Balancer(item);
  return Section("load-balancers", "Load balancers", SlotLegend(),
                 absl::StrCat(body, AndMore(all.more, "load balancers")));
}

std::string Page::WorkRequestsSection() const {
  const auto& all = status_.work_requests;
  if (all.items.empty()) {
    return Section("work-requests", "Work requests", "", "<p class=\"quiet\">None is known.</p>");
  }
  TableWriter table("Work requests, those under way first",
                    {"Work request", "What", "Accepted", "Took", "State"});
  for (const WorkRequestStatus& request : all.items) {
    const bool ended = request.finished != absl::InfiniteFuture();
    const absl::string_view style = request.state == "failed" ? "bad" : ended ? "good" : "";
    table.Row()
        .Cell(absl::StrCat("<span>", ShortId(request.id), "<small>",
                           request.ours ? "ours" : "of others", "</small></span>"))
        .Cell(absl::StrCat("<span>", Text(request.what), "<small>", Id(request.backend_set),
                           request.backend_set.empty() ? "on " : " on ",
                           ShortId(request.load_balancer), "</small></span>"))
        .Cell(request.accepted == absl::InfinitePast()
                  ? "<span class=\"quiet\">not told</span>"
                  : absl::StrCat("<span>", Clock(request.accepted), "<small>",
                                 Ago(request.accepted, now_), "</small></span>"),
              "when")
        .Cell(request.accepted == absl::InfinitePast()
                  ? ""
                  : Span((ended ? request.finished : now_) - request.accepted),
              "when")
        .Cell(absl::StrCat("<span>", Pill(style, request.state),
                           request.error.empty() ? "" : "<small class=\"bad-text\">",
                           EscapeHtml(request.error), request.error.empty() ? "" : "</small>",
                           "</span>"));
  }
  return Section("work-requests", "Work requests", "those under way, then the last that ended",
                 absl::StrCat(std::move(table).Html(), AndMore(all.more, "work requests")));
}

std::string Page::Loop(const LoopReport& loop) const {
  return absl::StrCat("<li><span>", Text(loop.name), "</span><span class=\"",
                      loop.stuck ? "bad-text" : "quiet", "\">", Span(loop.age),
                      loop.stuck ? ", stuck" : "", "</span></li>");
}

std::string Page::LoopsSection() const {
  std::string body;
  size_t shown = 0;
  // What is stuck is shown whatever the bound.
  for (const bool stuck : {true, false}) {
    for (const LoopReport& loop : vitals_.loops) {
      if (loop.stuck != stuck || shown == kMaxShownLoops) continue;
      ++shown;
      body += Loop(loop);
    }
  }
  return Section("loops", "Ticks of the loops", "since the last tick, declared waits excepted",
                 absl::StrCat("<ul class=\"loops\">", body, "</ul>",
                              AndMore(vitals_.loops.size() - shown, "loops")));
}

std::string Page::DecisionsSection() const {
  const auto& all = status_.decisions;
  if (all.items.empty()) {
    return Section("decisions", "Decisions", "", "<p class=\"quiet\">Nothing was decided yet.</p>");
  }
  TableWriter table("Decisions, the newest first", {"When", "What", "About", "Why"});
  for (const DecisionStatus& decision : all.items) {
    std::string about = Id(decision.pod);
    if (!decision.backend.empty() || !decision.backend_set.empty()) {
      absl::StrAppend(&about, decision.pod.empty() ? "" : "<small>", Id(decision.backend),
                      decision.backend.empty() || decision.backend_set.empty() ? "" : " in ",
                      Id(decision.backend_set), decision.pod.empty() ? "" : "</small>");
    }
    if (about.empty()) about = ShortId(decision.load_balancer);
    table.Row()
        .Cell(absl::StrCat("<span>", Clock(decision.at), "<small>", Ago(decision.at, now_),
                           "</small></span>"),
              "when")
        .Cell(absl::StrCat("<span>", Pill(decision.warning ? "warn" : "", decision.action),
                           "</span>"),
              "what")
        .Cell(absl::StrCat("<span>", about, "</span>"), "name")
        .Cell(Text(decision.reason));
  }
  return Section("decisions", "Decisions",
                 absl::StrCat("the last ", all.items.size(), ", the newest first"),
                 absl::StrCat(std::move(table).Html(), AndMore(all.more, "older ones")));
}

std::string Page::Footer() const {
  return absl::StrCat(
      "<footer><p>oci-backend-drain ", EscapeHtml(status_.version), " &middot; ",
      status_.identity.empty() ? "" : absl::StrCat(Id(status_.identity), " &middot; "), "started ",
      Clock(status_.started),
      " &middot; times are UTC &middot; <a href=\"statusz.json\">the same as "
      "JSON</a></p></footer>\n");
}

}  // namespace

std::string StatusPage(const Status& status, const VitalsReport& vitals) {
  const Page page(status, vitals);
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
      page.Title(), "</title>\n<style>", StatusPageStyle(), "</style></head>\n<body>\n",
      HatchPattern(), "<header><h1>oci-backend-drain</h1>", page.Header(),
      "<p id=\"freshness\" aria-live=\"off\">as of ",
      absl::FormatTime("%H:%M:%SZ", status.at, absl::UTCTimeZone()),
      "<noscript>, reload to update</noscript></p></header>\n<main>\n", page.Alarm(),
      page.Summary(), page.DrainsSection(), page.LoadBalancersSection(), page.WorkRequestsSection(),
      page.LoopsSection(), page.DecisionsSection(), "</main>\n", page.Footer(), "<script>",
      StatusPageScript(), "</script>\n</body></html>\n");
}

}  // namespace health
