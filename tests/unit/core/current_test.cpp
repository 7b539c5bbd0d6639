#include <hocket/core/context.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/current.hpp>

#include <doctest/doctest.h>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

struct no_executor final : executor {
  void post_from_outside(detail::runnable&) noexcept override {}
};

std::vector<int>& exits() {
  static std::vector<int> numbers;
  return numbers;
}

struct numbered_hook : detail::thread_exit_hook {
  explicit numbered_hook(int n)
      : detail::thread_exit_hook{[](detail::thread_exit_hook& self) noexcept {
          exits().push_back(static_cast<numbered_hook&>(self).number);
        }},
        number(n) {}
  int number;
};

}  // namespace

TEST_CASE("a plain thread has no executor, and scopes nest") {
  no_executor outer, inner;
  auto ctx = context::child_of(context::root(), {.name = "scoped"});
  CHECK(current_executor() == nullptr);
  {
    detail::running_scope one({&outer}, ctx.get());
    CHECK(current_executor() == &outer);
    CHECK(&current_context() == ctx.get());
    {
      detail::running_scope two({&inner}, nullptr);
      CHECK(current_executor() == &inner);
      CHECK(&current_context() == &context::root());
    }
    CHECK(current_executor() == &outer);
    CHECK(&current_context() == ctx.get());
  }
  CHECK(current_executor() == nullptr);
}

TEST_CASE("each thread has a state of its own, empty at first") {
  no_executor here;
  int value = 0;
  detail::running_scope running({&here}, nullptr);
  detail::current_slot(detail::thread_slot::frame_memory) = &value;
  std::thread([&] {
    CHECK(current_executor() == nullptr);
    for (std::size_t i = 0; i < detail::thread_slot_count; ++i) CHECK(detail::this_thread().slots[i] == nullptr);
  }).join();
  CHECK(detail::slot_of(detail::this_thread(), detail::thread_slot::frame_memory) == &value);
  detail::current_slot(detail::thread_slot::frame_memory) = nullptr;
}

TEST_CASE("exit hooks run when their thread ends, the last one first, each once") {
  numbered_hook first(1), second(2), third(3);
  exits().clear();
  std::thread([&] {
    CHECK(detail::at_thread_exit(first));
    CHECK(detail::at_thread_exit(second));
    CHECK(detail::at_thread_exit(third));
    CHECK(exits().empty());
  }).join();
  CHECK(exits() == std::vector{3, 2, 1});
}

TEST_CASE("exit hooks of a scope run at its end; those that come later when the thread ends") {
  numbered_hook before(1), within(2), later(3);
  exits().clear();
  std::thread([&] {
    {
      detail::exit_hook_scope ending;
      CHECK(detail::at_thread_exit(before));
      CHECK(detail::at_thread_exit(within));
      CHECK(exits().empty());
    }
    CHECK(exits() == std::vector{2, 1});
    CHECK(detail::at_thread_exit(later));
  }).join();
  CHECK(exits() == std::vector{2, 1, 3});
}

TEST_CASE("an exit hook still finds its thread's state") {
  struct probe : detail::thread_exit_hook {
    void* found = nullptr;
  } hook;
  hook.run = [](detail::thread_exit_hook& self) noexcept {
    static_cast<probe&>(self).found = detail::current_slot(detail::thread_slot::fiber);
  };
  int pool = 0;
  std::thread([&] {
    detail::current_slot(detail::thread_slot::fiber) = &pool;
    CHECK(detail::at_thread_exit(hook));
  }).join();
  CHECK(hook.found == &pool);
}
