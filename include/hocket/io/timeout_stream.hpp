// A stream each of whose operations has a time limit: for code that takes a byte_stream, and knows nothing of limits.
//
//   timeout_stream slow(peer, 30s);                        // a peer that is silent for 30 s: timed_out
//   buffered_reader reader(slow);
//   slow.set_deadline(now + 10s);                          // and the whole request within 10 s
//   auto head = co_await or_return(reader.read_until("\r\n\r\n"));
//
// A buffered reader, and copy(), are tasks, and a task has no wait of its own that within() could end. The waits are in
// the stream below: that is where the limits belong.
#pragma once
#include <hocket/io/byte_stream.hpp>
#include <hocket/time/within.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// `S` gives operations: stream and what is derived from it. It outlives this.
template <byte_stream S>
class timeout_stream {
 public:
  explicit timeout_stream(S& of, duration each = duration::max()) noexcept : of_(of), each_(each) {}

  // Of each operation that begins from now on, counted from its wait.
  void set_timeout(duration each) noexcept { each_ = each; }
  // For all operations that begin from now on; time_point::max(): none.
  void set_deadline(time_point deadline) noexcept { deadline_ = deadline; }

  auto read_some(mutable_buffer into, call_site at = this_call_site()) { return limit(of_.read_some(into, at)); }
  auto read_borrowed(call_site at = this_call_site())
    requires lending_source<S>
  {
    return limit(of_.read_borrowed(at));
  }
  auto read_idle(call_site at = this_call_site())
    requires requires(S& from) { from.read_idle(call_site()); }
  {
    return limit(of_.read_idle(at));
  }
  auto write_all(const_buffer from, call_site at = this_call_site()) { return limit(of_.write_all(from, at)); }

 private:
  template <class Op>
  auto limit(Op&& op) const {
    return std::move(op).within(each_).until(deadline_);
  }

  S& of_;
  duration each_;
  time_point deadline_ = time_point::max();
};

}}  // namespace hocket
