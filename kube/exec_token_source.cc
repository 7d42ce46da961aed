#include "kube/exec_token_source.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"

namespace kube {
namespace {

constexpr absl::Duration kMargin = absl::Seconds(30);
constexpr absl::Duration kRunAgainAfter = absl::Seconds(5);
constexpr size_t kMaxQuotedBytes = 300;

}  // namespace

absl::StatusOr<ExecCredential> ParseExecCredential(absl::string_view json,
                                                   absl::string_view api_version) {
  const absl::StatusOr<rapidjson::Document> document = base::ParseJson(json, "its output");
  if (!document.ok()) return document.status();
  const std::string got = base::ReadString(*document, "apiVersion").value_or("");
  if (got != api_version || base::ReadString(*document, "kind").value_or("") != "ExecCredential") {
    return absl::InvalidArgumentError(
        absl::StrCat("its output is no ExecCredential of ", api_version));
  }
  const rapidjson::Value* status = base::FindMember(*document, "status");
  if (status == nullptr) return absl::InvalidArgumentError("its output has no status");
  const absl::StatusOr<std::string> text = base::RequireString(*status, "token");
  if (!text.ok()) {
    return absl::InvalidArgumentError(
        base::FindMember(*status, "clientCertificateData") != nullptr
            ? "it gives a client certificate and no token; put the certificate into the kubeconfig"
            : "its output has no status.token");
  }
  absl::StatusOr<std::string> token = CheckToken(*text, "status.token");
  if (!token.ok()) return token.status();
  const absl::StatusOr<absl::Time> expires = base::ReadTime(*status, "expirationTimestamp");
  if (!expires.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("status.", expires.status().message()));
  }
  return ExecCredential{*std::move(token), *expires};
}

ExecTokenSource::ExecTokenSource(ExecPlugin plugin, base::Clock& clock)
    : plugin_(std::move(plugin)), clock_(clock) {}

absl::StatusOr<std::string> ExecTokenSource::Token() {
  absl::MutexLock lock(&mutex_);
  if (clock_.Now() >= use_until_) {
    last_ = Run();
    made_at_ = clock_.Now();
    use_until_ = made_at_ + kRunAgainAfter;
    if (last_.ok()) {
      const absl::Duration life = last_->expires - made_at_;
      use_until_ = std::max(use_until_, last_->expires - std::min(kMargin, life / 4));
    }
  }
  if (!last_.ok()) return last_.status();
  return last_->token;
}

void ExecTokenSource::Refused() {
  absl::MutexLock lock(&mutex_);
  // A plugin whose tokens are refused is not run for each call.
  use_until_ = std::min(use_until_, made_at_ + kRunAgainAfter);
}

absl::StatusOr<ExecCredential> ExecTokenSource::Run() const {
  const std::string what = absl::StrCat("credential plugin ", plugin_.command.program);
  const absl::StatusOr<CommandResult> result = RunCommand(plugin_.command, clock_);
  if (!result.ok()) {
    const char* const separator = plugin_.install_hint.empty() ? "" : "; ";
    return absl::UnavailableError(absl::StrCat("credential plugin: ", result.status().message(),
                                               separator,
                                               plugin_.install_hint.substr(0, kMaxQuotedBytes)));
  }
  if (result->exit_status != 0) {
    const absl::string_view said = absl::StripAsciiWhitespace(result->error_output);
    return absl::UnavailableError(absl::StrCat(what, " failed with exit status ",
                                               result->exit_status, ": ",
                                               absl::CHexEscape(said.substr(0, kMaxQuotedBytes))));
  }
  absl::StatusOr<ExecCredential> credential =
      ParseExecCredential(result->output, plugin_.api_version);
  if (credential.ok()) return credential;
  return absl::UnavailableError(absl::StrCat(what, ": ", credential.status().message()));
}

}  // namespace kube
