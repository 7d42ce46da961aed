// Tells ThreadSanitizer of the order that absl's locks make. Debian's absl is not
// built with the sanitizer, and its Mutex uses no pthread call that it would see:
// without this every value that a Mutex guards would look like a race.
//
// Each function here stands in front of absl's of the same name, calls it, and
// says that what was released there was acquired here. Linked into everything
// that uses absl; empty without the sanitizer.
#if defined(__SANITIZE_THREAD__)

#include <dlfcn.h>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

// What is left: absl's own bookkeeping of who waits for whom, and cpprestsdk, which
// is not built with the sanitizer either.
extern "C" const char* __tsan_default_suppressions() {
  return "race:libabsl_graphcycles_internal.so\nrace:libcpprest.so\n";
}

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

namespace {

// absl's own function of that mangled name, behind ours.
template <typename Function>
Function* Next(const char* symbol) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, symbol));
}

void* Address(const void* object) { return const_cast<void*>(object); }

}  // namespace

// RESULT NAME PARAMETERS under SYMBOL: BEFORE(OBJECT), the call, AFTER(OBJECT).
#define OCI_BACKEND_DRAIN_ORDERED(RESULT, NAME, SYMBOL, PARAMETERS, ARGUMENTS, OBJECT, BEFORE, \
                                  AFTER)                                                       \
  extern "C" RESULT NAME PARAMETERS __asm__(SYMBOL);                                           \
  extern "C" RESULT NAME PARAMETERS {                                                          \
    static auto* const next = Next<RESULT PARAMETERS>(SYMBOL);                                 \
    struct Ordering {                                                                          \
      void* object;                                                                            \
      explicit Ordering(void* o) : object(o) { BEFORE(object); }                               \
      ~Ordering() { AFTER(object); }                                                           \
    } const ordering(Address(OBJECT));                                                         \
    return next ARGUMENTS;                                                                     \
  }

static void Nothing(void*) {}

// A lock acquires, an unlock releases, a wait does both.
OCI_BACKEND_DRAIN_ORDERED(void, TsanLock, "_ZN4absl7debian35Mutex4LockEv", (absl::Mutex * self),
                          (self), self, Nothing, __tsan_acquire)
OCI_BACKEND_DRAIN_ORDERED(bool, TsanTryLock, "_ZN4absl7debian35Mutex7TryLockEv",
                          (absl::Mutex * self), (self), self, Nothing, __tsan_acquire)
OCI_BACKEND_DRAIN_ORDERED(void, TsanUnlock, "_ZN4absl7debian35Mutex6UnlockEv", (absl::Mutex * self),
                          (self), self, __tsan_release, Nothing)
OCI_BACKEND_DRAIN_ORDERED(void, TsanReaderLock, "_ZN4absl7debian35Mutex10ReaderLockEv",
                          (absl::Mutex * self), (self), self, Nothing, __tsan_acquire)
OCI_BACKEND_DRAIN_ORDERED(void, TsanReaderUnlock, "_ZN4absl7debian35Mutex12ReaderUnlockEv",
                          (absl::Mutex * self), (self), self, __tsan_release, Nothing)
OCI_BACKEND_DRAIN_ORDERED(void, TsanAwait, "_ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE",
                          (absl::Mutex * self, const absl::Condition& condition), (self, condition),
                          self, __tsan_release, __tsan_acquire)
OCI_BACKEND_DRAIN_ORDERED(
    bool, TsanAwaitWithTimeout,
    "_ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE",
    (absl::Mutex * self, const absl::Condition& condition, absl::Duration timeout),
    (self, condition, timeout), self, __tsan_release, __tsan_acquire)
OCI_BACKEND_DRAIN_ORDERED(bool, TsanAwaitWithDeadline,
                          "_ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE",
                          (absl::Mutex * self, const absl::Condition& condition,
                           absl::Time deadline),
                          (self, condition, deadline), self, __tsan_release, __tsan_acquire)
OCI_BACKEND_DRAIN_ORDERED(void, TsanLockWhen, "_ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE",
                          (absl::Mutex * self, const absl::Condition& condition), (self, condition),
                          self, Nothing, __tsan_acquire)
OCI_BACKEND_DRAIN_ORDERED(void, TsanWait, "_ZN4absl7debian37CondVar4WaitEPNS0_5MutexE",
                          (absl::CondVar * self, absl::Mutex* mutex), (self, mutex), mutex,
                          __tsan_release, __tsan_acquire)
OCI_BACKEND_DRAIN_ORDERED(bool, TsanWaitWithTimeout,
                          "_ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE",
                          (absl::CondVar * self, absl::Mutex* mutex, absl::Duration timeout),
                          (self, mutex, timeout), mutex, __tsan_release, __tsan_acquire)
OCI_BACKEND_DRAIN_ORDERED(bool, TsanWaitWithDeadline,
                          "_ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE",
                          (absl::CondVar * self, absl::Mutex* mutex, absl::Time deadline),
                          (self, mutex, deadline), mutex, __tsan_release, __tsan_acquire)
OCI_BACKEND_DRAIN_ORDERED(void, TsanNotify, "_ZN4absl7debian312Notification6NotifyEv",
                          (absl::Notification * self), (self), self, __tsan_release, Nothing)
OCI_BACKEND_DRAIN_ORDERED(void, TsanWaitForNotification,
                          "_ZNK4absl7debian312Notification19WaitForNotificationEv",
                          (const absl::Notification* self), (self), self, Nothing, __tsan_acquire)
OCI_BACKEND_DRAIN_ORDERED(
    bool, TsanWaitForNotificationWithTimeout,
    "_ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE",
    (const absl::Notification* self, absl::Duration timeout), (self, timeout), self, Nothing,
    __tsan_acquire)

#endif  // __SANITIZE_THREAD__
