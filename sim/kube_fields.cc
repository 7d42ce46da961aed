#include "sim/kube_fields.h"

#include <algorithm>
#include <array>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace sim {
namespace {

// Structs that are there by value, not by pointer: they own no "." of their own.
bool IsPlainStruct(absl::string_view name) {
  static constexpr std::array<absl::string_view, 7> kNames = {
      "metadata", "spec", "status", "template", "containers", "strategy", "loadBalancer"};
  return absl::c_linear_search(kNames, name);
}

bool IsAtomic(absl::string_view name) {
  static constexpr std::array<absl::string_view, 6> kNames = {
      "selector", "regarding", "nodeSelector", "related", "targetRef", "resourceFieldRef"};
  return absl::c_linear_search(kNames, name);
}

// What the server keeps itself and nobody owns.
bool IsServerOwned(absl::string_view name) {
  static constexpr std::array<absl::string_view, 9> kNames = {
      "name",          "namespace",         "uid",
      "generation",    "resourceVersion",   "creationTimestamp",
      "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds"};
  return absl::c_linear_search(kNames, name);
}

std::string ItemKey(const JsonTree& item, const std::vector<absl::string_view>& keys) {
  if (keys == std::vector<absl::string_view>{"."}) return "v:" + item.Dump();
  JsonTree key = JsonTree::Object{};
  for (const absl::string_view name : keys) {
    if (item.Has(name)) key.Set(name, item[name]);
  }
  return "k:" + key.Dump();
}

// An update owns the containers that it made; server-side apply does not.
enum class Ownership { kUpdate, kApply };

JsonTree Changed(const JsonTree* before, const JsonTree& after, absl::string_view parent,
                 absl::string_view name, Ownership ownership);

void AddMembers(const JsonTree* before, const JsonTree& after, absl::string_view name,
                Ownership ownership, JsonTree& set) {
  for (const auto& [key, value] : after.members()) {
    if (name == "metadata" && IsServerOwned(key)) continue;
    if (name.empty() && (key == "kind" || key == "apiVersion" || key.starts_with("deprecated"))) {
      continue;
    }
    const JsonTree* old = before == nullptr ? nullptr : before->Find(key);
    if (old != nullptr && *old == value) continue;
    if (value.is_null() && ownership == Ownership::kApply) continue;
    JsonTree child = Changed(old, value, name, key, ownership);
    if (!child.is_null()) set.Set(absl::StrCat("f:", key), std::move(child));
  }
}

void AddItems(const JsonTree* before, const JsonTree& after,
              const std::vector<absl::string_view>& keys, Ownership ownership, JsonTree& set) {
  JsonTree::Array old_items = before == nullptr ? JsonTree::Array{} : before->items();
  for (const JsonTree& item : after.items()) {
    const JsonTree* old = FindItem(old_items, item, keys);
    if (old != nullptr && *old == item) continue;
    JsonTree child = JsonTree::Object{};
    // An owner reference is owned as a whole.
    if (item.is_object() && keys[0] != "uid") {
      if (old == nullptr) child.Set(".", JsonTree::Object{});
      AddMembers(old, item, "[]", ownership, child);
    }
    set.Set(ItemKey(item, keys), std::move(child));
  }
}

// The fields of `after` that are not the same in `before`.
JsonTree Changed(const JsonTree* before, const JsonTree& after, absl::string_view parent,
                 absl::string_view name, Ownership ownership) {
  JsonTree set = JsonTree::Object{};
  std::vector<absl::string_view> keys;
  if (after.is_array() && !after.items().empty()) keys = ListKeys(parent, name);
  const bool parts = after.is_object() ? !after.members().empty() : !keys.empty();
  if (!parts || IsAtomic(name)) return set;
  if (before == nullptr && ownership == Ownership::kUpdate && !IsPlainStruct(name) &&
      !name.empty()) {
    set.Set(".", JsonTree::Object{});
  }
  if (after.is_object()) {
    AddMembers(before, after, name, ownership, set);
  } else {
    AddItems(before, after, keys, ownership, set);
  }
  // Nothing but server-owned fields differs.
  if (set.members().empty()) return {};
  return set;
}

JsonTree FieldsOf(const JsonTree& object, Ownership ownership) {
  JsonTree set = JsonTree::Object{};
  AddMembers(nullptr, object, "", ownership, set);
  return set;
}

void Unite(const JsonTree& from, JsonTree& into) {
  for (const auto& [key, value] : from.members()) {
    JsonTree& child = into.Child(key);
    if (child.is_null()) child = JsonTree::Object{};
    Unite(value, child);
  }
}

// Takes the leaves of `what` out of `from`, and what is empty then.
void Subtract(const JsonTree& what, JsonTree& from) {
  for (const auto& [key, value] : what.members()) {
    if (!from.Has(key)) continue;
    JsonTree& child = from.Child(key);
    if (!value.members().empty()) Subtract(value, child);
    if (value.members().empty() || child.members().empty()) from.Erase(key);
  }
}

// Keeps in `set` only what `all` has too.
void Intersect(const JsonTree& all, JsonTree& set) {
  JsonTree kept = JsonTree::Object{};
  for (const auto& [key, value] : set.members()) {
    const JsonTree* other = all.Find(key);
    if (key == ".") {
      kept.Set(key, value);
    } else if (other != nullptr) {
      JsonTree child = value;
      // Below an atomic field there is nothing to compare.
      if (!other->members().empty()) Intersect(*other, child);
      if (value.members().empty() || !child.members().empty()) kept.Set(key, std::move(child));
    }
  }
  set = std::move(kept);
}

bool SameManager(const JsonTree& entry, const FieldManager& manager) {
  return entry["manager"].AsString() == manager.name &&
         entry["operation"].AsString() == manager.operation &&
         entry["apiVersion"].AsString() == manager.api_version &&
         entry["subresource"].AsString() == manager.subresource;
}

JsonTree NewEntry(const FieldManager& manager, JsonTree fields) {
  JsonTree entry =
      JsonTree::Object{{"manager", manager.name},           {"operation", manager.operation},
                       {"apiVersion", manager.api_version}, {"time", manager.time},
                       {"fieldsType", "FieldsV1"},          {"fieldsV1", std::move(fields)}};
  if (!manager.subresource.empty()) entry.Set("subresource", manager.subresource);
  return entry;
}

void SortAndStore(JsonTree::Array entries, JsonTree& object) {
  std::erase_if(entries, [](const JsonTree& e) { return e["fieldsV1"].members().empty(); });
  absl::c_stable_sort(entries, [](const JsonTree& a, const JsonTree& b) {
    const auto key = [](const JsonTree& e) {
      return std::tie(e["operation"].AsString(), e["time"].AsString(), e["manager"].AsString(),
                      e["subresource"].AsString());
    };
    return key(a) < key(b);
  });
  JsonTree& metadata = object.Child("metadata");
  metadata.Erase("managedFields");
  if (!entries.empty()) metadata.Set("managedFields", std::move(entries));
}

struct ApplyConflict {
  std::string field;  // ".status.conditions[type=\"Ready\"].status"
  std::string owner;  // "\"oci-drain\" with subresource \"status\""
};

std::string OwnerOf(const JsonTree& entry) {
  std::string text = absl::StrCat("\"", entry["manager"].AsString(), "\"");
  if (entry.Has("subresource")) {
    absl::StrAppend(&text, " with subresource \"", entry["subresource"].AsString(), "\"");
  }
  if (entry["operation"].AsString() == "Update") {
    absl::StrAppend(&text, " using ", entry["apiVersion"].AsString());
  }
  return text;
}

// One manager's fields compared with what is being applied.
class ConflictFinder {
 public:
  ConflictFinder(std::string owner, std::vector<ApplyConflict>& conflicts)
      : owner_(std::move(owner)), conflicts_(conflicts) {}

  // `name` is that of the member which holds `applied`.
  void Visit(const JsonTree& applied, const JsonTree& current, const JsonTree& owned,
             absl::string_view name, const std::string& path) {
    for (const auto& [key, child] : applied.members()) {
      const JsonTree* mine = owned.Find(absl::StrCat("f:", key));
      const JsonTree* now = current.Find(key);
      if (mine == nullptr || now == nullptr) continue;
      const std::string child_path = absl::StrCat(path, ".", key);
      if (mine->members().empty()) {
        if (!(child == *now)) conflicts_.push_back({child_path, owner_});
      } else if (child.is_object()) {
        Visit(child, *now, *mine, key, child_path);
      } else {
        VisitItems(child, *now, *mine, ListKeys(name, key), child_path);
      }
    }
  }

 private:
  void VisitItems(const JsonTree& applied, const JsonTree& current, const JsonTree& owned,
                  const std::vector<absl::string_view>& keys, const std::string& path) {
    JsonTree::Array items = current.items();
    for (const JsonTree& item : applied.items()) {
      const JsonTree* mine = owned.Find(ItemKey(item, keys));
      const JsonTree* now = FindItem(items, item, keys);
      if (mine == nullptr || now == nullptr || !item.is_object()) continue;
      Visit(item, *now, *mine, "[]", absl::StrCat(path, ItemText(item, keys)));
    }
  }

  static std::string ItemText(const JsonTree& item, const std::vector<absl::string_view>& keys) {
    return absl::StrCat("[",
                        absl::StrJoin(keys, ",",
                                      [&](std::string* out, absl::string_view k) {
                                        absl::StrAppend(out, k, "=", item[k].Dump());
                                      }),
                        "]");
  }

  std::string owner_;
  std::vector<ApplyConflict>& conflicts_;
};

KubeError ConflictError(const std::vector<ApplyConflict>& conflicts) {
  JsonTree causes = JsonTree::Array{};
  std::string fields;
  for (const ApplyConflict& conflict : conflicts) {
    causes.Append(JsonTree::Object{{"reason", "FieldManagerConflict"},
                                   {"message", "conflict with " + conflict.owner},
                                   {"field", conflict.field}});
    absl::StrAppend(&fields, "\n- ", conflict.field);
  }
  const std::string message =
      conflicts.size() == 1
          ? absl::StrCat("Apply failed with 1 conflict: conflict with ", conflicts[0].owner, ": ",
                         conflicts[0].field)
          : absl::StrCat("Apply failed with ", conflicts.size(), " conflicts: conflicts with ",
                         conflicts[0].owner, ":", fields);
  return {.code = 409,
          .reason = "Conflict",
          .message = message,
          .details = JsonTree::Object{{"causes", causes}}};
}

// Takes the fields of `set` out of `object`. An item whose "." is in it goes whole.
void RemoveFields(const JsonTree& set, absl::string_view parent, absl::string_view name,
                  JsonTree& object) {
  if (object.is_array()) {
    const std::vector<absl::string_view> keys = ListKeys(parent, name);
    std::erase_if(object.MutableItems(), [&](const JsonTree& item) {
      const JsonTree* owned = set.Find(ItemKey(item, keys));
      return owned != nullptr && (owned->members().empty() || owned->Has("."));
    });
    for (JsonTree& item : object.MutableItems()) {
      const JsonTree* owned = set.Find(ItemKey(item, keys));
      if (owned != nullptr) RemoveFields(*owned, "", "[]", item);
    }
    return;
  }
  for (const auto& [key, below] : set.members()) {
    const absl::string_view field = absl::StripPrefix(key, "f:");
    if (!object.Has(field)) continue;
    if (below.members().empty()) {
      object.Erase(field);
    } else {
      RemoveFields(below, name, field, object.Child(field));
    }
  }
}

void MergeInto(const JsonTree& patch, bool by_key, absl::string_view name, JsonTree& target);

void MergeLists(const JsonTree& patch, const std::vector<absl::string_view>& keys,
                JsonTree& target) {
  JsonTree::Array& items = target.MutableItems();
  for (const JsonTree& change : patch.items()) {
    JsonTree* item = FindItem(items, change, keys);
    if (change["$patch"].AsString() == "delete") {
      if (item != nullptr) items.erase(items.begin() + (item - items.data()));
    } else if (item == nullptr) {
      items.push_back(change);
    } else if (change.is_object()) {
      MergeInto(change, true, "[]", *item);
    }
  }
}

void MergeInto(const JsonTree& patch, bool by_key, absl::string_view name, JsonTree& target) {
  for (const auto& [key, change] : patch.members()) {
    const std::vector<absl::string_view> keys =
        by_key ? ListKeys(name, key) : std::vector<absl::string_view>();
    if (change.is_null()) {
      target.Erase(key);
    } else if (change.is_object()) {
      JsonTree& child = target.Child(key);
      if (!child.is_object()) child = JsonTree::Object{};
      MergeInto(change, by_key, key, child);
    } else if (change.is_array() && !keys.empty()) {
      MergeLists(change, keys, target.Child(key));
    } else {
      target.Set(key, change);
    }
  }
}

}  // namespace

std::vector<absl::string_view> ListKeys(absl::string_view parent, absl::string_view name) {
  struct Row {
    absl::string_view parent;  // empty: any; "[]": an item of a list
    absl::string_view name;
    std::vector<absl::string_view> keys;
  };
  static const std::vector<Row>* const rows = new std::vector<Row>{
      {"spec", "containers", {"name"}},
      {"spec", "initContainers", {"name"}},
      {"[]", "ports", {"containerPort", "protocol"}},
      {"spec", "ports", {"port", "protocol"}},
      {"[]", "env", {"name"}},
      {"[]", "volumeMounts", {"mountPath"}},
      {"spec", "volumes", {"name"}},
      {"status", "conditions", {"type"}},
      {"status", "podIPs", {"ip"}},
      {"metadata", "ownerReferences", {"uid"}},
      {"metadata", "finalizers", {"."}},
  };
  for (const Row& row : *rows) {
    if (row.name == name && row.parent == parent) return row.keys;
  }
  return {};
}

JsonTree* FindItem(JsonTree::Array& items, const JsonTree& like,
                   const std::vector<absl::string_view>& keys) {
  for (JsonTree& item : items) {
    const bool same = keys.size() == 1 && keys[0] == "."
                          ? item == like
                          : absl::c_all_of(keys, [&](absl::string_view key) {
                              return item[key] == like[key] ||
                                     // What defaulting will fill in is not in a patch.
                                     (key == "protocol" && like[key].is_null());
                            });
    if (same) return &item;
  }
  return nullptr;
}

void RecordUpdate(const JsonTree* before, const FieldManager& manager, JsonTree& after) {
  JsonTree changed = JsonTree::Object{};
  AddMembers(before, after, "", Ownership::kUpdate, changed);
  const JsonTree all = FieldsOf(after, Ownership::kUpdate);
  JsonTree::Array entries =
      before == nullptr ? JsonTree::Array{} : (*before)["metadata"]["managedFields"].items();
  bool entered = false;
  for (JsonTree& entry : entries) {
    JsonTree& fields = entry.Child("fieldsV1");
    Intersect(all, fields);
    if (SameManager(entry, manager)) {
      if (!changed.members().empty()) entry.Set("time", manager.time);
      Unite(changed, entry.Child("fieldsV1"));
      entered = true;
    } else {
      Subtract(changed, fields);
    }
  }
  if (!entered && !changed.members().empty()) entries.push_back(NewEntry(manager, changed));
  SortAndStore(std::move(entries), after);
}

std::optional<KubeError> ApplyConfig(const JsonTree& config, const FieldManager& manager,
                                     bool force, JsonTree& object) {
  const JsonTree applied = FieldsOf(config, Ownership::kApply);
  JsonTree::Array entries = object["metadata"]["managedFields"].items();
  std::vector<ApplyConflict> conflicts;
  JsonTree dropped = JsonTree::Object{};  // applied by this manager before, and no longer
  for (JsonTree& entry : entries) {
    if (SameManager(entry, manager)) {
      dropped = entry["fieldsV1"];
      Subtract(applied, dropped);
    } else {
      ConflictFinder(OwnerOf(entry), conflicts).Visit(config, object, entry["fieldsV1"], "", "");
    }
  }
  if (!conflicts.empty() && !force) return ConflictError(conflicts);

  std::erase_if(entries, [&](const JsonTree& entry) { return SameManager(entry, manager); });
  for (JsonTree& entry : entries) {
    Subtract(entry["fieldsV1"], dropped);
    for (const ApplyConflict& conflict : conflicts) {
      // Forced: what differs changes hands.
      if (OwnerOf(entry) == conflict.owner) Subtract(applied, entry.Child("fieldsV1"));
    }
  }
  RemoveFields(dropped, "", "", object);
  MergePatch(config, true, object);
  entries.push_back(NewEntry(manager, applied));
  SortAndStore(std::move(entries), object);
  return std::nullopt;
}

void MergePatch(const JsonTree& patch, bool by_key, JsonTree& target) {
  MergeInto(patch, by_key, "", target);
}

}  // namespace sim
