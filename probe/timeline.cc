#include "probe/timeline.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace probe {
namespace {

constexpr double kLeft = 180;
constexpr double kWidth = 760;
constexpr double kRateTop = 50;
constexpr double kRateHeight = 110;
constexpr double kLane = 18;
// As in kMarkKinds and kFailureClasses, in colours that differ in brightness too.
constexpr const char* kMarkColors[] = {"#000000", "#2e7d32", "#6d4c41", "#f9a825",
                                       "#1565c0", "#ef6c00", "#c62828"};
constexpr char kFailureColor[] = "#c62828";

std::string Escape(absl::string_view text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

class Picture {
 public:
  Picture(const RunFigures& figures, const std::vector<Mark>& marks)
      : figures_(figures), marks_(marks), length_(std::max(figures.end - figures.start, kLeast)) {}

  std::string Draw(const std::string& title) && {
    Text(kLeft, 24, title, 15);
    Rate();
    double top = kRateTop + kRateHeight + 30;
    for (int i = 0; i < kFailureClasses; ++i) {
      if (figures_.by_class[i] > 0) Failures(static_cast<FailureClass>(i), top);
    }
    for (int i = 0; i < kMarkKinds; ++i) Marks(static_cast<MarkKind>(i), top);
    Axis(top);
    return absl::StrFormat(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
        "font-family=\"sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" "
        "fill=\"#ffffff\"/>\n%s</svg>\n",
        kLeft + kWidth + 30, top + 40, body_);
  }

 private:
  static constexpr absl::Duration kLeast = absl::Seconds(1);

  double X(absl::Time time) const {
    return kLeft + kWidth * std::clamp(absl::FDivDuration(time - figures_.start, length_), 0., 1.);
  }

  void Text(double x, double y, absl::string_view text, int size, const char* anchor = "start") {
    absl::StrAppend(&body_, absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" "
                                            "text-anchor=\"%s\">%s</text>\n",
                                            x, y, size, anchor, Escape(text)));
  }

  // The whole seconds; the last one may have been cut short.
  void Rate() {
    int64_t most = 1;
    for (const SecondFigures& second : figures_.seconds) {
      most = std::max(most, second.succeeded + second.failed);
    }
    std::string points;
    for (size_t i = 0; i < figures_.seconds.size(); ++i) {
      const double share =
          static_cast<double>(figures_.seconds[i].succeeded) / static_cast<double>(most);
      absl::StrAppend(
          &points, absl::StrFormat("%.1f,%.1f ",
                                   X(figures_.start + absl::Seconds(i) + absl::Milliseconds(500)),
                                   kRateTop + kRateHeight * (1 - share)));
    }
    absl::StrAppend(&body_, "<polyline fill=\"none\" stroke=\"#1565c0\" points=\"", points,
                    "\"/>\n");
    Text(kLeft - 8, kRateTop + 5, absl::StrCat(most), 11, "end");
    Text(kLeft - 8, kRateTop + kRateHeight, "0", 11, "end");
    Text(kLeft - 8, kRateTop + kRateHeight / 2, "answered a second", 11, "end");
  }

  void Failures(FailureClass failure, double& top) {
    Text(kLeft - 8, top + 4,
         absl::StrCat(FailureName(failure), ": ", figures_.by_class[static_cast<int>(failure)]), 11,
         "end");
    // One dot for all within a pixel.
    long last = -1;
    for (const Failure& one : figures_.failures) {
      const long x = std::lround(X(one.time));
      if (one.failure != failure || x == last) continue;
      last = x;
      absl::StrAppend(&body_, absl::StrFormat("<circle cx=\"%d\" cy=\"%.1f\" r=\"3\" "
                                              "fill=\"%s\" fill-opacity=\"0.6\"/>\n",
                                              x, top, kFailureColor));
    }
    top += kLane;
  }

  void Marks(MarkKind kind, double& top) {
    bool any = false;
    for (const Mark& mark : marks_) {
      if (mark.kind != kind || mark.time < figures_.start || mark.time > figures_.end) continue;
      any = true;
      absl::StrAppend(&body_,
                      absl::StrFormat("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" "
                                      "stroke=\"%s\" stroke-width=\"2\"><title>%s</title></line>\n",
                                      X(mark.time), X(mark.time), top - 6, top + 6,
                                      kMarkColors[static_cast<int>(kind)], Escape(mark.pod)));
    }
    if (!any) return;
    Text(kLeft - 8, top + 4, MarkName(kind), 11, "end");
    top += kLane;
  }

  void Axis(double top) {
    absl::StrAppend(&body_, absl::StrFormat("<line x1=\"%g\" x2=\"%g\" y1=\"%.1f\" y2=\"%.1f\" "
                                            "stroke=\"#000000\"/>\n",
                                            kLeft, kLeft + kWidth, top, top));
    // Some ten of them, at a round number of seconds.
    const double seconds = absl::ToDoubleSeconds(length_);
    double step = std::pow(10, std::floor(std::log10(seconds)));
    if (seconds / step < 4) step /= 4;
    for (double at = 0; at <= seconds; at += step) {
      Text(X(figures_.start + absl::Seconds(at)), top + 16, absl::StrFormat("%g s", at), 11,
           "middle");
    }
  }

  const RunFigures& figures_;
  const std::vector<Mark>& marks_;
  const absl::Duration length_;
  std::string body_;
};

}  // namespace

std::string TimelineSvg(const std::string& title, const RunFigures& figures,
                        const std::vector<Mark>& marks) {
  return Picture(figures, marks).Draw(title);
}

}  // namespace probe
