// Memory for a fixed number of items, which its user constructs and destroys.
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/sync/detail/places.hpp>
#include <cstddef>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class T>
class item_ring {
 public:
  // Throws bad_alloc.
  explicit item_ring(std::size_t places) : places_(possible_places<T>(places)) {
    expects(places != 0, "a ring without a place was made", "give it at least one place");
    memory_ = static_cast<T*>(source_allocate_or_throw(places_ * sizeof(T), alignof(T)));
  }
  item_ring(const item_ring&) = delete;
  item_ring& operator=(const item_ring&) = delete;
  ~item_ring() { source_release(static_cast<void*>(memory_), places_ * sizeof(T), alignof(T)); }

  std::size_t places() const noexcept { return places_; }
  T* at(std::size_t place) const noexcept { return memory_ + place; }
  std::size_t after(std::size_t place) const noexcept { return place + 1 == places_ ? 0 : place + 1; }

 private:
  const std::size_t places_;
  T* memory_;
};

}}}  // namespace hocket::detail
