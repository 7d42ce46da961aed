#include "controller/election.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace controller {
namespace {

// What a released record says: it is free at once, whoever looks.
constexpr absl::Duration kReleased = absl::Seconds(1);

bool SameRecord(const std::optional<kube::Lease>& a, const std::optional<kube::Lease>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a.has_value() ||
         (a->holder == b->holder && a->duration == b->duration && a->acquired == b->acquired &&
          a->renewed == b->renewed && a->transitions == b->transitions);
}

// Versions of one object are numbers that grow; of others nothing is known.
bool IsOlder(const std::string& version, const std::string& than) {
  uint64_t a = 0;
  uint64_t b = 0;
  return absl::SimpleAtoi(version, &a) && absl::SimpleAtoi(than, &b) && a < b;
}

}  // namespace

absl::string_view AddressIn(absl::string_view identity) {
  const size_t at = identity.rfind('@');
  return at == absl::string_view::npos ? absl::string_view() : identity.substr(at + 1);
}

void Election::Advertise(absl::string_view address) {
  if (!address.empty()) absl::StrAppend(&options_.identity, "@", address);
}

absl::Status CheckElectionOptions(const ElectionOptions& options) {
  if (options.retry_period <= absl::ZeroDuration() ||
      options.renew_deadline <= options.retry_period ||
      options.lease_duration <= options.renew_deadline) {
    return absl::InvalidArgumentError(
        "--lease_duration must be above --renew_deadline, that above --retry_period, and that "
        "above 0");
  }
  if (options.lease_duration != absl::Trunc(options.lease_duration, absl::Seconds(1))) {
    return absl::InvalidArgumentError("--lease_duration: must be whole seconds");
  }
  return absl::OkStatus();
}

absl::Duration Election::write_until() const {
  return leads_ ? renewed_at_ + options_.renew_deadline : absl::ZeroDuration();
}

void Election::Take(const std::optional<kube::Lease>& lease, absl::Duration now) {
  if (!known_ || !SameRecord(lease, record_)) {
    // A record that vanishes was held until then: whoever held it may not know yet,
    // and relies on it for as long as the record had said.
    const bool vanished = known_ && !lease.has_value();
    if (!vanished) changed_at_ = now;
    if (lease.has_value()) {
      held_for_ =
          lease->duration > absl::ZeroDuration() ? lease->duration : options_.lease_duration;
      if (lease->holder.empty()) held_for_ = absl::ZeroDuration();
    }
  }
  known_ = true;
  must_read_ = false;
  record_ = lease;
  heard_at_ = now;
  if (record_.has_value() && record_->holder != options_.identity) leads_ = false;
}

void Election::Observe(const std::optional<kube::Lease>& lease, absl::Duration now) {
  if (lease.has_value() && record_.has_value() &&
      IsOlder(lease->resource_version, record_->resource_version)) {
    return;
  }
  Take(lease, now);
}

void Election::OnRead(const absl::StatusOr<kube::Lease>& lease, absl::Duration now) {
  if (lease.ok()) return Take(*lease, now);
  if (absl::IsNotFound(lease.status())) return Take(std::nullopt, now);
  try_at_ = now + options_.retry_period;
}

absl::Duration Election::FreeAt() const {
  if (!record_.has_value()) return changed_at_ + held_for_;
  if (record_->holder.empty() || Holds()) return absl::ZeroDuration();
  return changed_at_ + held_for_;
}

kube::Lease Election::Claim(absl::Time wall_now) const {
  kube::Lease lease = record_.value_or(kube::Lease());
  lease.key = options_.lease;
  if (!leads_ || !record_.has_value()) lease.acquired = wall_now;
  if (record_.has_value() && !Holds()) ++lease.transitions;
  lease.holder = options_.identity;
  lease.duration = options_.lease_duration;
  lease.renewed = wall_now;
  return lease;
}

kube::Lease Election::Release(absl::Time wall_now) const {
  kube::Lease lease = *record_;
  lease.holder.clear();
  lease.duration = kReleased;
  lease.acquired = lease.renewed = wall_now;
  return lease;
}

ElectionStep Election::Next(const OwnState& own, absl::Duration now, absl::Time wall_now) {
  using Kind = ElectionStep::Kind;
  if (leads_ && now >= write_until()) leads_ = false;
  if (own.resign) {
    leads_ = false;
    if (known_ && !must_read_ && !Holds()) return {Kind::kEnd};
    if (now < try_at_) return {Kind::kWait, try_at_};
    if (!known_ || must_read_) return {Kind::kRead};
    return {Kind::kWrite, {}, Release(wall_now)};
  }
  if (now < try_at_) return {Kind::kWait, leads_ ? std::min(try_at_, write_until()) : try_at_};
  if (!known_ || must_read_) return {Kind::kRead};
  if (leads_) {
    const absl::Duration renew_at = renewed_at_ + options_.retry_period;
    if (now < renew_at) return {Kind::kWait, renew_at};
    return {Kind::kWrite, {}, Claim(wall_now)};
  }
  if (own.at_rest && now >= FreeAt()) return {Kind::kWrite, {}, Claim(wall_now)};
  // The watch shows each renewal; without a sign of it for so long it is asked for.
  const absl::Duration read_at = heard_at_ + 2 * options_.retry_period;
  if (now >= read_at) return {Kind::kRead};
  return {Kind::kWait, own.at_rest ? std::min(read_at, FreeAt()) : read_at};
}

void Election::OnWritten(const ElectionStep& step, const absl::StatusOr<kube::Lease>& stored,
                         absl::Duration sent_at, absl::Duration now) {
  if (!stored.ok()) {
    // Somebody was faster, or it may have happened: the next step rests on what is.
    must_read_ = absl::IsAborted(stored.status()) || absl::IsDeadlineExceeded(stored.status());
    try_at_ = absl::IsAborted(stored.status()) ? now : now + options_.retry_period;
    return;
  }
  Take(*stored, now);
  if (step.lease.holder.empty()) return;
  if (!std::exchange(leads_, true)) ++terms_;
  renewed_at_ = sent_at;
}

}  // namespace controller
