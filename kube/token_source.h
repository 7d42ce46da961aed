// Where the bearer token of a request comes from.
#ifndef OCI_BACKEND_DRAIN_KUBE_TOKEN_SOURCE_H_
#define OCI_BACKEND_DRAIN_KUBE_TOKEN_SOURCE_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace kube {

// Thread-safe.
class TokenSource {
 public:
  virtual ~TokenSource() = default;

  // The token to send now; it may have to be read or made first. The error says
  // from where it should have come.
  virtual absl::StatusOr<std::string> Token() = 0;

  // The server refused the last one with 401: the next Token() gets a new one.
  virtual void Refused() = 0;
};

// A token from a kubeconfig, for ever the same.
class FixedTokenSource final : public TokenSource {
 public:
  explicit FixedTokenSource(std::string token) : token_(std::move(token)) {}
  absl::StatusOr<std::string> Token() override { return token_; }
  void Refused() override {}

 private:
  const std::string token_;
};

// A file that somebody rewrites: the kubelet does so for a service account's
// token long before it expires. Read again when the last reading is ten seconds
// old or was refused; while it cannot be read, the token before serves on.
class FileTokenSource final : public TokenSource {
 public:
  // `clock` must outlive it.
  FileTokenSource(std::string path, base::Clock& clock) : path_(std::move(path)), clock_(clock) {}
  absl::StatusOr<std::string> Token() override;
  void Refused() override;

 private:
  const std::string path_;
  base::Clock& clock_;
  absl::Mutex mutex_;
  std::string token_ ABSL_GUARDED_BY(mutex_);
  absl::Time read_at_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

// `text` without surrounding whitespace if it can be a bearer token;
// InvalidArgument that names `where` if it is empty, over 64 KiB, or has
// characters that a header cannot carry.
absl::StatusOr<std::string> CheckToken(absl::string_view text, absl::string_view where);

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_TOKEN_SOURCE_H_
