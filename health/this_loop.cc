#include "health/this_loop.h"

#include <optional>

namespace health {
namespace {

struct Current {
  Vitals* vitals;
  Vitals::LoopId id;
};

thread_local std::optional<Current> current;

}  // namespace

ThisLoop::ThisLoop(Vitals& vitals, absl::string_view name)
    : vitals_(vitals), id_(vitals.AddLoop(name)) {
  current = Current{&vitals, id_};
}

ThisLoop::~ThisLoop() {
  current.reset();
  vitals_.RemoveLoop(id_);
}

void Tick() {
  if (current.has_value()) current->vitals->Tick(current->id);
}

void DeclaredWait::Extend(absl::Duration until) {
  if (current.has_value()) current->vitals->Wait(current->id, until);
}

}  // namespace health
