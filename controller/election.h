// Who of several replicas leads: the decisions, without clock, thread or call.
//
//   Election election(options);
//   for (;;) {
//     const ElectionStep step = election.Next(own, clock.Monotonic(), clock.Now());
//     ... kWait: until step.until or something is observed; kRead: OnRead(api.GetLease());
//     ... kWrite: OnWritten(step, api.PutLease(step.lease), sent_at, now)
//   }
//
// The record is a coordination.k8s.io/v1 Lease, used as client-go uses it. Two clocks
// are never compared: whether a lease has run out is told by how long its record has
// not changed, on one's own clock. docs/health.md has the rules for people, ADR 0015
// why they make one writer.
#ifndef OCI_BACKEND_DRAIN_CONTROLLER_ELECTION_H_
#define OCI_BACKEND_DRAIN_CONTROLLER_ELECTION_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/types.h"

namespace controller {

struct ElectionOptions {
  kube::ObjectKey lease = {"oci-backend-drain", "oci-drain"};
  std::string identity;  // of this process and no other one
  // Others take the lease when its record has not changed for so long. Whole seconds.
  absl::Duration lease_duration = absl::Seconds(15);
  // Without a renewal the leader stops to write so long after the last one.
  absl::Duration renew_deadline = absl::Seconds(10);
  // Between two renewals, and between two attempts that fail.
  absl::Duration retry_period = absl::Seconds(2);
};

// InvalidArgument unless lease_duration > renew_deadline > retry_period > 0.
absl::Status CheckElectionOptions(const ElectionOptions& options);

// The address that a replica has in its identity, "name@10.0.0.7:8090"; may be empty.
absl::string_view AddressIn(absl::string_view identity);

// What the process says of itself.
struct OwnState {
  // Nothing of a former term is under way any more.
  bool at_rest = true;
  // It gives the lease up, for good: it ends, or is wedged. Writes have ended.
  bool resign = false;
};

struct ElectionStep {
  enum class Kind {
    kWait,   // until `until`, or until something is observed or the own state changes
    kRead,   // the lease is to be read
    kWrite,  // `lease` is to be written: acquired, renewed or released
    kEnd,    // resigned, and nothing is left to do
  };
  Kind kind = Kind::kWait;
  absl::Duration until = absl::ZeroDuration();
  kube::Lease lease = {};
};

// Moments are base::Clock::Monotonic(). Not thread-safe.
class Election {
 public:
  explicit Election(ElectionOptions options) : options_(std::move(options)) {}

  // Appends the address at which other replicas reach this one, before the first step.
  void Advertise(absl::string_view address);

  // What a watch shows; nothing: the lease was deleted. What is older than what is
  // known says nothing.
  void Observe(const std::optional<kube::Lease>& lease, absl::Duration now);

  // `wall_now` is written into the record for people, and read by nobody.
  ElectionStep Next(const OwnState& own, absl::Duration now, absl::Time wall_now);
  void OnRead(const absl::StatusOr<kube::Lease>& lease, absl::Duration now);
  // `sent_at`: a moment before the write went out.
  void OnWritten(const ElectionStep& step, const absl::StatusOr<kube::Lease>& stored,
                 absl::Duration sent_at, absl::Duration now);

  const std::string& identity() const { return options_.identity; }
  // Whether this process leads, as of the last call.
  bool leads() const { return leads_; }
  // Writes may go out before this moment; zero while it does not lead. It ends
  // lease_duration - renew_deadline before anybody can take the lease.
  absl::Duration write_until() const;
  // Terms of its own that have begun.
  int terms() const { return terms_; }
  // Who holds the lease, as far as is known; may be empty.
  std::string holder() const { return record_.has_value() ? record_->holder : ""; }

 private:
  void Take(const std::optional<kube::Lease>& lease, absl::Duration now);
  bool Holds() const { return record_.has_value() && record_->holder == options_.identity; }
  // When the lease is free to be taken, if nothing is heard until then.
  absl::Duration FreeAt() const;
  kube::Lease Claim(absl::Time wall_now) const;
  kube::Lease Release(absl::Time wall_now) const;

  ElectionOptions options_;
  bool known_ = false;      // the lease was read or observed
  bool must_read_ = false;  // what is known is out of date
  std::optional<kube::Lease> record_;
  // When the record was first seen as it is, and anything was heard at all.
  absl::Duration changed_at_ = absl::ZeroDuration();
  absl::Duration heard_at_ = absl::ZeroDuration();
  // How long whoever held the lease may rely on it, from changed_at_.
  absl::Duration held_for_ = absl::ZeroDuration();
  absl::Duration try_at_ = absl::ZeroDuration();  // after a failure
  bool leads_ = false;
  absl::Duration renewed_at_ = absl::ZeroDuration();  // sent, of the last one that succeeded
  int terms_ = 0;
};

}  // namespace controller

#endif  // OCI_BACKEND_DRAIN_CONTROLLER_ELECTION_H_
