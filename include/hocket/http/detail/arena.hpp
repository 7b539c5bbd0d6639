// Memory of a request: decoded texts and objects of its handlers, freed at once at the end of the request.
//
// The arena allocates nothing until the first use, and then blocks of frame memory, which a thread caches. If the
// newest block has no room for an allocation of more than a quarter of a block, the allocation gets a block of its own.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class arena {
 public:
  static constexpr std::size_t block_size = 1024;

  arena() noexcept = default;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  ~arena() { clear(); }

  // Returns memory that is aligned for each type that is not over-aligned. Throws std::bad_alloc.
  void* allocate(std::size_t bytes);
  char* allocate_text(std::size_t bytes) { return static_cast<char*>(allocate(bytes)); }
  // Constructs an object. clear() destroys the objects, the last one first. Throws std::bad_alloc, and the exceptions
  // of the constructor.
  template <class T, class... Args>
  T& make(Args&&... args) {
    static_assert(alignof(T) <= alignment, "hocket: an over-aligned object: store it by std::unique_ptr");
    if constexpr (std::is_trivially_destructible_v<T>) {
      return *::new (allocate(sizeof(T))) T(std::forward<Args>(args)...);
    } else {
      auto* const link = static_cast<cleanup*>(allocate(sizeof(cleanup)));
      T& object = *::new (allocate(sizeof(T))) T(std::forward<Args>(args)...);
      last_ = ::new (link) cleanup{last_, &object, [](void* memory) noexcept { static_cast<T*>(memory)->~T(); }};
      return object;
    }
  }
  // Destroys the objects and frees the memory.
  void clear() noexcept;

 private:
  static constexpr std::size_t alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  struct alignas(alignment) block {
    block* next;
    std::size_t size;
  };
  struct cleanup {
    cleanup* previous;
    void* object;
    void (*run)(void* object) noexcept;
  };
  char* add_block(std::size_t bytes);

  block* blocks_ = nullptr;
  char* free_ = nullptr;  // in the newest block of block_size
  std::size_t free_bytes_ = 0;
  cleanup* last_ = nullptr;
};

}}}}  // namespace hocket::http::detail
