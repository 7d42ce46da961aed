// Prints docs/annotations.md.
#include <iostream>

#include "annotations/docs.h"

int main() {
  std::cout << annotations::MakeDocs();
  return std::cout.flush() ? 0 : 1;
}
