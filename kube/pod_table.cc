#include "kube/pod_table.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"

namespace kube {
namespace {

constexpr size_t kUuidLength = 36;
constexpr char kHexDigits[] = "0123456789abcdef";

bool IsDashPosition(size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool CompressUuid(absl::string_view text, uint8_t (&bytes)[16]) {
  if (text.size() != kUuidLength) return false;
  size_t digits = 0;
  for (size_t i = 0; i < kUuidLength; ++i) {
    if (IsDashPosition(i)) {
      if (text[i] != '-') return false;
      continue;
    }
    const int value = HexValue(text[i]);
    if (value < 0) return false;
    uint8_t& byte = bytes[digits / 2];
    byte = static_cast<uint8_t>(digits % 2 == 0 ? value << 4 : byte | value);
    ++digits;
  }
  return true;
}

std::string ExpandUuid(const uint8_t (&bytes)[16]) {
  std::string text;
  text.reserve(kUuidLength);
  for (size_t i = 0; i < 16; ++i) {
    if (IsDashPosition(text.size())) text.push_back('-');
    text.push_back(kHexDigits[bytes[i] >> 4]);
    text.push_back(kHexDigits[bytes[i] & 15]);
  }
  return text;
}

// Whether `number` is how the number that it stands for is written.
bool CompressDecimal(absl::string_view text, uint64_t& number) {
  return absl::SimpleAtoi(text, &number) && absl::StrCat(number) == text;
}

bool CompressTimes(const PodMetadata& pod, uint32_t& deletion_seconds, int32_t& grace_seconds) {
  const int64_t grace = absl::ToInt64Seconds(pod.deletion_grace);
  if (absl::Seconds(grace) != pod.deletion_grace || grace < 0 ||
      grace > std::numeric_limits<int32_t>::max()) {
    return false;
  }
  grace_seconds = static_cast<int32_t>(grace);
  deletion_seconds = 0;
  if (!pod.deleted()) return true;
  const int64_t seconds = absl::ToUnixSeconds(pod.deletion_timestamp);
  if (absl::FromUnixSeconds(seconds) != pod.deletion_timestamp || seconds <= 0 ||
      seconds > std::numeric_limits<uint32_t>::max()) {
    return false;
  }
  deletion_seconds = static_cast<uint32_t>(seconds);
  return true;
}

absl::string_view TailOf(const char (&tail)[8]) { return {tail, strnlen(tail, sizeof(tail))}; }

uint64_t Fnv1a(absl::string_view text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

bool SameButResourceVersion(const PodMetadata& a, const PodMetadata& b) {
  const auto owner = [](const PodMetadata& pod) {
    const OwnerReference none;
    const OwnerReference& owner = pod.controller.has_value() ? *pod.controller : none;
    return std::make_tuple(pod.controller.has_value(), owner.kind, owner.name, owner.uid);
  };
  return a.uid == b.uid && a.deletion_timestamp == b.deletion_timestamp &&
         a.deletion_grace == b.deletion_grace && owner(a) == owner(b);
}

}  // namespace

size_t PodTable::Hash::operator()(const Ordinary& pod) const {
  const Owner& owner = table->owners_[pod.owner];
  uint64_t hash = Fnv1a(owner.ns, 0xcbf29ce484222325ULL);
  hash = Fnv1a(owner.reference.name, Fnv1a("/", hash));
  return absl::HashOf(Fnv1a(TailOf(pod.tail), Fnv1a("-", hash)));
}

size_t PodTable::Hash::operator()(const ObjectKey& key) const {
  const uint64_t hash = Fnv1a(key.ns, 0xcbf29ce484222325ULL);
  return absl::HashOf(Fnv1a(key.name, Fnv1a("/", hash)));
}

bool PodTable::Equal::operator()(const Ordinary& a, const Ordinary& b) const {
  const Owner& owner = table->owners_[b.owner];
  return (*this)(a, ObjectKey{owner.ns, absl::StrCat(owner.reference.name, "-", TailOf(b.tail))});
}

bool PodTable::Equal::operator()(const Ordinary& a, const ObjectKey& b) const {
  const Owner& owner = table->owners_[a.owner];
  absl::string_view name = b.name;
  return owner.ns == b.ns && absl::ConsumePrefix(&name, owner.reference.name) &&
         absl::ConsumePrefix(&name, "-") && name == TailOf(a.tail);
}

PodTable::PodTable() : ordinary_(0, Hash{this}, Equal{this}) {}

std::optional<PodTable::Ordinary> PodTable::Compress(const PodMetadata& pod) {
  Ordinary result = {};
  if (!pod.controller.has_value() || pod.controller->uid.empty()) return std::nullopt;
  absl::string_view tail = pod.key.name;
  if (!absl::ConsumePrefix(&tail, pod.controller->name) || !absl::ConsumePrefix(&tail, "-") ||
      tail.empty() || tail.size() > sizeof(result.tail) || absl::StrContains(tail, '\0')) {
    return std::nullopt;
  }
  std::memcpy(result.tail, tail.data(), tail.size());
  if (!CompressUuid(pod.uid, result.uid) ||
      !CompressDecimal(pod.resource_version, result.resource_version) ||
      !CompressTimes(pod, result.deletion_seconds, result.grace_seconds)) {
    return std::nullopt;
  }
  return result;
}

PodMetadata PodTable::Expand(const Ordinary& pod) const {
  const Owner& owner = owners_[pod.owner];
  PodMetadata result;
  result.key = {owner.ns, absl::StrCat(owner.reference.name, "-", TailOf(pod.tail))};
  result.uid = ExpandUuid(pod.uid);
  result.resource_version = absl::StrCat(pod.resource_version);
  if (pod.deletion_seconds != 0) {
    result.deletion_timestamp = absl::FromUnixSeconds(pod.deletion_seconds);
  }
  result.deletion_grace = absl::Seconds(pod.grace_seconds);
  result.controller = owner.reference;
  return result;
}

std::optional<uint32_t> PodTable::AddToOwner(const PodMetadata& pod) {
  const OwnerReference& reference = *pod.controller;
  const auto known = owner_by_uid_.find(reference.uid);
  if (known != owner_by_uid_.end()) {
    Owner& owner = owners_[known->second];
    if (owner.ns != pod.key.ns || owner.reference.name != reference.name ||
        owner.reference.kind != reference.kind) {
      return std::nullopt;
    }
    ++owner.pods;
    return known->second;
  }
  uint32_t index = static_cast<uint32_t>(owners_.size());
  if (free_owners_.empty()) {
    owners_.emplace_back();
  } else {
    index = free_owners_.back();
    free_owners_.pop_back();
  }
  owners_[index] = Owner{pod.key.ns, reference, 1};
  owner_by_uid_.emplace(reference.uid, index);
  return index;
}

void PodTable::RemoveFromOwner(uint32_t index) {
  Owner& owner = owners_[index];
  if (--owner.pods > 0) return;
  owner_by_uid_.erase(owner.reference.uid);
  owner = Owner();
  free_owners_.push_back(index);
}

void PodTable::Erase(const ObjectKey& key) {
  whole_.erase(key);
  const auto it = ordinary_.find(key);
  if (it == ordinary_.end()) return;
  const uint32_t owner = it->owner;
  ordinary_.erase(it);
  RemoveFromOwner(owner);
}

PodTable::Change PodTable::Put(const PodMetadata& pod, uint32_t list) {
  Change change = Change::kContent;
  const std::optional<PodMetadata> before = Find(pod.key);
  if (before.has_value() && SameButResourceVersion(*before, pod)) {
    change =
        before->resource_version == pod.resource_version ? Change::kNone : Change::kResourceVersion;
  }
  if (change == Change::kNone) {
    Mark(pod.key, list);
    return change;
  }
  if (before.has_value()) Erase(pod.key);
  std::optional<Ordinary> ordinary = Compress(pod);
  const std::optional<uint32_t> owner = ordinary.has_value() ? AddToOwner(pod) : std::nullopt;
  if (owner.has_value()) {
    ordinary->owner = *owner;
    ordinary->list = list;
    ordinary_.insert(*ordinary);
  } else {
    whole_.emplace(pod.key, Whole{pod, list});
  }
  return change;
}

void PodTable::Mark(const ObjectKey& key, uint32_t list) {
  const auto whole = whole_.find(key);
  if (whole != whole_.end()) whole->second.list = list;
  const auto it = ordinary_.find(key);
  // Not a part of hash or equality.
  if (it != ordinary_.end()) const_cast<Ordinary&>(*it).list = list;
}

bool PodTable::Remove(const ObjectKey& key, const std::string& uid) {
  const std::optional<PodMetadata> pod = Find(key);
  if (!pod.has_value() || (!uid.empty() && pod->uid != uid)) return false;
  Erase(key);
  return true;
}

std::vector<ObjectKey> PodTable::Sweep(const InScope& in_scope, uint32_t list) {
  std::vector<ObjectKey> gone;
  for (const Ordinary& pod : ordinary_) {
    const Owner& owner = owners_[pod.owner];
    if (pod.list == list || !in_scope(owner.ns)) continue;
    gone.push_back({owner.ns, absl::StrCat(owner.reference.name, "-", TailOf(pod.tail))});
  }
  for (const auto& [key, whole] : whole_) {
    if (whole.list != list && in_scope(key.ns)) gone.push_back(key);
  }
  for (const ObjectKey& key : gone) Erase(key);
  std::sort(gone.begin(), gone.end());
  return gone;
}

std::optional<PodMetadata> PodTable::Find(const ObjectKey& key) const {
  const auto it = ordinary_.find(key);
  if (it != ordinary_.end()) return Expand(*it);
  const auto whole = whole_.find(key);
  if (whole != whole_.end()) return whole->second.pod;
  return std::nullopt;
}

}  // namespace kube
