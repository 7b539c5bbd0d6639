#include "runtime/poster.hpp"

#include <hocket/core/thread/seam/current.hpp>

#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

struct listed_poster : poster, thread_exit_hook {
  listed_poster* after = nullptr;  // in the list; constant once it is there
  atomic<bool> taken{true};
};

constinit atomic<listed_poster*> first_poster{nullptr};

// The slot of a thread that has ended points here.
constinit poster no_poster;

void release_poster(thread_exit_hook& self) noexcept {
  set_current_slot(thread_slot::poster, &no_poster);
  // ORDER: release, pairs with the exchange in take_poster(): its next thread comes after this one.
  static_cast<listed_poster&>(self).taken.store(false, std::memory_order_release);
}

// Takes the poster of a thread that has ended; null if there is none.
listed_poster* take_poster() noexcept {
  // ORDER: acquire, pairs with the compare-exchange in add_to_list().
  for (listed_poster* candidate = first_poster.load(std::memory_order_acquire); candidate;
       candidate = candidate->after) {
    // ORDER: acquire, pairs with the store in release_poster().
    if (!candidate->taken.exchange(true, std::memory_order_acquire)) return candidate;
  }
  return nullptr;
}

void add_to_list(listed_poster& fresh) noexcept {
  // ORDER: relaxed, pairs with nothing: the exchange below verifies it.
  fresh.after = first_poster.load(std::memory_order_relaxed);
  // ORDER: release, pairs with the loads of the list: the poster is whole.
  while (
      !first_poster.compare_exchange_weak(fresh.after, &fresh, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

listed_poster* make_poster() noexcept {
  auto* const fresh = new (std::nothrow) listed_poster;
  if (fresh) add_to_list(*fresh);
  return fresh;
}

[[HOCKET_NOINLINE, HOCKET_COLD]] poster* poster_of_new_thread() noexcept {
  listed_poster* candidate = take_poster();
  if (!candidate) candidate = make_poster();
  if (!candidate) return nullptr;
  candidate->run = &release_poster;
  if (!at_thread_exit(*candidate)) {
    // ORDER: relaxed, pairs with the exchange in take_poster(): it was not used.
    candidate->taken.store(false, std::memory_order_relaxed);
    return nullptr;
  }
  set_current_slot(thread_slot::poster, static_cast<poster*>(candidate));
  return candidate;
}

}  // namespace

poster* current_poster() noexcept {
  auto* const own = static_cast<poster*>(in_current_slot<thread_slot::poster>());
  if (!own) [[unlikely]]
    return poster_of_new_thread();
  return own == &no_poster ? nullptr : own;
}

bool is_posted_to(const void* pool) noexcept {
  // ORDER: acquire, pairs with the compare-exchange in add_to_list().
  for (const listed_poster* candidate = first_poster.load(std::memory_order_acquire); candidate;
       candidate = candidate->after) {
    if (candidate->is_posting_to(pool)) return true;
  }
  return false;
}

}}}  // namespace hocket::detail
