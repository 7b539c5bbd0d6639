// What all connections of an HTTP server share: routes, options, the memory of whole bodies, counts.
//
// Access: options and routes are constant. The semaphore and the counts are for any thread.
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/http/detail/forwarded.hpp>
#include <hocket/http/detail/request_head.hpp>
#include <hocket/http/detail/route_table.hpp>
#include <hocket/http/serve_options.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/semaphore.hpp>
#include <algorithm>
#include <array>
#include <memory>

#include "http/shared_date.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class site : public hocket::detail::from_memory_source {
 public:
  site(const serve_options& server_options, std::unique_ptr<const route_table> table, trusted_proxies proxies)
      : options(server_options), routes(std::move(table)), trusted(std::move(proxies)), bodies(body_shares()) {}

  // How many shares of `bodies` a body of that size takes.
  std::size_t shares_of(std::uint64_t size) const noexcept {
    return static_cast<std::size_t>(std::min<std::uint64_t>(size, body_shares()));
  }
  head_limits limits_of_head() const noexcept {
    return {options.limits.max_line, options.limits.max_head, options.limits.max_fields};
  }

  void count_answer(http::status status) noexcept {
    const auto index = static_cast<std::size_t>(status) / 100;
    // ORDER: relaxed, pairs with nothing: a number for people.
    if (index < answers_.size()) answers_[index].fetch_add(1, std::memory_order_relaxed);
  }
  void count_body(std::uint64_t bytes) noexcept {
    // ORDER: relaxed, as above.
    if (bytes != 0) bytes_in_.fetch_add(bytes, std::memory_order_relaxed);
  }
  void count_sent(std::uint64_t bytes) noexcept {
    // ORDER: relaxed, as above.
    if (bytes != 0) bytes_out_.fetch_add(bytes, std::memory_order_relaxed);
  }
  request_counts counts() const noexcept {
    request_counts sum;
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      // ORDER: relaxed, as above.
      sum.answers[i] = answers_[i].load(std::memory_order_relaxed);
    }
    // ORDER: relaxed, as above.
    sum.bytes_in = bytes_in_.load(std::memory_order_relaxed);
    // ORDER: relaxed, as above.
    sum.bytes_out = bytes_out_.load(std::memory_order_relaxed);
    return sum;
  }

  const serve_options options;
  const std::unique_ptr<const route_table> routes;
  const trusted_proxies trusted;
  event draining;  // set by graceful_shutdown()
  shared_date date;
  semaphore bodies;  // a permit for each byte of a whole body that is in memory of its own

 private:
  std::size_t body_shares() const noexcept { return std::min(options.limits.max_bodies, semaphore::max); }

  std::array<primitive::atomic<std::uint64_t>, 6> answers_{};
  primitive::atomic<std::uint64_t> bytes_in_{0}, bytes_out_{0};
};

}}}}  // namespace hocket::http::detail
