#include "kube/metadata_decoder.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/json.h"
#include "rapidjson/error/en.h"
#include "rapidjson/memorystream.h"
#include "rapidjson/reader.h"
#include "rapidjson/stream.h"

namespace kube {
namespace {

// Containers whose members matter. All others are skipped by counting brackets.
enum class Where : uint8_t {
  kOutside,
  kRoot,
  kListMetadata,
  kItems,
  kItem,
  kMetadata,
  kOwners,
  kOwner
};
constexpr int kMaxWhere = 8;

enum class Field : uint8_t {
  kNone,
  kItems,
  kMetadata,
  kContinue,
  kResourceVersion,
  kName,
  kNamespace,
  kUid,
  kDeletionTimestamp,
  kDeletionGrace,
  kOwners,
  kKind,
  kController,
};

struct NamedField {
  absl::string_view name;
  Field field;
};
constexpr NamedField kRootFields[] = {{"items", Field::kItems}, {"metadata", Field::kMetadata}};
constexpr NamedField kListMetadataFields[] = {{"continue", Field::kContinue},
                                              {"resourceVersion", Field::kResourceVersion}};
constexpr NamedField kItemFields[] = {{"metadata", Field::kMetadata}};
constexpr NamedField kMetadataFields[] = {
    {"name", Field::kName},
    {"namespace", Field::kNamespace},
    {"uid", Field::kUid},
    {"resourceVersion", Field::kResourceVersion},
    {"deletionTimestamp", Field::kDeletionTimestamp},
    {"deletionGracePeriodSeconds", Field::kDeletionGrace},
    {"ownerReferences", Field::kOwners},
};
constexpr NamedField kOwnerFields[] = {
    {"kind", Field::kKind},
    {"name", Field::kName},
    {"uid", Field::kUid},
    {"controller", Field::kController},
};

template <size_t n>
Field Lookup(const NamedField (&fields)[n], absl::string_view name) {
  for (const NamedField& known : fields) {
    if (known.name == name) return known.field;
  }
  return Field::kNone;
}

template <size_t n>
absl::string_view NameOf(const NamedField (&fields)[n], Field field) {
  for (const NamedField& known : fields) {
    if (known.field == field) return known.name;
  }
  return "";
}

// All that is kept are names, identifiers and versions, which have no other
// characters.
bool IsPlain(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

// RapidJSON calls the members named as its handler concept wants them; each
// answers whether to go on.
class PageHandler {
 public:
  // `head_only`: reading ends where the items begin.
  explicit PageHandler(Resource resource, bool head_only = false)
      : resource_(resource), head_only_(head_only) {}

  bool Null() {
    if (skipped_ > 0) return true;
    if (here() == Where::kItems) Unexpected();
    // Go writes an empty list that was never made as null.
    if (field_ == Field::kItems) saw_items_ = true;
    return Taken();
  }
  bool Bool(bool value) {
    if (skipped_ > 0) return true;
    if (field_ == Field::kController) {
      owner_is_controller_ = value;
    } else {
      Unexpected();
    }
    return Taken();
  }
  bool Int(int value) { return Int64(value); }
  bool Uint(unsigned value) { return Int64(value); }
  bool Int64(int64_t value) {
    if (skipped_ > 0) return true;
    if (field_ == Field::kDeletionGrace && value >= 0 && value <= INT32_MAX) {
      pod_.deletion_grace = absl::Seconds(value);
    } else {
      Unexpected();
    }
    return Taken();
  }
  bool Uint64(uint64_t) { return OtherNumber(); }
  bool Double(double) { return OtherNumber(); }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return OtherNumber(); }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    if (skipped_ > 0) return true;
    TakeString(absl::string_view(text, size));
    return Taken();
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    if (skipped_ == 0) field_ = FieldNamed(absl::string_view(text, size));
    return !head_only_ || field_ != Field::kItems;
  }
  bool StartObject() { return Start(/*is_array=*/false); }
  bool StartArray() { return Start(/*is_array=*/true); }
  bool EndObject(rapidjson::SizeType) { return End(); }
  bool EndArray(rapidjson::SizeType) { return End(); }

  bool too_deep() const { return too_deep_; }
  const std::string& continue_token() const { return page_.continue_token; }

  absl::StatusOr<ListPage> Finish() && {
    if (!list_error_.empty()) return absl::InvalidArgumentError(list_error_);
    if (!saw_items_) return absl::InvalidArgumentError("items: missing");
    if (page_.resource_version.empty()) {
      return absl::InvalidArgumentError("metadata.resourceVersion: missing");
    }
    return std::move(page_);
  }

 private:
  Where here() const { return where_[depth_]; }

  Field FieldNamed(absl::string_view name) const {
    switch (here()) {
      case Where::kRoot:
        return Lookup(kRootFields, name);
      case Where::kListMetadata:
        return Lookup(kListMetadataFields, name);
      case Where::kItem:
        return Lookup(kItemFields, name);
      case Where::kMetadata:
        return Lookup(kMetadataFields, name);
      case Where::kOwner:
        return Lookup(kOwnerFields, name);
      case Where::kOutside:
      case Where::kItems:
      case Where::kOwners:
        break;
    }
    return Field::kNone;
  }

  // Where the container that begins leads; kOutside: nowhere that matters.
  Where Enter(bool is_array) const {
    switch (here()) {
      case Where::kOutside:
        return depth_ == 0 && !is_array ? Where::kRoot : Where::kOutside;
      case Where::kRoot:
        if (field_ == Field::kItems && is_array) return Where::kItems;
        if (field_ == Field::kMetadata && !is_array) return Where::kListMetadata;
        break;
      case Where::kItems:
        if (!is_array) return Where::kItem;
        break;
      case Where::kItem:
        if (field_ == Field::kMetadata && !is_array) return Where::kMetadata;
        break;
      case Where::kMetadata:
        if (field_ == Field::kOwners && is_array) return Where::kOwners;
        break;
      case Where::kOwners:
        if (!is_array) return Where::kOwner;
        break;
      case Where::kListMetadata:
      case Where::kOwner:
        break;
    }
    return Where::kOutside;
  }

  bool Start(bool is_array) {
    if (skipped_ + depth_ >= base::kMaxJsonDepth) {
      too_deep_ = true;
      return false;
    }
    if (skipped_ > 0) {
      ++skipped_;
      return true;
    }
    const Where next = Enter(is_array);
    if (next == Where::kOutside) {
      Unexpected();
      skipped_ = 1;
      return true;
    }
    where_[++depth_] = next;
    field_ = Field::kNone;
    if (next == Where::kItems) saw_items_ = true;
    if (next == Where::kItem) BeginItem();
    if (next == Where::kOwner) BeginOwner();
    return true;
  }

  bool End() {
    field_ = Field::kNone;
    if (skipped_ > 0) {
      --skipped_;
      return true;
    }
    const Where left = where_[depth_--];
    if (left == Where::kItem) EndItem();
    if (left == Where::kOwner) EndOwner();
    return true;
  }

  bool OtherNumber() {
    if (skipped_ == 0) Unexpected();
    return Taken();
  }

  bool Taken() {
    field_ = Field::kNone;
    return true;
  }

  void TakeString(absl::string_view text) {
    std::string* const target = TargetOfString();
    if (target != nullptr && IsPlain(text)) {
      target->assign(text.data(), text.size());
    } else if (field_ == Field::kDeletionTimestamp) {
      if (!absl::ParseTime(absl::RFC3339_full, text, &pod_.deletion_timestamp, nullptr)) {
        FailItem("metadata.deletionTimestamp: not an RFC 3339 time");
      }
    } else {
      Unexpected();
    }
  }

  std::string* TargetOfString() {
    if (here() == Where::kListMetadata) {
      if (field_ == Field::kContinue) return &page_.continue_token;
      if (field_ == Field::kResourceVersion) return &page_.resource_version;
    } else if (here() == Where::kMetadata) {
      if (field_ == Field::kName) return &pod_.key.name;
      if (field_ == Field::kNamespace) return &pod_.key.ns;
      if (field_ == Field::kUid) return &pod_.uid;
      if (field_ == Field::kResourceVersion) return &pod_.resource_version;
    } else if (here() == Where::kOwner) {
      if (field_ == Field::kKind) return &owner_.kind;
      if (field_ == Field::kName) return &owner_.name;
      if (field_ == Field::kUid) return &owner_.uid;
    }
    return nullptr;
  }

  // A value of a type that its field cannot have. Fields that are not read may
  // have any.
  void Unexpected() {
    if (here() == Where::kItems) {
      page_.bad.push_back({{}, absl::InvalidArgumentError("an item that is not an object")});
    } else if (field_ == Field::kNone) {
      return;
    } else if (here() == Where::kRoot || here() == Where::kListMetadata) {
      list_error_ = "the list's metadata or items have the wrong type";
    } else {
      FailItem(absl::StrCat(PathOfField(), ": not a value that it can have"));
    }
  }

  std::string PathOfField() const {
    if (here() == Where::kItem) return "metadata";
    if (here() == Where::kOwner) {
      return absl::StrCat("metadata.ownerReferences.", NameOf(kOwnerFields, field_));
    }
    return absl::StrCat("metadata.", NameOf(kMetadataFields, field_));
  }

  void FailItem(absl::string_view what) {
    if (item_error_.empty()) item_error_ = std::string(what);
  }

  void BeginItem() {
    pod_ = PodMetadata();
    item_error_.clear();
  }

  void EndItem() {
    if (pod_.key.name.empty()) FailItem("metadata.name: missing");
    if (!item_error_.empty()) {
      page_.bad.push_back({std::move(pod_.key), absl::InvalidArgumentError(item_error_)});
    } else if (resource_ == Resource::kPods) {
      page_.objects.emplace_back(std::move(pod_));
    } else {
      page_.objects.emplace_back(
          ReplicaSetMetadata{std::move(pod_.key), std::move(pod_.uid), std::move(pod_.controller)});
    }
  }

  void BeginOwner() {
    owner_ = OwnerReference();
    owner_is_controller_ = false;
  }

  void EndOwner() {
    if (owner_is_controller_) pod_.controller = std::move(owner_);
  }

  const Resource resource_;
  const bool head_only_;
  Where where_[kMaxWhere] = {Where::kOutside};
  int depth_ = 0;
  int skipped_ = 0;  // open brackets within a container that does not matter
  bool too_deep_ = false;
  bool saw_items_ = false;
  Field field_ = Field::kNone;
  ListPage page_;
  std::string list_error_;
  PodMetadata pod_;
  OwnerReference owner_;
  bool owner_is_controller_ = false;
  std::string item_error_;
};

}  // namespace

std::string ContinueTokenAhead(absl::string_view json) {
  rapidjson::MemoryStream stream(json.data(), json.size());
  PageHandler handler(Resource::kPods, /*head_only=*/true);
  rapidjson::Reader reader;
  // Ends with an error at the items. Other metadata than a list's has no such member.
  reader.Parse<rapidjson::kParseIterativeFlag>(stream, handler);
  return handler.continue_token();
}

absl::StatusOr<ListPage> DecodeMetadataPage(Resource resource, absl::string_view json) {
  if (absl::StrContains(json, '\0')) {
    return absl::InvalidArgumentError("JSON with a byte that is zero");
  }
  // Read in place, in a copy: twice as fast as from a stream that copies strings.
  std::string copy(json);
  rapidjson::InsituStringStream stream(copy.data());
  PageHandler handler(resource);
  rapidjson::Reader reader;
  // Recursive parsing is bounded by the handler, which ends it at kMaxJsonDepth.
  // Encodings are not looked at, but for the strings that are kept.
  const rapidjson::ParseResult result = reader.Parse<rapidjson::kParseInsituFlag>(stream, handler);
  if (handler.too_deep()) {
    return absl::InvalidArgumentError(
        absl::StrCat("JSON is nested deeper than ", base::kMaxJsonDepth, " levels"));
  }
  if (result.IsError()) {
    return absl::InvalidArgumentError(absl::StrCat("JSON error at byte ", result.Offset(), " of ",
                                                   json.size(), ": ",
                                                   rapidjson::GetParseError_En(result.Code())));
  }
  return std::move(handler).Finish();
}

}  // namespace kube
