// What reached the fakes and what they sent, with times of one clock.
#ifndef OCI_BACKEND_DRAIN_BENCH_JOURNAL_H_
#define OCI_BACKEND_DRAIN_BENCH_JOURNAL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "sim/fake_api_server.h"
#include "sim/request_faults.h"

namespace bench {

struct Entry {
  enum class Kind {
    kWatchBytes,     // `time`: just before they were written
    kLedgerWrite,    // a ConfigMap was created or replaced
    kEventWrite,     // a Kubernetes Event
    kKubeOther,      // another call to the Kubernetes API
    kUpdateBackend,  // `time` of these: when the request had been received
    kUpdateBackendSet,
    kGetLoadBalancer,
    kListWorkRequests,
    kGetWorkRequest,
    kOciOther,
  };
  Kind kind = Kind::kKubeOther;
  absl::Time time = absl::InfinitePast();
  std::string target = {};
  std::string body = {};  // of the request; of kWatchBytes the bytes
  std::string if_match = {};
  int status = 0;

  bool accepted() const { return status >= 200 && status < 300; }
};

absl::string_view Name(Entry::Kind kind);

// Thread-safe.
class Journal {
 public:
  void AddWatchBytes(absl::Time before, absl::string_view bytes);
  void AddKube(const sim::KubeRequestRecord& record);
  void AddOci(const sim::RequestRecord& record);

  // Forgets the entries, not the counts.
  void Clear();
  std::vector<Entry> entries() const;
  // Of all entries ever.
  std::map<Entry::Kind, int64_t> counts() const;

  // Waits until `done` is true of the entries since Clear; false once `patience`
  // is over. `done` is called with the journal locked.
  using Predicate = std::function<bool(const std::vector<Entry>&)>;
  bool Await(const Predicate& done, absl::Duration patience) const;

 private:
  void Add(Entry entry);

  mutable absl::Mutex mutex_;
  std::vector<Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::map<Entry::Kind, int64_t> counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bench

#endif  // OCI_BACKEND_DRAIN_BENCH_JOURNAL_H_
