#include "health/status.h"

namespace health {

std::string ShownText(std::string text) {
  constexpr size_t kDots = 3;
  if (text.size() <= kMaxShownBytes) return text;
  size_t end = kMaxShownBytes - kDots;
  // Not within a character of UTF-8.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  text.append(kDots, '.');
  return text;
}

absl::Duration DrainStatus::Slack(absl::Time now) const {
  if (state == DrainState::kConfirmed) {
    // Since when is known by the process alone that saw it.
    return confirmed_at == absl::InfinitePast() ? absl::InfiniteDuration()
                                                : deadline - confirmed_at;
  }
  return deadline - now;
}

}  // namespace health
