// The edge to the standard's stop tokens. The only header of the library that knows them: <stop_token> is heavy.
#pragma once
#include <hocket/core/stop.hpp>
#include <stop_token>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

// While it lives, a stop that is requested of `token` cancels `target`, on the thread that requests it; if that has
// happened already, at once. Its destructor waits for a cancellation that another thread is making, as that of
// std::stop_callback does. `target` outlives it.
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
