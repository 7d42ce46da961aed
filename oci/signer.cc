#include "oci/signer.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "http/date.h"

namespace oci {
namespace {

constexpr absl::string_view kBodyHeaders = " content-length content-type x-content-sha256";

bool HasSignedBody(const http::Request& request) {
  return request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
}

void SetHeader(http::Request& request, absl::string_view name, std::string value) {
  auto& headers = request.headers;
  headers.erase(std::remove_if(
                    headers.begin(), headers.end(),
                    [&](const auto& header) { return absl::EqualsIgnoreCase(header.first, name); }),
                headers.end());
  headers.emplace_back(std::string(name), std::move(value));
}

absl::Status Sign(const Credentials& credentials, std::optional<absl::string_view> authority,
                  absl::Time now, http::Request& request) {
  if (http::FindHeader(request.headers, "date").empty()) {
    SetHeader(request, "date", http::FormatDate(now));
  }
  if (HasSignedBody(request)) {
    if (http::FindHeader(request.headers, "content-type").empty()) {
      SetHeader(request, "content-type", "application/json");
    }
    SetHeader(request, "x-content-sha256", Sha256Base64(request.body));
  }
  const absl::StatusOr<std::string> signature =
      credentials.key->Sign(SigningString(request, authority));
  if (!signature.ok()) return signature.status();
  SetHeader(
      request, "authorization",
      absl::StrCat("Signature version=\"1\",headers=\"date (request-target)",
                   authority.has_value() ? " host" : "", HasSignedBody(request) ? kBodyHeaders : "",
                   "\",keyId=\"", credentials.key_id, "\",algorithm=\"rsa-sha256\",signature=\"",
                   *signature, "\""));
  return absl::OkStatus();
}

}  // namespace

std::string SigningString(const http::Request& request,
                          std::optional<absl::string_view> authority) {
  std::string text = absl::StrCat("date: ", http::FindHeader(request.headers, "date"),
                                  "\n(request-target): ", absl::AsciiStrToLower(request.method),
                                  " ", request.target);
  if (authority.has_value()) absl::StrAppend(&text, "\nhost: ", *authority);
  if (HasSignedBody(request)) {
    absl::StrAppend(&text, "\ncontent-length: ", request.body.size(),
                    "\ncontent-type: ", http::FindHeader(request.headers, "content-type"),
                    "\nx-content-sha256: ", http::FindHeader(request.headers, "x-content-sha256"));
  }
  return text;
}

absl::Status SignRequest(const Credentials& credentials, absl::string_view authority,
                         absl::Time now, http::Request& request) {
  return Sign(credentials, authority, now, request);
}

absl::Status SignWithoutHost(const Credentials& credentials, absl::Time now,
                             http::Request& request) {
  return Sign(credentials, std::nullopt, now, request);
}

}  // namespace oci
