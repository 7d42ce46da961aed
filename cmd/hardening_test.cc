// That the programs are built so that a memory error is harder to make use of.
#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "gtest/gtest.h"

namespace {

// The parts of a program's file that say how it is loaded.
class Program {
 public:
  explicit Program(const std::string& path)
      : bytes_(base::ReadFile(path, size_t{512} << 20).value()) {
    head_ = At<Elf64_Ehdr>(0);
    for (int i = 0; i < head_.e_phnum; ++i) {
      parts_.push_back(At<Elf64_Phdr>(head_.e_phoff + static_cast<size_t>(i) * head_.e_phentsize));
    }
  }

  bool loads_anywhere() const {
    return head_.e_type == ET_DYN && (Dynamic(DT_FLAGS_1) & DF_1_PIE) != 0;
  }
  bool binds_at_start() const { return (Dynamic(DT_FLAGS_1) & DF_1_NOW) != 0; }
  bool has_part(Elf64_Word type) const {
    for (const Elf64_Phdr& part : parts_) {
      if (part.p_type == type) return true;
    }
    return false;
  }
  // Of a part that may be written and run, or of a stack that may.
  bool runs_what_it_writes() const {
    for (const Elf64_Phdr& part : parts_) {
      if (part.p_type != PT_LOAD && part.p_type != PT_GNU_STACK) continue;
      if ((part.p_flags & PF_W) != 0 && (part.p_flags & PF_X) != 0) return true;
    }
    return false;
  }
  // Among its names, each of which ends with a zero.
  bool names(const std::string& symbol) const {
    const std::string zero(1, '\0');
    return absl::StrContains(bytes_, absl::StrCat(zero, symbol, zero));
  }

 private:
  template <typename T>
  T At(size_t offset) const {
    T value = {};
    if (offset + sizeof(T) <= bytes_.size()) {
      std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    }
    return value;
  }

  Elf64_Xword Dynamic(Elf64_Sxword tag) const {
    for (const Elf64_Phdr& part : parts_) {
      if (part.p_type != PT_DYNAMIC) continue;
      for (size_t at = 0; at < part.p_filesz; at += sizeof(Elf64_Dyn)) {
        const auto entry = At<Elf64_Dyn>(part.p_offset + at);
        if (entry.d_tag == tag) return entry.d_un.d_val;
      }
    }
    return 0;
  }

  const std::string bytes_;
  Elf64_Ehdr head_ = {};
  std::vector<Elf64_Phdr> parts_;
};

class Hardening : public testing::TestWithParam<const char*> {};

TEST_P(Hardening, IsThatOfTheBuildThatIsShipped) {
#ifndef NDEBUG
  GTEST_SKIP() << "only --config=opt is shipped, and built so";
#endif
  const Program program(absl::StrCat("cmd/", GetParam()));
  EXPECT_TRUE(program.loads_anywhere()) << "PIE";
  EXPECT_TRUE(program.has_part(PT_GNU_RELRO)) << "RELRO";
  EXPECT_TRUE(program.binds_at_start()) << "BIND_NOW";
  EXPECT_FALSE(program.runs_what_it_writes()) << "NX";
  EXPECT_TRUE(program.names("__stack_chk_fail")) << "stack protector";
  EXPECT_TRUE(program.names("__memcpy_chk")) << "FORTIFY_SOURCE";
  EXPECT_FALSE(program.names("__no_such_symbol")) << "a look that finds anything proves nothing";
}

// Static and stripped: it is loaded where it was linked to, binds nothing later, and has no
// names. What its own code is compiled with is that of the others.
TEST(HardeningOfDrainWait, HoldsForWhatAStaticFileCanHave) {
  const Program program("cmd/drain-wait");
  EXPECT_TRUE(program.has_part(PT_GNU_RELRO)) << "RELRO";
  EXPECT_TRUE(program.has_part(PT_GNU_STACK)) << "without it the stack may be run";
  EXPECT_FALSE(program.runs_what_it_writes()) << "NX";
  EXPECT_FALSE(program.has_part(PT_INTERP)) << "not static";
}

INSTANTIATE_TEST_SUITE_P(Programs, Hardening, testing::Values("oci-drain", "oci-drain-controller"));

}  // namespace
