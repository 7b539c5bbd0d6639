// The calling side. A call is an id that the task manager expects a reply for, and a frame with it on its way out: so
// any number are in flight, each with its own deadline, and the reply finds whoever waits. Two threads do what would
// block: one writes what is in the outbox, one reads and completes. Neither knows coroutines, and no call knows them.
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

  // Any coroutine, any thread; never waits. Await what it gives: timed_out, operation_canceled, broken_pipe, or the
  // reply. Dropping it forgets the call.
  reply call(std::uint32_t method, std::string payload, const hocket::expect_options& options = {.at = {}}) {
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
      if (!write_all(fd_, bytes)) return;
    }
    ::shutdown(fd_, SHUT_WR);
  }
  void read() {
    frame_reader from(fd_);
    // A reply that nobody expects any more is dropped, and counted by the manager: counts().late.
    for (frame one; from.read(one);) tm_.complete(static_cast<hocket::task_id>(one.id), std::move(one.payload));
  }

  hocket::task_manager& tm_;
  const int fd_;
  hocket::channel<frame> outbox_{hocket::channel<frame>::unbounded};
  std::thread writer_, reader_;
};

}  // namespace rpc
