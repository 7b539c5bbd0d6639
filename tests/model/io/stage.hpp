// What the cases of a direction have in common: a descriptor, its readers and its driver.
#pragma once
#include <hocket/io/seam/open_descriptor.hpp>
#include <hocket/io/seam/transfer_operation.hpp>

#include "sync/waits.hpp"

#include <array>

namespace hocket_test {

template <class T>
using model_object = kept<T>;

struct stage {
  kept<hocket::detail::open_descriptor> at;
  hocket::primitive::atomic<std::uint32_t> reading;  // readers that have not ended

  explicit stage(std::uint32_t readers) : reading(readers, "reading") {}

  hocket::primitive::operation<hocket::detail::bytes_operation> read() {
    return hocket::primitive::operation<hocket::detail::bytes_operation>(
        std::in_place, hocket::detail::no_options{}, at->in, hocket::detail::call_kind::read, this, 1u, false);
  }
  hocket::primitive::operation<hocket::detail::bytes_operation> read_both(std::array<int, 2>& into) {
    return hocket::primitive::operation<hocket::detail::bytes_operation>(
        std::in_place, hocket::detail::no_options{}, at->in, hocket::detail::call_kind::read, into.data(), 2u, true);
  }
  void ends() {
    reading.fetch_sub(1, std::memory_order_relaxed);
    at->notify_driver();
  }
  void drive() {
    for (;;) {
      const std::uint32_t seen = at->news();
      at->poll();
      if (reading.load(std::memory_order_relaxed) == 0) return;
      at->await_news(seen);
    }
  }
  // The word is given back, and no reader waits.
  void clear() {
    at->in.close();
    hocket::model::require(at->is_fd_closed(), "a direction was not given back");
    at.free();
  }
};

inline bool is_byte(const hocket::result<std::size_t>& returned) { return returned && *returned == 1; }
// Before the wait, or while it lasted.
inline bool is_closed(const hocket::result<std::size_t>& returned) {
  const std::error_code error = returned.error_or({});
  return error == std::errc::bad_file_descriptor || error == std::errc::operation_canceled;
}

}  // namespace hocket_test
