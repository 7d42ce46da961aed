// Tells LeakSanitizer not to look at the end of a program. cpprestsdk's pool of threads is
// not joined when a process ends: what such a thread holds at that moment, in the library,
// in OpenSSL or in an exception on its way, looks like a leak, and is another one each
// time. Tests look for leaks of the same code in their own processes. Empty without the
// sanitizer.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OCI_BACKEND_DRAIN_ADDRESS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define OCI_BACKEND_DRAIN_ADDRESS_SANITIZER
#endif

#if defined(OCI_BACKEND_DRAIN_ADDRESS_SANITIZER)
extern "C" int __lsan_is_turned_off() { return 1; }
#endif
