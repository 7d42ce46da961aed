// Checked access to JSON that came from outside.
//
// RapidJSON aborts on a wrong type; these never do. Every reader takes a value
// and a member name and answers with a default or with a status that names the
// member, so a decoder reads like the list of fields it uses.
#ifndef OCI_BACKEND_DRAIN_BASE_JSON_H_
#define OCI_BACKEND_DRAIN_BASE_JSON_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "rapidjson/document.h"

namespace base {

// Bounds on documents from outside. Deeper or larger text is InvalidArgument.
inline constexpr int kMaxJsonDepth = 64;

// Parses `text` iteratively (depth costs no stack). InvalidArgument names the
// offset and the cause, prefixed with `what` ("load balancer", "pod list"). Whole
// numbers within 64 bits are kept exactly, others as the nearest double; a number too
// large for one is an error, so whatever was read can be written.
absl::StatusOr<rapidjson::Document> ParseJson(absl::string_view text, absl::string_view what);

// The member if `object` is an object that has it and it is not null, else nullptr.
const rapidjson::Value* FindMember(const rapidjson::Value& object, absl::string_view name);

// Follows `names` through nested objects; nullptr as soon as one is missing.
const rapidjson::Value* FindPath(const rapidjson::Value& object,
                                 std::initializer_list<absl::string_view> names);

// A missing or null member gives `missing`; a member of another type is
// InvalidArgument "<name>: expected a string, got number".
absl::StatusOr<std::string> ReadString(const rapidjson::Value& object, absl::string_view name,
                                       absl::string_view missing = "");
absl::StatusOr<bool> ReadBool(const rapidjson::Value& object, absl::string_view name,
                              bool missing = false);
absl::StatusOr<int64_t> ReadInt(const rapidjson::Value& object, absl::string_view name,
                                int64_t missing = 0);
// RFC 3339. A missing or null member gives absl::InfiniteFuture().
absl::StatusOr<absl::Time> ReadTime(const rapidjson::Value& object, absl::string_view name);
// RFC 3339 in UTC with as many digits as it needs; "infinite-future" and
// "infinite-past", which ReadTime takes too.
std::string FormatTime(absl::Time time);

// The member must be there; missing is InvalidArgument "<name>: missing".
absl::StatusOr<std::string> RequireString(const rapidjson::Value& object, absl::string_view name);

// The text of a string value; empty for any other type.
absl::string_view StringOf(const rapidjson::Value& value);

// Compact text of `value`.
std::string WriteJson(const rapidjson::Value& value);

// `text` as a JSON string with its quotes, escaped.
std::string QuoteJson(absl::string_view text);

// Same members and values whatever their order in objects; arrays in order.
// Numbers are equal when both are the same integer or the same double.
bool SameJson(const rapidjson::Value& a, const rapidjson::Value& b);

}  // namespace base

#endif  // OCI_BACKEND_DRAIN_BASE_JSON_H_
