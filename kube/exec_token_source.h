// Tokens from a credential plugin, such as `oci ce cluster generate-token`.
#ifndef OCI_BACKEND_DRAIN_KUBE_EXEC_TOKEN_SOURCE_H_
#define OCI_BACKEND_DRAIN_KUBE_EXEC_TOKEN_SOURCE_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/run_command.h"
#include "kube/token_source.h"

namespace kube {

// users[].user.exec of a kubeconfig.
struct ExecPlugin {
  std::string api_version;  // "client.authentication.k8s.io/v1" or ".../v1beta1"
  Command command;
  std::string install_hint;
};

// What a plugin printed.
struct ExecCredential {
  std::string token;
  absl::Time expires = absl::InfiniteFuture();  // if it did not say: when refused
};

// InvalidArgument says what is wrong with it, never what the token is.
absl::StatusOr<ExecCredential> ParseExecCredential(absl::string_view json,
                                                   absl::string_view api_version);

// Runs the plugin when there is no token that lasts at least until the next
// request is answered (30 s, or a quarter of its life if that is less). While it
// runs, others wait for it. It is not run again within 5 s, whether it failed or
// its token was refused.
class ExecTokenSource final : public TokenSource {
 public:
  // `clock` must outlive it.
  ExecTokenSource(ExecPlugin plugin, base::Clock& clock);
  absl::StatusOr<std::string> Token() override;
  void Refused() override;

 private:
  absl::StatusOr<ExecCredential> Run() const;

  const ExecPlugin plugin_;
  base::Clock& clock_;
  absl::Mutex mutex_;
  absl::StatusOr<ExecCredential> last_ ABSL_GUARDED_BY(mutex_);
  absl::Time made_at_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Time use_until_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_EXEC_TOKEN_SOURCE_H_
