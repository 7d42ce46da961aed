#include "capacity/share.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace capacity {
namespace {

struct Ask {
  int most = 0;
  int64_t weight = 1;
  int given = 0;

  bool open() const { return given < most; }
};

// Whether `a` is to have the next slot rather than `b`: the smaller share first. Of
// equal shares the smaller weight, whose share then becomes the greater one.
bool Before(const Ask& a, const Ask& b) {
  const int64_t left = a.given * b.weight;
  const int64_t right = b.given * a.weight;
  return left != right ? left < right : a.weight < b.weight;
}

void GiveOneEach(std::vector<Ask>& asks, int& slots) {
  std::vector<size_t> order(asks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return asks[a].weight > asks[b].weight; });
  for (const size_t index : order) {
    if (slots == 0) return;
    if (!asks[index].open()) continue;
    ++asks[index].given;
    --slots;
  }
}

}  // namespace

std::vector<int> ShareSlots(absl::Span<const Claim> claims, int slots) {
  slots = std::max(0, slots);
  std::vector<Ask> asks;
  asks.reserve(claims.size());
  int64_t wanted = 0;
  for (const Claim& claim : claims) {
    asks.push_back({std::max(0, std::min(claim.need, claim.at_most)), std::max(1, claim.weight)});
    wanted += asks.back().most;
  }
  std::vector<int> given;
  given.reserve(asks.size());
  if (wanted <= slots) {
    for (const Ask& ask : asks) given.push_back(ask.most);
    return given;
  }
  GiveOneEach(asks, slots);
  while (slots > 0) {
    Ask* next = nullptr;
    for (Ask& ask : asks) {
      if (ask.open() && (next == nullptr || Before(ask, *next))) next = &ask;
    }
    ++next->given;
    --slots;
  }
  for (const Ask& ask : asks) given.push_back(ask.given);
  return given;
}

}  // namespace capacity
