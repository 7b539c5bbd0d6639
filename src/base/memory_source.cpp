#include <hocket/base/memory_source.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/base/seam/platform/sized_delete.hpp>

#include <stdexcept>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

constexpr bool is_usual(std::size_t alignment) noexcept { return alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__; }

constexpr memory_source heap{};  // represents operator new

constinit memory_source custom{};  // written under `setting`, before `chosen`
constinit thread_mutex setting;
constinit atomic<const memory_source*> chosen{nullptr};  // null: not decided yet; changes once, to &heap or &custom

// Chooses `source` if none is chosen. Returns the chosen one.
const memory_source* choose(const memory_source& source) noexcept {
  const memory_source* before = nullptr;
  // ORDER: release, acquire on failure, pairs with itself and the load in decided(): the source is constructed.
  if (chosen.compare_exchange_strong(before, &source, std::memory_order_release, std::memory_order_acquire))
    return &source;
  return before;
}

// Null: the heap.
const memory_source* decided() noexcept {
  if constexpr (under_model) return nullptr;  // the model checker repeats executions
  // ORDER: acquire, pairs with the compare-exchange in choose().
  const memory_source* found = chosen.load(std::memory_order_acquire);
  if (!found) [[unlikely]]
    found = choose(heap);
  return found == &heap ? nullptr : found;
}

}  // namespace

void set_memory_source(const memory_source& source) {
  if (!source.allocate || !source.release)
    throw std::logic_error("hocket: a memory_source has two functions: give it allocate and release");
  const locked guard(setting);
  // ORDER: relaxed, pairs with nothing: no other source is chosen under the mutex, and `heap` is constant.
  const memory_source* const before = chosen.load(std::memory_order_relaxed);
  if (before == &custom)
    throw std::logic_error("hocket: a memory_source is set already: set one for the whole process");
  if (!before) custom = source;
  if (before || choose(custom) != &custom)
    throw std::logic_error(
        "hocket: a memory_source was set too late: set it before the first coroutine and channel are made");
}

namespace detail {

void* source_allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (const memory_source* const own = decided()) return own->allocate(bytes, alignment);
  if (is_usual(alignment)) return ::operator new(bytes, std::nothrow);
  return ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
}

void* source_allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (const memory_source* const own = decided()) {
    void* const memory = own->allocate(bytes, alignment);
    return memory ? memory : throw std::bad_alloc();
  }
  return is_usual(alignment) ? ::operator new(bytes) : ::operator new(bytes, std::align_val_t{alignment});
}

void source_release(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  if (const memory_source* const own = decided()) return own->release(memory, bytes, alignment);
  if (is_usual(alignment)) return sized_delete(memory, bytes);
  ::operator delete(memory, std::align_val_t{alignment});
}

bool keeps_released_memory() noexcept { return !decided(); }

}  // namespace detail

}}  // namespace hocket
