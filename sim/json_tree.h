// JSON as a value that is easily copied and changed: what a fake stores.
//
//   JsonTree pod = JsonTree::Object{{"kind", "Pod"}, {"spec", JsonTree::Object{}}};
//   pod.Child("metadata").Set("name", "web-0");
//   pod["metadata"]["name"].AsString();  // "web-0"
//
// Reading never fails: a member that is missing, or a value of another type,
// reads as null, zero, false or empty. Members keep the order in which they were
// set. Not for hot paths of the product: base/json.h is.
//
// A copy shares its arrays and objects with the original until one of the two is
// changed through: copying a stored object to change a part of it costs that part
// alone. So a reference that Child, Set or the Mutable functions gave is written
// through before the tree is copied, never after.
#ifndef OCI_BACKEND_DRAIN_SIM_JSON_TREE_H_
#define OCI_BACKEND_DRAIN_SIM_JSON_TREE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace sim {

class JsonTree {
 public:
  using Array = std::vector<JsonTree>;
  using Member = std::pair<std::string, JsonTree>;
  using Object = std::vector<Member>;

  JsonTree();  // null
  // NOLINTBEGIN(google-explicit-constructor): meant to convert, so that trees read
  // like JSON.
  JsonTree(bool value);
  JsonTree(int value);
  JsonTree(int64_t value);
  JsonTree(double value);
  JsonTree(const char* value);
  JsonTree(std::string value);
  JsonTree(absl::string_view value);
  JsonTree(Array value);
  JsonTree(Object value);
  // NOLINTEND(google-explicit-constructor)
  JsonTree(const JsonTree& other);
  JsonTree(JsonTree&& other) noexcept;
  JsonTree& operator=(const JsonTree& other);
  JsonTree& operator=(JsonTree&& other) noexcept;
  ~JsonTree();

  // Bounds as base::ParseJson; `what` prefixes the error.
  static absl::StatusOr<JsonTree> Parse(absl::string_view text, absl::string_view what);
  // Compact text.
  std::string Dump() const;

  bool is_null() const;
  bool is_bool() const;
  bool is_number() const;
  bool is_int() const;
  bool is_string() const;
  bool is_array() const;
  bool is_object() const;
  // "null", "bool", "number", "string", "array", "object": as Go's messages say.
  absl::string_view TypeName() const;

  bool AsBool(bool otherwise = false) const;
  int64_t AsInt(int64_t otherwise = 0) const;
  double AsDouble(double otherwise = 0) const;
  // Empty for any other type. Of a temporary they answer a copy, so that a loop
  // over Parse(...)["items"].items() is safe.
  const std::string& AsString() const&;
  std::string AsString() && { return std::as_const(*this).AsString(); }
  const Array& items() const&;
  Array items() && { return std::as_const(*this).items(); }
  const Object& members() const&;
  Object members() && { return std::as_const(*this).members(); }

  // The member, or nullptr if this is no object or has none of that name.
  const JsonTree* Find(absl::string_view name) const;
  // The member or null; the reference to null lives for ever.
  const JsonTree& operator[](absl::string_view name) const&;
  JsonTree operator[](absl::string_view name) && { return std::as_const(*this)[name]; }
  bool Has(absl::string_view name) const { return Find(name) != nullptr; }

  // These make this an object first if it is none.
  JsonTree& Child(absl::string_view name);  // added as null if missing
  JsonTree& Set(absl::string_view name, JsonTree value);
  JsonTree& SetIfMissing(absl::string_view name, JsonTree value);
  void Erase(absl::string_view name);

  // These make this an array first if it is none.
  Array& MutableItems();
  void Append(JsonTree value);

  Object& MutableMembers();

  // Objects compare whatever the order of their members.
  friend bool operator==(const JsonTree& a, const JsonTree& b);

 private:
  void DumpTo(std::string& out) const;

  // Never null. What is shared is never changed.
  using SharedArray = std::shared_ptr<Array>;
  using SharedObject = std::shared_ptr<Object>;

  std::variant<std::monostate, bool, int64_t, double, std::string, SharedArray, SharedObject>
      value_;
};

}  // namespace sim

#endif  // OCI_BACKEND_DRAIN_SIM_JSON_TREE_H_
