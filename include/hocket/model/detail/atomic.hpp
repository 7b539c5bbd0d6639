// model::atomic<T>: std::atomic<T> for the model checker (explore.hpp), and the fence and the futex that go with it.
//
// Each operation is a point at which the checker may run another thread, and each load one at which it may hand out any
// value that C++20 lets this thread read. The trailing `site` arguments are never written: they put file and line
// into the interleaving. The name in the constructor is optional and shown there, too.
#pragma once
#include <hocket/model/detail/shadow.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

template <class T>
class atomic {
  static_assert(std::is_trivially_copyable_v<T>, "an atomic value is copied byte by byte");
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                "the model checker keeps values of 1, 2, 4 or 8 bytes");
  static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>,
                "a type with padding compares unreliably in compare_exchange");

  using site = detail::site;
  using order = std::memory_order;
  using difference = std::conditional_t<std::is_pointer_v<T>, std::ptrdiff_t, T>;
  static constexpr order sc = order::seq_cst;

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;

  constexpr atomic(T initial = T{}, const char* name = nullptr)
      : shadow_(name, detail::to_bits(initial), detail::shape_of<T>()) {
    if (!std::is_constant_evaluated()) detail::construct(shadow_);
  }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  ~atomic() { detail::retire(shadow_); }

  bool is_lock_free() const noexcept { return true; }

  T load(order o = sc, site where = site::current()) const { return value(detail::load(shadow_, o, where)); }
  operator T() const { return load(sc, site{}); }

  void store(T desired, order o = sc, site where = site::current()) {
    detail::store(shadow_, detail::to_bits(desired), o, where);
  }
  T operator=(T desired) {
    store(desired, sc, site{});
    return desired;
  }

  T exchange(T desired, order o = sc, site where = site::current()) {
    return update(o, "exchange", where, [&](T) { return desired; });
  }

  bool compare_exchange_weak(T& expected, T desired, order success, order failure, site where = site::current()) {
    return try_exchange(expected, {detail::to_bits(desired), success, failure, true}, where);
  }
  bool compare_exchange_weak(T& expected, T desired, order o = sc, site where = site::current()) {
    return try_exchange(expected, {detail::to_bits(desired), o, failure_of(o), true}, where);
  }
  bool compare_exchange_strong(T& expected, T desired, order success, order failure, site where = site::current()) {
    return try_exchange(expected, {detail::to_bits(desired), success, failure, false}, where);
  }
  bool compare_exchange_strong(T& expected, T desired, order o = sc, site where = site::current()) {
    return try_exchange(expected, {detail::to_bits(desired), o, failure_of(o), false}, where);
  }

  T fetch_add(difference operand, order o = sc, site where = site::current()) {
    return update(o, "fetch_add", where, [&](T old) { return static_cast<T>(old + operand); });
  }
  T fetch_sub(difference operand, order o = sc, site where = site::current()) {
    return update(o, "fetch_sub", where, [&](T old) { return static_cast<T>(old - operand); });
  }
  T fetch_and(T operand, order o = sc, site where = site::current()) {
    return update(o, "fetch_and", where, [&](T old) { return static_cast<T>(old & operand); });
  }
  T fetch_or(T operand, order o = sc, site where = site::current()) {
    return update(o, "fetch_or", where, [&](T old) { return static_cast<T>(old | operand); });
  }
  T fetch_xor(T operand, order o = sc, site where = site::current()) {
    return update(o, "fetch_xor", where, [&](T old) { return static_cast<T>(old ^ operand); });
  }

  T operator++() { return static_cast<T>(fetch_add(1, sc, site{}) + 1); }
  T operator--() { return static_cast<T>(fetch_sub(1, sc, site{}) - 1); }
  T operator++(int) { return fetch_add(1, sc, site{}); }
  T operator--(int) { return fetch_sub(1, sc, site{}); }

  void wait(T old, order o = sc, site where = site::current()) const {
    while (detail::to_bits(load(o, where)) == detail::to_bits(old))
      detail::futex_wait(shadow_, detail::to_bits(old), where);
  }
  void notify_one(site where = site::current()) { detail::futex_wake(shadow_, false, where); }
  void notify_all(site where = site::current()) { detail::futex_wake(shadow_, true, where); }

  // For futex_wait and friends below.
  const detail::shadow& word() const noexcept { return shadow_; }

 private:
  static constexpr T value(std::uint64_t bits) noexcept { return detail::from_bits<T>(bits); }

  static constexpr order failure_of(order o) noexcept {
    return o == order::acq_rel ? order::acquire : o == order::release ? order::relaxed : o;
  }

  template <class Function>
  T update(order o, const char* verb, site where, Function next) {
    T old = value(detail::rmw_read(shadow_, o, where));
    detail::rmw_write(shadow_, detail::to_bits(next(old)), o, verb, where);
    return old;
  }

  bool try_exchange(T& expected, const detail::exchange_request& request, site where) {
    auto bits = detail::to_bits(expected);
    bool done = detail::compare_exchange(shadow_, bits, request, where);
    if (!done) expected = value(bits);
    return done;
  }

  detail::shadow shadow_;
};

inline void fence(std::memory_order order, detail::site where = detail::site::current()) {
  detail::fence(order, where);
}

// The halves of an asymmetric fence: a light one that comes before a heavy one is a full fence of its thread to the
// thread of the heavy one, and the other way round.
inline void light_fence(detail::site where = detail::site::current()) {
  detail::asymmetric_fence(detail::half::light, where);
}
inline void heavy_fence(detail::site where = detail::site::current()) {
  detail::asymmetric_fence(detail::half::heavy, where);
}

// Sleeps if `word` holds `expected` (its newest value: the kernel looks at memory, not at this thread's view) until a
// wake; may return spuriously. It orders nothing, as a futex promises nothing.
inline void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected,
                       detail::site where = detail::site::current()) {
  detail::futex_wait(word.word(), expected, where);
}
// The same with a limit, which the checker lets pass whenever it likes: false if it returns because of that. If nobody
// else can go on, the time is up.
[[nodiscard]] inline bool futex_wait_timed(const atomic<std::uint32_t>& word, std::uint32_t expected,
                                           detail::site where = detail::site::current()) {
  return detail::futex_wait_timed(word.word(), expected, where);
}
inline void futex_wake_one(const atomic<std::uint32_t>& word, detail::site where = detail::site::current()) {
  detail::futex_wake(word.word(), false, where);
}
inline void futex_wake_all(const atomic<std::uint32_t>& word, detail::site where = detail::site::current()) {
  detail::futex_wake(word.word(), true, where);
}

}}}  // namespace hocket::model
