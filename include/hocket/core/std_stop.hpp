// A bridge from std::stop_token. Only this header of the library includes <stop_token>, which is heavy.
#pragma once
#include <hocket/core/stop.hpp>
#include <stop_token>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

// Cancels `target` when a stop is requested of `token`, on the requesting thread; at once if that has already happened.
// The destructor waits for a cancellation that another thread is making, like the destructor of std::stop_callback.
// `target` outlives the bridge.
class stop_bridge {
 public:
  stop_bridge(std::stop_token token, stop_source& target) : callback_(std::move(token), cancel{target}) {}
  stop_bridge(const stop_bridge&) = delete;
  stop_bridge& operator=(const stop_bridge&) = delete;

 private:
  struct cancel {
    stop_source& target;
    void operator()() noexcept { target.request(); }
  };
  std::stop_callback<cancel> callback_;
};

}}  // namespace hocket
