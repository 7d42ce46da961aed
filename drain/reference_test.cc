// The planner against a reader of the rule who knows nothing of it: every
// combination of three Pods and three backends.
//
// The reference is written from the rule alone, an address at a time:
//   a live Pod at it                   -> not drained; what we drained is un-drained
//   else a Pod that could be live      -> as it is (no answer, or the address reused)
//   else a Pod that terminates, is gone,
//   was replaced, failed or is evicted -> drained
//   no Pod                             -> not ours
// All the rest (times, floors, the brake, foreign writers) is kept out of the way.
#include <array>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "drain/check.h"
#include "drain/explain.h"
#include "drain/plan.h"
#include "gtest/gtest.h"

namespace drain {
namespace {

constexpr int kCount = 3;
const absl::Time kNow = absl::FromUnixSeconds(1'796'000'000);
const oci::BackendSetName kSet("bs_web");

enum class Pod {
  kNone,
  kLive,
  kLiveNotServing,
  kTerminating,
  kSliceTerminating,  // the slice says so, the Pod is not cached
  kGone,              // not cached; the GET says 404
  kReplaced,          // not cached; another Pod of that name has another address
  kAddressReused,     // not cached; another Pod of that name has this address
  kUnanswered,        // not cached; the GET was not answered
  kFailed,            // does not serve; phase Failed
  kDisrupted,         // does not serve; condition DisruptionTarget
  kLast = kDisrupted,
};

enum class Held {
  kAbsent,
  kRoutable,
  kDrained,             // and nobody wrote down why
  kDrainedByUs,         // for the Pod that is at the address now
  kDrainedForAnother,   // by us, for a Pod that was there before
  kDrainedByOperator,   // for the Pod that is there now
  kOperatorForAnother,  // an operator's, for a Pod that was there before
  kLast = kOperatorForAnother,
};

struct Slot {
  Pod pod = Pod::kNone;
  Held held = Held::kAbsent;
  int address = 0;  // of the Pod; the backend's is the slot's own number
};
using World = std::array<Slot, kCount>;

std::string IpOf(int address) { return absl::StrCat("10.0.0.", address + 1); }
oci::BackendName NameOf(int address) { return oci::MakeBackendName(IpOf(address), 8080); }
std::string UidOf(int slot) { return absl::StrCat("uid-", slot); }

// The reference.

bool IsLive(Pod pod) { return pod == Pod::kLive || pod == Pod::kLiveNotServing; }
bool CouldBeLive(Pod pod) { return pod == Pod::kUnanswered || pod == Pod::kAddressReused; }

// The flag that each backend is to get; backends that keep theirs are left out.
std::map<oci::BackendName, bool> ReferenceFlips(const World& world) {
  std::map<oci::BackendName, bool> flips;
  for (int address = 0; address < kCount; ++address) {
    const Held held = world[address].held;
    if (held == Held::kAbsent) continue;
    bool live = false;
    bool could_be_live = false;
    bool any = false;
    bool is_the_entrys_pod = false;
    for (int slot = 0; slot < kCount; ++slot) {
      if (world[slot].pod == Pod::kNone || world[slot].address != address) continue;
      any = true;
      could_be_live = could_be_live || CouldBeLive(world[slot].pod);
      // Of several live ones the least UID stands for the address.
      if (IsLive(world[slot].pod) && !live) is_the_entrys_pod = slot == address;
      live = live || IsLive(world[slot].pod);
    }
    if (!any) continue;
    if (live) {
      const bool ours = held == Held::kDrainedByUs || held == Held::kDrainedForAnother;
      const bool operators_is_over = held == Held::kOperatorForAnother ||
                                     (held == Held::kDrainedByOperator && !is_the_entrys_pod);
      if (ours || operators_is_over) flips[NameOf(address)] = false;
    } else if (!could_be_live && held == Held::kRoutable) {
      flips[NameOf(address)] = true;
    }
  }
  return flips;
}

// The same world as an Input.

Endpoint EndpointOf(int slot, const Slot& from) {
  Endpoint endpoint;
  endpoint.ip = IpOf(from.address);
  endpoint.port = 8080;
  endpoint.backend = NameOf(from.address);
  endpoint.pod = {"shop", absl::StrCat("web-", slot)};
  endpoint.uid = endpoint.cached_uid = UidOf(slot);
  endpoint.lookup.state = LookupState::kFound;
  endpoint.lookup.uid = endpoint.uid;
  endpoint.lookup.pod_ips = {endpoint.ip};
  endpoint.lookup.phase = "Running";
  switch (from.pod) {
    case Pod::kNone:
    case Pod::kLive:
      break;
    case Pod::kLiveNotServing:
      endpoint.serving = false;
      break;
    case Pod::kTerminating:
      endpoint.terminating = true;
      endpoint.deletion_timestamp = kNow + absl::Seconds(40);
      endpoint.deletion_grace = absl::Seconds(45);
      break;
    case Pod::kSliceTerminating:
      endpoint.terminating = true;
      endpoint.cached_uid.clear();
      endpoint.lookup = PodLookup();
      break;
    case Pod::kGone:
      endpoint.cached_uid.clear();
      endpoint.lookup = PodLookup();
      endpoint.lookup.state = LookupState::kNotFound;
      break;
    case Pod::kReplaced:
      endpoint.cached_uid = endpoint.lookup.uid = "another";
      endpoint.lookup.pod_ips = {"10.0.0.99"};
      break;
    case Pod::kAddressReused:
      endpoint.cached_uid = endpoint.lookup.uid = "another";
      break;
    case Pod::kUnanswered:
      endpoint.cached_uid.clear();
      endpoint.lookup = PodLookup();
      endpoint.lookup.state = LookupState::kNoAnswer;
      break;
    case Pod::kFailed:
      endpoint.serving = false;
      endpoint.lookup.phase = "Failed";
      break;
    case Pod::kDisrupted:
      endpoint.serving = false;
      endpoint.lookup.disruption_target = true;
      break;
  }
  return endpoint;
}

void AddBackend(int address, Held held, oci::BackendSet& set, Ledger& ledger) {
  if (held == Held::kAbsent) return;
  oci::Backend& backend = set.backends.emplace_back();
  backend.name = NameOf(address);
  backend.ip_address = IpOf(address);
  backend.port = 8080;
  backend.drain = held != Held::kRoutable;
  if (held == Held::kRoutable || held == Held::kDrained) return;
  LedgerEntry entry;
  const bool another = held == Held::kDrainedForAnother || held == Held::kOperatorForAnother;
  entry.pod_uid = another ? "before" : UidOf(address);
  entry.by_operator = held == Held::kDrainedByOperator || held == Held::kOperatorForAnother;
  entry.since = kNow - absl::Seconds(20);
  ledger[{kSet, backend.name}] = entry;
}

Input InputOf(const World& world) {
  Input input;
  input.now = kNow;
  input.load_balancer = oci::Ocid("ocid1.loadbalancer.oc1.iad.a");
  input.options.coalesce_window = absl::ZeroDuration();
  SetInput set;
  set.name = kSet;
  set.service = {"v1", "Service", {"shop", "web"}, "service"};
  set.opted_in = set.publishes_terminating = true;
  set.has_membership = false;
  oci::LoadBalancer load_balancer;
  load_balancer.id = input.load_balancer;
  load_balancer.lifecycle_state = "ACTIVE";
  oci::BackendSet& read = load_balancer.backend_sets[kSet];
  read.name = kSet;
  read.health_checker_protocol = "HTTP";
  for (int i = 0; i < kCount; ++i) {
    if (world[i].pod != Pod::kNone) set.endpoints.push_back(EndpointOf(i, world[i]));
    AddBackend(i, world[i].held, read, input.ledger);
  }
  input.sets.push_back(std::move(set));
  input.read = Read{std::move(load_balancer), oci::Etag("e"), kNow, true};
  input.work_requests = WorkRequests{{}, kNow, true};
  return input;
}

std::map<oci::BackendName, bool> PlannedFlips(const Plan& plan) {
  std::map<oci::BackendName, bool> flips;
  if (!plan.write.has_value()) return flips;
  for (const auto& [name, flags] : plan.write->change.flips) flips[name] = flags.drain;
  return flips;
}

// Answers how many backends were flipped.
size_t ExpectAgreement(const World& world) {
  const Input input = InputOf(world);
  const Plan plan = MakePlan(input);
  const std::map<oci::BackendName, bool> flips = ReferenceFlips(world);
  const absl::Status sound = CheckPlan(input, plan);
  EXPECT_TRUE(plan.questions.empty() && sound.ok()) << sound << "\n" << Explain(input, plan);
  EXPECT_EQ(PlannedFlips(plan), flips) << Explain(input, plan);
  if (plan.write.has_value()) {
    EXPECT_TRUE(plan.write->change.additions.empty() && plan.write->change.removals.empty());
    EXPECT_EQ(plan.write->whole_set, flips.size() > 1);
  }
  return flips.size();
}

constexpr int kPodStates = static_cast<int>(Pod::kLast) + 1;
constexpr int kHeldStates = static_cast<int>(Held::kLast) + 1;

// The order of the slots means nothing, so each combination is looked at once.
TEST(Reference, AgreesOnEveryCombinationOfThreePodsAndThreeBackends) {
  constexpr int kStates = kPodStates * kHeldStates;
  const auto slot = [](int state, int address) {
    return Slot{static_cast<Pod>(state / kHeldStates), static_cast<Held>(state % kHeldStates),
                address};
  };
  size_t flips = 0;
  for (int a = 0; a < kStates; ++a) {
    for (int b = a; b < kStates; ++b) {
      for (int c = b; c < kStates; ++c) {
        flips += ExpectAgreement({slot(a, 0), slot(b, 1), slot(c, 2)});
        ASSERT_FALSE(testing::Test::HasFailure()) << a << " " << b << " " << c;
      }
    }
  }
  EXPECT_GT(flips, 10'000u);
}

TEST(Reference, AgreesWhateverPodsShareAnAddress) {
  constexpr std::array kPods = {Pod::kLive, Pod::kTerminating, Pod::kGone, Pod::kUnanswered};
  constexpr std::array kHeld = {Held::kRoutable, Held::kDrainedByUs, Held::kDrainedByOperator};
  constexpr int kPodsAndAddresses = static_cast<int>(kPods.size()) * kCount;
  const auto place = [&](int choice, Slot& slot) {
    slot.pod = kPods[static_cast<size_t>(choice) % kPods.size()];
    slot.address = choice / static_cast<int>(kPods.size());
  };
  size_t flips = 0;
  World world;
  for (int a = 0; a < kPodsAndAddresses; ++a) {
    for (int b = a; b < kPodsAndAddresses; ++b) {
      for (int c = b; c < kPodsAndAddresses; ++c) {
        place(a, world[0]);
        place(b, world[1]);
        place(c, world[2]);
        for (size_t held = 0; held < 27; ++held) {
          world[0].held = kHeld[held % 3];
          world[1].held = kHeld[held / 3 % 3];
          world[2].held = kHeld[held / 9];
          flips += ExpectAgreement(world);
          ASSERT_FALSE(testing::Test::HasFailure()) << a << " " << b << " " << c << " " << held;
        }
      }
    }
  }
  EXPECT_GT(flips, 5'000u);
}

}  // namespace
}  // namespace drain
