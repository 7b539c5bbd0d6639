#pragma once
// Coroutines of the machine switch alone: a record each, and nothing of a library around it. So what differs between
// two variants is what the variant says, and nothing else.
//
// The bodies and the rounds contain a genuine call (fail()), which is what the in_caller form of the switch asks for.
#include <hocket/base/seam/platform/prefetch.hpp>
#include <hocket/context/seam/switch.hpp>

#include "effects.hpp"

namespace lab {

class bare_coroutines {
 public:
  // Coroutine i has `size` bytes below top(i), which is 64-byte aligned.
  template <class Top>
  bare_coroutines(std::size_t n, std::size_t size, Top&& top) : n_{n}, records_{n}, lines_{n} {
    for (std::size_t i = 0; i < n; ++i) {
      lines_[i] = line{0, false};
      records_[i] = hocket::detail::machine::prepare(top(i), &body, &lines_[i], size);
    }
  }

  // k round trips of each, in turn. `before(i)` comes right before the switch to the i-th. Nanoseconds.
  template <class Before>
  [[gnu::noinline]] double rounds(std::size_t k, Before before) {
    expected_ += k;
    return timed([&] {
      for (; k; --k) {
        for (std::size_t i = 0; i < n_; ++i) {
          before(i);
          resume(i);
        }
      }
    });
  }

  // The same in another order: order[0], order[1], ...
  template <class Before>
  [[gnu::noinline]] double rounds_in(const std::uint32_t* order, std::size_t k, Before before) {
    expected_ += k;
    return timed([&] {
      for (; k; --k) {
        for (std::size_t i = 0; i < n_; ++i) {
          before(i);
          resume(order[i]);
        }
      }
    });
  }

  void prefetch(std::size_t i) {
    hocket::detail::prefetch(records_[i]);
    hocket::detail::prefetch(&lines_[i]);
  }

  void check() {
    for (std::size_t i = 0; i < n_; ++i) {
      if (lines_[i].count != expected_) fail("a coroutine's counter does not show the expected round trips");
    }
  }

 private:
  static void body(void* argument, void* from, void*) {
    auto& mine = *static_cast<line*>(argument);
    for (;;) {
      if (mine.stop) [[unlikely]]
        fail("nobody stops these");
      ++mine.count;
      from = hocket::detail::machine::switch_to_in_caller(from, nullptr).from;
    }
  }
  [[gnu::always_inline]] void resume(std::size_t i) {
    void* record = records_[i];
    if (!record) [[unlikely]]
      fail("a coroutine has no record");
    records_[i] = hocket::detail::machine::switch_to_in_caller(record, nullptr).from;
  }

  std::size_t n_;
  slots<void*> records_;
  slots<line> lines_;
  std::uint64_t expected_ = 0;
};

}  // namespace lab
