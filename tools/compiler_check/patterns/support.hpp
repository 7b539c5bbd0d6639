// The parts of the patterns: a type that detects faults of its lifetime, and a minimal task and queue that make a
// coroutine wait. Independent of hocket: the verdict is about the compiler.
#pragma once
#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <new>
#include <utility>
#include <vector>

// The first fault, or null.
inline const char* fault = nullptr;
inline void blame(const char* message) {
  if (!fault) fault = message;
}

// Records the live objects, by address.
class tracked {
 public:
  tracked(int value = 0) : value_(value) { begin(); }
  tracked(const tracked& other) : value_(other.value()) { begin(); }
  tracked(tracked&& other) noexcept : value_(other.value()) { begin(); }
  tracked& operator=(const tracked& other) {
    value_ = other.value();
    return *this;
  }
  ~tracked() {
    auto place = std::find(living().begin(), living().end(), this);
    if (place == living().end()) blame("an object is destroyed twice, or elsewhere than it was made");
    else living().erase(place);
    value_ = -1;
  }

  int value() const {
    if (std::find(living().begin(), living().end(), this) == living().end())
      blame("an object is used that was destroyed, or never made there");
    return value_;
  }
  static std::vector<const tracked*>& living() {
    static std::vector<const tracked*> all;
    return all;
  }

 private:
  void begin() {
    if (std::find(living().begin(), living().end(), this) != living().end())
      blame("an object is made where one lives already");
    living().push_back(this);
  }
  int value_;
};

// Coroutines that wait for their turn.
inline std::vector<std::coroutine_handle<>> waiting;

struct turn {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) { waiting.push_back(handle); }
  void await_resume() const noexcept {}
};

inline long frames = 0;

template <class T>
class task {
 public:
  struct promise_type;
  using handle = std::coroutine_handle<promise_type>;

  explicit task(handle frame) : frame_(frame) {}
  task(task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  ~task() {
    if (frame_) frame_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) noexcept {
    frame_.promise().parent = parent;
    return frame_;
  }
  T await_resume() { return frame_.promise().take(); }
  handle frame() const noexcept { return frame_; }

 private:
  handle frame_;
};

template <class T>
struct task<T>::promise_type {
  std::coroutine_handle<> parent = std::noop_coroutine();
  std::exception_ptr thrown;
  union {
    T value;
  };
  bool has_value = false;

  promise_type() {}
  ~promise_type() {
    if (has_value) value.~T();
  }
  static void* operator new(std::size_t bytes) {
    ++frames;
    return ::operator new(bytes);
  }
  static void operator delete(void* memory, std::size_t) {
    --frames;
    ::operator delete(memory);
  }

  struct ending {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(handle ended) noexcept { return ended.promise().parent; }
    void await_resume() const noexcept {}
  };
  task get_return_object() { return task(handle::from_promise(*this)); }
  std::suspend_always initial_suspend() noexcept { return {}; }
  ending final_suspend() noexcept { return {}; }
  template <class U>
  void return_value(U&& result) {
    ::new (static_cast<void*>(std::addressof(value))) T(std::forward<U>(result));
    has_value = true;
  }
  void unhandled_exception() { thrown = std::current_exception(); }
  T take() {
    if (thrown) std::rethrow_exception(thrown);
    return std::move(value);
  }
};

// Each waits once, so that whatever lives around the await lives in the frame.
inline task<int> number(int value) {
  co_await turn{};
  co_return value;
}
inline task<tracked> object(int value) {
  co_await turn{};
  co_return tracked(value);
}
inline task<int> value_of(tracked argument) {
  co_await turn{};
  co_return argument.value();
}
inline task<int> result_of(auto function) {
  co_await turn{};
  co_return function();
}

// Runs the pattern to its end. 0: it gives what it should, and every object and frame was destroyed once.
inline int verdict(task<int> (*pattern)(), int expected) {
  {
    task<int> body = pattern();
    body.frame().resume();
    for (int round = 0; round < 1000 && !waiting.empty(); ++round) {
      auto now = std::exchange(waiting, {});
      for (std::coroutine_handle<> handle : now) handle.resume();
    }
    if (!body.frame().done()) blame("it does not end");
    else if (body.await_resume() != expected) blame("it gives a wrong value");
  }
  if (!tracked::living().empty()) blame("an object is never destroyed");
  if (frames != 0) blame("a frame is never freed");
  if (fault) std::puts(fault);
  return fault != nullptr;
}
