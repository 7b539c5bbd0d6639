// FAULTS 63 for descriptors, files and children: each allocation fails once, with the one that makes room for more
// descriptors. The call fails, and leaves no descriptor and no child. What is used again allocates nothing: the places
// of descriptors, and the block into which a thread reads.
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/io/event_counter.hpp>
#include <hocket/io/file.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/signal_set.hpp>

#include "support/alloc.hpp"
#include "support/sockets.hpp"

#include <cerrno>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

std::size_t open_fds() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& current : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

bool has_children() {
  siginfo_t facts{};
  return ::waitid(P_ALL, 0, &facts, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

// All places for descriptors that there is memory for are taken: the next descriptor allocates.
class full_table {
 public:
  full_table() {
    grow();
    static const std::size_t places = grow();
    if (held_.size() % places != 0) grow();
    for (std::size_t i = 1; i < places; ++i) add();
  }

 private:
  bool add() {
    allocation_watch watch;
    auto created = event_counter::make().value();
    const bool grown = watch.allocations() != 0;
    held_.push_back(std::make_unique<event_counter>(std::move(created)));
    return grown;
  }
  // Until there is a block of which one place is taken. How many descriptors that took.
  std::size_t grow() {
    std::size_t count = 1;
    while (!add()) ++count;
    return count;
  }

  std::vector<std::unique_ptr<event_counter>> held_;
};

template <class T>
std::error_code error_of(const result<T>& created) {
  return created.error_or({});
}

std::error_code open_a_file() { return error_of(detail::open_file("/dev/null", {}, nullptr)); }
std::error_code open_a_pipe() { return error_of(make_pipe()); }
std::error_code make_a_counter() { return error_of(event_counter::make()); }
std::error_code start_a_child() {
  auto child = process::start({"true"});
  if (!child) return child.error();
  CHECK(sync_wait(child->wait()).has_value());
  return {};
}
std::error_code make_a_signal_set() {
  const signal_set user({SIGUSR2});
  return {};
}

struct maker {
  const char* name;
  std::error_code (*make)();
};
constexpr maker makers[] = {{"a file", &open_a_file},
                            {"a pipe", &open_a_pipe},
                            {"an event counter", &make_a_counter},
                            {"a child", &start_a_child},
                            {"a signal set", &make_a_signal_set}};

// An exception becomes its error.
std::error_code attempt(const maker& tried) {
  try {
    return tried.make();
  } catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
  } catch (const std::system_error& thrown) {
    return thrown.code();
  }
}

// Destroyed after what the library keeps for the thread, if constructed before it.
struct last_of_thread {
  last_of_thread() = default;
  last_of_thread(const last_of_thread&) = delete;
  last_of_thread& operator=(const last_of_thread&) = delete;
  ~last_of_thread() {
    // One more is released: the function that the thread was started with.
    if (into) *into = watch.allocations() + 1 - watch.releases();
  }
  allocation_watch watch;
  std::size_t* into = nullptr;  // how many allocations the thread has not released
};
thread_local std::optional<last_of_thread> last;

}  // namespace

TEST_CASE("fault 63: every allocation of what makes a descriptor fails once, and leaves no descriptor and no child") {
  for (const maker& current : makers) {
    CAPTURE(current.name);
    REQUIRE(!attempt(current));
    const full_table no_more;
    trim_frame_memory();
    const std::size_t before = open_fds();
    std::size_t failing = 1;
    for (bool failed = true; failed; ++failing) {
      CAPTURE(failing);
      std::error_code error;
      {
        allocation_watch watch(failing);
        error = attempt(current);
        failed = watch.has_failed();
      }
      if (failed) CHECK(error == std::errc::not_enough_memory);
      else CHECK(!error);
      CHECK(open_fds() == before);
      CHECK_FALSE(has_children());
    }
    CHECK(failing > 2);
  }
  CHECK(!attempt(makers[3]));
}

TEST_CASE("a descriptor that is opened after another was closed allocates nothing") {
  for (const maker& current : {makers[0], makers[1], makers[2]}) {
    CAPTURE(current.name);
    REQUIRE(!attempt(current));
    const allocation_watch watch;
    for (int i = 0; i < 1000; ++i) CHECK(!attempt(current));
    CHECK(watch.allocations() == 0);
  }
}

TEST_CASE("a thread that reads borrowed bytes again and again allocates once, and its end releases the memory") {
  stream_pair ends = connected();
  const std::string many(5'000, 'm');  // lent as they were read
  const auto read = [&] {
    REQUIRE(::send(ends.near.native_handle(), many.data(), many.size(), 0) == 5'000);
    auto bytes = sync_wait(ends.far.read_borrowed());
    CHECK(bytes.value().size() == many.size());
  };
  std::size_t first = 0, again = 1, unreleased = 1, ignored = 0;
  const auto reads_often = [&](std::size_t& not_released) {
    last.emplace();
    last->into = &not_released;
    read();
    first = last->watch.allocations();
    for (int i = 0; i < 10; ++i) read();
    again = last->watch.allocations() - first;
  };
  std::thread(reads_often, std::ref(ignored)).join();  // fills what all threads share
  std::thread(reads_often, std::ref(unreleased)).join();
  CHECK(first > 0);
  CHECK(again == 0);
  CHECK(unreleased == 0);
}
