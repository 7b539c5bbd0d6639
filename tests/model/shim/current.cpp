// src/core/thread/current.cpp as seen by library sources under the model: the threads of a model test are one real
// thread, so what is `thread_local` in the library is here an array with a place for each of them, empty in every
// execution.
#include <hocket/base/seam/forks.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/model/detail/explore.hpp>
#include <hocket/sync/detail/chance.hpp>

#include <array>
#include <exception>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

thread_state& this_thread() noexcept {
  static std::array<thread_state, 16> states;
  static std::uint64_t execution = 0;
  if (auto present = model::execution_number(); execution != present) {
    execution = present;
    states.fill({});
  }
  return states[model::thread_index()];
}

// No chance in an execution that is to be repeated; and not the same for all threads.
std::uint32_t first_chance_below(std::uint32_t bound) noexcept {
  return static_cast<std::uint32_t>(model::thread_index()) % bound;
}

std::uint32_t forks_so_far() noexcept { return 0; }

// Nothing is made here that would need it.
bool at_thread_exit(thread_exit_hook&) noexcept { return false; }

bool leaving_by_failure() noexcept { return std::uncaught_exceptions() > 0 || this_thread().early_ends != 0; }

}}}  // namespace hocket::detail
