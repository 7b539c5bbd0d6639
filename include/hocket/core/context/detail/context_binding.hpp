// A value that a block of code has bound (coro/context_local.hpp). Contexts share it. Each binding refers to the next
// outer one.
//
// It is constant after its construction and counted: contexts refer to it, and inner bindings. The release of the last
// reference destroys the value, on the releasing thread.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class context_binding;

// Owns one reference, or none.
class binding_ptr {
 public:
  binding_ptr() noexcept = default;
  explicit binding_ptr(context_binding& adopted) noexcept : binding_(&adopted) {}  // takes over the first reference
  binding_ptr(const binding_ptr& other) noexcept;
  binding_ptr(binding_ptr&& other) noexcept : binding_(std::exchange(other.binding_, nullptr)) {}
  binding_ptr& operator=(binding_ptr other) noexcept {
    std::swap(binding_, other.binding_);
    return *this;
  }
  ~binding_ptr() {
    if (binding_) [[unlikely]]
      release();
  }
  const context_binding* get() const noexcept { return binding_; }

 private:
  friend class context_binding;
  void release() noexcept;
  context_binding* binding_ = nullptr;
};

class context_binding {
 public:
  using disposer = void (*)(context_binding& self) noexcept;

  // `key` identifies the variable.
  context_binding(const void* key, binding_ptr outer, disposer dispose) noexcept
      : key_(key), outer_(std::move(outer)), dispose_(dispose) {}
  context_binding(const context_binding&) = delete;
  context_binding& operator=(const context_binding&) = delete;

  const void* key() const noexcept { return key_; }
  const context_binding* outer() const noexcept { return outer_.get(); }

 protected:
  ~context_binding() = default;

 private:
  friend class binding_ptr;
  const void* const key_;
  binding_ptr outer_;  // released in release() only
  const disposer dispose_;
  atomic<std::uint32_t> references_{1};
};

inline binding_ptr::binding_ptr(const binding_ptr& other) noexcept : binding_(other.binding_) {
  // ORDER: relaxed, pairs with nothing: the other reference keeps the binding alive.
  if (binding_) [[unlikely]]
    binding_->references_.fetch_add(1, std::memory_order_relaxed);
}

}}}  // namespace hocket::detail
