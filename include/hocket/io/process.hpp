// Child processes: programs that are started, their standard streams, signals to them, and their end.
//
//   auto ls = process::start({"ls", "-l"}, {.out = process::pipe}).value();
//   auto text = co_await or_return(read_all(ls.out()));
//   int status = co_await or_return(ls.wait());                       // 0, or an exit_status with details
//
// Starting. start() involves no shell: pass {"sh", "-c", "..."} for one. It searches a name without a slash in the PATH
// of this process. An error of exec(2) is the error of start(). The call blocks its thread until the program has begun,
// for a fraction of a millisecond or a few milliseconds, however large this process is. If that is too long, call
// start() by blocking(), with lists that live until it returns. start() copies the texts before it returns.
// The child gets
//   - its three standard streams, as the options say: the stream of this process (inherit), a pipe to this object
//     (pipe), /dev/null (null), the child's standard output (to_out, for `err` alone), or an fd of this process
//     (use_fd());
//   - the fds of the options, no other fd of hocket's, but each fd of this process that is not marked as close-on-exec;
//   - no blocked signals, SIGPIPE with its default action, and every other signal ignored that this process ignores, or
//     ignored before a signal_set received it; and the ignored signals of the options;
//   - the soft limit of fds that this process had before hocket raised it.
//
// Ids. `user` and `group` become all ids of the child: real, effective and saved. If a privileged process gives a user
// and no `groups`, the child has no supplementary groups. The limits are set before the ids, and the directory is
// entered as the user.
//
// Streams. in(), out() and err() are the ends of pipes, or empty. in().close() ends the child's input. If both out and
// err are pipes, read them at the same time (when_all): a child with a full err writes no more to its out.
//
// The end. Any number of coroutines may await wait(), before and after the child's end. All get the same status. The
// first call after the end reaps the child. A deadline that ends the child:
//
//   auto status = co_await within(10s, job.wait());
//   if (!status) status = co_await job.terminate(2s);                 // SIGTERM, after 2 s SIGKILL
//
// If a process object is destroyed while its child runs, the child keeps running; kill_on_destruction kills it. Later
// calls of start() reap these children after their end: at most the children that have ended since then are zombies.
//
// Children are known by pidfds, so a signal never reaches another process that has reused the child's process id.
// pidfds need Linux 5.4; before that start() fails with function_not_supported. If a process ignores SIGCHLD, or waits
// for any child (waitpid(-1, ...)), the status is lost: in the first case start() fails with no_child_process, in the
// second case wait() does.
//
// Groups. A child with new_group or new_session has a process group of its own, with the processes that it starts. The
// group may outlive the child. Before Linux 6.9 a signal reaches the group only until the child is reaped, because then
// the system may reuse the id.
//
// Orphans. A process with the id 1, as in a container, adopts the children of processes that have ended, and so does a
// subreaper (prctl(2)). It reaps them by reap_orphans(), after each SIGCHLD:
//
//   signal_set ended{SIGCHLD};
//   while (co_await ended.next()) process::reap_orphans();
//
// Cancellation. As for every wait. A cancel or a deadline does not affect the child, which can be waited for again.
//
// Thread safety. start(), reap_orphans(): any thread. wait(), terminate(), signals: any number of coroutines and
// threads at a time. Streams: stream.hpp.
//
// fork(). In a forked child of this process, wait() fails with no_child_process, and the destructor kills no process.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/io/process_options.hpp>
#include <hocket/io/stream.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

struct wait_for_child : transfer_operation {
  static constexpr bool is_one_call = true;
  using value_type = exit_status;
  explicit wait_for_child(open_descriptor& record) noexcept
      : transfer_operation(record.in, call_kind::child, nullptr, 0) {}
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
  // An fd of this process, which stays open during start(). Programs expect a blocking fd.
  static constexpr process_stream use_fd(int fd) noexcept { return {process_stream::redirection::fd, fd}; }

  // An empty object: its operations fail with bad_file_descriptor.
  process() noexcept = default;

  // Starts a program; the first argument is its name. Errors: the errors of exec(2), as permission_denied, and of the
  // system calls for the options, as operation_not_permitted; no_such_file_or_directory: there is no such program,
  // interpreter of it, or directory, also if the directory has been removed; invalid_argument: no name, a zero inside
  // of a text, a variable without a name, `to_out` for a stream other than err, an fd number below 3 or twice, a
  // signal, id, umask or limit that does not exist; bad_file_descriptor; too_many_files_open;
  // resource_unavailable_try_again: too many processes; not_enough_memory; no_child_process and function_not_supported:
  // see above. Throws std::bad_alloc.
  static result<process> start(const text_arguments& arguments, const process_options& options = {});

  explicit operator bool() const noexcept { return static_cast<bool>(child_); }
  // The process id; -1 if there is none. After a wait() the system may give the id to another process.
  int id() const noexcept { return id_; }

  // This process's ends of the child's standard streams: in() is written to.
  stream& in() noexcept { return in_; }
  stream& out() noexcept { return out_; }
  stream& err() noexcept { return err_; }

  // Waits until the child has ended. Errors: no_child_process, see above.
  auto wait(call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::wait_for_child>(std::in_place, site,
                                                        detail::descriptor_access::record_of(child_));
  }
  // Sends a signal to the child. Errors: no_such_process after a wait(); invalid_argument; operation_not_permitted.
  result<void> signal(int number) noexcept;
  // Sends a signal to the process group of the child. Errors: invalid_argument, also if the child has no group of its
  // own; no_such_process, if the group has ended, and see "Groups"; operation_not_permitted.
  result<void> signal_group(int number) noexcept;

  // Ends the child: sends SIGTERM, waits, and sends SIGKILL if the child runs after `grace`. The signals go to its
  // group, if it has one of its own; processes of the group that outlive the child are not waited for. Returns the exit
  // status. Errors: as wait() and signal(). If the wait is cancelled, SIGKILL is sent at once; a coroutine that is
  // cancelled already uses shielded(child.terminate(grace)). The object outlives the task.
  task<result<exit_status>> terminate(duration grace);

  // Reaps all ended children of this process that start() has not started. Returns their count. Do not call it beside
  // code that waits for its own children, as popen(3) and system(3): it takes their status.
  static std::size_t reap_orphans() noexcept;

 private:
  descriptor child_;  // a pidfd
  int id_ = -1;
  stream in_, out_, err_;
};

}}  // namespace hocket
