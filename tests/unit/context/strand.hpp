// A stack, and the little that a fiber needs on top of the switch.
#pragma once
#include <hocket/context/detail/platform/annotation.hpp>
#include <hocket/context/seam/switch.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace hocket_test {

namespace machine = hocket::detail::machine;

// Memory for a stack, with a top that is aligned.
class stack_memory {
 public:
  explicit stack_memory(std::size_t size) : size_(size) {}
  char* low() const { return memory_.get() + (64 - reinterpret_cast<std::uintptr_t>(memory_.get()) % 64); }
  std::size_t size() const { return size_; }
  void* prepare(void (*entry)(void*, void*, void*), void* argument) const {
    return machine::prepare(low() + size_, entry, argument, size_);
  }

 private:
  std::size_t size_;  // a multiple of 64
  std::unique_ptr<char[]> memory_ = std::make_unique<char[]>(size_ + 64);
};

// `step` switches to it and notes where it parked.
class strand {
 public:
  using body = void (*)(strand& self);

  explicit strand(body run) : run_(run) {
    annotation_.on_acquire(memory_.low(), memory_.size());
    record_ = memory_.prepare(&strand::entry, this);
  }
  ~strand() { annotation_.on_release(); }

  void* step(void* transfer = nullptr) {
    annotation_.before_resume();
    machine::arrival back = machine::switch_to(record_, transfer);
    annotation_.after_resume();
    record_ = back.from;
    return back.transfer;
  }
  void* yield(void* transfer = nullptr) {
    annotation_.before_yield();
    machine::arrival back = machine::switch_to(resumer_, transfer);
    annotation_.after_yield();
    resumer_ = back.from;
    return back.transfer;
  }
  bool on_stack(const void* address) const {
    auto at = static_cast<const char*>(address);
    return at >= memory_.low() && at < memory_.low() + memory_.size();
  }

  void* first_transfer = nullptr;
  void* argument_seen = nullptr;
  std::uintptr_t frame_misalignment = 1;
  bool done = false;

 private:
  static void entry(void* argument, void* from, void* transfer) {
    auto& self = *static_cast<strand*>(argument);
    self.annotation_.on_entry();
    self.resumer_ = from;
    self.argument_seen = argument;
    self.first_transfer = transfer;
    self.run_(self);
    self.done = true;
    self.annotation_.before_leave();
    machine::leave(self.resumer_, nullptr);
  }

  stack_memory memory_{256 * 1024};
  body run_;
  void* record_ = nullptr;
  void* resumer_ = nullptr;
  hocket::detail::switch_annotation annotation_;
};

}  // namespace hocket_test
