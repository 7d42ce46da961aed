#include "base/heap.h"

#include <cstdlib>  // says whether it is glibc's

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace base {

void ShareHeaps() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 2);
#endif
}

void GiveBackMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace base
