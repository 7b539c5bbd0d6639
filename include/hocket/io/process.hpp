// Child processes: programs that are started, their standard streams, signals to them, and their end.
//
//   auto ls = process::start({"ls", "-l"}, {.out = process::pipe}).value();
//   auto text = co_await or_return(read_all(ls.out()));
//   int status = co_await or_return(ls.wait());                       // 0, or an exit_status with more to say
//
// Starting. No shell is involved: {"sh", "-c", "..."} asks for one. A name without a slash is searched in the PATH of
// this process. An error of exec(2) is the error of start(). The call blocks its thread until the program has begun, a
// fraction of a millisecond or a few. Where that is too long, call it by blocking(), with lists that live as long. The
// texts are copied before it returns.
// The child gets
//   - its three standard streams, as the options say: what this process has (inherit), a pipe to this object, /dev/null
//     (null), where its standard output leads (to_out, for `err` alone), or a number of this process (use());
//   - no other number of hocket's, but each number of this process that is not marked as close-on-exec;
//   - no blocked signals, SIGPIPE with its default action, and every other signal ignored that is ignored here.
//
// Streams. in(), out() and err() are the ends of pipes, and of nothing otherwise. A child that waits for the end of its
// input gets it by in().close(). If both out and err are pipes, read them at the same time (when_all): a child whose
// err is full writes no more to its out.
//
// The end. wait() may be awaited by any number of coroutines, before and after the child's end, and gives the same
// status each time. The child is reaped by the first that asks.
//
// A process object that ends while its child runs leaves the child running; kill_on_destruction kills it. Such children
// are reaped, after their end, by later calls of start(): at most the children are zombies that have ended since then.
//
// Children are known by pidfds, so a signal never reaches another process that has the child's number by now. That
// takes Linux 5.4; before that start() gives function_not_supported. A process that ignores SIGCHLD, or waits for any
// child (waitpid(-1, ...)), takes the status away: start() refuses the former, and wait() gives no_child_process.
//
// Cancellation and deadlines as of every wait: they do not touch the child, which can be waited for again.
//
// Thread safety. start(): any thread. wait(), signal(): any number of coroutines and threads at a time. Streams:
// stream.hpp.
//
// fork(). In a child that this process forks, wait() gives no_child_process, and the end of the object kills nobody.
#pragma once
#include <hocket/io/process_options.hpp>
#include <hocket/io/stream.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

struct wait_for_child : transfer_operation {
  using value_type = exit_status;
  explicit wait_for_child(open_descriptor& of) noexcept : transfer_operation(of.in, call_kind::child, nullptr, 0) {}
  bool has_it() const noexcept { return ended != 0; }
  // An even status is twice an exit code, an odd one a signal.
  result<exit_status> take() noexcept {
    if (error != 0) return failure_of_transfer(error);
    const int number = static_cast<int>(done / 2);
    return done % 2 == 0 ? exit_status(number) : exit_status::from_signal(number);
  }
};

}  // namespace detail

// A child process.
class process {
 public:
  static constexpr process_stream inherit{};
  static constexpr process_stream pipe{process_stream::redirection::pipe};
  static constexpr process_stream null{process_stream::redirection::null};
  static constexpr process_stream to_out{process_stream::redirection::to_out};
  // A number of this process, which stays open during start(). Programs expect that it blocks.
  static constexpr process_stream use_fd(int fd) noexcept { return {process_stream::redirection::fd, fd}; }

  // Of nothing: operations give bad_file_descriptor.
  process() noexcept = default;

  // Starts a program; the first argument is its name. Errors: the errors of exec(2), as no_such_file_or_directory and
  // permission_denied, and of the directory; invalid_argument: no name, a zero inside of a text, a variable without a
  // name, `to_out` for another stream than err; bad_file_descriptor; too_many_files_open;
  // resource_unavailable_try_again: too many processes; no_child_process and function_not_supported: see above. Throws
  // std::bad_alloc.
  static result<process> start(const text_arguments& arguments, const process_options& options = {});

  explicit operator bool() const noexcept { return static_cast<bool>(child_); }
  // Its process id; -1 if there is none. Once it was waited for, the system may give it to another process.
  int id() const noexcept { return id_; }

  // Its standard streams, as this process sees them: in() is written to.
  stream& in() noexcept { return in_; }
  stream& out() noexcept { return out_; }
  stream& err() noexcept { return err_; }

  // Until the child has ended. Errors: no_child_process, see above.
  auto wait(call_site at = this_call_site()) noexcept {
    return primitive::operation<detail::wait_for_child>(std::in_place, at,
                                                        detail::descriptor_access::record_of(child_));
  }
  // Sends it a signal. Errors: no_such_process if it was waited for; invalid_argument; operation_not_permitted.
  result<void> signal(int number) noexcept;

 private:
  descriptor child_;  // a pidfd
  int id_ = -1;
  stream in_, out_, err_;
};

}}  // namespace hocket
