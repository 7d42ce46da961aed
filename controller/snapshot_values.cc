#include "controller/snapshot_values.h"

#include <algorithm>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace controller {
namespace {

// Beyond this, a time is easier to read as a date.
constexpr absl::Duration kRelativeWithin = absl::Hours(100);

template <typename Enum>
struct EnumName {
  Enum value;
  const char* name;
};

constexpr EnumName<drain::WriteMode> kWriteModes[] = {
    {drain::WriteMode::kAuto, "auto"},
    {drain::WriteMode::kBackend, "backend"},
    {drain::WriteMode::kBackendSet, "set"},
};
constexpr EnumName<drain::LookupState> kLookupStates[] = {
    {drain::LookupState::kNotAsked, "not_asked"},
    {drain::LookupState::kNotFound, "not_found"},
    {drain::LookupState::kFound, "found"},
    {drain::LookupState::kNoAnswer, "no_answer"},
};
constexpr EnumName<drain::WriteReason> kWriteReasons[] = {
    {drain::WriteReason::kUndrain, "undrain"},
    {drain::WriteReason::kDrain, "drain"},
    {drain::WriteReason::kBehindForeign, "behind_foreign"},
    {drain::WriteReason::kReassert, "reassert"},
    {drain::WriteReason::kRestore, "restore"},
    {drain::WriteReason::kRegister, "register"},
    {drain::WriteReason::kNeighbour, "neighbour"},
};
constexpr EnumName<oci::WorkRequestState> kWorkRequestStates[] = {
    {oci::WorkRequestState::kAccepted, "ACCEPTED"},
    {oci::WorkRequestState::kInProgress, "IN_PROGRESS"},
    {oci::WorkRequestState::kSucceeded, "SUCCEEDED"},
    {oci::WorkRequestState::kFailed, "FAILED"},
};
constexpr EnumName<oci::HealthStatus> kHealthStatuses[] = {
    {oci::HealthStatus::kOk, "OK"},
    {oci::HealthStatus::kWarning, "WARNING"},
    {oci::HealthStatus::kCritical, "CRITICAL"},
    {oci::HealthStatus::kUnknown, "UNKNOWN"},
};

template <typename Enum, size_t kSize>
std::string NameIn(const EnumName<Enum> (&table)[kSize], Enum value) {
  for (const auto& row : table) {
    if (row.value == value) return row.name;
  }
  return "";
}

template <typename Enum, size_t kSize>
absl::Status FindIn(const EnumName<Enum> (&table)[kSize], absl::string_view name, Enum& out) {
  for (const auto& row : table) {
    if (row.name == name) {
      out = row.value;
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", name, "\" is none of ",
      absl::StrJoin(table, ", ",
                    [](std::string* text, const auto& row) { text->append(row.name); })));
}

absl::Status SplitPair(absl::string_view text, absl::string_view form, std::string& first,
                       std::string& second) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('/', 1));
  if (parts.first.empty() || parts.second.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" must be ", form));
  }
  first = std::string(parts.first);
  second = std::string(parts.second);
  return absl::OkStatus();
}

}  // namespace

absl::Status SnapshotError(absl::string_view path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path.empty() ? "the snapshot" : path, ": ", what));
}

absl::Status WrongSnapshotType(absl::string_view path, absl::string_view expected,
                               const rapidjson::Value& got) {
  static constexpr const char* kTypes[] = {"null",   "a boolean", "a boolean", "an object",
                                           "a list", "a string",  "a number"};
  return SnapshotError(path, absl::StrCat("expected ", expected, ", got ", kTypes[got.GetType()]));
}

std::string MemberPath(absl::string_view path, absl::string_view name) {
  return path.empty() ? std::string(name) : absl::StrCat(path, ".", name);
}

absl::Status CheckMembers(const rapidjson::Value& object, absl::string_view path,
                          const std::vector<absl::string_view>& names) {
  std::set<absl::string_view> seen;
  for (const auto& member : object.GetObject()) {
    const absl::string_view name = base::StringOf(member.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return SnapshotError(MemberPath(path, name),
                           absl::StrCat("unknown; allowed: ", absl::StrJoin(names, ", ")));
    }
    if (!seen.insert(name).second) return SnapshotError(MemberPath(path, name), "given twice");
  }
  return absl::OkStatus();
}

std::string TextOf(const std::string& value) { return value; }
std::string TextOf(const kube::ObjectKey& value) { return value.ToString(); }
std::string TextOf(const drain::BackendKey& value) {
  return absl::StrCat(value.set.value(), "/", value.backend.value());
}
std::string TextOf(const std::pair<oci::BackendSetName, oci::WorkRequestId>& value) {
  return absl::StrCat(value.first.value(), "/", value.second.value());
}
std::string TextOf(drain::WriteMode value) { return NameIn(kWriteModes, value); }
std::string TextOf(drain::LookupState value) { return NameIn(kLookupStates, value); }
std::string TextOf(drain::WriteReason value) { return NameIn(kWriteReasons, value); }
std::string TextOf(oci::WorkRequestState value) { return NameIn(kWorkRequestStates, value); }
std::string TextOf(oci::HealthStatus value) { return NameIn(kHealthStatuses, value); }

absl::Status ParseText(absl::string_view text, std::string& out) {
  out = std::string(text);
  return absl::OkStatus();
}

absl::Status ParseText(absl::string_view text, kube::ObjectKey& out) {
  if (!absl::StrContains(text, '/')) {
    out = {"", std::string(text)};
    return absl::OkStatus();
  }
  return SplitPair(text, "namespace/name", out.ns, out.name);
}

absl::Status ParseText(absl::string_view text, drain::BackendKey& out) {
  std::string set;
  std::string backend;
  const absl::Status status = SplitPair(text, "set/ip:port", set, backend);
  out = {oci::BackendSetName(set), oci::BackendName(backend)};
  return status;
}

absl::Status ParseText(absl::string_view text,
                       std::pair<oci::BackendSetName, oci::WorkRequestId>& out) {
  std::string set;
  std::string work_request;
  const absl::Status status = SplitPair(text, "set/work request", set, work_request);
  out = {oci::BackendSetName(set), oci::WorkRequestId(work_request)};
  return status;
}

absl::Status ParseText(absl::string_view text, drain::WriteMode& out) {
  return FindIn(kWriteModes, text, out);
}
absl::Status ParseText(absl::string_view text, drain::LookupState& out) {
  return FindIn(kLookupStates, text, out);
}
absl::Status ParseText(absl::string_view text, drain::WriteReason& out) {
  return FindIn(kWriteReasons, text, out);
}
absl::Status ParseText(absl::string_view text, oci::WorkRequestState& out) {
  return FindIn(kWorkRequestStates, text, out);
}
absl::Status ParseText(absl::string_view text, oci::HealthStatus& out) {
  return FindIn(kHealthStatuses, text, out);
}

rapidjson::Value WriteString(absl::string_view text, SnapshotWriter& writer) {
  return rapidjson::Value(text.data(), static_cast<rapidjson::SizeType>(text.size()),
                          writer.allocator);
}

absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext&, bool& out) {
  if (!value.IsBool()) return WrongSnapshotType(path, "a boolean", value);
  out = value.GetBool();
  return absl::OkStatus();
}

absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext&, int& out) {
  if (!value.IsInt()) return WrongSnapshotType(path, "an integer", value);
  out = value.GetInt();
  return absl::OkStatus();
}

rapidjson::Value WriteValue(bool value, SnapshotWriter&) { return rapidjson::Value(value); }
rapidjson::Value WriteValue(int value, SnapshotWriter&) { return rapidjson::Value(value); }

absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext&, absl::Duration& out) {
  if (!value.IsString()) return WrongSnapshotType(path, "a duration like \"30s\"", value);
  if (!absl::ParseDuration(base::StringOf(value), &out)) {
    return SnapshotError(path, absl::StrCat("\"", base::StringOf(value),
                                            "\" is no duration; write \"30s\" or \"1m30s\""));
  }
  return absl::OkStatus();
}

rapidjson::Value WriteValue(absl::Duration value, SnapshotWriter& writer) {
  return WriteString(absl::FormatDuration(value), writer);
}

absl::Status ReadValue(const rapidjson::Value& value, const std::string& path,
                       const SnapshotContext& context, absl::Time& out) {
  if (!value.IsString()) return WrongSnapshotType(path, "a time like \"+45s\"", value);
  const absl::string_view text = base::StringOf(value);
  absl::Duration offset;
  if ((absl::StartsWith(text, "+") || absl::StartsWith(text, "-")) &&
      absl::ParseDuration(text, &offset)) {
    out = context.now + offset;
    return absl::OkStatus();
  }
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, text, &out, &error)) return absl::OkStatus();
  return SnapshotError(path, absl::StrCat("\"", text,
                                          "\" is no time; write \"+45s\" or \"-3s\" for a time "
                                          "from now, or RFC 3339"));
}

rapidjson::Value WriteValue(absl::Time value, SnapshotWriter& writer) {
  const absl::Duration offset = value - writer.context.now;
  if (absl::AbsDuration(offset) > kRelativeWithin) {
    return WriteString(base::FormatTime(value), writer);
  }
  const bool past = offset < absl::ZeroDuration();
  return WriteString(absl::StrCat(past ? "-" : "+", absl::FormatDuration(absl::AbsDuration(offset)),
                                  offset == absl::ZeroDuration() ? "s" : ""),
                     writer);
}

}  // namespace controller
