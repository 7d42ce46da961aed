#include "bench/drain_timing.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/ledger_codec.h"
#include "sim/json_tree.h"

namespace bench {
namespace {

// The ledger that a write of its ConfigMap stores; empty if that was refused or is
// not to be read.
drain::Ledger LedgerOf(const Entry& entry) {
  if (!entry.accepted()) return {};
  const absl::StatusOr<sim::JsonTree> body = sim::JsonTree::Parse(entry.body, "ConfigMap");
  if (!body.ok()) return {};
  absl::StatusOr<drain::Ledger> ledger =
      controller::DecodeLedger((*body)["data"]["ledger"].AsString());
  return ledger.ok() ? *std::move(ledger) : drain::Ledger();
}

bool IsDeletionOf(const Entry& entry, const Pod& pod) {
  return entry.kind == Entry::Kind::kWatchBytes && absl::StrContains(entry.body, pod.uid) &&
         absl::StrContains(entry.body, "\"deletionTimestamp\"") &&
         absl::StrContains(entry.body, "\"PartialObjectMetadata\"");
}

const Entry* FindFirst(const std::vector<Entry>& entries,
                       const std::function<bool(const Entry&)>& matches) {
  const auto it = std::find_if(entries.begin(), entries.end(), matches);
  return it == entries.end() ? nullptr : &*it;
}

const Entry* FindLastLedger(const std::vector<Entry>& entries) {
  const auto it = std::find_if(entries.rbegin(), entries.rend(), [](const Entry& entry) {
    return entry.kind == Entry::Kind::kLedgerWrite;
  });
  return it == entries.rend() ? nullptr : &*it;
}

}  // namespace

bool IsConfirmed(const std::vector<Entry>& entries, const drain::BackendKey& key) {
  const Entry* last = FindLastLedger(entries);
  if (last == nullptr) return false;
  const drain::Ledger ledger = LedgerOf(*last);
  const auto entry = ledger.find(key);
  return entry != ledger.end() && entry->second.confirmed;
}

bool IsForgotten(const std::vector<Entry>& entries, const drain::BackendKey& key) {
  const Entry* last = FindLastLedger(entries);
  return last != nullptr && last->accepted() && LedgerOf(*last).count(key) == 0;
}

absl::StatusOr<DrainTiming> TimingOf(const std::vector<Entry>& entries, const Pod& pod,
                                     const drain::BackendKey& key) {
  const auto broken = [&](absl::string_view what) {
    return absl::FailedPreconditionError(absl::StrCat("drain of ", pod.name, ": ", what));
  };
  const Entry* event =
      FindFirst(entries, [&](const Entry& entry) { return IsDeletionOf(entry, pod); });
  if (event == nullptr) return broken("its deletion was not sent to the controller");
  const Entry* write = FindFirst(entries, [](const Entry& entry) {
    return entry.kind == Entry::Kind::kUpdateBackend ||
           entry.kind == Entry::Kind::kUpdateBackendSet;
  });
  if (write == nullptr) return broken("nothing was written to the load balancer");
  if (write->kind != Entry::Kind::kUpdateBackend) return broken("not an UpdateBackend");
  if (!absl::StrContains(write->target, pod.ip)) return broken("another backend was written");
  if (!write->accepted()) return broken(absl::StrCat("refused with ", write->status));
  if (write->if_match.empty()) return broken("no If-Match");
  const absl::StatusOr<sim::JsonTree> body = sim::JsonTree::Parse(write->body, "UpdateBackend");
  if (!body.ok() || !(*body)["drain"].AsBool()) return broken("drain is not true");
  const Entry* ledger = FindFirst(entries, [&](const Entry& entry) {
    return entry.kind == Entry::Kind::kLedgerWrite && LedgerOf(entry).count(key) != 0;
  });
  if (ledger == nullptr) return broken("not in the ledger");
  if (ledger->time > write->time) return broken("the ledger was written after the drain");
  DrainTiming timing;
  timing.event_to_wire = write->time - event->time;
  timing.event_to_ledger = ledger->time - event->time;
  timing.ledger_to_wire = write->time - ledger->time;
  return timing;
}

}  // namespace bench
