// How many waits of a stress test have begun, were contended, and how they ended.
#pragma once
#include <hocket/core/wait/seam/operation.hpp>

#include <atomic>
#include <utility>

namespace hocket_test {

using namespace hocket;

// How the waits of all rounds ended.
struct statistics {
  std::atomic<long> begun{0}, contended{0}, granted{0}, cancelled{0}, timed_out{0}, closed{0}, unwound{0};
  long unwound_by_the_end = 0;  // of its runtime
  long ended() const { return granted + cancelled + timed_out + closed + unwound; }
};

// One wait: it has begun, and unless how() says otherwise, it was unwound.
class wait_outcome {
 public:
  explicit wait_outcome(statistics& ends) : ends_(ends) { ++ends_.begun; }
  wait_outcome(const wait_outcome&) = delete;
  wait_outcome& operator=(const wait_outcome&) = delete;
  ~wait_outcome() { ++*counter_; }
  // False: it was cancelled, and the coroutine goes home.
  template <class Result>
  bool how(const Result& got) {
    if (got) return counter_ = &ends_.granted, true;
    const std::error_code error = got.error();
    counter_ = error == std::errc::timed_out ? &ends_.timed_out
               : error == errc::closed       ? &ends_.closed
                                             : &ends_.cancelled;
    return counter_ != &ends_.cancelled;
  }

 private:
  statistics& ends_;
  std::atomic<long>* counter_ = &ends_.unwound;
};

// An operation that counts itself when it has to wait.
template <class Op>
struct counted_wait : Op {
  counted_wait(Op op, std::atomic<long>& contended) noexcept : Op(std::move(op)), contended_(&contended) {}
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    ++*contended_;
    Op::begin(wait, entry);
  }

 private:
  std::atomic<long>* contended_;
};
template <class Op, class Options>
auto counted(statistics& ends, primitive::operation<Op, Options> wait) {
  const Options options = wait.options();
  return primitive::operation<counted_wait<Op>, Options>(counted_wait<Op>(std::move(wait).unwrap(), ends.contended),
                                                         options);
}

}  // namespace hocket_test
