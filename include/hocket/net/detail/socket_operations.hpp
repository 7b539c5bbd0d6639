// accept and connect, for every kind of stream socket.
#pragma once
#include <hocket/io/descriptor.hpp>
#include <hocket/io/seam/transfer_operation.hpp>
#include <hocket/net/address.hpp>
#include <hocket/net/detail/retry_timer.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A new socket of the address's family; an error number below 0.
int new_socket(const socket_address& for_address, int type) noexcept;
void close_fd(int fd) noexcept;
// A connected stream socket that does not block; closed on failure.
result<descriptor> descriptor_of_socket(int fd, bool tcp) noexcept;

// What opens the sockets of connects: the system, or a network in memory.
class socket_opener {
 public:
  socket_opener(const socket_opener&) = delete;
  socket_opener& operator=(const socket_opener&) = delete;

  // A stream socket that is not connected, bound to `from` if that is valid. Null: `error` says why.
  virtual open_descriptor* open(const socket_address& to, const socket_address& from, bool no_delay,
                                int& error) noexcept = 0;

 protected:
  constexpr socket_opener() noexcept = default;
  ~socket_opener() = default;
};
socket_opener& system_sockets() noexcept;

// An accepted connection that nobody takes (its coroutine is killed, or destroyed before it goes on) is closed.
template <class Stream>
struct accept_operation : transfer_operation {
  static constexpr bool is_one_call = true;
  using value_type = Stream;

  accept_operation(open_descriptor& record, bool tcp) noexcept
      : transfer_operation(record.in, call_kind::accept, nullptr, tcp ? 1 : 0) {}
  bool has_it() const noexcept { return ended != 0; }
  result<Stream> take() noexcept {
    if (error != 0) return failure_of_transfer(error);
    return Stream(adopt());
  }
  void resumed() noexcept {
    if (data) static_cast<void>(adopt());
  }

 private:
  descriptor adopt() noexcept {
    return descriptor_access::make(*static_cast<open_descriptor*>(std::exchange(data, nullptr)));
  }
};

// Has the descriptor from its first try to its end. No other party knows it.
template <class Stream>
struct connect_operation : pointing_operation<connect_operation<Stream>> {
  using value_type = Stream;
  using base = pointing_operation<connect_operation>;
  static constexpr bool needs_several_calls = true;

  connect_operation(socket_opener& by, const socket_address& address, const socket_address& local,
                    bool at_once) noexcept
      : base(no_descriptor().out, call_kind::connect, nullptr, 0),
        to(address),
        from(local),
        opener(&by),
        no_delay(at_once) {}

  bool point() noexcept {
    if (!made && !open()) return false;
    this->data = const_cast<void*>(to.data());
    return true;
  }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    if (!retry_timer::is_needed(*made, to.kind() == socket_address::family::unix_path)) return base::begin(wait, entry);
    static_cast<void>(point());
    retry.make().begin(wait, entry, *this);
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

  retry_storage retry;  // of a unix socket whose queue is full
  socket_address to, from;
  socket_opener* opener;
  open_descriptor* made = nullptr;
  op_flag no_delay;

 private:
  bool open() noexcept {
    int wrong = 0;
    made = opener->open(to, from, no_delay, wrong);
    if (!made) return this->fail(wrong), false;
    this->side = &made->out;
    this->generation = made->generation();
    this->size = to.size();
    return true;
  }
  static descriptor adopt(open_descriptor& one) noexcept { return descriptor_access::make(one); }
};

}}}  // namespace hocket::detail
