#include "controller/ledger_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "controller/ledger_codec.h"
#include "glog/logging.h"

namespace controller {
namespace {

constexpr char kLedgerKey[] = "ledger";
constexpr char kOwnerKey[] = "loadBalancer";
constexpr size_t kMaxSuffix = 80;
constexpr absl::Duration kFirstRetry = absl::Milliseconds(200);
constexpr absl::Duration kLastRetry = absl::Seconds(30);

absl::Status NotOfThisLoadBalancer(const kube::ObjectKey& key, const oci::Ocid& load_balancer) {
  return absl::FailedPreconditionError(absl::StrCat("ConfigMap ", key.ToString(),
                                                    " is not the ledger of load balancer ",
                                                    load_balancer.value(), "; delete it"));
}

// Often at first, while a drain waits for it, then ever less.
void NoteFailure(const oci::Ocid& load_balancer, const absl::Status& why, absl::Time now,
                 LbState& state) {
  state.ledger_failing_since = std::min(state.ledger_failing_since, now);
  state.ledger_error = why;
  state.ledger_not_before =
      now + std::clamp((now - state.ledger_failing_since) / 4, kFirstRetry, kLastRetry);
  LOG(WARNING) << "ledger of " << load_balancer << ": " << why;
}

}  // namespace

std::string LedgerName(const oci::Ocid& load_balancer) {
  const std::string& ocid = load_balancer.value();
  std::string suffix = ocid.substr(ocid.rfind('.') + 1);
  if (suffix.size() > kMaxSuffix) suffix = suffix.substr(suffix.size() - kMaxSuffix);
  for (char& c : suffix) c = absl::ascii_isalnum(c) ? absl::ascii_tolower(c) : '-';
  return absl::StrCat("oci-drain-", suffix);
}

LedgerStore::LedgerStore(kube::KubeApi& api, std::string ns) : api_(api), ns_(std::move(ns)) {}

absl::Status LedgerStore::Load(const oci::Ocid& load_balancer, LbState& state, absl::Time now) {
  if (state.ledger_loaded) return absl::OkStatus();
  if (now < state.ledger_not_before) return state.ledger_error;
  const absl::Status status = Fetch(load_balancer, state);
  if (status.ok()) {
    state.ledger_failing_since = absl::InfiniteFuture();
  } else {
    NoteFailure(load_balancer, status, now, state);
  }
  return status;
}

absl::Status LedgerStore::Fetch(const oci::Ocid& load_balancer, LbState& state) {
  if (state.ledger_loaded) return absl::OkStatus();
  const kube::ObjectKey key{ns_, LedgerName(load_balancer)};
  const absl::StatusOr<kube::ConfigMap> stored = api_.GetConfigMap(key);
  if (absl::IsNotFound(stored.status())) {
    state.ledger_loaded = true;
    return absl::OkStatus();
  }
  if (!stored.ok()) return stored.status();
  const auto owner = stored->data.find(kOwnerKey);
  if (owner == stored->data.end() || owner->second != load_balancer.value()) {
    return NotOfThisLoadBalancer(key, load_balancer);
  }
  const auto text = stored->data.find(kLedgerKey);
  if (text != stored->data.end()) {
    absl::StatusOr<drain::Ledger> ledger = DecodeLedger(text->second);
    if (!ledger.ok()) {
      return absl::Status(ledger.status().code(), absl::StrCat("ConfigMap ", key.ToString(), ": ",
                                                               ledger.status().message()));
    }
    state.stored_ledger = *ledger;
    state.ledger.insert(ledger->begin(), ledger->end());
  }
  state.ledger_version = stored->resource_version;
  state.ledger_loaded = true;
  return absl::OkStatus();
}

absl::Status LedgerStore::Put(const oci::Ocid& load_balancer, const drain::Ledger& ledger,
                              LbState& state) {
  kube::ConfigMap config_map;
  config_map.key = {ns_, LedgerName(load_balancer)};
  config_map.resource_version = state.ledger_version;
  config_map.data[kOwnerKey] = load_balancer.value();
  absl::StatusOr<std::string> text = EncodeLedger(ledger);
  if (!text.ok()) return text.status();
  config_map.data[kLedgerKey] = *std::move(text);
  const absl::StatusOr<kube::ConfigMap> stored = api_.PutConfigMap(config_map);
  if (!stored.ok()) {
    // It may have been stored all the same.
    state.ledger_put_lost =
        absl::IsDeadlineExceeded(stored.status()) || absl::IsUnavailable(stored.status());
    return stored.status();
  }
  state.ledger_put_lost = false;
  state.ledger_version = stored->resource_version;
  state.stored_ledger = ledger;
  return absl::OkStatus();
}

absl::Status LedgerStore::Save(const oci::Ocid& load_balancer, const drain::Ledger& ledger,
                               LbState& state, absl::Time now) {
  if (state.ledger_loaded && !state.ledger_put_lost && ledger == state.stored_ledger) {
    state.ledger_failing_since = absl::InfiniteFuture();
    return absl::OkStatus();
  }
  if (now < state.ledger_not_before) return state.ledger_error;
  absl::Status status = Fetch(load_balancer, state);
  if (status.ok()) status = Put(load_balancer, ledger, state);
  if (absl::IsAborted(status) || absl::IsAlreadyExists(status) || absl::IsNotFound(status)) {
    // Written by a former leader, or deleted: ours is the newer truth.
    const absl::StatusOr<kube::ConfigMap> stored =
        api_.GetConfigMap({ns_, LedgerName(load_balancer)});
    state.ledger_version = stored.ok() ? stored->resource_version : "";
    if (stored.ok() || absl::IsNotFound(stored.status())) {
      status = Put(load_balancer, ledger, state);
    }
  }
  if (status.ok()) {
    state.ledger_failing_since = absl::InfiniteFuture();
  } else {
    NoteFailure(load_balancer, status, now, state);
  }
  return status;
}

}  // namespace controller
