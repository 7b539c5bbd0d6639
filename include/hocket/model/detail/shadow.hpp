// The one door between the checker's templates and its compiled part: what every model object carries, and the
// operations that it asks for.
//
// Outside of an execution (no explore() is running) the operations act at once on `shadow::bits`: an atomic with static
// lifetime can be constructed and used before main(). Inside one, `bits` is never written: it stays the value with
// which the location enters each execution, so static state is the same at the start of each.
//
// The namespace is the library's even in sources that are compiled under the model (config.hpp): the checker itself is
// never under the model.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <atomic>
#include <bit>
#include <cstdint>
#include <source_location>
#include <type_traits>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model::detail {

using site = std::source_location;

// How a value is shown in an interleaving.
enum class value_kind : std::uint8_t { unsigned_number, signed_number, boolean, pointer };
struct value_shape {
  value_kind kind = value_kind::unsigned_number;
  std::uint8_t bytes = 8;
};

struct shadow {
  static constexpr std::uint32_t alive = 0x6c656c61;
  static constexpr std::uint32_t dead = 0xdeadce11;

  constexpr explicit shadow(const char* label, std::uint64_t initial = 0, value_shape kind = {}) noexcept
      : bits(initial), name(label), shape(kind) {}
  shadow(const shadow&) = delete;
  shadow& operator=(const shadow&) = delete;

  std::uint64_t bits;                   // the value outside of executions
  const char* name;                     // given by the user, or null
  mutable std::uint64_t execution = 0;  // the execution in which `location` means something
  mutable std::uint32_t location = 0;
  std::uint32_t state = alive;  // how a use after destruction shows
  value_shape shape;
};

// The object's life. `retire` may run in an exception's way and never throws: what it finds is reported by the next
// operation.
void construct(shadow& object);
void retire(shadow& object) noexcept;

// Atomic objects. An update is rmw_read, a computation, rmw_write: nothing happens in between.
std::uint64_t load(const shadow& object, std::memory_order order, site where);
void store(shadow& object, std::uint64_t value, std::memory_order order, site where);
std::uint64_t rmw_read(shadow& object, std::memory_order order, site where);
void rmw_write(shadow& object, std::uint64_t value, std::memory_order order, const char* verb, site where);

struct exchange_request {
  std::uint64_t desired;
  std::memory_order success, failure;
  bool weak;
};
bool compare_exchange(shadow& object, std::uint64_t& expected, const exchange_request& request, site where);
void fence(std::memory_order order, site where);
enum class half : std::uint8_t { light, heavy };
void asymmetric_fence(half which, site where);

// Sleeping on an address. A woken word may be gone already: only its address is used.
void futex_wait(const shadow& word, std::uint64_t expected, site where);
bool futex_wait_timed(const shadow& word, std::uint64_t expected, site where);
void futex_wake(const shadow& word, bool all, site where);

// Plain objects: a check that the access is ordered after all that conflict with it.
void plain_read(const shadow& object, site where);
void plain_write(shadow& object, site where);

void lock(shadow& mutex, site where);
bool try_lock(shadow& mutex, site where);
void unlock(shadow& mutex, site where);

// Bits of a value and back. A pointer in a constant initialiser can only be null.
template <class T>
constexpr std::uint64_t to_bits(const T& value) noexcept {
  if constexpr (std::is_pointer_v<T>) {
    if (std::is_constant_evaluated() && value == nullptr) return 0;
  }
  if constexpr (sizeof(T) == 1) return std::bit_cast<std::uint8_t>(value);
  else if constexpr (sizeof(T) == 2) return std::bit_cast<std::uint16_t>(value);
  else if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(value);
  else return std::bit_cast<std::uint64_t>(value);
}

template <class T>
constexpr T from_bits(std::uint64_t bits) noexcept {
  if constexpr (sizeof(T) == 1) return std::bit_cast<T>(static_cast<std::uint8_t>(bits));
  else if constexpr (sizeof(T) == 2) return std::bit_cast<T>(static_cast<std::uint16_t>(bits));
  else if constexpr (sizeof(T) == 4) return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  else return std::bit_cast<T>(bits);
}

template <class T>
constexpr value_shape shape_of() noexcept {
  constexpr auto bytes = static_cast<std::uint8_t>(sizeof(T));
  if constexpr (std::is_same_v<T, bool>) return {value_kind::boolean, bytes};
  else if constexpr (std::is_pointer_v<T>) return {value_kind::pointer, bytes};
  else if constexpr (std::is_enum_v<T>) return shape_of<std::underlying_type_t<T>>();
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) return {value_kind::signed_number, bytes};
  else return {value_kind::unsigned_number, bytes};
}

}}}  // namespace hocket::model::detail
