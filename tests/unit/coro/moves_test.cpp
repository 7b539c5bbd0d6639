// The number of moves of a result on its way, with every compiler. g++ before 14 does not construct a named result in
// the caller's place if its declaration is in an inner block, also of an `if constexpr`: then the return takes one more
// move.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/task.hpp>

#include <doctest/doctest.h>

using namespace hocket;

namespace {

struct counts_moves {
  explicit counts_moves(int n) noexcept : number(n) {}
  counts_moves(counts_moves&& other) noexcept : number(other.number), moves(other.moves + 1) {}
  counts_moves& operator=(counts_moves&&) = delete;
  ~counts_moves() {}
  int number;
  int moves = 0;
};

task<counts_moves> make() { co_return counts_moves(3); }
task<counts_moves> make_local() {
  counts_moves local(3);
  co_return local;
}

}  // namespace

TEST_CASE("the result of an awaited task is moved twice: into the frame, and out of it") {
  auto awaits = []() -> task<> {
    const counts_moves of_temporary = co_await make();
    CHECK(of_temporary.moves == 2);
    auto named = make();
    const counts_moves of_named = co_await std::move(named);
    CHECK(of_named.moves == 2);
    const counts_moves of_local = co_await make_local();
    CHECK(of_local.moves == 2);
    const counts_moves propagated = co_await make().propagate();
    CHECK(propagated.moves == 2);
    CHECK((co_await make()).moves == 2);
  };
  sync_wait(awaits());
  CHECK(sync_wait(make()).moves == 2);
}

TEST_CASE(
    "the result of a spawned task is moved four times: into the frame, the slot, the join's result, and out of it") {
  auto body = [](scope& all) -> task<> {
    auto handle = spawn(all, make);
    const counts_moves awaited = co_await handle;
    CHECK(awaited.moves == 4);
    auto joined = spawn(all, make);
    const counts_moves out = *co_await joined.join();
    CHECK(out.moves == 4);
    CHECK(out.number == 3);
    auto kept = spawn(all, make);
    const result<counts_moves> whole = co_await kept.join();
    CHECK(whole->moves == 3);
  };
  auto whole = [&]() -> task<> { co_await in_scope(body); };
  sync_wait(whole());
}
