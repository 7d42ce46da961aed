// Tells LeakSanitizer of cpprestsdk. Its pool of threads is not joined when a process
// ends: what completes the last message then is cut off halfway, and looks like a leak
// of that moment. Empty without the sanitizer.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OCI_BACKEND_DRAIN_LEAKS_ARE_TOLD
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define OCI_BACKEND_DRAIN_LEAKS_ARE_TOLD
#endif

#if defined(OCI_BACKEND_DRAIN_LEAKS_ARE_TOLD)
extern "C" const char* __lsan_default_suppressions() {
  return "leak:web::http::details::http_msg_base::_complete\n"
         "leak:Concurrency::streams::producer_consumer_buffer\n";
}
#endif
