// The calling side. A call is an expected reply of the task manager, and a frame with the reply's id in the outbox. So
// any number of calls are in flight, each with its own deadline, and the id of a reply leads to its waiter. Two threads
// make the blocking calls: the writer sends the frames of the outbox, the reader completes calls. Neither thread
// depends on coroutines, and no call depends on the threads.
//
// If the connection is lost, every outstanding call fails with the reason, and so does each later one. The reader
// ends last, and fails the calls. If the writer fails, it closes the outbox and shuts the connection down. So the
// reader ends, after it has read the replies that had already arrived.
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

  // Any coroutine, any thread; never waits. Await the returned object: it gives the reply, or timed_out,
  // operation_canceled, broken_pipe after end(), or the reason of a lost connection: connection_reset if the other end
  // has closed it, bad_message if it has sent an invalid frame, otherwise the system's error. Dropping the object
  // abandons the call. `options.data` belongs to the client.
  reply call(std::uint32_t method, std::string payload, hocket::expect_options options = {.location = {}}) {
    options.data = this;
    reply expected = tm_.expect<std::string>(options);
    if (expected.id() == hocket::task_id::none) return expected;  // refused, and says why
    const auto sent = outbox_.try_send({static_cast<std::uint64_t>(expected.id()), method, std::move(payload)});
    if (!sent) tm_.fail(expected.id(), sent.error());
    return expected;
  }

  // Sends without a reply. False: the outbox is closed.
  bool notify(std::uint32_t method, std::string payload) {
    return outbox_.try_send({0, method, std::move(payload)}).has_value();
  }

  // Sends no call afterwards; accepts replies until the other end closes.
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
    // A reply that is no longer expected is dropped, and counted by the manager: counts().late.
    for (frame one; !(why = from.read(one));)
      tm_.complete(static_cast<hocket::task_id>(one.id), std::move(one.payload));
    lose(why);
    // Includes the calls that are still in the outbox.
    tm_.for_each([&](const hocket::task_info& one) {
      if (one.expected && one.data == this) tm_.fail(one.id, why);
    });
  }
  // Ends sending and receiving.
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
