// Tells of coroutines that hold their worker.
//
// A thread that looks at each worker now and then: at the number of its turns and at the context that runs on it. If
// both are what they were, and have been for the limit, one coroutine has not let go for as long. Workers know nothing
// of it. The context may be gone when it is looked at: the kernel copies what is there (context::coroutine_of()), and
// the address that this tells is looked for in the registries, under their locks. What is found cannot end meanwhile.
#pragma once
#include <hocket/runtime/runtime.hpp>

#include <vector>

#include "runtime/system_thread.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// What is seen of one worker, look by look.
class stall_sight {
 public:
  // Gives for how long one coroutine has held it, if that is the limit or more and was not said yet; else 0.
  duration look(std::size_t turns, const context* running, time_point now, duration limit) noexcept;

 private:
  std::size_t turns_ = 0;
  const context* running_ = nullptr;
  time_point since_{};
  bool told_ = false;
};

class stall_detector {
 public:
  stall_detector(runtime::state& pool, duration limit, stall_handler handler);
  stall_detector(const stall_detector&) = delete;
  stall_detector& operator=(const stall_detector&) = delete;
  ~stall_detector();

 private:
  void run() noexcept;
  void look(std::size_t worker) noexcept;
  void tell(std::size_t worker, const context* running, duration held) const noexcept;

  runtime::state& pool_;
  const duration limit_;
  const stall_handler handler_;
  std::vector<stall_sight> seen_;
  atomic<std::uint32_t> over_{0};
  system_thread thread_;
};

}}}  // namespace hocket::detail
