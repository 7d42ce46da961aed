// Which bodies the load balancer's API refuses, and with what words. Pure.
#ifndef OCI_BACKEND_DRAIN_SIM_LOAD_BALANCER_BODY_H_
#define OCI_BACKEND_DRAIN_SIM_LOAD_BALANCER_BODY_H_

#include "absl/strings/string_view.h"
#include "rapidjson/document.h"
#include "sim/api_reply.h"

namespace sim {

// Where the real server's behaviour is not documented.
struct BodyRules {
  // A member that the update does not take, a backend's or set's `name`:
  // 400 InvalidParameter, or ignored.
  bool refuse_read_only_fields = true;
  // A member nobody has heard of: 400 InvalidParameter, or stored and shown again.
  bool refuse_unknown_fields = false;
};

// 400 CannotParseRequest unless `text` is one JSON object.
ApiError ParseBody(absl::string_view text, rapidjson::Document& body);

// 400 MissingParameter for a missing mandatory field, CannotParseRequest for a
// value of another type, InvalidParameter for one that is not allowed.
ApiError CheckBackendUpdate(const rapidjson::Value& body, const BodyRules& rules);
ApiError CheckBackendSetUpdate(const rapidjson::Value& body, const BodyRules& rules);

// 400 InvalidParameter if `backup` goes to a backend of an IP_HASH set.
ApiError CheckBackupAllowed(const rapidjson::Value& backend_update, const rapidjson::Value& set);

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_LOAD_BALANCER_BODY_H_
