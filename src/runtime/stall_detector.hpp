// Tells of coroutines that hold their worker.
//
// A thread that looks at each worker now and then: at the number of its turns and at the context that runs on it. If
// both are what they were, and have been for the limit, one coroutine has not let go for as long. Workers know nothing
// of it. The context is compared only: the coroutine is looked for in the registries, under their locks, and cannot end
// meanwhile.
#pragma once
#include <hocket/runtime/runtime.hpp>

#include <thread>
#include <vector>

namespace hocket::inline HOCKET_ABI {

class stall_detector {
 public:
  stall_detector(runtime::state& pool, duration limit, stall_handler handler);
  stall_detector(const stall_detector&) = delete;
  stall_detector& operator=(const stall_detector&) = delete;
  ~stall_detector();

 private:
  struct sight {
    std::size_t turns = 0;
    const context* running = nullptr;
    time_point since{};
    bool told = false;
  };
  void run() noexcept;
  void look(std::size_t worker, sight& last) noexcept;
  void tell(std::size_t worker, const context* running, duration held) const noexcept;

  runtime::state& pool_;
  const duration limit_;
  const stall_handler handler_;
  std::vector<sight> seen_;
  atomic<std::uint32_t> over_{0};
  std::thread thread_;
};

}  // namespace hocket::inline HOCKET_ABI
