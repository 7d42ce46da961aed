#include "sim/api_reply.h"

#include "absl/strings/str_cat.h"
#include "base/json.h"

namespace sim {

ApiReply Refusal(const ApiError& error) {
  ApiReply reply;
  reply.status = error.status;
  reply.body = absl::StrCat(R"({"code":)", base::QuoteJson(error.code), R"(,"message":)",
                            base::QuoteJson(error.message), "}");
  return reply;
}

ApiError NotThere() {
  return {404, "NotAuthorizedOrNotFound", "Authorization failed or requested resource not found."};
}

}  // namespace sim
