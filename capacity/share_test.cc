#include "capacity/share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace capacity {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int kSets = 4;
constexpr int kSlots = 8;
constexpr int kWeights = 3;

using Shares = std::vector<int>;

int Most(const Claim& claim) { return std::max(0, std::min(claim.need, claim.at_most)); }

std::string Describe(const std::vector<Claim>& claims, int slots) {
  return absl::StrCat(slots, " slots for ",
                      absl::StrJoin(claims, ", ", [](std::string* out, const Claim& claim) {
                        absl::StrAppend(out, Most(claim), " with weight ", claim.weight);
                      }));
}

// slots/weight of each claim, in sixths, smallest first; the rest is zero.
using Ratios = std::array<int, kSets>;
Ratios RatiosOf(const std::vector<Claim>& claims, const Shares& shares) {
  Ratios ratios = {};
  for (size_t i = 0; i < claims.size(); ++i) ratios[i] = shares[i] * 6 / claims[i].weight;
  std::sort(ratios.begin(), ratios.begin() + static_cast<ptrdiff_t>(claims.size()));
  return ratios;
}

// The best ratios that any distribution has in which each claim that can use a slot
// has one.
class BruteForce {
 public:
  BruteForce(const std::vector<Claim>& claims, int slots) : claims_(claims) {
    shares_.resize(claims.size());
    Try(0, slots);
  }
  const Ratios& best() const { return best_; }

 private:
  void Try(size_t index, int slots) {
    if (index == claims_.size()) {
      best_ = std::max(best_, RatiosOf(claims_, shares_));
      return;
    }
    const int most = std::min(slots, Most(claims_[index]));
    for (int given = std::min(1, Most(claims_[index])); given <= most; ++given) {
      shares_[index] = given;
      Try(index + 1, slots - given);
    }
  }

  const std::vector<Claim>& claims_;
  Shares shares_;
  Ratios best_ = {};
};

void Check(const std::vector<Claim>& claims, int slots) {
  const Shares shares = ShareSlots(claims, slots);
  ASSERT_EQ(shares.size(), claims.size());
  int wanted = 0;
  int askers = 0;
  for (size_t i = 0; i < claims.size(); ++i) {
    ASSERT_GE(shares[i], 0);
    ASSERT_LE(shares[i], Most(claims[i]));
    wanted += Most(claims[i]);
    askers += Most(claims[i]) > 0 ? 1 : 0;
  }
  ASSERT_EQ(std::accumulate(shares.begin(), shares.end(), 0), std::min(wanted, slots));
  if (slots >= askers) {
    ASSERT_EQ(RatiosOf(claims, shares), BruteForce(claims, slots).best());
    return;
  }
  for (size_t i = 0; i < claims.size(); ++i) {
    ASSERT_LE(shares[i], 1);
    for (size_t j = 0; j < claims.size(); ++j) {
      if (shares[i] == 1 || Most(claims[i]) == 0 || shares[j] == 0) continue;
      ASSERT_GE(claims[j].weight, claims[i].weight) << "the lighter one was served";
    }
  }
}

// Claims in an order in which none is smaller than the one before: what another
// order of the same claims changes is tested by itself.
void CheckAllFrom(std::vector<Claim>& claims, int first, int& instances) {
  for (int slots = 0; slots <= kSlots; ++slots) {
    Check(claims, slots);
    if (testing::Test::HasFatalFailure()) {
      ADD_FAILURE() << Describe(claims, slots);
      return;
    }
    ++instances;
  }
  if (claims.size() == kSets) return;
  for (int kind = first; kind < (kSlots + 1) * kWeights; ++kind) {
    claims.push_back({kind % (kSlots + 1), kSlots, 1 + kind / (kSlots + 1)});
    CheckAllFrom(claims, kind, instances);
    claims.pop_back();
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(ShareSlots, IsTheBruteForceOptimumForUpToFourSetsAndEightSlots) {
  std::vector<Claim> claims;
  int instances = 0;
  CheckAllFrom(claims, 0, instances);
  // Sets of up to 4 out of 27 kinds of claims, times 9 numbers of slots.
  EXPECT_EQ(instances, 283185);
}

TEST(ShareSlots, TheOrderDecidesOnlyBetweenEqualClaims) {
  std::vector<Claim> claims = {{8, 8, 1}, {5, 8, 2}, {8, 3, 3}, {2, 8, 4}};
  std::vector<size_t> order = {0, 1, 2, 3};
  for (int slots = 0; slots <= 20; ++slots) {
    const Shares first = ShareSlots(claims, slots);
    do {
      std::vector<Claim> other;
      Shares expected;
      for (const size_t index : order) {
        other.push_back(claims[index]);
        expected.push_back(first[index]);
      }
      EXPECT_EQ(ShareSlots(other, slots), expected);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(ShareSlots, NoSetIsAtZeroWhileAnotherHasASurplus) {
  EXPECT_THAT(ShareSlots({{500, 512, 500}, {10, 512, 10}, {10, 512, 10}, {10, 512, 10}}, 12),
              ElementsAre(9, 1, 1, 1));
}

TEST(ShareSlots, BadInputHasDefinedResults) {
  EXPECT_THAT(ShareSlots({}, 5), IsEmpty());
  EXPECT_THAT(ShareSlots({{3, 3, 0}, {-1, 3, 1}, {3, -1, 1}}, 2), ElementsAre(2, 0, 0));
  EXPECT_THAT(ShareSlots({{3, 3, 1}}, -5), ElementsAre(0));
}

}  // namespace
}  // namespace capacity
