#include "sim/demo_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sim {
namespace {

const char* Code(DemoColor color) {
  switch (color) {
    case DemoColor::kNone:
      return "";
    case DemoColor::kGreen:
      return "\033[32m";
    case DemoColor::kRed:
      return "\033[1;31m";
    case DemoColor::kDim:
      return "\033[2m";
    case DemoColor::kBold:
      return "\033[1m";
  }
  return "";
}

size_t Columns(int descriptor) {
  winsize size = {};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col;
}

bool IsSet(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

DemoScreenOptions DemoScreenOptions::For(int descriptor) {
  DemoScreenOptions options;
  options.descriptor = descriptor;
  const char* term = std::getenv("TERM");
  options.terminal =
      isatty(descriptor) == 1 && term != nullptr && absl::string_view(term) != "dumb";
  options.color = options.terminal && !IsSet("NO_COLOR");
  return options;
}

DemoScreen::DemoScreen(DemoScreenOptions options, size_t runs)
    : options_(options), progress_(runs) {}

DemoScreen::~DemoScreen() { EndProgress(); }

std::string DemoScreen::Paint(absl::string_view text, DemoColor color) const {
  if (!options_.color || color == DemoColor::kNone) return std::string(text);
  return absl::StrCat(Code(color), text, "\033[0m");
}

void DemoScreen::Line(absl::string_view text, DemoColor color) {
  absl::MutexLock lock(&mutex_);
  Redraw(absl::StrCat(Paint(text, color), "\n"));
}

void DemoScreen::Progress(size_t run, std::string text, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  if (run >= progress_.size() || progress_[run] == text) return;
  progress_[run] = std::move(text);
  if (options_.terminal) {
    Redraw("");
    return;
  }
  if (written_out_ == absl::InfinitePast()) written_out_ = now;
  if (run + 1 == progress_.size() && now - written_out_ >= options_.plain_interval) {
    written_out_ = now;
    std::string lines;
    for (const std::string& line : progress_) {
      if (!line.empty()) absl::StrAppend(&lines, "    | ", line, "\n");
    }
    Write(lines);
  }
}

void DemoScreen::EndProgress() {
  absl::MutexLock lock(&mutex_);
  Write(Erase());
  progress_.clear();
}

void DemoScreen::Redraw(absl::string_view text) {
  std::string out = Erase();
  absl::StrAppend(&out, text);
  absl::StrAppend(&out, Draw());
  Write(out);
}

// Goes up over what is drawn and clears it.
std::string DemoScreen::Erase() {
  if (drawn_ == 0) return "";
  return absl::StrCat("\033[", std::exchange(drawn_, 0), "F\033[J");
}

// Lines that are cut to the width, so that each takes one row.
std::string DemoScreen::Draw() {
  if (!options_.terminal) return "";
  const size_t columns = Columns(options_.descriptor);
  std::string text;
  for (const std::string& line : progress_) {
    if (line.empty()) continue;
    absl::StrAppend(&text, Paint(line.substr(0, columns - 1), DemoColor::kDim), "\n");
    ++drawn_;
  }
  return text;
}

void DemoScreen::Write(absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(options_.descriptor, text.data(), text.size());
    if (written <= 0) return;  // Nobody reads any more.
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace sim
