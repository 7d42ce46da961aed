// Where the demonstration writes while it runs: lines that stay, and below them on
// a terminal one line for each run that is drawn again and again.
#ifndef OCI_BACKEND_DRAIN_SIM_DEMO_SCREEN_H_
#define OCI_BACKEND_DRAIN_SIM_DEMO_SCREEN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sim {

struct DemoScreenOptions {
  int descriptor = 1;
  bool terminal = false;
  bool color = false;
  // Without a terminal the runs' lines are written out this often.
  absl::Duration plain_interval = absl::Seconds(15);

  // What the descriptor and the environment (TERM, NO_COLOR) call for.
  static DemoScreenOptions For(int descriptor);
};

enum class DemoColor { kNone, kGreen, kRed, kDim, kBold };

// Thread-safe.
class DemoScreen {
 public:
  DemoScreen(DemoScreenOptions options, size_t runs);
  // Takes the runs' lines away.
  ~DemoScreen();
  DemoScreen(const DemoScreen&) = delete;
  DemoScreen& operator=(const DemoScreen&) = delete;

  // Writes a line, or several with newlines between them, that stays.
  void Line(absl::string_view text, DemoColor color = DemoColor::kNone) ABSL_LOCKS_EXCLUDED(mutex_);
  // Replaces the line of a run.
  void Progress(size_t run, std::string text, absl::Time now) ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes the runs' lines away for good.
  void EndProgress() ABSL_LOCKS_EXCLUDED(mutex_);

  // `text` in that colour, if there are colours.
  std::string Paint(absl::string_view text, DemoColor color) const;

 private:
  std::string Erase() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string Draw() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // In one write: the runs' lines away, `text`, and the lines again.
  void Redraw(absl::string_view text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Write(absl::string_view text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DemoScreenOptions options_;
  absl::Mutex mutex_;
  std::vector<std::string> progress_ ABSL_GUARDED_BY(mutex_);
  size_t drawn_ ABSL_GUARDED_BY(mutex_) = 0;  // lines below the last one that stays
  absl::Time written_out_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_DEMO_SCREEN_H_
