#include "sim/web_token.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace sim {

std::string MakeWebToken(absl::string_view claims) {
  return absl::StrCat(absl::WebSafeBase64Escape(R"({"alg":"RS256","kid":"asw"})"), ".",
                      absl::WebSafeBase64Escape(claims), ".",
                      absl::WebSafeBase64Escape("signature of nobody"));
}

std::string MakeWebToken(absl::string_view subject, absl::Time expires) {
  return MakeWebToken(
      absl::StrCat(R"({"sub":")", subject, R"(","exp":)", absl::ToUnixSeconds(expires), "}"));
}

}  // namespace sim
