// The Date of the present second, which all connections of a server share.
//
// A cache in the connection would not help: a connection that waits for a request has none, so almost every answer
// would format the date.
//
// # Protocol
//
//   second_  the second of the text in words_; `writing`: a thread replaces the text; before the first: -1
//   words_   the text
//
//   read   1. loads second_; if it is another second, formats the date and writes
//          2. loads words_
//          3. loads second_ again; if it has changed, formats the date
//   write  1. exchanges an earlier second_ for `writing`; if another thread was faster, gives up
//          2. stores words_
//          3. stores second_
//
// second_ only grows, apart from `writing`. So if step 3 of a read finds the second of step 1, no write has begun
// between, and the words belong together. If the system's clock is set back, the dates are formatted until it has
// caught up.
//
// Thread safety: any thread.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/http/detail/date.hpp>
#include <array>
#include <cstdint>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class shared_date {
 public:
  date_text at(std::int64_t now) noexcept {
    // ORDER: acquire, pairs with the last store of write(): the words are those of this second, or newer.
    const std::int64_t second = second_.load(std::memory_order_acquire);
    if (second == now) {
      const words copy = load_words();
      // ORDER: relaxed, ordered behind the words by their acquire.
      if (second_.load(std::memory_order_relaxed) == now) {
        date_text text;
        std::memcpy(text.data(), copy.data(), text.size());
        return text;
      }
    }
    const date_text text = format_date(now);
    if (second < now) write(second, now, text);
    return text;
  }

 private:
  using words = std::array<std::uint64_t, 4>;
  static_assert(sizeof(words) >= date_size);
  static constexpr std::int64_t writing = INT64_MAX;

  words load_words() const noexcept {
    words copy;
    for (std::size_t i = 0; i != copy.size(); ++i) {
      // ORDER: acquire, pairs with the stores of words in write(): after a newer word, second_ is `writing` or newer.
      copy[i] = words_[i].load(std::memory_order_acquire);
    }
    return copy;
  }
  void write(std::int64_t old, std::int64_t now, const date_text& text) noexcept {
    // ORDER: acquire, pairs with the last store of the write before. ORDER: relaxed on failure: nothing is read.
    if (!second_.compare_exchange_strong(old, writing, std::memory_order_acquire, std::memory_order_relaxed)) return;
    words bytes{};
    std::memcpy(bytes.data(), text.data(), text.size());
    for (std::size_t i = 0; i != bytes.size(); ++i) {
      // ORDER: release, pairs with load_words(): a reader of the word sees `writing`, too.
      words_[i].store(bytes[i], std::memory_order_release);
    }
    // ORDER: release, pairs with the first load of at().
    second_.store(now, std::memory_order_release);
  }

  primitive::atomic<std::int64_t> second_{-1};
  std::array<primitive::atomic<std::uint64_t>, 4> words_{};
};

}}}}  // namespace hocket::http::detail
