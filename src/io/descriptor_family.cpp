#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/forks.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/base/seam/never_destroyed.hpp>
#include <hocket/io/seam/descriptor_family.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;

namespace {

constinit primitive::thread_mutex families_mutex;

list<descriptor_family>& families() noexcept {  // guarded by the mutex
  static never_destroyed<list<descriptor_family>> all;
  return *all;
}

std::uint64_t next_family_number() noexcept {
  static constinit primitive::atomic<std::uint64_t> last{0};
  // ORDER: relaxed, pairs with nothing: a number that no other family gets.
  return std::uint64_t{forks_so_far()} << 32 | (last.fetch_add(1, std::memory_order_relaxed) + 1);
}

}  // namespace

descriptor_family::descriptor_family() noexcept : number_(next_family_number()) {}

bool descriptor_family::is_of_this_process(std::uint64_t number) noexcept { return number >> 32 == forks_so_far(); }

void descriptor_family::enter() noexcept {
  const locked guard(families_mutex);
  families().push_back(*this);
}

void descriptor_family::leave() noexcept {
  const locked guard(families_mutex);
  if (linked()) list<descriptor_family>::erase(*this);
}

bool descriptor_family::hand_over(open_descriptor& closed, std::uint64_t number) noexcept {
  const locked guard(families_mutex);
  for (descriptor_family& current : families()) {
    if (current.number() == number) return current.take_over(closed);
  }
  return false;
}

}}}  // namespace hocket::detail
