#include "cmd/status_command.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/json.h"
#include "cmd/text_table.h"
#include "http/cpprest_transport.h"

namespace cmd {
namespace {

constexpr size_t kMaxStatusBytes = 16 << 20;
constexpr size_t kNoNumbers = 1000;
constexpr int kBarWidth = 24;

// A member of what was answered, as text that a terminal can be given.
std::string Shown(std::string text) {
  for (char& c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = '?';
  }
  return text;
}

std::string TextOf(const rapidjson::Value& object, absl::string_view name) {
  const rapidjson::Value* value = base::FindMember(object, name);
  return value == nullptr ? "" : Shown(std::string(base::StringOf(*value)));
}
int64_t CountOf(const rapidjson::Value& object, absl::string_view name) {
  // More than anything is counted to: sums and products of these stay numbers.
  constexpr int64_t kMost = 1'000'000'000;
  return std::clamp<int64_t>(base::ReadInt(object, name).value_or(0), -kMost, kMost);
}
bool FlagOf(const rapidjson::Value& object, absl::string_view name) {
  return base::ReadBool(object, name).value_or(false);
}
absl::Time TimeOf(const rapidjson::Value& object, absl::string_view name) {
  return base::ReadTime(object, name).value_or(absl::InfiniteFuture());
}

// Each element of a member that is a list.
template <typename Use>
void ForEach(const rapidjson::Value& object, absl::string_view name, const Use& use) {
  const rapidjson::Value* list = base::FindMember(object, name);
  if (list == nullptr || !list->IsArray()) return;
  for (const rapidjson::Value& item : list->GetArray()) use(item);
}

bool HasAny(const rapidjson::Value& object, absl::string_view name) {
  const rapidjson::Value* list = base::FindMember(object, name);
  return list != nullptr && list->IsArray() && !list->Empty();
}

std::string Rounded(absl::Duration duration) {
  return absl::FormatDuration(absl::Trunc(duration, absl::Milliseconds(100)));
}

std::string Away(absl::Time time, absl::Time now) {
  if (time == absl::InfiniteFuture()) return "-";
  return time >= now ? absl::StrCat("in ", Rounded(time - now))
                     : absl::StrCat(Rounded(now - time), " ago");
}

std::string Clock(absl::Time time) {
  if (time == absl::InfiniteFuture()) return "-";
  return absl::FormatTime("%H:%M:%SZ", time, absl::UTCTimeZone());
}

// The end of an OCID, which tells two apart.
std::string ShortId(const std::string& id) {
  constexpr size_t kTail = 10;
  return id.size() <= 2 * kTail ? id : absl::StrCat("..", id.substr(id.size() - kTail));
}

// "[####~~==//      ]": live, draining, foreign and reserved of the limit.
std::string Bar(const rapidjson::Value& set) {
  const int64_t limit = std::max<int64_t>(1, CountOf(set, "limit"));
  std::string bar;
  int64_t count = 0;
  const auto add = [&](absl::string_view name, char sign) {
    count += std::max<int64_t>(0, CountOf(set, name));
    const auto end = static_cast<size_t>(std::min<int64_t>(kBarWidth, count * kBarWidth / limit));
    if (end > bar.size()) bar.resize(end, sign);
  };
  add("live", '#');
  add("draining", '~');
  add("foreign", '=');
  add("reserved", '/');
  bar.resize(kBarWidth, ' ');
  return absl::StrCat("[", bar, "]");
}

// The tables of one status.
class Report {
 public:
  Report(const rapidjson::Value& status, bool colors)
      : status_(status), colors_(colors), now_(TimeOf(status, "at")) {}

  std::string Text() {
    Head();
    Drains();
    LoadBalancers();
    WorkRequests();
    Loops();
    Decisions();
    return std::move(text_);
  }

 private:
  absl::string_view Color(absl::string_view color) const { return colors_ ? color : ""; }
  std::string Colored(absl::string_view color, const std::string& text) const {
    return colors_ ? absl::StrCat(color, text, kNoColor) : text;
  }

  void Title(const std::string& title) {
    absl::StrAppend(&text_, "\n", Colored(kBold, title), "\n");
  }
  void More(absl::string_view name, absl::string_view what) {
    const int64_t more = CountOf(status_, name);
    if (more > 0) absl::StrAppend(&text_, "  and ", more, " more ", what, "\n");
  }

  void Head() {
    static const rapidjson::Value none(rapidjson::kObjectType);
    const rapidjson::Value* leader = base::FindMember(status_, "leader");
    const rapidjson::Value* health = base::FindMember(status_, "health");
    if (leader == nullptr) leader = &none;
    if (health == nullptr) health = &none;
    const bool ready = FlagOf(*health, "ready");
    const bool leads = FlagOf(*leader, "leads");
    absl::StrAppend(&text_, "oci-backend-drain ", TextOf(status_, "version"), ", up ",
                    Rounded(now_ - TimeOf(status_, "started")), ", as of ", Clock(now_), "\n");
    const std::string wedge = TextOf(*health, "wedge");
    if (!wedge.empty()) {
      absl::StrAppend(&text_, Colored(kRed, absl::StrCat("stuck: ", wedge)), "\n");
    } else if (!ready) {
      absl::StrAppend(&text_, Colored(kRed, absl::StrCat("not ready: ", Missing(*health))), "\n");
    }
    absl::StrAppend(&text_, leads ? Colored(kGreen, "leads") : "stands by",
                    FlagOf(status_, "dry_run") ? ", dry run" : "", ", ",
                    FlagOf(*leader, "elects") ? absl::StrCat("leader ", TextOf(*leader, "holder"))
                                              : std::string("no election"),
                    "\n");
  }

  static std::string Missing(const rapidjson::Value& health) {
    std::string missing;
    ForEach(health, "parts", [&](const rapidjson::Value& part) {
      if (FlagOf(part, "ok")) return;
      absl::StrAppend(&missing, missing.empty() ? "" : "; ", TextOf(part, "name"), ": ",
                      TextOf(part, "note"));
    });
    return missing.empty() ? "a loop is stuck" : missing;
  }

  void Drains() {
    Title("drains in progress");
    if (!HasAny(status_, "drains")) {
      text_ += "  none\n";
      return;
    }
    std::vector<TextRow> rows = {{{"POD", "BACKEND", "SET", "STATE", "DEADLINE", "SLACK", "WHY"}}};
    ForEach(status_, "drains", [&](const rapidjson::Value& drain) {
      const std::string state = TextOf(drain, "state");
      const rapidjson::Value* seconds = base::FindMember(drain, "slack_seconds");
      const bool known = seconds != nullptr && seconds->IsNumber();
      const double slack = known ? seconds->GetDouble() : 0;
      const absl::string_view color = slack < 0              ? kRed
                                      : state == "confirmed" ? kGreen
                                      : known && slack < 15  ? kYellow
                                                             : "";
      rows.push_back({{TextOf(drain, "pod"), TextOf(drain, "backend"), TextOf(drain, "backend_set"),
                       state, Away(TimeOf(drain, "deadline"), now_),
                       known ? absl::StrFormat("%.1fs", slack) : "-", TextOf(drain, "reason")},
                      Color(color)});
    });
    text_ += AlignRows(rows, kNoNumbers);
    More("more_drains", "drains");
  }

  void LoadBalancers() {
    if (!HasAny(status_, "load_balancers")) {
      Title("load balancers");
      text_ += "  none is looked after by this replica\n";
      return;
    }
    ForEach(status_, "load_balancers", [&](const rapidjson::Value& item) {
      const std::string name = TextOf(item, "name");
      Title(absl::StrCat("load balancer ", name, name.empty() ? "" : " ", TextOf(item, "id"), ": ",
                         CountOf(item, "in_use"), " of ", CountOf(item, "limit"),
                         " backends in use", FlagOf(item, "paused") ? ", paused" : ""));
      const std::string trouble = TextOf(item, "trouble");
      if (!trouble.empty()) absl::StrAppend(&text_, "  ", Colored(kRed, trouble), "\n");
      if (!HasAny(item, "sets")) return;
      std::vector<TextRow> rows = {{{"SET", "SERVICE", "LIMIT", "LIVE", "DRAINING", "FOREIGN",
                                     "WAITING", "RESERVED", "FREE", "[USED]"}}};
      ForEach(item, "sets", [&](const rapidjson::Value& set) {
        TextRow& row = rows.emplace_back();
        row.cells = {TextOf(set, "backend_set"), TextOf(set, "service")};
        for (const char* count :
             {"limit", "live", "draining", "foreign", "waiting", "reserved", "free"}) {
          row.cells.push_back(absl::StrCat(CountOf(set, count)));
        }
        row.cells.push_back(Bar(set));
        if (CountOf(set, "waiting") > 0) row.color = Color(kRed);
      });
      text_ += AlignRows(rows, 2);
      const int64_t more = CountOf(item, "more_sets");
      if (more > 0) absl::StrAppend(&text_, "  and ", more, " more backend sets\n");
    });
    More("more_load_balancers", "load balancers");
  }

  void WorkRequests() {
    Title("work requests");
    if (!HasAny(status_, "work_requests")) {
      text_ += "  none is known\n";
      return;
    }
    std::vector<TextRow> rows = {{{"ID", "WHOSE", "WHAT", "SET", "ACCEPTED", "TOOK", "STATE"}}};
    ForEach(status_, "work_requests", [&](const rapidjson::Value& request) {
      const std::string state = TextOf(request, "state");
      const rapidjson::Value* took = base::FindMember(request, "took_seconds");
      rows.push_back(
          {{ShortId(TextOf(request, "id")), FlagOf(request, "ours") ? "ours" : "others",
            TextOf(request, "what"), TextOf(request, "backend_set"),
            Clock(TimeOf(request, "accepted")),
            took != nullptr && took->IsNumber() ? absl::StrFormat("%.1fs", took->GetDouble()) : "-",
            absl::StrCat(state, TextOf(request, "error").empty() ? "" : ": ",
                         TextOf(request, "error"))},
           Color(state == "failed" ? kRed : "")});
    });
    text_ += AlignRows(rows, kNoNumbers);
    More("more_work_requests", "work requests");
  }

  void Loops() {
    const rapidjson::Value* health = base::FindMember(status_, "health");
    if (health == nullptr) return;
    int64_t count = CountOf(*health, "more_loops");
    double oldest = 0;
    std::string oldest_name;
    std::string stuck;
    ForEach(*health, "loops", [&](const rapidjson::Value& loop) {
      ++count;
      if (FlagOf(loop, "stuck")) {
        absl::StrAppend(&stuck, stuck.empty() ? "" : ", ", TextOf(loop, "name"));
      }
      const rapidjson::Value* age = base::FindMember(loop, "age_seconds");
      if (age == nullptr || !age->IsNumber() || age->GetDouble() < oldest) return;
      oldest = age->GetDouble();
      oldest_name = TextOf(loop, "name");
    });
    Title("loops");
    absl::StrAppend(&text_, "  ",
                    stuck.empty() ? absl::StrFormat("%d tick, the oldest tick is %.1fs old (%s)",
                                                    count, oldest, oldest_name)
                                  : Colored(kRed, absl::StrCat("stuck: ", stuck)),
                    "\n");
  }

  void Decisions() {
    Title("decisions, the newest first");
    if (!HasAny(status_, "decisions")) {
      text_ += "  none yet\n";
      return;
    }
    std::vector<TextRow> rows = {{{"WHEN", "WHAT", "POD", "BACKEND", "SET", "WHY"}}};
    ForEach(status_, "decisions", [&](const rapidjson::Value& decision) {
      rows.push_back({{Clock(TimeOf(decision, "at")), TextOf(decision, "action"),
                       TextOf(decision, "pod"), TextOf(decision, "backend"),
                       TextOf(decision, "backend_set"), TextOf(decision, "reason")},
                      Color(FlagOf(decision, "warning") ? kYellow : "")});
    });
    text_ += AlignRows(rows, kNoNumbers);
    More("more_decisions", "older ones");
  }

  const rapidjson::Value& status_;
  const bool colors_;
  const absl::Time now_;
  std::string text_;
};

absl::StatusOr<rapidjson::Document> ParseStatus(absl::string_view json) {
  auto document = base::ParseJson(json, "status");
  if (!document.ok()) return document.status();
  const auto schema = base::ReadInt(*document, "schema");
  if (!document->IsObject() || !schema.ok() || *schema != 1) {
    return absl::InvalidArgumentError(
        "the status is not of schema 1: this oci-drain and that controller are of versions too far "
        "apart; use the oci-drain of the controller's release");
  }
  return document;
}

}  // namespace

absl::StatusOr<StatusStyle> ParseStatusStyle(absl::string_view output, bool terminal,
                                             bool no_color) {
  if (output == "json") return StatusStyle::kJson;
  if (output != "text") {
    return absl::InvalidArgumentError(absl::StrCat("--output=", output, ": expected text or json"));
  }
  return terminal && !no_color ? StatusStyle::kColors : StatusStyle::kPlain;
}

absl::StatusOr<std::string> AskController(const std::string& address, const std::string& target,
                                          absl::Duration patience) {
  http::TransportOptions options;
  options.base_url = absl::StrCat("http://", address);
  const auto transport = http::MakeCpprestTransport(options);
  if (!transport.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--address=", address, ": expected HOST:PORT: ", transport.status().message()));
  }
  http::Request request;
  request.method = "GET";
  request.target = target;
  request.timeout = patience;
  request.max_response_bytes = kMaxStatusBytes;
  const auto response = (*transport)->Send(request);
  if (!response.ok()) {
    return absl::UnavailableError(absl::StrCat(
        "no controller answers at ", address, ": ", response.status().message(),
        "; --address is its --health_port (8081), for example through kubectl port-forward"));
  }
  if (response->status == 200) return response->body;
  std::string said = response->body.substr(0, 1000);
  absl::StripTrailingAsciiWhitespace(&said);
  said = Shown(std::move(said));
  if (response->status == 404 && absl::StartsWith(target, "/explainz/") &&
      absl::StartsWith(said, "Pod ")) {
    return absl::NotFoundError(said);
  }
  return absl::FailedPreconditionError(
      absl::StrCat(address, " answers ", target, " with ", response->status, ": ", said,
                   "; is that the health port of an oci-drain-controller of this version?"));
}

absl::StatusOr<std::string> FormatStatus(absl::string_view json, StatusStyle style) {
  const auto document = ParseStatus(json);
  if (!document.ok()) return document.status();
  if (style == StatusStyle::kJson) return std::string(json);
  return Report(*document, style == StatusStyle::kColors).Text();
}

absl::StatusOr<bool> IsStatusGood(absl::string_view json) {
  const auto document = ParseStatus(json);
  if (!document.ok()) return document.status();
  const rapidjson::Value* health = base::FindMember(*document, "health");
  bool good = health != nullptr && FlagOf(*health, "ready");
  ForEach(*document, "drains", [&](const rapidjson::Value& drain) {
    const rapidjson::Value* slack = base::FindMember(drain, "slack_seconds");
    if (slack != nullptr && slack->IsNumber() && slack->GetDouble() < 0) good = false;
  });
  return good;
}

}  // namespace cmd
