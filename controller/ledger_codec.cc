#include "controller/ledger_codec.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/json.h"

namespace controller {
namespace {

constexpr int64_t kVersion = 1;

class EntryWriter {
 public:
  void Text(absl::string_view name, absl::string_view value) {
    if (!value.empty()) Member(name, base::QuoteJson(value));
  }
  // Nothing for what the reader takes a time to be that is missing.
  void Time(absl::string_view name, absl::Time missing, absl::Time time) {
    if (time != missing) Member(name, base::QuoteJson(base::FormatTime(time)));
  }
  void Flag(absl::string_view name, bool value) {
    if (value) Member(name, "true");
  }
  std::string Object() const { return absl::StrCat("{", text_, "}"); }

 private:
  void Member(absl::string_view name, absl::string_view json) {
    absl::StrAppend(&text_, text_.empty() ? "" : ",", base::QuoteJson(name), ":", json);
  }

  std::string text_;
};

std::string EncodeEntry(const drain::BackendKey& key, const drain::LedgerEntry& entry) {
  EntryWriter writer;
  writer.Text("set", key.set.value());
  writer.Text("backend", key.backend.value());
  writer.Text("pod", entry.pod);
  writer.Text("podUid", entry.pod_uid);
  writer.Time("since", absl::InfinitePast(), entry.since);
  writer.Time("deadline", absl::InfiniteFuture(), entry.deadline);
  writer.Time("deletedAt", absl::InfinitePast(), entry.deleted_at);
  writer.Flag("offline", entry.offline);
  writer.Flag("confirmed", entry.confirmed);
  writer.Flag("byOperator", entry.by_operator);
  return writer.Object();
}

// Reads members one after another; the first error stays.
class EntryReader {
 public:
  explicit EntryReader(const rapidjson::Value& object) : object_(object) {}

  void Text(absl::string_view name, std::string& out, bool required = false) {
    Take(required ? base::RequireString(object_, name) : base::ReadString(object_, name), out);
  }
  void Time(absl::string_view name, absl::Time missing, absl::Time& out) {
    out = missing;
    if (base::FindMember(object_, name) != nullptr) Take(base::ReadTime(object_, name), out);
  }
  void Flag(absl::string_view name, bool& out) { Take(base::ReadBool(object_, name), out); }
  const absl::Status& status() const { return status_; }

 private:
  template <typename T>
  void Take(absl::StatusOr<T> value, T& out) {
    if (!value.ok()) {
      status_.Update(value.status());
      return;
    }
    out = *std::move(value);
  }

  const rapidjson::Value& object_;
  absl::Status status_;
};

absl::Status DecodeEntry(const rapidjson::Value& value, drain::Ledger& ledger) {
  if (!value.IsObject()) return absl::InvalidArgumentError("expected an object");
  EntryReader reader(value);
  std::string set;
  std::string backend;
  drain::LedgerEntry entry;
  reader.Text("set", set, true);
  reader.Text("backend", backend, true);
  reader.Text("pod", entry.pod);
  reader.Text("podUid", entry.pod_uid);
  reader.Time("since", absl::InfinitePast(), entry.since);
  reader.Time("deadline", absl::InfiniteFuture(), entry.deadline);
  reader.Time("deletedAt", absl::InfinitePast(), entry.deleted_at);
  reader.Flag("offline", entry.offline);
  reader.Flag("confirmed", entry.confirmed);
  reader.Flag("byOperator", entry.by_operator);
  if (!reader.status().ok()) return reader.status();
  if (set.empty() || backend.empty()) {
    return absl::InvalidArgumentError("a set or backend without a name");
  }
  const drain::BackendKey key{oci::BackendSetName(set), oci::BackendName(backend)};
  if (!ledger.emplace(key, std::move(entry)).second) {
    return absl::InvalidArgumentError("entered twice");
  }
  return absl::OkStatus();
}

// "entry 3 (bs_x 10.0.0.1:8080)", as far as it can be read.
std::string NameOf(rapidjson::SizeType index, const rapidjson::Value& value) {
  const absl::StatusOr<std::string> set = base::ReadString(value, "set");
  const absl::StatusOr<std::string> backend = base::ReadString(value, "backend");
  std::string name = absl::StrCat("ledger: entry ", index);
  if (set.ok() && backend.ok() && !backend->empty()) {
    absl::StrAppend(&name, " (", *set, " ", *backend, ")");
  }
  return name;
}

}  // namespace

absl::StatusOr<std::string> EncodeLedger(const drain::Ledger& ledger) {
  std::string text = absl::StrCat("{\"version\":", kVersion, ",\"entries\":[");
  const char* separator = "";
  for (const auto& [key, entry] : ledger) {
    absl::StrAppend(&text, separator, EncodeEntry(key, entry));
    separator = ",";
  }
  text += "]}";
  if (text.size() > kMaxLedgerBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("ledger: ", ledger.size(), " entries take ",
                                                     text.size(), " bytes, at most ",
                                                     kMaxLedgerBytes, " fit into a ConfigMap"));
  }
  return text;
}

absl::StatusOr<drain::Ledger> DecodeLedger(absl::string_view json) {
  drain::Ledger ledger;
  if (json.empty()) return ledger;
  if (json.size() > kMaxLedgerBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("ledger: ", json.size(), " bytes, at most ", kMaxLedgerBytes));
  }
  const absl::StatusOr<rapidjson::Document> document = base::ParseJson(json, "ledger");
  if (!document.ok()) return document.status();
  const absl::StatusOr<int64_t> version = base::ReadInt(*document, "version");
  if (!document->IsObject() || !version.ok() || *version < 1) {
    return absl::InvalidArgumentError("ledger: no version");
  }
  if (*version > kVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("ledger: version ", *version,
                     " was written by a newer program; this one knows ", kVersion));
  }
  const rapidjson::Value* entries = base::FindMember(*document, "entries");
  if (entries == nullptr) return ledger;
  if (!entries->IsArray()) return absl::InvalidArgumentError("ledger: entries: expected a list");
  for (rapidjson::SizeType i = 0; i < entries->Size(); ++i) {
    const rapidjson::Value& value = (*entries)[i];
    const absl::Status status = DecodeEntry(value, ledger);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(NameOf(i, value), ": ", status.message()));
    }
  }
  return ledger;
}

}  // namespace controller
