#include "http/cpprest_body.h"

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "absl/time/time.h"

namespace http {
namespace {

namespace streams = concurrency::streams;

// A stream whose reader is behind by so much is read on when it has caught up.
constexpr size_t kMostUnread = 1 << 20;
// A larger memory is given back once what was in it is read.
constexpr size_t kKeptBytes = 64 << 10;

}  // namespace

// A stream buffer of the library's that can only be written to.
class Exchange::Sink final : public streams::details::streambuf_state_manager<uint8_t> {
 public:
  explicit Sink(std::shared_ptr<Exchange> exchange)
      : streambuf_state_manager(std::ios_base::out), exchange_(std::move(exchange)) {}

  // The only call that the library makes for a body.
  pplx::task<size_t> putn_nocopy(const uint8_t* bytes, size_t count) override {
    return exchange_->Put(reinterpret_cast<const char*>(bytes), count);
  }

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(size_t, std::ios_base::openmode) override {}
  size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode) const override { return Nowhere(); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return Nowhere(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return Nowhere();
  }
  bool acquire(uint8_t*&, size_t&) override { return false; }
  void release(uint8_t*, size_t) override {}

 protected:
  pplx::task<size_t> _putn(const uint8_t* bytes, size_t count) override {
    return putn_nocopy(bytes, count);
  }
  pplx::task<int_type> _putc(uint8_t byte) override {
    const char text = static_cast<char>(byte);
    return exchange_->Put(&text, 1).then([byte](size_t) { return static_cast<int_type>(byte); });
  }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  uint8_t* _alloc(size_t) override { return nullptr; }
  void _commit(size_t) override {}
  // Nothing is read from it.
  pplx::task<int_type> _bumpc() override { return pplx::task_from_result(traits::eof()); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return pplx::task_from_result(traits::eof()); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return pplx::task_from_result(traits::eof()); }
  pplx::task<int_type> _ungetc() override { return pplx::task_from_result(traits::eof()); }
  pplx::task<size_t> _getn(uint8_t*, size_t) override { return pplx::task_from_result<size_t>(0); }
  size_t _scopy(uint8_t*, size_t) override { return 0; }

 private:
  static pos_type Nowhere() { return static_cast<pos_type>(traits::eof()); }

  const std::shared_ptr<Exchange> exchange_;
};

void Exchange::Cancel() {
  std::function<void()> resume;
  {
    absl::MutexLock lock(&mutex_);
    cancelled_ = true;
    resume = std::exchange(resume_, nullptr);
    changed_.SignalAll();
  }
  if (resume) resume();
  source_.cancel();
}

void Exchange::WaitLocked(SteadyClock::time_point deadline) {
  if (cancelled_) throw WasCancelled();
  const auto left = deadline - SteadyClock::now();
  if (left <= SteadyClock::duration::zero()) throw DeadlinePassed();
  changed_.WaitWithTimeout(&mutex_, absl::FromChrono(left));
}

streams::ostream Exchange::MakeSink() {
  return streams::streambuf<uint8_t>(std::make_shared<Sink>(shared_from_this())).create_ostream();
}

void Exchange::EndWith(const pplx::task<void>& ready) {
  ready.then([self = shared_from_this()](const pplx::task<void>& ended) {
    std::exception_ptr error;
    try {
      ended.get();
    } catch (...) {
      error = std::current_exception();
    }
    absl::MutexLock lock(&self->mutex_);
    self->error_ = error;
    self->ended_ = true;
    self->changed_.SignalAll();
  });
}

pplx::task<size_t> Exchange::Put(const char* bytes, size_t count) {
  absl::MutexLock lock(&mutex_);
  if (cancelled_) {
    return pplx::task_from_exception<size_t>(std::make_exception_ptr(std::runtime_error("ended")));
  }
  if (most_of_whole_.has_value()) {
    too_large_ = too_large_ || count > *most_of_whole_ - body_.size();
    if (too_large_) {
      return pplx::task_from_exception<size_t>(
          std::make_exception_ptr(std::runtime_error("the body is too large")));
    }
    body_.append(bytes, count);
    return pplx::task_from_result(count);
  }
  body_.append(bytes, count);
  changed_.SignalAll();
  if (body_.size() < kMostUnread) return pplx::task_from_result(count);
  const pplx::task_completion_event<size_t> read_on;
  resume_ = [read_on, count] { read_on.set(count); };
  return pplx::create_task(read_on);
}

void Exchange::LimitWhole(size_t most) {
  absl::MutexLock lock(&mutex_);
  most_of_whole_ = most;
}

void Exchange::Expect(size_t bytes) {
  absl::MutexLock lock(&mutex_);
  body_.reserve(bytes);
}

std::string Exchange::TakeWhole(SteadyClock::time_point deadline) {
  absl::MutexLock lock(&mutex_);
  while (!ended_ && !too_large_) WaitLocked(deadline);
  if (too_large_) throw BodyTooLarge();
  if (error_ != nullptr) std::rethrow_exception(error_);
  return std::move(body_);
}

bool Exchange::TakeSome(std::string& bytes, SteadyClock::time_point deadline) {
  bytes.clear();
  if (bytes.capacity() > kKeptBytes) bytes.shrink_to_fit();
  std::function<void()> resume;
  {
    absl::MutexLock lock(&mutex_);
    while (body_.empty() && !ended_) WaitLocked(deadline);
    if (cancelled_) throw WasCancelled();
    if (body_.empty() && error_ != nullptr) std::rethrow_exception(error_);
    bytes.swap(body_);
    resume = std::exchange(resume_, nullptr);
  }
  if (resume) resume();
  return !bytes.empty();
}

}  // namespace http
