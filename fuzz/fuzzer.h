// What a fuzzer of this folder is made of.
//
// A fuzzer is one file <name>_fuzzer.cc that defines LLVMFuzzerTestOneInput. It
// takes any bytes, hands them to a reader of this project, and requires what must
// hold whatever they are. It is linked twice: with libFuzzer, which looks for new
// inputs, and with replay_main.cc, which gives it the files of its corpus.
#ifndef OCI_BACKEND_DRAIN_FUZZ_FUZZER_H_
#define OCI_BACKEND_DRAIN_FUZZ_FUZZER_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "absl/strings/string_view.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace fuzz {

inline absl::string_view TextOf(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the process unless `holds`: to libFuzzer that is a crash.
inline void Require(bool holds, absl::string_view what) {
  if (holds) return;
  std::cerr << "does not hold: " << what << std::endl;
  std::abort();
}

}  // namespace fuzz

#endif  // OCI_BACKEND_DRAIN_FUZZ_FUZZER_H_
