// The operations accept and connect, for every kind of stream socket.
#pragma once
#include <hocket/io/descriptor.hpp>
#include <hocket/io/seam/transfer_operation.hpp>
#include <hocket/net/address.hpp>
#include <hocket/net/detail/retry_timer.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Opens a socket of the address's family. Returns a negative error number on failure.
int new_socket(const socket_address& for_address, int type) noexcept;
void close_fd(int fd) noexcept;
// Makes a descriptor of a connected, non-blocking stream socket. Closes the fd on failure.
result<descriptor> descriptor_of_socket(int fd, bool tcp) noexcept;

// Opens the sockets of connects. Implemented by the system's sockets and by networks in memory.
class socket_opener {
 public:
  socket_opener(const socket_opener&) = delete;
  socket_opener& operator=(const socket_opener&) = delete;

  // Opens an unconnected stream socket, bound to `from` if `from` is valid. Returns null on failure, and sets `error`.
  virtual open_descriptor* open(const socket_address& to, const socket_address& from, bool no_delay,
                                int& error) noexcept = 0;

 protected:
  constexpr socket_opener() noexcept = default;
  ~socket_opener() = default;
};
socket_opener& system_sockets() noexcept;

// If the coroutine is killed, or destroyed before it takes its accepted connection, resumed() closes the connection.
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

// Owns the descriptor from the first try until the result is taken. No other operation uses the descriptor.
template <class Stream>
struct connect_operation : pointing_operation<connect_operation<Stream>> {
  using value_type = Stream;
  using base = pointing_operation<connect_operation>;
  static constexpr bool needs_several_calls = true;

  connect_operation(socket_opener& source, const socket_address& remote, const socket_address& local,
                    bool send_at_once) noexcept
      : base(no_descriptor().out, call_kind::connect, nullptr, 0),
        to(remote),
        from(local),
        opener(&source),
        no_delay(send_at_once) {}

  bool point() noexcept {
    if (!record && !open()) return false;
    this->data = const_cast<void*>(to.data());
    return true;
  }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    if (!retry_timer::is_needed(*record, to.kind() == socket_address::family::unix_path))
      return base::begin(wait, entry);
    static_cast<void>(point());
    retry.make().begin(wait, entry, *this);
  }
  result<Stream> take() noexcept {
    if (this->error != 0) {
      resumed();
      return failure_of_transfer(this->error);
    }
    return Stream(adopt(*std::exchange(record, nullptr)));
  }
  void resumed() noexcept {
    if (record) static_cast<void>(adopt(*std::exchange(record, nullptr)));
  }

  retry_storage retry;  // of a unix socket whose queue is full
  socket_address to, from;
  socket_opener* opener;
  open_descriptor* record = nullptr;
  op_flag no_delay;

 private:
  bool open() noexcept {
    int open_error = 0;
    record = opener->open(to, from, no_delay, open_error);
    if (!record) {
      this->fail(open_error);
      return false;
    }
    this->side = &record->out;
    this->generation = record->generation();
    this->size = to.size();
    return true;
  }
  static descriptor adopt(open_descriptor& opened) noexcept { return descriptor_access::make(opened); }
};

}}}  // namespace hocket::detail
