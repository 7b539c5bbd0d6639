// Annotations of stack switches for sanitizers. In plain builds only Valgrind gets the bounds of each stack.
//
// An annotation belongs to one fiber. Its functions are called in this order, each on the stack that is named:
//   resumer: before_resume   fiber: on_entry (first time) or after_yield
//   fiber:   before_yield    resumer: after_resume
//   fiber:   before_leave    resumer: after_resume, then the stack may be reused: on_release
// While the stack is packed (fiber/detail/packing.hpp), the image refers to its objects: on_pack, on_unpack.
// A call on another stack (fiber/call_on_stack.hpp) has a call_annotation, which replaces the fiber's during the call:
//   caller: before_call    other stack: on_entry, before_return    caller: after_return
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

#if HOCKET_BACKEND == 2
// Sanitizers and Valgrind see plain threads, so a switch needs no annotation. Only the leak check must know the memory
// that the pool lent as a stack (it has the callable and the result), because it does not scan mappings by itself.
#if defined(__SANITIZE_ADDRESS__) || HOCKET_HAS_FEATURE(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#endif

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class switch_annotation {
 public:
  static constexpr bool active = false;  // whether a switch itself is annotated

#if defined(__SANITIZE_ADDRESS__) || HOCKET_HAS_FEATURE(address_sanitizer)
  void on_acquire(const void* low, std::size_t size) noexcept {
    low_ = low;
    size_ = size;
    __lsan_register_root_region(low, size);
  }
  void on_release() noexcept { __lsan_unregister_root_region(low_, size_); }
#else
  void on_acquire(const void*, std::size_t) noexcept {}
  void on_release() noexcept {}
#endif
  void on_pack(const void*, std::size_t) noexcept {}
  void on_unpack(const void*, std::size_t) noexcept {}
  void before_resume() noexcept {}
  void after_resume() noexcept {}
  void on_entry() noexcept {}
  void before_yield() noexcept {}
  void after_yield() noexcept {}
  void before_leave() noexcept {}

 private:
  [[maybe_unused]] const void* low_ = nullptr;
  [[maybe_unused]] std::size_t size_ = 0;
};

class call_annotation {
 public:
  call_annotation(switch_annotation*, const void*, std::size_t) noexcept {}
  void before_call() noexcept {}
  void on_entry() noexcept {}
  void before_return() noexcept {}
  void after_return() noexcept {}
};

}}}  // namespace hocket::detail

#elif defined(__SANITIZE_ADDRESS__) || HOCKET_HAS_FEATURE(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class call_annotation;

class switch_annotation {
 public:
  static constexpr bool active = true;  // whether a switch itself is annotated

  void on_acquire(const void* low, std::size_t size) noexcept {
    low_ = low;
    size_ = size;
    __lsan_register_root_region(low, size);  // what a suspended coroutine's locals own is no leak
  }
  void on_release() noexcept { __lsan_unregister_root_region(low_, size_); }
  void on_pack(const void* image, std::size_t size) noexcept {
    __lsan_unregister_root_region(low_, size_);
    __lsan_register_root_region(image, size);
  }
  void on_unpack(const void* image, std::size_t size) noexcept {
    __lsan_unregister_root_region(image, size);
    __lsan_register_root_region(low_, size_);
  }
  [[gnu::always_inline]] void before_resume() noexcept { __sanitizer_start_switch_fiber(&resumer_fake_, low_, size_); }
  [[gnu::always_inline]] void after_resume() noexcept {
    __sanitizer_finish_switch_fiber(resumer_fake_, nullptr, nullptr);
  }
  [[gnu::always_inline]] void on_entry() noexcept {
    __sanitizer_finish_switch_fiber(nullptr, &resumer_low_, &resumer_size_);
  }
  [[gnu::always_inline]] void before_yield() noexcept {
    __sanitizer_start_switch_fiber(&own_fake_, resumer_low_, resumer_size_);
  }
  [[gnu::always_inline]] void after_yield() noexcept {
    __sanitizer_finish_switch_fiber(own_fake_, &resumer_low_, &resumer_size_);
  }
  [[gnu::always_inline]] void before_leave() noexcept {
    __sanitizer_start_switch_fiber(nullptr, resumer_low_, resumer_size_);
  }

 private:
  friend class call_annotation;
  const void* low_ = nullptr;
  std::size_t size_ = 0;
  void* own_fake_ = nullptr;
  void* resumer_fake_ = nullptr;
  const void* resumer_low_ = nullptr;
  std::size_t resumer_size_ = 0;
};

// ASan gets the stack that the fiber runs on; LSan also scans the other stack while the fiber is suspended.
class call_annotation {
 public:
  call_annotation(switch_annotation* fiber, const void* low, std::size_t size) noexcept
      : fiber_(fiber), low_(low), size_(size) {
    __lsan_register_root_region(low_, size_);
  }
  call_annotation(const call_annotation&) = delete;
  call_annotation& operator=(const call_annotation&) = delete;
  ~call_annotation() { __lsan_unregister_root_region(low_, size_); }
  void before_call() noexcept {
    __sanitizer_start_switch_fiber(&caller_fake_, low_, size_);
    swap_bounds();
  }
  void on_entry() noexcept { __sanitizer_finish_switch_fiber(nullptr, &caller_low_, &caller_size_); }
  void before_return() noexcept {
    swap_bounds();
    __sanitizer_start_switch_fiber(nullptr, caller_low_, caller_size_);
  }
  void after_return() noexcept { __sanitizer_finish_switch_fiber(caller_fake_, nullptr, nullptr); }

 private:
  void swap_bounds() noexcept {
    if (!fiber_) return;
    std::swap(fiber_->low_, low_);
    std::swap(fiber_->size_, size_);
  }

  switch_annotation* const fiber_;
  const void* low_;
  std::size_t size_;
  void* caller_fake_ = nullptr;
  const void* caller_low_ = nullptr;
  std::size_t caller_size_ = 0;
};

}}}  // namespace hocket::detail

#elif defined(__SANITIZE_THREAD__) || HOCKET_HAS_FEATURE(thread_sanitizer)
#include <sanitizer/tsan_interface.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class call_annotation;

class switch_annotation {
 public:
  static constexpr bool active = true;  // whether a switch itself is annotated

  void on_acquire(const void*, std::size_t) noexcept { own_ = __tsan_create_fiber(0); }
  void on_release() noexcept { __tsan_destroy_fiber(own_); }
  void on_pack(const void*, std::size_t) noexcept {}
  void on_unpack(const void*, std::size_t) noexcept {}
  [[gnu::always_inline]] void before_resume() noexcept {
    resumer_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(own_, 0);
  }
  [[gnu::always_inline]] void after_resume() noexcept {}
  [[gnu::always_inline]] void on_entry() noexcept {}
  [[gnu::always_inline]] void before_yield() noexcept { __tsan_switch_to_fiber(resumer_, 0); }
  [[gnu::always_inline]] void after_yield() noexcept {}
  [[gnu::always_inline]] void before_leave() noexcept { __tsan_switch_to_fiber(resumer_, 0); }

 private:
  friend class call_annotation;
  void* own_ = nullptr;
  void* resumer_ = nullptr;
};

// The other stack is a fiber to TSan, whose name the calling fiber has meanwhile.
class call_annotation {
 public:
  call_annotation(switch_annotation* fiber, const void*, std::size_t) noexcept
      : fiber_(fiber), other_(__tsan_create_fiber(0)) {}
  call_annotation(const call_annotation&) = delete;
  call_annotation& operator=(const call_annotation&) = delete;
  ~call_annotation() { __tsan_destroy_fiber(other_); }
  [[gnu::always_inline]] void before_call() noexcept {
    caller_ = __tsan_get_current_fiber();
    if (fiber_) fiber_->own_ = other_;
    __tsan_switch_to_fiber(other_, 0);
  }
  [[gnu::always_inline]] void on_entry() noexcept {}
  [[gnu::always_inline]] void before_return() noexcept {
    if (fiber_) fiber_->own_ = caller_;
    __tsan_switch_to_fiber(caller_, 0);
  }
  [[gnu::always_inline]] void after_return() noexcept {}

 private:
  switch_annotation* const fiber_;
  void* const other_;
  void* caller_ = nullptr;
};

}}}  // namespace hocket::detail

#else
#include <hocket/base/seam/valgrind.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class switch_annotation {
 public:
  static constexpr bool active = false;  // whether a switch itself is annotated

  void on_acquire(const void* low, std::size_t size) noexcept {
    if (under_valgrind) [[unlikely]]
      valgrind_id_ = announce_stack(low, static_cast<const char*>(low) + size);
  }
  void on_release() noexcept {
    if (under_valgrind) [[unlikely]]
      forget_stack(valgrind_id_);
  }
  void on_pack(const void*, std::size_t) noexcept {}
  void on_unpack(const void*, std::size_t) noexcept {}
  void before_resume() noexcept {}
  void after_resume() noexcept {}
  void on_entry() noexcept {}
  void before_yield() noexcept {}
  void after_yield() noexcept {}
  void before_leave() noexcept {}

 private:
  unsigned valgrind_id_ = 0;
};

class call_annotation {
 public:
  call_annotation(switch_annotation*, const void* low, std::size_t size) noexcept {
    if (under_valgrind) [[unlikely]]
      valgrind_id_ = announce_stack(low, static_cast<const char*>(low) + size);
  }
  call_annotation(const call_annotation&) = delete;
  call_annotation& operator=(const call_annotation&) = delete;
  ~call_annotation() {
    if (under_valgrind) [[unlikely]]
      forget_stack(valgrind_id_);
  }
  void before_call() noexcept {}
  void on_entry() noexcept {}
  void before_return() noexcept {}
  void after_return() noexcept {}

 private:
  unsigned valgrind_id_ = 0;
};

}}}  // namespace hocket::detail

#endif
