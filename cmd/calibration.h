// Measures on a scratch load balancer what is not documented of it. Writes to
// one backend set and leaves it as it found it.
#ifndef OCI_BACKEND_DRAIN_CMD_CALIBRATION_H_
#define OCI_BACKEND_DRAIN_CMD_CALIBRATION_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/random.h"
#include "oci/load_balancer_api.h"

namespace cmd {

struct CalibrationOptions {
  oci::Ocid load_balancer;
  oci::BackendSetName set;
  int samples = 2;                              // pairs of writes, there and back, of each call
  bool limits = false;                          // whether the set is filled until it is refused
  int limit_guess = 512;                        // how many backends a set is thought to hold
  absl::Duration poll = absl::Seconds(1);       // of a work request
  absl::Duration patience = absl::Minutes(10);  // for one work request, and for the end
};

// Requests to the load balancer while something was done.
struct TrafficFigures {
  int64_t requests = 0;
  int64_t failed = 0;
  // Of the failed ones: what was cut on an open connection, and what was
  // answered with a server error.
  int64_t cut = 0;
  int64_t server_errors = 0;
};

struct CalibrationHooks {
  // Keeps requests going while it calls `during`. Empty: nothing is measured by
  // requests.
  std::function<absl::StatusOr<TrafficFigures>(const std::function<void()>& during)> traffic = {};
  // What is measured next, for people.
  std::function<void(absl::string_view what)> step = {};
  // Somebody wants it to end: nothing new is begun, and what was changed is put
  // back.
  std::function<bool()> is_over = {};
};

// When an accepted write moves the ETag.
enum class EtagMoves { kUnknown, kNever, kAtAcceptance, kAtCompletion, kBoth };
// What a read shows while a write is accepted and not done.
enum class ShownMeanwhile { kUnknown, kOldState, kNewState };
// What a second write meets while another is not done.
enum class SecondWrite { kUnknown, kQueued, kRefused };

struct LimitFigures {
  int most = 0;           // backends that were taken
  bool is_limit = false;  // one more is refused; else nothing beyond was tried
  bool at_once = false;   // refused by the call, else by its work request
  std::string error;      // the refusal in OCI's words
};

struct Calibration {
  int backends = 0;  // in the set, before
  EtagMoves etag = EtagMoves::kUnknown;
  ShownMeanwhile shown = ShownMeanwhile::kUnknown;
  SecondWrite second = SecondWrite::kUnknown;
  std::string second_error;
  std::optional<bool> old_etag_refused;
  std::string old_etag_error;
  std::vector<absl::Duration> backend_times;  // of UpdateBackend
  std::vector<absl::Duration> set_times;      // of UpdateBackendSet
  std::optional<TrafficFigures> control;      // without a write
  std::optional<TrafficFigures> whole_set;    // during one that changes nothing
  std::optional<TrafficFigures> offline;      // while every backend goes offline
  std::optional<LimitFigures> limit;
  // Why it ended before all was measured; OK: it did not.
  absl::Status ended;
  // What is not as it was, each with what it was; empty: nothing.
  std::vector<std::string> left_behind;
};

// For one thread, and one call of each.
class Calibrator {
 public:
  // The references must outlive it.
  Calibrator(oci::LoadBalancerApi& api, base::Clock& clock, CalibrationOptions options,
             CalibrationHooks hooks, uint64_t seed);

  // Whether the set may be written to: the load balancer is ACTIVE and at rest,
  // the set is there with a backend, and no ingress controller's. Reads only;
  // the status says what to choose instead.
  absl::Status Check();

  // After Check. Ends as early as it has to, and puts back what it changed in
  // any case.
  Calibration Run();

 private:
  // What was seen of one accepted write.
  struct Seen {
    oci::WorkRequest done;
    absl::Duration took;
    bool meanwhile = false;  // a read came back while it was not done
    oci::Etag before, during, after;
    bool shows_new = false;
  };

  absl::Status Read();
  absl::Status Measure();
  absl::Status MeasureBackendWrites();
  absl::Status MeasureSetWrites();
  absl::Status TryOldEtag(const oci::Etag& old_etag);
  absl::Status TrySecondWrite();
  absl::Status MeasureTraffic();
  absl::Status MeasureOffline();
  absl::Status MeasureLimit();
  // Whether the set takes so many backends; the refusal goes into the figures.
  absl::StatusOr<bool> Takes(int backends);
  absl::Status RemoveOwn();
  void Restore();
  absl::Status TryRestore();

  absl::Status GoOn() const;
  void Step(absl::string_view what) const;
  const oci::BackendSet& Set() const;
  const oci::Backend& Probed() const;
  oci::WriteGuard Guard(const oci::Etag& etag);
  absl::StatusOr<oci::WorkRequestId> WriteDrain(bool drain);
  absl::StatusOr<oci::WorkRequestId> WriteSet(const oci::BackendSetChange& change);
  // Until the work request has ended; `drain` is what the write wants of the
  // probed backend.
  absl::StatusOr<Seen> Follow(const oci::WorkRequestId& id, std::optional<bool> drain);
  absl::StatusOr<oci::WorkRequest> AwaitEnd(const oci::WorkRequestId& id);
  void Learn(const Seen& seen);
  // What the set needs to be as it was, as far as it was changed here.
  oci::BackendSetChange WayBack() const;

  oci::LoadBalancerApi& api_;
  base::Clock& clock_;
  const CalibrationOptions options_;
  const CalibrationHooks hooks_;
  base::Random random_;
  oci::LoadBalancerRead read_;
  oci::BackendSet original_;
  std::set<oci::BackendName> own_;  // backends that were added
  std::vector<oci::WorkRequestId> unfinished_;
  bool etag_disagrees_ = false;
  bool shown_disagrees_ = false;
  bool restoring_ = false;
  Calibration result_;
};

}  // namespace cmd

#endif  // OCI_BACKEND_DRAIN_CMD_CALIBRATION_H_
