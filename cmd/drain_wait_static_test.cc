// drain-wait as it is shipped.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/file.h"

namespace {

// Any image must be able to run it: no interpreter that loads shared libraries.
TEST(DrainWaitProgram, IsOneSmallFileWithoutSharedLibraries) {
  const auto bytes = base::ReadFile("cmd/drain-wait");
  ASSERT_TRUE(bytes.ok());
  EXPECT_LT(bytes->size(), 3'000'000u);
  Elf64_Ehdr head;
  ASSERT_GT(bytes->size(), sizeof(head));
  std::memcpy(&head, bytes->data(), sizeof(head));
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part;
    const size_t at = head.e_phoff + static_cast<size_t>(i) * head.e_phentsize;
    ASSERT_LE(at + sizeof(part), bytes->size());
    std::memcpy(&part, bytes->data() + at, sizeof(part));
    EXPECT_NE(part.p_type, static_cast<Elf64_Word>(PT_INTERP));
    EXPECT_NE(part.p_type, static_cast<Elf64_Word>(PT_DYNAMIC));
  }
}

}  // namespace
