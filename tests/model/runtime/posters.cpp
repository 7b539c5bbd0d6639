#include "runtime/posters.hpp"

#include <hocket/model/detail/explore.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using hocket_test::posters;

poster* current_poster() noexcept {
  return posters::present ? &posters::present->of_thread[model::thread_index()] : nullptr;
}

bool is_posted_to(const void* pool) noexcept {
  if (!posters::present) return false;
  for (const poster& one : posters::present->of_thread) {
    if (one.is_posting_to(pool)) return true;
  }
  return false;
}

}}}  // namespace hocket::detail
