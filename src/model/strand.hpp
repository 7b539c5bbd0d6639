// A strand: one model thread's stack, switched to and from by the engine. It is kept over executions and runs one job
// after the other.
//
// The engine (on its own stack) calls enter(), which returns when the job ends or calls leave(). A job that can never
// be unwound is given up by abandon_here(): the strand is then lost() and can only be destroyed.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <memory>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

class strand {
 public:
  explicit strand(std::size_t stack_bytes);
  ~strand();
  strand(const strand&) = delete;
  strand& operator=(const strand&) = delete;

  // From the engine's stack. `job` must not throw; it runs at the next enter().
  void assign(void (*job)(void*), void* argument) noexcept;
  void enter();
  bool lost() const noexcept { return lost_; }

  // From the job.
  void leave();
  [[noreturn]] void abandon_here();

 private:
  struct machine;
  void serve(void* inside);

  void (*job_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool lost_ = false;
  std::unique_ptr<machine> machine_;
};

}}}  // namespace hocket::model
