// The allocator's settings for a process that runs for months beside others.
#ifndef OCI_BACKEND_DRAIN_BASE_HEAP_H_
#define OCI_BACKEND_DRAIN_BASE_HEAP_H_

namespace base {

// Threads share two heaps instead of having up to eight for each processor, each with
// holes of its own. Call it before there are threads. Nothing with another allocator
// than glibc's.
void ShareHeaps();

// What is free is given back to the system, also between what is in use. Takes
// milliseconds, during which others may wait for memory: after a time of much work, not
// while there is some.
void GiveBackMemory();

}  // namespace base

#endif  // OCI_BACKEND_DRAIN_BASE_HEAP_H_
