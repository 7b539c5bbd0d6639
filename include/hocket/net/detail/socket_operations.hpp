// accept and connect, for every kind of stream socket.
#pragma once
#include <hocket/io/descriptor.hpp>
#include <hocket/io/detail/transfer_operation.hpp>
#include <hocket/net/address.hpp>
#include <limits>

namespace hocket::inline HOCKET_ABI::detail {

// A new socket of the address's family; an error number below 0.
int new_socket(const socket_address& for_address, int type) noexcept;
void close_number(int number) noexcept;
// A connected stream socket that does not block; closed on failure.
result<descriptor> descriptor_of_socket(int number, bool tcp) noexcept;
// The socket of a connect, bound to `from` if that is valid. Null: `error` says why.
open_descriptor* open_to_connect(const socket_address& to, const socket_address& from, bool no_delay,
                                 int& error) noexcept;

// An accepted connection that nobody takes (its coroutine is killed, or destroyed before it goes on) is closed.
template <class Stream>
struct accept_operation : transfer_operation {
  using value_type = Stream;
  static constexpr std::size_t taken = std::numeric_limits<std::size_t>::max();

  accept_operation(open_descriptor& of, bool tcp) noexcept
      : transfer_operation(of.in, call_kind::accept, nullptr, 0), is_tcp(tcp) {}
  bool has_it() const noexcept { return ended != 0; }
  result<Stream> take() noexcept {
    if (error != 0) return failure_of_transfer(error);
    result<descriptor> made = descriptor_of_socket(static_cast<int>(std::exchange(done, taken)), is_tcp);
    if (!made) return failure(made.error());
    return Stream(std::move(*made));
  }
  void resumed() noexcept {
    if (ended != 0 && error == 0 && done != taken) close_number(static_cast<int>(std::exchange(done, taken)));
  }

  op_flag is_tcp;
};

// Has the descriptor from its first try to its end.
template <class Stream>
struct connect_operation : pointing_operation<connect_operation<Stream>> {
  using value_type = Stream;
  using base = pointing_operation<connect_operation>;

  connect_operation(const socket_address& address, const socket_address& local, bool at_once) noexcept
      : base(no_descriptor().out, call_kind::connect, nullptr, 0), to(address), from(local), no_delay(at_once) {}

  bool point() noexcept {
    if (!made && !open()) return false;
    this->data = const_cast<void*>(to.data());
    return true;
  }
  result<Stream> take() noexcept {
    if (this->error != 0) {
      resumed();
      return failure_of_transfer(this->error);
    }
    return Stream(adopt(*std::exchange(made, nullptr)));
  }
  void resumed() noexcept {
    if (made) static_cast<void>(adopt(*std::exchange(made, nullptr)));
  }

  socket_address to, from;
  open_descriptor* made = nullptr;
  op_flag no_delay;

 private:
  bool open() noexcept {
    int wrong = 0;
    made = open_to_connect(to, from, no_delay, wrong);
    if (!made) return this->fail(wrong), false;
    this->side = &made->out;
    this->generation = made->generation();
    this->size = to.size();
    return true;
  }
  static descriptor adopt(open_descriptor& one) noexcept { return descriptor_access::of(one); }
};

}  // namespace hocket::inline HOCKET_ABI::detail
