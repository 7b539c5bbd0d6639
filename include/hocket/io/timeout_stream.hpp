// A stream with a time limit for each operation, for code that takes a byte_stream and sets no limits.
//
//   timeout_stream slow(peer, 30s);                        // a peer that is silent for 30 s: timed_out
//   buffered_reader reader(slow);
//   slow.set_deadline(now + 10s);                          // and the whole request within 10 s
//   auto head = co_await or_return(reader.read_until("\r\n\r\n"));
//
// The operations of a buffered_reader, and copy(), are tasks. A task has no wait of its own that within() could end.
// The stream below waits, so the limits belong there.
#pragma once
#include <hocket/io/byte_stream.hpp>
#include <hocket/time/within.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// Limits the operations of the stream `S`: hocket::stream, or a class derived from it. The stream outlives this object.
template <byte_stream S>
class timeout_stream {
 public:
  explicit timeout_stream(S& stream, duration timeout = duration::max()) noexcept
      : stream_(stream), timeout_(timeout) {}

  // Sets the time limit of each operation that begins after this call. The time counts from the beginning of its wait.
  void set_timeout(duration timeout) noexcept { timeout_ = timeout; }
  // Sets the deadline of all operations that begin after this call; time_point::max(): none.
  void set_deadline(time_point deadline) noexcept { deadline_ = deadline; }

  auto read_some(mutable_buffer buffer, call_site site = this_call_site()) {
    return with_limits(stream_.read_some(buffer, site));
  }
  auto read_borrowed(call_site site = this_call_site())
    requires lending_source<S>
  {
    return with_limits(stream_.read_borrowed(site));
  }
  auto read_idle(call_site site = this_call_site())
    requires requires(S& source) { source.read_idle(call_site()); }
  {
    return with_limits(stream_.read_idle(site));
  }
  auto write_all(const_buffer data, call_site site = this_call_site()) {
    return with_limits(stream_.write_all(data, site));
  }
  auto write_all(std::span<const const_buffer> buffers, call_site site = this_call_site())
    requires gathering_sink<S>
  {
    return with_limits(stream_.write_all(buffers, site));
  }
  template <class Data>
  auto write_all(const Data& data, write_mode mode, call_site site = this_call_site())
    requires requires(S& sink) { sink.write_all(data, mode, site); }
  {
    return with_limits(stream_.write_all(data, mode, site));
  }
  // For a socket_stream. It never waits.
  auto shutdown_write()
    requires requires(S& stream) { stream.shutdown_write(); }
  {
    return stream_.shutdown_write();
  }

 private:
  template <class Op>
  auto with_limits(Op&& op) const {
    return std::move(op).within(timeout_).until(deadline_);
  }

  S& stream_;
  duration timeout_;
  time_point deadline_ = time_point::max();
};

}}  // namespace hocket
