// Every entry point of io and net, as tables: what tests do with each kind of descriptor. Nothing waits longer than 2
// ms.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/io/buffered_writer.hpp>
#include <hocket/io/copy.hpp>
#include <hocket/io/event_counter.hpp>
#include <hocket/io/file.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/send_file.hpp>
#include <hocket/io/unique_fd.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/net/udp.hpp>
#include <hocket/net/unix_stream.hpp>
#include <hocket/time/within.hpp>

#include <array>
#include <fcntl.h>
#include <functional>
#include <string_view>
#include <system_error>
#include <vector>

namespace hocket_test {

using namespace hocket;
using namespace std::chrono_literals;

template <class T>
std::error_code error_of(const result<T>& outcome) {
  return outcome ? std::error_code() : outcome.error();
}

// How long a call may wait. A call that must end at once has a minute, in case the machine is busy.
inline duration longest_wait = 1min;

// Shorter, as long as this lives: for calls that need not end by themselves.
class short_waits {
 public:
  short_waits() noexcept { longest_wait = 2ms; }
  short_waits(const short_waits&) = delete;
  short_waits& operator=(const short_waits&) = delete;
  ~short_waits() { longest_wait = 1min; }
};

template <class Operation>
std::error_code ended(Operation&& operation) {
  return error_of(sync_wait(within(longest_wait, std::forward<Operation>(operation))));
}

inline std::array<char, 8> room{};
inline std::array<mutable_buffer, 2> rooms{std::span(room).first(4), std::span(room).last(4)};
inline constexpr std::string_view words = "words";
inline const std::array<const_buffer, 2> parts{words, words};

template <class Object>
struct named_call {
  const char* name;
  std::function<std::error_code(Object&)> make;
};

inline const std::vector<named_call<stream>>& stream_calls() {
  static const std::vector<named_call<stream>> all{
      {"read_some", [](stream& at) { return ended(at.read_some(room)); }},
      {"read_some of nothing", [](stream& at) { return ended(at.read_some(mutable_buffer())); }},
      {"read_some of parts", [](stream& at) { return ended(at.read_some(rooms)); }},
      {"read_exactly", [](stream& at) { return ended(at.read_exactly(room)); }},
      {"read_exactly of parts", [](stream& at) { return ended(at.read_exactly(rooms)); }},
      {"read_borrowed", [](stream& at) { return ended(at.read_borrowed()); }},
      {"read_idle", [](stream& at) { return ended(at.read_idle()); }},
      {"write_some", [](stream& at) { return ended(at.write_some(words)); }},
      {"write_some of nothing", [](stream& at) { return ended(at.write_some(std::string_view())); }},
      {"write_some of parts", [](stream& at) { return ended(at.write_some(parts)); }},
      {"write_all", [](stream& at) { return ended(at.write_all(words)); }},
      {"write_all of parts", [](stream& at) { return ended(at.write_all(parts)); }},
      {"readable", [](stream& at) { return ended(at.readable()); }},
      {"writable", [](stream& at) { return ended(at.writable()); }},
      {"closed", [](stream& at) { return ended(at.closed()); }},
      {"read_all", [](stream& at) { return ended(read_all(at, 1000)); }},
      {"buffered_reader",
       [](stream& at) {
         buffered_reader reader(at);
         return ended(reader.read_line());
       }},
      {"buffered_writer",
       [](stream& at) {
         buffered_writer writer(at);
         writer.append(words);
         return ended(writer.flush());
       }},
      {"copy from",
       [](stream& at) {
         auto pipe = make_pipe().value();
         return ended(copy(at, pipe.writer, 1000));
       }},
      {"copy to",
       [](stream& at) {
         auto pipe = make_pipe().value();
         sync_wait(pipe.writer.write_all(words)).value();
         return ended(copy(pipe.reader, at));
       }},
      {"send_file to", [](stream& at) {
         const unique_fd from(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
         return ended(send_file(at, from.native_handle(), 0, 5));
       }}};
  return all;
}

inline const std::vector<named_call<socket_stream>>& socket_calls() {
  static const std::vector<named_call<socket_stream>> all{
      {"peek", [](socket_stream& at) { return ended(at.peek(room)); }},
      {"peek at nothing", [](socket_stream& at) { return ended(at.peek({})); }},
      {"shutdown_read", [](socket_stream& at) { return error_of(at.shutdown_read()); }},
      {"shutdown_write", [](socket_stream& at) { return error_of(at.shutdown_write()); }}};
  return all;
}

inline const std::vector<named_call<tcp::stream>>& tcp_calls() {
  static const std::vector<named_call<tcp::stream>> all{
      {"set_no_delay", [](tcp::stream& at) { return error_of(at.set_no_delay(true)); }},
      {"set_keep_alive", [](tcp::stream& at) { return error_of(at.set_keep_alive({})); }},
      {"set_receive_buffer", [](tcp::stream& at) { return error_of(at.set_receive_buffer(4096)); }},
      {"set_send_buffer", [](tcp::stream& at) { return error_of(at.set_send_buffer(4096)); }},
      {"set_reset_on_close", [](tcp::stream& at) { return error_of(at.set_reset_on_close(false)); }}};
  return all;
}

inline const std::vector<named_call<unix_stream>>& unix_calls() {
  static const std::array fds{0};
  static std::array<unique_fd, 1> taken;
  static const std::vector<named_call<unix_stream>> all{
      {"send_with_fds", [](unix_stream& at) { return ended(at.send_with_fds(words, fds)); }},
      {"receive_with_fds", [](unix_stream& at) { return ended(at.receive_with_fds(room, taken)); }},
      {"credentials", [](unix_stream& at) { return error_of(at.credentials()); }}};
  return all;
}

inline const std::vector<named_call<udp::socket>>& udp_calls() {
  static const socket_address somewhere("127.0.0.1:9");
  static const std::vector<named_call<udp::socket>> all{
      {"receive", [](udp::socket& at) { return ended(at.receive(room)); }},
      {"send", [](udp::socket& at) { return ended(at.send(words)); }},
      {"send to an address", [](udp::socket& at) { return ended(at.send(words, somewhere)); }},
      {"send to a unix socket", [](udp::socket& at) { return ended(at.send(words, "unix:@hocket-nobody")); }},
      {"receive_batch",
       [](udp::socket& at) {
         std::array<udp::datagram, 2> batch{udp::datagram(room), udp::datagram(room)};
         return ended(at.receive_batch(batch));
       }},
      {"receive_batch of none", [](udp::socket& at) { return ended(at.receive_batch({})); }},
      {"send_batch",
       [](udp::socket& at) {
         std::array<udp::datagram, 2> batch{udp::datagram(words, somewhere), udp::datagram(words, somewhere)};
         return ended(at.send_batch(batch));
       }},
      {"send_batch of none", [](udp::socket& at) { return ended(at.send_batch({})); }},
      {"readable", [](udp::socket& at) { return ended(at.readable()); }}};
  return all;
}

inline const std::vector<named_call<tcp::listener>>& listener_calls() {
  static const std::vector<named_call<tcp::listener>> all{
      {"accept", [](tcp::listener& at) { return ended(at.accept()); }},
      {"try_accept", [](tcp::listener& at) { return error_of(at.try_accept()); }},
      {"readable", [](tcp::listener& at) { return ended(at.readable()); }}};
  return all;
}

inline const std::vector<named_call<file>>& file_calls() {
  static const std::vector<named_call<file>> all{
      {"read_at", [](file& at) { return ended(at.read_at(room, 0)); }},
      {"read_at of nothing", [](file& at) { return ended(at.read_at({}, 0)); }},
      {"write_at", [](file& at) { return ended(at.write_at(words, 0)); }},
      {"write_at of nothing", [](file& at) { return ended(at.write_at({}, 0)); }},
      {"append", [](file& at) { return ended(at.append(words)); }},
      {"size", [](file& at) { return ended(at.size()); }},
      {"resize", [](file& at) { return ended(at.resize(1)); }},
      {"sync", [](file& at) { return ended(at.sync()); }},
      {"sync_data", [](file& at) { return ended(at.sync_data()); }},
      {"read_all", [](file& at) { return ended(at.read_all(1000)); }}};
  return all;
}

inline const std::vector<named_call<event_counter>>& counter_calls() {
  static const std::vector<named_call<event_counter>> all{{"add", [](event_counter& at) { return error_of(at.add()); }},
                                                          {"take", [](event_counter& at) { return ended(at.take()); }}};
  return all;
}

// The calls that take a number.
inline const std::vector<named_call<const int>>& number_calls() {
  static const std::vector<named_call<const int>> all{
      {"descriptor::adopt", [](const int& fd) { return error_of(descriptor::adopt(fd)); }},
      {"stream::adopt", [](const int& fd) { return error_of(stream::adopt(fd)); }},
      {"file::adopt", [](const int& fd) { return error_of(file::adopt(fd)); }},
      {"event_counter::adopt", [](const int& fd) { return error_of(event_counter::adopt(fd)); }},
      {"tcp::listener::adopt", [](const int& fd) { return error_of(tcp::listener::adopt(fd)); }},
      {"udp::socket::adopt", [](const int& fd) { return error_of(udp::socket::adopt(fd)); }},
      {"poll_fd", [](const int& fd) { return ended(poll_fd(fd, POLLIN)); }},
      {"send_file of",
       [](const int& fd) {
         auto ends = make_unix_pair().value();
         return ended(send_file(ends.near, fd, 0, 5));
       }},
      {"send_with_fds of", [](const int& fd) {
         auto ends = make_unix_pair().value();
         return ended(ends.near.send_with_fds(words, std::span(&fd, 1)));
       }}};
  return all;
}

}  // namespace hocket_test
