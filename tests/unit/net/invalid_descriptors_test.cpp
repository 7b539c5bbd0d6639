// Every entry point with descriptors that are none: numbers of nothing, closed objects, empty objects. Each is
// bad_file_descriptor.
#include <hocket/io/process.hpp>
#include <hocket/io/standard_streams.hpp>

#include "support/children.hpp"
#include "support/death.hpp"
#include "support/tcp_pair.hpp"
#include "support/temporary_folder.hpp"
#include "unit/net/entry_points.hpp"

#include <csignal>
#include <doctest/doctest.h>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;

namespace {

// The calls at an object that has no descriptor.
template <class Object>
void check_all_bad(Object& none, const std::vector<named_call<Object>>& calls) {
  for (const auto& call : calls) {
    CAPTURE(call.name);
    CHECK(call.make(none) == std::errc::bad_file_descriptor);
  }
}

template <class Object>
void check_empty_and_closed(Object open, const std::vector<named_call<Object>>& calls) {
  Object empty;
  check_all_bad(empty, calls);
  open.close();
  check_all_bad(open, calls);
}

}  // namespace

TEST_CASE("each call at an object without a descriptor, or with a closed one, is bad_file_descriptor") {
  auto [near, far] = make_tcp_pair();
  check_empty_and_closed(stream(make_pipe().value().reader), stream_calls());
  check_empty_and_closed(socket_stream(std::move(far)), socket_calls());
  check_empty_and_closed(std::move(near), tcp_calls());
  check_empty_and_closed(make_unix_pair().value().near, unix_calls());
  check_empty_and_closed(udp::socket::bind("127.0.0.1:0").value(), udp_calls());
  check_empty_and_closed(tcp::listener::bind("127.0.0.1:0").value(), listener_calls());
  check_empty_and_closed(event_counter::make().value(), counter_calls());
  const temporary_folder folder;
  blocking_pool pool{blocking_pool_options{}};  // which ends with the test, and its threads, too
  file closed = sync_wait(file::open(pool, folder / "file", {.write = true, .create = true})).value();
  closed.close();
  check_all_bad(closed, file_calls());
  process none;
  CHECK(ended(none.wait()) == std::errc::bad_file_descriptor);
  CHECK(error_of(none.signal(SIGTERM)) == std::errc::bad_file_descriptor);
}

TEST_CASE("each call with the number of no descriptor is bad_file_descriptor") {
  const int closed = ::fcntl(0, F_DUPFD_CLOEXEC, 700);  // which no call makes again
  ::close(closed);
  for (const int number : {-1, closed, 1'000'000}) {
    CAPTURE(number);
    for (const auto& call : number_calls()) {
      CAPTURE(call.name);
      CHECK(call.make(number) == std::errc::bad_file_descriptor);
    }
    if (starts_no_children()) continue;
    CHECK(error_of(process::start({"true"}, {.in = process::use_fd(number)})) == std::errc::bad_file_descriptor);
    CHECK(error_of(process::start({"true"}, {.out = process::use_fd(number)})) == std::errc::bad_file_descriptor);
  }
  const child_end end = end_of_child([] {
    const int errors = ::fcntl(2, F_DUPFD_CLOEXEC, 3);
    for (const int number : {0, 1, 2}) ::close(number);
    const bool all_bad = standard_input().error_or({}) == std::errc::bad_file_descriptor &&
                         standard_output().error_or({}) == std::errc::bad_file_descriptor &&
                         standard_error().error_or({}) == std::errc::bad_file_descriptor;
    ::dup2(errors, 2);
    CHECK(all_bad);
  });
  INFO(end.errors);
  CHECK(end.returned);
}
