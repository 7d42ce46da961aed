#include "drain/foreign.h"

#include <algorithm>

#include "drain/membership.h"

namespace drain {
namespace {

bool SameSettings(const oci::Backend& a, const oci::Backend& b) {
  // An addition of ours has no document; it was sent with the defaults.
  return a.settings.empty() || b.settings.empty() || a.settings == b.settings;
}

bool SameForeign(const oci::Backend& a, const oci::Backend& b) {
  return SameSettings(a, b) && a.drain == b.drain && a.offline == b.offline;
}

// Whether they differ in anything but our Services' membership and flags.
bool Differs(const Draft& draft, const SetDraft& set, const oci::BackendSet& a,
             const oci::BackendSet& b) {
  if (a.settings != b.settings) return true;
  const BackendIndex of_a(a);
  const BackendIndex of_b(b);
  for (const oci::Backend& backend : a.backends) {
    const oci::Backend* other = of_b.Find(backend.name.value());
    if (IsOurs(draft, set, backend.name)) {
      if (other != nullptr && !SameSettings(backend, *other)) return true;
    } else if (other == nullptr || !SameForeign(backend, *other)) {
      return true;
    }
  }
  return std::any_of(b.backends.begin(), b.backends.end(), [&](const oci::Backend& backend) {
    return of_a.Find(backend.name.value()) == nullptr && !IsOurs(draft, set, backend.name);
  });
}

bool Unfinished(const Draft& draft, const oci::WorkRequestId& id) {
  return std::any_of(draft.foreign.begin(), draft.foreign.end(),
                     [&](const oci::WorkRequest* w) { return w->id == id; });
}

// What our write will make of the set as a foreign one left it.
oci::BackendSet SetAsSent(const OwnWrite& own, const oci::BackendSet& read) {
  if (own.sent.has_value()) return **own.sent;
  oci::BackendSet sent = read;
  for (oci::Backend& backend : sent.backends) {
    if (own.sent_backend.has_value() && backend.name == own.sent_backend->name) {
      backend.settings = own.sent_backend->settings;
    }
  }
  return sent;
}

void Detect(Draft& draft, const SetDraft& set) {
  const auto& own = draft.plan.memory.own_write;
  if (!own.has_value() || own->set != set.input->name) return;
  if (own->behind.empty()) return;
  for (const oci::WorkRequestId& id : own->behind) {
    if (Unfinished(draft, id)) return;
  }
  const oci::BackendSet sent = SetAsSent(*own, *set.read);
  if (!Differs(draft, set, *set.read, sent)) return;
  draft.plan.memory.restorations[set.input->name] = {*set.read, sent, oci::WorkRequestId()};
}

// Done, or overtaken by somebody else's newer change.
bool Over(const Draft& draft, const SetDraft& set, const Restoration& restoration) {
  const auto& own = draft.plan.memory.own_write;
  if (own.has_value() && own->set == set.input->name) return false;
  return !Differs(draft, set, *set.read, *restoration.foreign) ||
         Differs(draft, set, *set.read, *restoration.sent);
}

}  // namespace

void ObserveRestorations(Draft& draft) {
  if (!draft.FreshLook()) return;
  auto& restorations = draft.plan.memory.restorations;
  for (const SetDraft& set : draft.sets) {
    if (set.read == nullptr || set.input->contested) continue;
    Detect(draft, set);
    const auto it = restorations.find(set.input->name);
    if (it != restorations.end() && Over(draft, set, it->second)) restorations.erase(it);
  }
  std::erase_if(restorations, [&](const auto& item) {
    return draft.in.read->load_balancer->backend_sets.count(item.first) == 0;
  });
}

}  // namespace drain
