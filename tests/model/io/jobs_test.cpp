// A readiness job under every schedule: a connection without a coroutine, the driver and a thread that assists it, a
// party that stops the connection, a close, and a coroutine that reads beside it. The variants that must fail are here,
// and in tests/mutants.
#include <hocket/io/detail/readiness_job.hpp>

#include "io/stage.hpp"

namespace {

using hocket::detail::readiness_job;
using hocket::detail::repeating_job;
using hocket::detail::transfer;
using hocket::detail::watch_outcome;
using hocket::model::execution;
using hocket::model::require;
using hocket::primitive::locked;
using hocket::primitive::thread_mutex;
using hocket_test::is_byte;
using hocket_test::model_object;
using hocket_test::place;
using hocket_test::stage;
using hocket_test::wait_at;
namespace job_reason = hocket::detail::job_reason;
namespace model = hocket::model;

// Order a connection ends.
enum class ending : std::uint8_t {
  orderly,
  without_unwatch,  // it forgets that a party may have bytes its job
  without_run,      // it forgets that its job may be posted
};

// The executor of a connection, with a queue of one entry.
class queue_of_one final : public hocket::executor {
 public:
  void post_from_outside(hocket::detail::runnable& posted) noexcept override {
    links_ = links_ + 1;
    posted_ = &posted;
    place_.post_from_outside(posted);
  }
  void enter() { place_.enter(); }
  void run() {
    place_.sleep();
    links_ = links_ + 1;
    posted_->handle.resume();
  }
  void expect_no_post() const { place_.expect_no_post(); }
  void expect_sane() const { place_.expect_sane(); }

 private:
  place place_;
  hocket::detail::runnable* posted_ = nullptr;
  model::var<int> links_{0, "links"};  // of the entry: one party at a time, in the order of the posts and the runs
};

// In the place of connection_list.
struct listing {
  thread_mutex mutex;
  bool has_entry = true;  // guarded by mutex
};

// Reads `count` bytes, then ends.
class connection : readiness_job {
 public:
  connection(stage& on, queue_of_one& home, listing& list, std::uint32_t count, ending order = ending::orderly)
      : readiness_job(home, &connection::run_job), on_(on), list_(list), count_(count), order_of_end_(order) {
    open(*this);
  }

  // The first run, which no post has led to. True: it is over.
  bool begin() { return run(0); }
  void notify(std::uint32_t reasons) {
    message_ = 1;
    readiness_job::notify(reasons);
  }

  model::var<std::uint32_t> bytes{0, "bytes"};
  bool was_closed = false;  // its own

  bool is_over = false;

 private:
  static bool run_job(repeating_job& self) noexcept {
    auto& own = static_cast<connection&>(self);
    return !own.run(own.take_reasons());
  }
  bool run(std::uint32_t reasons) {
    if (reasons & job_reason::stopped) require(message_ == 1, "a run does not see what its notify() has written");
    if (reasons & job_reason::readable) is_linked_ = false;
    if (reasons & job_reason::stopped) ends_ = true;
    while (!ends_ && !read_all()) {
      const watch_outcome outcome = on_.at->in.watch(*this);
      if (outcome == watch_outcome::ready) continue;
      is_linked_ = outcome == watch_outcome::linked;
      ends_ = !is_linked_;
      was_closed = outcome == watch_outcome::closed;
      break;
    }
    return is_over = ends_ && has_ended();
  }
  // True: it has them all.
  bool read_all() {
    while (bytes != count_) {
      transfer read(on_.at->in, hocket::detail::call_kind::read, this, 1);
      if (!on_.at->in.try_now(read)) return false;
      if (read.error != 0) {
        was_closed = true;
        break;
      }
      bytes = bytes + 1;
    }
    return ends_ = true;
  }
  bool has_ended() {
    {
      const locked guard(list_.mutex);
      list_.has_entry = false;
    }
    if (order_of_end_ == ending::without_unwatch) is_linked_ = false;
    if (is_linked_ && on_.at->in.unwatch(*this)) is_linked_ = false;
    if (is_linked_) return false;
    return order_of_end_ == ending::without_run || !is_posted();
  }

  stage& on_;
  listing& list_;
  const std::uint32_t count_;
  const ending order_of_end_;
  bool is_linked_ = false, ends_ = false;
  model::var<int> message_{0, "message"};  // of the party that stops it
};

// How a coroutine tells a connection that it has given it back.
enum class giving_back : std::uint8_t {
  by_reason,  // of its notify()
  by_flag,    // set before its notify()
};

// A connection that a coroutine has. It ends when it is back.
template <giving_back How>
class lent_connection : readiness_job {
 public:
  lent_connection(queue_of_one& home, listing& list) : readiness_job(home, &lent_connection::run_job), list_(list) {
    open(*this);
  }

  using readiness_job::notify;
  // By the coroutine, last.
  void give_back() {
    result_ = 1;
    if (How == giving_back::by_flag) is_back_.store(true, std::memory_order_release);
    notify(job_reason::returned);
  }

  bool is_over = false;

 private:
  static bool run_job(repeating_job& self) noexcept {
    auto& own = static_cast<lent_connection&>(self);
    return !own.run(own.take_reasons());
  }
  bool run(std::uint32_t reasons) {
    const bool is_flagged = How == giving_back::by_flag && is_back_.load(std::memory_order_acquire);
    if (is_flagged || (reasons & job_reason::returned) != 0) is_lent_ = false;
    if (is_lent_) return false;
    require(result_ == 1, "the connection does not see what the coroutine has written");
    {
      const locked guard(list_.mutex);
      list_.has_entry = false;
    }
    return is_over = !is_posted();
  }

  listing& list_;
  bool is_lent_ = true;
  hocket::primitive::atomic<bool> is_back_{false};
  model::var<int> result_{0, "result"};
};

// The list stops a connection while its coroutine gives it back.
template <giving_back How>
void is_stopped_while_lent(execution& run) {
  queue_of_one home;
  model_object<listing> list;
  model_object<lent_connection<How>> peer(home, *list);
  run.thread("connection", [&] {
    home.enter();
    while (!peer->is_over) home.run();
    home.expect_sane();
    peer.free();
  });
  run.thread("coroutine", [&] { peer->give_back(); });
  run.thread("list", [&] {
    const locked guard(list->mutex);
    if (list->has_entry) peer->notify(job_reason::stopped);
  });
  run.join();
  home.expect_no_post();
  list.free();
}

// The thread of a connection, to its end.
void serve(queue_of_one& home, model_object<connection>& peer) {
  home.enter();
  peer->begin();
  while (!peer->is_over) home.run();
  home.expect_sane();
}

template <std::uint32_t Bytes, bool Assisted>
void reads_all(execution& run) {
  stage on(1);
  queue_of_one home;
  model_object<listing> list;
  model_object<connection> peer(on, home, *list, Bytes);
  run.thread("connection", [&] {
    serve(home, peer);
    require(peer->bytes == Bytes);
    peer.free();
    on.ends();
  });
  run.thread("peer", [&] {
    on.at->tells_of_nothing();
    for (std::uint32_t i = 0; i < Bytes; ++i) on.at->peer_writes();
  });
  run.thread("driver", [&] { on.drive(); });
  if (Assisted) run.thread("assistant", [&] { on.at->poll(); });
  run.join();
  on.clear();
  list.free();
}

// A party that finds the connection in a list stops it, while a byte arrives. If one byte is enough, the connection may
// end by itself at that moment.
template <ending Order, std::uint32_t Count>
void is_stopped(execution& run) {
  stage on(1);
  queue_of_one home;
  model_object<listing> list;
  model_object<connection> peer(on, home, *list, Count, Order);
  run.thread("connection", [&] {
    serve(home, peer);
    on.ends();
  });
  run.thread("peer", [&] { on.at->peer_writes(); });
  run.thread("driver", [&] { on.drive(); });
  run.thread("list", [&] {
    const locked guard(list->mutex);
    if (list->has_entry) peer->notify(job_reason::stopped);
  });
  run.join();
  on.clear();
  home.expect_no_post();  // the connection would have been destroyed
  peer.free();
  list.free();
}

// Another party closes the descriptor.
void is_closed_meanwhile(execution& run) {
  stage on(1);
  queue_of_one home;
  model_object<listing> list;
  model_object<connection> peer(on, home, *list, 2U);
  run.thread("connection", [&] {
    serve(home, peer);
    require(peer->was_closed || peer->bytes == 2u);
    peer.free();
    on.ends();
  });
  run.thread("closes", [&] { on.at->in.close(); });
  run.thread("system", [&] {
    on.at->peer_writes();
    on.drive();
  });
  run.join();
  require(on.at->is_fd_closed(), "it was not closed");
  on.at.free();
  list.free();
}

// A coroutine reads the same direction. Each of both wants one byte. A connection that comes second gives up.
void reads_beside_a_coroutine(execution& run) {
  stage on(2);
  queue_of_one home;
  place where;
  model_object<listing> list;
  model_object<connection> peer(on, home, *list, 1U);
  run.thread("connection", [&] {
    serve(home, peer);
    peer.free();
    on.ends();
  });
  run.thread("reader", [&] {
    require(is_byte(wait_at(where, on.read())));
    on.ends();
  });
  run.thread("system", [&] {
    on.at->peer_writes();
    on.at->peer_writes();
    on.drive();
  });
  run.join();
  on.clear();
  list.free();
}

// The job goes, and a coroutine waits in the line behind it.
void leaves_a_coroutine_behind(execution& run) {
  stage on(2);
  queue_of_one home;
  place where;
  model_object<listing> list;
  model_object<connection> peer(on, home, *list, 2U);
  run.thread("connection", [&] {
    serve(home, peer);
    peer.free();
    on.ends();
  });
  run.thread("reader", [&] {
    require(is_byte(wait_at(where, on.read())));
    on.ends();
  });
  run.thread("list", [&] {
    {
      const locked guard(list->mutex);
      if (list->has_entry) peer->notify(job_reason::stopped);
    }
    for (int i = 0; i < 3; ++i) on.at->peer_writes();
  });
  run.thread("driver", [&] { on.drive(); });
  run.join();
  on.clear();
  list.free();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options few{.preemptions = 1, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("a job is run for every byte") {
  ::verdict::none(bounds, &reads_all<1, false>);
  ::verdict::none(few, &reads_all<2, false>);
}

TEST_CASE("a job is run for every byte, whichever thread sees the edges") { ::verdict::none(few, &reads_all<2, true>); }

TEST_CASE("a connection that is stopped while a byte arrives ends once, and no party touches it afterwards") {
  ::verdict::none(bounds, &is_stopped<ending::orderly, 1>);
  ::verdict::none(bounds, &is_stopped<ending::orderly, 2>);
}

TEST_CASE("a connection that forgets a party which has taken its job is found out") {
  CHECK(model::explore(bounds, &is_stopped<ending::without_unwatch, 2>).kind != model::bug::none);
}

TEST_CASE("a connection that forgets a post which is under way is found out") {
  CHECK(model::explore(bounds, &is_stopped<ending::without_run, 1>).kind != model::bug::none);
}

TEST_CASE(
    "a connection that is stopped while a coroutine gives it back ends once, and no party touches it afterwards") {
  ::verdict::none(bounds, &is_stopped_while_lent<giving_back::by_reason>);
}

TEST_CASE("a coroutine that gives back by a flag before its notify is found out") {
  CHECK(model::explore(bounds, &is_stopped_while_lent<giving_back::by_flag>).kind != model::bug::none);
}

TEST_CASE("closing runs a linked job, which finds the descriptor closed") {
  ::verdict::none(bounds, &is_closed_meanwhile);
}

TEST_CASE("a coroutine that reads beside a job gets its byte") { ::verdict::none(few, &reads_beside_a_coroutine); }

TEST_CASE("a job that goes leaves the direction to the coroutine behind it") {
  ::verdict::none(few, &leaves_a_coroutine_behind);
}

// The orderings in direction_jobs.cpp make the memory of a job visible before its first run, which the checker does not
// see.
TEST_CASE("every ordering of a job's reasons is needed") {
  constexpr model::options narrow{.preemptions = 1, .stale_reads = 1, .spurious = 0, .weakened = "readiness_job.cpp"};
  CHECK(::verdict::unneeded_in("readiness_job.cpp",
                               model::unneeded_orderings(narrow, &reads_all<1, false>, &reads_all<2, false>,
                                                         &is_stopped<ending::orderly, 2>)) == "");
}
