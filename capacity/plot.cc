#include "capacity/plot.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "capacity/forecast.h"

namespace capacity {
namespace {

constexpr int kWidth = 720;
constexpr int kHeight = 400;
constexpr int kLeft = 56;
constexpr int kRight = 16;
constexpr int kTop = 34;
constexpr int kBottom = 110;

// From what is shown to where it is drawn.
struct Scale {
  int64_t last_ms = 1;
  int most = 1;

  int64_t X(int64_t ms) const {
    return kLeft + std::min(ms, last_ms) * (kWidth - kLeft - kRight) / last_ms;
  }
  int64_t Y(int64_t count) const {
    return kHeight - kBottom - count * (kHeight - kTop - kBottom) / most;
  }
};

struct Line {
  const char* color;
  const char* dash;
  std::string text;
};

std::string Text(int64_t x, int64_t y, absl::string_view anchor, absl::string_view text) {
  return absl::StrCat("<text x=\"", x, "\" y=\"", y, "\" text-anchor=\"", anchor, "\">", text,
                      "</text>\n");
}

std::string Segment(int64_t x1, int64_t y1, int64_t x2, int64_t y2, const Line& line) {
  return absl::StrCat("<line x1=\"", x1, "\" y1=\"", y1, "\" x2=\"", x2, "\" y2=\"", y2,
                      "\" stroke=\"", line.color, "\" stroke-dasharray=\"", line.dash, "\"/>\n");
}

// As steps: each count holds until the next.
std::string Draw(const Curve& curve, const Scale& scale, const Line& line) {
  std::string path;
  for (size_t i = 0; i < curve.size(); ++i) {
    const int64_t y = scale.Y(curve[i].count);
    const int64_t until = i + 1 < curve.size() ? curve[i + 1].at_ms : scale.last_ms;
    absl::StrAppend(&path, path.empty() ? "M" : " L", scale.X(curve[i].at_ms), " ", y, " L",
                    scale.X(until), " ", y);
  }
  return absl::StrCat("<path d=\"", path, "\" fill=\"none\" stroke=\"", line.color,
                      "\" stroke-width=\"1.6\" stroke-dasharray=\"", line.dash, "\"/>\n");
}

std::string Axes(const Scale& scale, int limit) {
  const Line grid{"#cccccc", "none", ""};
  std::string out;
  const int step = scale.most > 600 ? 200 : 100;
  for (int count = 0; count <= scale.most; count += step) {
    absl::StrAppend(&out, Segment(kLeft, scale.Y(count), kWidth - kRight, scale.Y(count), grid),
                    Text(kLeft - 6, scale.Y(count) + 4, "end", absl::StrCat(count)));
  }
  for (int64_t ms = 0; ms <= scale.last_ms; ms += 60000) {
    absl::StrAppend(&out, Text(scale.X(ms), kHeight - kBottom + 16, "middle",
                               absl::StrCat(ms / 60000, " min")));
  }
  return out +
         Segment(kLeft, scale.Y(limit), kWidth - kRight, scale.Y(limit), {"#bb0000", "6 3", ""});
}

std::string Wait(const Confined& confined) {
  return absl::StrCat(absl::ToInt64Seconds(confined.longest_wait), " s");
}

int MostWaiting(const Confined& confined) {
  int most = 0;
  for (const Point& point : confined.waiting) most = std::max<int>(most, point.count);
  return most;
}

}  // namespace

std::string PlotRollout(int replicas, int limit) {
  kube::Workload workload;
  workload.kind = "Deployment";
  workload.written_max_surge = kube::IntOrPercent::Percent(25);
  workload.grace = absl::Seconds(60);
  const Rollout rollout = RolloutOf(workload, replicas, Times());
  const Forecast free = Simulate(rollout);
  const Confined held = SimulateWithin({rollout}, {.slots = limit});
  const Confined moved = SimulateWithin({rollout}, {.slots = limit, .withdraw = true});
  const Line lines[] = {
      {"#777777", "2 3", absl::StrCat("needed without a limit: ", free.peak, " at the peak")},
      {"#0055aa", "none", "in the load balancer without withdrawal"},
      {"#0055aa", "4 3",
       absl::StrCat("waiting without withdrawal: up to ", MostWaiting(held), ", at most ",
                    Wait(held))},
      {"#007733", "none",
       absl::StrCat("in the load balancer with withdrawal of ", moved.withdrawn)},
      {"#007733", "4 3",
       absl::StrCat("waiting with withdrawal: up to ", MostWaiting(moved), ", at most ",
                    Wait(moved))}};
  const Curve* curves[] = {&free.backends, &held.forecast.backends, &held.waiting,
                           &moved.forecast.backends, &moved.waiting};
  Scale scale;
  scale.most = std::max(free.peak, limit);
  scale.last_ms = absl::ToInt64Milliseconds(
      std::max({free.duration, held.forecast.duration, moved.forecast.duration}));
  std::string out = absl::StrCat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", kWidth, " ", kHeight,
      "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"", kWidth, "\" height=\"",
      kHeight, "\" fill=\"white\"/>\n",
      Text(kLeft, 20, "start",
           absl::StrCat("Backends during a rollout of ", replicas, " replicas, limit ", limit)),
      Axes(scale, limit));
  for (size_t i = 0; i < std::size(lines); ++i) {
    absl::StrAppend(&out, Draw(*curves[i], scale, lines[i]));
    const int64_t y = kHeight - kBottom + 36 + 14 * static_cast<int64_t>(i);
    absl::StrAppend(&out, Segment(kLeft, y - 4, kLeft + 32, y - 4, lines[i]),
                    Text(kLeft + 40, y, "start", lines[i].text));
  }
  return out + "</svg>\n";
}

}  // namespace capacity
