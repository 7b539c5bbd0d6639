// Polls and selects that have no memory for their wait mark the connections of their set, as other calls that cannot
// wait.
#include "connection_calls.hpp"

#include <marked_sockets.hpp>
#include <support/alloc.hpp>
#include <vector>

using namespace hooked_tests;

namespace {

constexpr auto pipe_ends = two_ends::kind::pipe;

// The first numbers of an input set; the set is so large that its copy is no recycled memory.
struct input_set {
  std::vector<int> numbers;
  std::vector<pollfd> items;
  fd_set bits{};

  explicit input_set(std::vector<int> fds) : numbers(std::move(fds)), items(512, pollfd{-1, 0, 0}) {
    FD_ZERO(&bits);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      items[i] = {numbers[i], POLLIN, 0};
      FD_SET(numbers[i], &bits);
    }
  }
  bool has(std::size_t i) const { return FD_ISSET(numbers[i], &bits); }
};

struct polling_set {
  const char* name;
  int (*call)(input_set& set, int milliseconds);
};
constexpr polling_set polling_sets[] = {
    {"poll",
     [](input_set& set, int milliseconds) {
       const int ready = ::poll(set.items.data(), set.items.size(), milliseconds);
       for (const pollfd& item : set.items)
         if (ready >= 0 && item.fd >= 0 && item.revents == 0) FD_CLR(item.fd, &set.bits);
       return ready;
     }},
    {"ppoll",
     [](input_set& set, int milliseconds) {
       const timespec time = time_of(milliseconds);
       const int ready = ::ppoll(set.items.data(), set.items.size(), milliseconds < 0 ? nullptr : &time, nullptr);
       for (const pollfd& item : set.items)
         if (ready >= 0 && item.fd >= 0 && item.revents == 0) FD_CLR(item.fd, &set.bits);
       return ready;
     }},
    {"select",
     [](input_set& set, int milliseconds) {
       timeval time{milliseconds / 1000, milliseconds % 1000 * 1000};
       return ::select(FD_SETSIZE, &set.bits, nullptr, nullptr, milliseconds < 0 ? nullptr : &time);
     }},
    {"pselect",
     [](input_set& set, int milliseconds) {
       const timespec time = time_of(milliseconds);
       return ::pselect(FD_SETSIZE, &set.bits, nullptr, nullptr, milliseconds < 0 ? nullptr : &time, nullptr);
     }},
};

struct poll_outcome {
  int ready;
  int error;
};
// In a hooked fiber; the first allocation of the call fails.
poll_outcome call_without_memory(const polling_set& each, input_set& set, int milliseconds) {
  poll_outcome observed{};
  in_fiber([&] {
    const hocket_test::allocation_watch memory(1);
    errno = 0;
    observed.ready = each.call(set, milliseconds);
    observed.error = errno;
  });
  return observed;
}

}  // namespace

TEST_CASE("a poll and a select without memory report the connections of their set, and mark them") {
  for (const polling_set& each : polling_sets) {
    CAPTURE(std::string(each.name));
    connection_ends first, second;
    two_ends pipe(pipe_ends);
    const others beside;
    input_set set({first.client(), pipe.in(), second.client()});
    CHECK(call_without_memory(each, set, -1).ready == 2);
    CHECK(set.has(0));
    CHECK_FALSE(set.has(1));
    CHECK(set.has(2));
    first.answer();
    expect_refused_everywhere(first.client(), beside);
    expect_refused_everywhere(second.client(), beside);
  }
}

TEST_CASE("a poll and a select without memory fail with ENOMEM if no connection is in their set") {
  for (const polling_set& each : polling_sets) {
    CAPTURE(std::string(each.name));
    two_ends pipe(pipe_ends);
    input_set set({pipe.in()});
    const poll_outcome observed = call_without_memory(each, set, -1);
    CHECK(observed.ready == -1);
    CHECK(observed.error == ENOMEM);
    CHECK(set.has(0));
  }
}

TEST_CASE("a poll and a select without memory succeed if they need not wait") {
  for (const polling_set& each : polling_sets) {
    CAPTURE(std::string(each.name));
    connection_ends ends;
    two_ends pipe(pipe_ends);
    input_set idle({ends.client(), pipe.in()});
    CHECK(call_without_memory(each, idle, 0).ready == 0);
    write_text(pipe.out(), "x");
    input_set set({ends.client(), pipe.in()});
    CHECK(call_without_memory(each, set, -1).ready == 1);
    CHECK_FALSE(set.has(0));
    CHECK(set.has(1));
    CHECK_FALSE(hook::has_marks());
    expect_works(ends);
  }
}
