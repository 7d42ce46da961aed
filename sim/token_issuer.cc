#include "sim/token_issuer.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "sim/timestamp.h"
#include "sim/web_token.h"

namespace sim {
namespace {

// The value of keyId="..." in an Authorization header.
std::string KeyIdOf(const http::Request& request) {
  absl::string_view text = http::FindHeader(request.headers, "authorization");
  constexpr absl::string_view kName = "keyId=\"";
  const size_t at = text.find(kName);
  if (at == absl::string_view::npos) return "";
  text.remove_prefix(at + kName.size());
  return std::string(text.substr(0, text.find('"')));
}

}  // namespace

absl::StatusOr<std::string> TokenIssuer::Issue(absl::string_view public_key_pem,
                                               absl::string_view subject) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!keys_.insert(std::string(public_key_pem)).second) {
    return absl::InvalidArgumentError("This key has a token already");
  }
  const absl::Time now = clock_.Now(), expires = now + life_;
  const std::string token =
      MakeWebToken(absl::StrCat(R"({"sub":")", subject, R"(","res_tenant":")", subject,
                                R"(","iat":)", absl::ToUnixSeconds(now), R"(,"exp":)",
                                absl::ToUnixSeconds(expires), R"(,"jti":")", keys_.size(), "\"}"));
  const std::string key_id = absl::StrCat("ST$", token);
  absl::Status known = verifier_.AddKey(key_id, std::string(subject), public_key_pem);
  if (!known.ok()) return known;
  expires_[key_id] = expires;
  if (on_issue_) on_issue_(key_id, std::string(public_key_pem));
  return token;
}

void TokenIssuer::set_life(absl::Duration life) {
  std::lock_guard<std::mutex> lock(mutex_);
  life_ = life;
}

void TokenIssuer::OnIssue(std::function<void(const std::string&, const std::string&)> f) {
  std::lock_guard<std::mutex> lock(mutex_);
  on_issue_ = std::move(f);
}

absl::Status TokenIssuer::Verify(const http::Request& request) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const absl::StatusOr<std::string> speaker = verifier_.Verify(request, clock_.Now());
  if (!speaker.ok()) return speaker.status();
  const std::string key_id = KeyIdOf(request);
  if (revoked_.count(key_id) > 0) return absl::UnauthenticatedError("The token was revoked");
  if (expires_.at(key_id) <= clock_.Now()) {
    return absl::UnauthenticatedError("The token has expired");
  }
  return absl::OkStatus();
}

void TokenIssuer::Revoke() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [key_id, expires] : expires_) revoked_.insert(key_id);
}

int TokenIssuer::issued() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(expires_.size());
}

std::vector<std::string> TokenIssuer::tokens() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> tokens;
  for (const auto& [key_id, expires] : expires_) {
    tokens.emplace_back(absl::StripPrefix(key_id, "ST$"));
  }
  return tokens;
}

http::Response OciError(int status, absl::string_view code, absl::string_view message,
                        absl::Time now) {
  return {.status = status,
          .headers = {{"date", HttpDate(now)}, {"content-type", "application/json"}},
          .body = absl::StrCat(R"({"code":")", code, R"(","message":")", message, "\"}")};
}

std::unique_ptr<HttpServer> StartOciService(TokenIssuer& issuer, base::Clock& clock) {
  return HttpServer::Start([&issuer, &clock](const http::Request& request) -> Answer {
           const absl::Status verified = issuer.Verify(request);
           if (!verified.ok()) {
             return OciError(401, "NotAuthenticated", verified.message(), clock.Now());
           }
           return http::Response{.status = 200,
                                 .headers = {{"etag", "1"}},
                                 .body = R"({"id":"x","lifecycleState":"ACTIVE"})"};
         })
      .value();
}

}  // namespace sim
