// The file that tells the probe what happened to the Pods.
#include "fuzz/fuzzer.h"
#include "probe/marks.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto marks = probe::ParseMarks(fuzz::TextOf(data, size));
  if (!marks.ok()) return 0;
  std::string text;
  for (const probe::Mark& mark : *marks) text += probe::FormatMark(mark);
  const auto again = probe::ParseMarks(text);
  fuzz::Require(again.ok() && again->size() == marks->size(), "what was read can be written");
  return 0;
}
