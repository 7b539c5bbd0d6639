// The floors of tasks: the smallest promise that one can await and that does what a function does, which is the
// parent's handle, and the value or the exception. No check, no budget, no context, nothing to cancel or to find it by.
// One program has all of them; they differ in where frames come from:
//
//   bare-task-new       global operator new
//   bare-task-list      a free list of this thread by size, which the compiler reaches as it likes
//   bare-task-accessor  the same free list, reached as hocket's frame memory must reach it, because a coroutine may go
//                       on on another thread: by a call of hocket::this_thread(), and a slot of what it gives
//
// bare-task-accessor-clang is this file, compiled by clang++.
#include <hocket/core/thread/seam/current.hpp>

#include <coroutine>
#include <exception>

#include "tasks/awaits.hpp"

namespace {

struct kept {
  kept* next;
};
struct bins {
  kept* first[64] = {};
};

// Frames in size classes, as hocket's are; those of this program are much smaller than 4 KiB.
template <bins& own()>
struct listed_frame {
  static constexpr std::size_t step = 64;

  static void* operator new(std::size_t bytes) {
    kept*& first = own().first[(bytes + step - 1) / step];
    kept* frame = first;
    if (!frame) [[unlikely]]
      return ::operator new((bytes + step - 1) / step * step);
    first = frame->next;
    return frame;
  }
  static void operator delete(void* frame, std::size_t bytes) noexcept {
    kept*& first = own().first[(bytes + step - 1) / step];
    first = ::new (frame) kept{first};
  }
};

bins& reached_freely() {
  static constinit thread_local bins own;
  return own;
}
// The slot of fibers, of which this program has none.
bins& reached_by_call() {
  return *static_cast<bins*>(hocket::detail::current_slot(hocket::detail::thread_slot::fiber));
}

struct heap_frame {};
using own_frame = listed_frame<reached_freely>;
using called_frame = listed_frame<reached_by_call>;

template <class T, class Frame>
class bare {
 public:
  struct promise_type : Frame {
    struct last {
      static bool await_ready() noexcept { return false; }
      static std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        return self.promise().parent;
      }
      static void await_resume() noexcept {}
    };
    promise_type() noexcept {}
    ~promise_type() {
      if (ended == how::value) result.~T();
      else if (ended == how::error) error.~exception_ptr();
    }
    bare get_return_object() noexcept { return bare(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    last final_suspend() const noexcept { return {}; }
    void return_value(T value) noexcept {
      ::new (static_cast<void*>(&result)) T(std::move(value));
      ended = how::value;
    }
    void unhandled_exception() noexcept {
      ::new (static_cast<void*>(&error)) std::exception_ptr(std::current_exception());
      ended = how::error;
    }

    enum class how : unsigned char { not_yet, value, error } ended = how::not_yet;
    std::coroutine_handle<> parent{};
    union {
      T result;
      std::exception_ptr error;
    };
  };

  bare(bare&& other) noexcept : body_(std::exchange(other.body_, {})) {}
  ~bare() {
    if (body_) body_.destroy();
  }

  static bool await_ready() noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) noexcept {
    body_.promise().parent = parent;
    return body_;
  }
  T await_resume() {
    promise_type& promise = body_.promise();
    if (promise.ended == promise_type::how::error) [[unlikely]]
      rethrow(std::move(promise.error));
    T result = std::move(promise.result);
    std::exchange(body_, {}).destroy();
    return result;
  }

 private:
  explicit bare(std::coroutine_handle<promise_type> body) noexcept : body_(body) {}
  [[noreturn, gnu::cold, gnu::noinline]] void rethrow(std::exception_ptr error) {
    std::exchange(body_, {}).destroy();
    std::rethrow_exception(std::move(error));
  }
  std::coroutine_handle<promise_type> body_;
};

template <class Frame>
struct kind {
  template <class T>
  using task = bare<T, Frame>;
  using root = bare<std::uint64_t, Frame>;

  static std::uint64_t run(root body) {
    body.await_suspend(std::noop_coroutine()).resume();
    return body.await_resume();
  }
  template <class T>
  static task<T>&& awaited(task<T>& t) {
    return std::move(t);
  }
  template <class T>
  static task<T>&& passing(task<T>& t) {
    return std::move(t);
  }
};

std::optional<int> run(const char* system, const lab::request& r) {
  std::string_view name = system;
  if (name == "bare-task-new") return lab::awaits_page<kind<heap_frame>>{system, r}.run();
  if (name == "bare-task-list") return lab::awaits_page<kind<own_frame>>{system, r}.run();
  return lab::awaits_page<kind<called_frame>>{system, r}.run();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) lab::fail("usage: subject <system> <workload> <n> <stack bytes> <budget ms>");
  static bins own;
  hocket::detail::current_slot(hocket::detail::thread_slot::fiber) = &own;
  if (auto status = run(argv[1], lab::parse(argc - 1, argv + 1))) return *status;
  lab::fail("this subject does not know that workload");
}
