// One object through the decoder of a whole list, for tests.
#ifndef OCI_BACKEND_DRAIN_KUBE_DECODE_FOR_TEST_H_
#define OCI_BACKEND_DRAIN_KUBE_DECODE_FOR_TEST_H_

#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kube/decoder.h"

namespace kube {

// A list with these items (a JSON array).
inline std::string List(absl::string_view items) {
  return absl::StrCat(R"({"metadata":{"resourceVersion":"7"},"items":)", items, "}");
}

template <typename T>
T DecodeOne(Resource resource, absl::string_view item) {
  absl::StatusOr<ListPage> page = DecodeListPage(resource, List(absl::StrCat("[", item, "]")));
  EXPECT_TRUE(page.ok()) << page.status();
  if (!page.ok()) return T();
  for (const BadObject& bad : page->bad) ADD_FAILURE() << bad.why;
  if (page->objects.size() != 1) return T();
  return std::get<T>(std::move(page->objects[0]));
}

inline BadObject DecodeBad(Resource resource, absl::string_view item) {
  absl::StatusOr<ListPage> page = DecodeListPage(resource, List(absl::StrCat("[", item, "]")));
  EXPECT_TRUE(page.ok()) << page.status();
  if (!page.ok() || page->bad.size() != 1) {
    ADD_FAILURE() << "not refused: " << item;
    return {};
  }
  EXPECT_TRUE(page->objects.empty());
  return page->bad[0];
}

}  // namespace kube

#endif  // OCI_BACKEND_DRAIN_KUBE_DECODE_FOR_TEST_H_
