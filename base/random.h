// Randomness as an argument: the same seed gives the same run on every machine.
#ifndef OCI_BACKEND_DRAIN_BASE_RANDOM_H_
#define OCI_BACKEND_DRAIN_BASE_RANDOM_H_

#include <cstdint>
#include <string>

namespace base {

// SplitMix64. Small, fast, reproducible; not for secrets. Not thread-safe.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next();

  // Uniform in [0, 1).
  double Fraction();

  // Uniform in [low, high]. Requires low <= high.
  int64_t Between(int64_t low, int64_t high);

  // `length` characters out of [0-9a-z].
  std::string Token(int length);

 private:
  uint64_t state_;
};

// A seed from the operating system, for production.
uint64_t SeedFromSystem();

}  // namespace base

#endif  // OCI_BACKEND_DRAIN_BASE_RANDOM_H_
