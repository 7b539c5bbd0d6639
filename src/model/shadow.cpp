// The operations of model objects: to the engine while an execution runs, on the object itself otherwise.
#include <hocket/model/detail/shadow.hpp>

#include <hocket/base/fatal.hpp>

#include "engine.hpp"

#include <utility>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

void fail(const char* message, std::source_location where) {
  if (auto* running = engine::current()) running->require_failed(message, where);
  hocket::detail::fatal(message, "a required condition of a model test failed outside of explore()", nullptr, where);
}

namespace detail {
namespace {

[[noreturn]] void would_block(site where) {
  hocket::detail::fatal("model: a wait outside of an execution",
                        "wait in a thread of the test: no thread can end this one", nullptr, where);
}

}  // namespace

void construct(shadow& object) {
  if (auto* running = engine::current()) running->construct(object);
}

void retire(shadow& object) noexcept {
  if (auto* running = engine::current()) running->retire(object);
  // A plain store to an object that ends its life is one that the compiler may drop.
  static_cast<volatile std::uint32_t&>(object.state) = shadow::dead;
}

std::uint64_t load(const shadow& object, std::memory_order order, site where) {
  auto* running = engine::current();
  return running ? running->load(object, order, where) : object.bits;
}

void store(shadow& object, std::uint64_t value, std::memory_order order, site where) {
  if (auto* running = engine::current()) return running->store(object, value, order, where);
  object.bits = value;
}

std::uint64_t rmw_read(shadow& object, std::memory_order order, site where) {
  auto* running = engine::current();
  return running ? running->rmw_read(object, order, where) : object.bits;
}

void rmw_write(shadow& object, std::uint64_t value, std::memory_order order, const char* verb, site where) {
  if (auto* running = engine::current()) return running->rmw_write(object, value, order, verb, where);
  object.bits = value;
}

bool compare_exchange(shadow& object, std::uint64_t& expected, const exchange_request& request, site where) {
  if (auto* running = engine::current()) return running->compare_exchange(object, expected, request, where);
  if (object.bits != expected) {
    expected = object.bits;
    return false;
  }
  object.bits = request.desired;
  return true;
}

void fence(std::memory_order order, site where) {
  if (auto* running = engine::current()) running->fence(order, where);
}

void asymmetric_fence(half which, site where) {
  if (auto* running = engine::current()) running->asymmetric_fence(which, where);
}

void futex_wait(const shadow& word, std::uint64_t expected, site where) {
  if (auto* running = engine::current()) return running->futex_wait(word, expected, where);
  if (word.bits == expected) would_block(where);
}

bool futex_wait_timed(const shadow& word, std::uint64_t expected, site where) {
  if (auto* running = engine::current()) return running->futex_wait_timed(word, expected, where);
  return word.bits != expected;
}

void futex_wake(const shadow& word, bool all, site where) {
  if (auto* running = engine::current()) running->futex_wake(word, all, where);
}

void plain_read(const shadow& object, site where) {
  if (auto* running = engine::current()) running->plain_access(object, false, where);
}

void plain_write(shadow& object, site where) {
  if (auto* running = engine::current()) running->plain_access(object, true, where);
}

void lock(shadow& mutex, site where) {
  if (auto* running = engine::current()) return running->lock(mutex, where);
  if (!try_lock(mutex, where)) would_block(where);
}

bool try_lock(shadow& mutex, site where) {
  if (auto* running = engine::current()) return running->try_lock(mutex, where);
  return std::exchange(mutex.bits, 1) == 0;
}

void unlock(shadow& mutex, site where) {
  if (auto* running = engine::current()) return running->unlock(mutex, where);
  mutex.bits = 0;
}

}  // namespace detail
}}}  // namespace hocket::model
