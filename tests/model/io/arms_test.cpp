// Arms of a select under every schedule: a grant is a permission to make the call, and the coroutine that has it keeps
// the word until it has made the call. The variants that must fail are in tests/mutants.
#include <hocket/core/stop.hpp>
#include <hocket/sync/select.hpp>

#include "io/stage.hpp"

namespace {

using hocket::stop_source;
using hocket::model::execution;
using hocket::model::require;
using hocket_test::is_byte;
using hocket_test::model_object;
using hocket_test::place;
using hocket_test::stage;
using hocket_test::wait_at;
namespace model = hocket::model;

// A coroutine that waits for an operation of attempts: its turns are those of its place.
template <class Op>
class attempting_wait : hocket::detail::stand_in {
 public:
  attempting_wait(place& where, hocket::primitive::operation<Op> op)
      : stand_in(&attempting_wait::resume), where_(where), op_(std::move(op)), wait_(op_) {
    static_cast<void>(std::move(op_).unwrap());  // it is awaited, by hand
  }
  auto result() {
    where_.enter();
    is_over_ = wait_->await_ready() || !wait_->await_suspend(open(*this));
    while (!is_over_) where_.run();
    auto taken = wait_->await_resume();
    where_.expect_sane();
    wait_.free();
    return taken;
  }

 private:
  static std::coroutine_handle<> resume(stand_in& self) noexcept {
    static_cast<attempting_wait&>(self).is_over_ = true;
    return nullptr;
  }

  place& where_;
  hocket::primitive::operation<Op> op_;
  model_object<hocket::detail::wait<Op>> wait_;
  bool is_over_ = false;
};
template <class Op>
auto attempt_at(place& where, hocket::primitive::operation<Op> op) {
  return attempting_wait<Op>(where, std::move(op)).result();
}

bool has_byte(stage& on, place& where) {
  auto first = attempt_at(where, hocket::select_in_order(on.read()));
  return first && is_byte(first->get<0>());
}

void selects_every_byte(execution& run) {
  stage on(1);
  place where;
  run.thread("reader", [&] {
    for (int i = 0; i < 2; ++i) require(has_byte(on, where));
    on.ends();
  });
  run.thread("system", [&] {
    on.at->tells_of_nothing();
    on.at->peer_writes();
    on.at->peer_writes();
    on.drive();
  });
  run.join();
  on.clear();
}

// Both arms are of one direction, so one of them is in the line.
void selects_two_of_one_direction(execution& run) {
  stage on(1);
  place where;
  run.thread("reader", [&] {
    auto first = attempt_at(where, hocket::select_in_order(on.read(), on.read()));
    require(first && is_byte(first->index() == 0 ? first->get<0>() : first->get<1>()));
    on.ends();
  });
  run.thread("system", [&] {
    on.at->peer_writes();
    on.drive();
  });
  run.thread("assistant", [&] { on.at->poll(); });
  run.join();
  on.clear();
}

// A plain read and a select, in one line.
void selects_beside_a_read(execution& run) {
  stage on(2);
  place first, second;
  run.thread("selects", [&] {
    require(has_byte(on, first));
    on.ends();
  });
  run.thread("reads", [&] {
    require(is_byte(wait_at(second, on.read())));
    on.ends();
  });
  run.thread("system", [&] {
    on.at->peer_writes();
    on.at->peer_writes();
    on.drive();
  });
  run.join();
  on.clear();
}

// The byte comes by the select that is stopped, or by the next read.
void is_stopped(execution& run) {
  stage on(1);
  model_object<stop_source> stop;
  place stopped(&*stop), where;
  run.thread("reader", [&] {
    if (!has_byte(on, stopped)) {
      on.at->look_back();
      require(is_byte(wait_at(where, on.read())));
    }
    on.ends();
  });
  run.thread("system", [&] {
    on.at->peer_writes();
    on.drive();
  });
  run.thread("stop", [&] { stop->request(); });
  run.join();
  on.clear();
  stop.free();
}

void is_closed_meanwhile(execution& run) {
  stage on(1);
  place where;
  run.thread("reader", [&] {
    if (has_byte(on, where)) require(!has_byte(on, where));
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
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("a select gets every byte, and waits on when there is none") { ::verdict::none(bounds, &selects_every_byte); }

TEST_CASE("of two arms of one direction one gets the byte, and the other gives its place up") {
  ::verdict::none(bounds, &selects_two_of_one_direction);
}

TEST_CASE("a select and a read of one direction get a byte each") { ::verdict::none(bounds, &selects_beside_a_read); }

TEST_CASE("a select that is stopped leaves the byte to the next read") { ::verdict::none(bounds, &is_stopped); }

TEST_CASE("closing ends a select, and no call comes after it") { ::verdict::none(bounds, &is_closed_meanwhile); }
