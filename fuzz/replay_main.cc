// Gives a fuzzer every file of the folders that are named, without libFuzzer.
// usage: <name>_corpus_test FOLDER...
#include <filesystem>
#include <iostream>
#include <string>

#include "absl/status/statusor.h"
#include "base/file.h"
#include "fuzz/fuzzer.h"

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i], error)) {
      const absl::StatusOr<std::string> text = base::ReadFile(entry.path().string());
      if (!text.ok()) {
        std::cerr << text.status() << '\n';
        return 1;
      }
      // A crash shows in the log which file it was.
      std::cout << entry.path().string() << std::endl;
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text->data()), text->size());
      ++files;
    }
    if (error) {
      std::cerr << argv[i] << ": " << error.message() << '\n';
      return 1;
    }
  }
  if (files == 0) std::cerr << "no file to replay\n";
  return files == 0 ? 1 : 0;
}
