// The calling side. A call is an id that the task manager expects a reply for, and a frame with it on its way out: so
// any number are in flight, each with its own deadline, and the reply finds whoever waits. Two threads do what would
// block: one writes what is in the outbox, one reads and completes. Neither knows coroutines, and no call knows them.
//
// When the connection is lost, every call that is outstanding fails with the reason, and so does each that comes later. The
// reader sees to that, which ends last: a writer that cannot go on closes the outbox, and shuts the connection down, so
// that the reader comes to its end, behind the replies that are there already.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/manager/task_manager.hpp>
#include <hocket/sync/channel.hpp>

#include <thread>
#include <vector>

#include "wire.hpp"

namespace rpc {

using reply = hocket::expectation<std::string>;

class client {
 public:
  // `tm` must outlive the client; `fd` stays the caller's.
  client(hocket::task_manager& tm, int fd)
      : tm_(tm), fd_(fd), writer_(&client::write, this), reader_(&client::read, this) {}
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() { end(); }

  // Any coroutine, any thread; never waits. Await what it gives: the reply, or timed_out, operation_canceled, broken_pipe
  // after end(), or why the connection was lost: connection_reset if the other end has closed it, bad_message if it has
  // sent what is no frame, else what the system says. Dropping it forgets the call. `options.data` is the client's.
  reply call(std::uint32_t method, std::string payload, hocket::expect_options options = {.location = {}}) {
    options.data = this;
    reply expected = tm_.expect<std::string>(options);
    if (expected.id() == hocket::task_id::none) return expected;  // refused, and says why
    const auto sent = outbox_.try_send({static_cast<std::uint64_t>(expected.id()), method, std::move(payload)});
    if (!sent) tm_.fail(expected.id(), sent.error());
    return expected;
  }

  // Without a reply. False: nothing goes out any more.
  bool notify(std::uint32_t method, std::string payload) {
    return outbox_.try_send({0, method, std::move(payload)}).has_value();
  }

  // After it no call goes out; replies are still taken until the other end closes.
  void end() {
    outbox_.close();
    if (writer_.joinable()) writer_.join();
    if (reader_.joinable()) reader_.join();
  }

 private:
  void write() {
    std::vector<frame> some(256);
    std::string bytes;
    while (auto count = hocket::sync_wait(outbox_.receive_batch(some))) {
      bytes.clear();
      for (std::size_t i = 0; i < *count; ++i) append(bytes, some[i]);
      if (const std::error_code why = write_all(fd_, bytes)) return lose(why);
    }
    ::shutdown(fd_, SHUT_WR);
  }
  void read() {
    frame_reader from(fd_);
    std::error_code why;
    // A reply that nobody expects any more is dropped, and counted by the manager: counts().late.
    for (frame one; !(why = from.read(one));)
      tm_.complete(static_cast<hocket::task_id>(one.id), std::move(one.payload));
    lose(why);
    // A call that was put into the outbox before is among them.
    tm_.for_each([&](const hocket::task_info& one) {
      if (one.expected && one.data == this) tm_.fail(one.id, why);
    });
  }
  // Nothing goes out any more, and what has come in is all that comes.
  void lose(std::error_code why) {
    outbox_.close(why);
    ::shutdown(fd_, SHUT_RDWR);
  }

  hocket::task_manager& tm_;
  const int fd_;
  hocket::channel<frame> outbox_{hocket::channel<frame>::unbounded};
  std::thread writer_, reader_;
};

}  // namespace rpc
