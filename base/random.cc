#include "base/random.h"

#include <random>

namespace base {

uint64_t Random::Next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

double Random::Fraction() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

int64_t Random::Between(int64_t low, int64_t high) {
  const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  return span == 0 ? static_cast<int64_t>(Next())
                   : static_cast<int64_t>(static_cast<uint64_t>(low) + Next() % span);
}

std::string Random::Token(int length) {
  constexpr char kAlphabet[] = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string token;
  token.reserve(static_cast<size_t>(length));
  for (int i = 0; i < length; ++i) token.push_back(kAlphabet[Next() % 36]);
  return token;
}

uint64_t SeedFromSystem() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

}  // namespace base
