// cpprestsdk is not built with ThreadSanitizer, which then misses what its own
// locks order. Without that sanitizer nobody calls this.
extern "C" const char* __tsan_default_suppressions() { return "race:libcpprest.so\n"; }
