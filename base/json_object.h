// Writes JSON by hand where the members are known: an object member by member.
//
//   JsonObject().Text("name", name).Count("live", 3).Time("at", now).Json()
#ifndef OCI_BACKEND_DRAIN_BASE_JSON_OBJECT_H_
#define OCI_BACKEND_DRAIN_BASE_JSON_OBJECT_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/json.h"

namespace base {

// Members in the order of the calls; a name is given once.
class JsonObject {
 public:
  // `json` is a whole value.
  JsonObject& Raw(absl::string_view name, absl::string_view json) {
    absl::StrAppend(&text_, text_.empty() ? "" : ",", QuoteJson(name), ":", json);
    return *this;
  }
  JsonObject& Text(absl::string_view name, absl::string_view value) {
    return Raw(name, QuoteJson(value));
  }
  JsonObject& Flag(absl::string_view name, bool value) {
    return Raw(name, value ? "true" : "false");
  }
  JsonObject& Count(absl::string_view name, int64_t value) {
    return Raw(name, absl::StrCat(value));
  }
  // null if it is infinite.
  JsonObject& Time(absl::string_view name, absl::Time time) {
    if (time == absl::InfiniteFuture() || time == absl::InfinitePast()) return Raw(name, "null");
    return Text(name, base::FormatTime(time));
  }
  std::string Json() const { return absl::StrCat("{", text_, "}"); }

 private:
  std::string text_;
};

// `to_json` makes a whole value of an element.
template <typename Elements, typename ToJson>
std::string JsonArray(const Elements& elements, const ToJson& to_json) {
  return absl::StrCat("[",
                      absl::StrJoin(elements, ",",
                                    [&](std::string* out, const auto& element) {
                                      absl::StrAppend(out, to_json(element));
                                    }),
                      "]");
}

}  // namespace base

#endif  // OCI_BACKEND_DRAIN_BASE_JSON_OBJECT_H_
