// Grants, and waits that are committed before they are listed. Sequential: the races are in tests/model.
#include <hocket/core/context.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <hocket/core/wait/seam/wait_queue.hpp>

#include "support/death.hpp"
#include "unit/core/bare_wait.hpp"
#include "unit/core/permit_source.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>
#include <optional>

using namespace hocket;
using namespace hocket_test;

namespace {

// What happens between the commit of a wait and the look at its source.
enum class between { nothing, stop, permit };

struct late_source final : primitive::wait_source {
  const char* what() const noexcept override { return "a late source"; }
  bool detach(primitive::waiter& entry) noexcept override { return line.take_out(entry); }
  void pass_on(primitive::waiter&) noexcept override {}
  void wake() noexcept { line.claim_first().post(); }

  primitive::wait_queue line;
  stop_source stop;
  between comes = between::nothing;
};

struct listing_last {
  using value_type = void;
  static constexpr bool try_now() noexcept { return false; }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    if (at->comes == between::stop) at->stop.request();
    if (wait.decided()) return false;
    if (at->comes == between::nothing) return at->line.enlist(wait, *at, entry);
    CHECK(wait.take_now(entry, *at));
    return false;
  }
  primitive::wait_source& source() const noexcept { return *at; }
  static result<void> take() noexcept { return {}; }

  late_source* at;
};

script wait_for(late_source& source, std::optional<std::error_code>& got) {
  const result<void> ended = co_await primitive::operation<listing_last>(listing_last{&source});
  got = ended ? std::error_code{} : ended.error();
}

}  // namespace

TEST_SUITE_BEGIN("core/grant");

TEST_CASE("a grant is posted once, later, in the order of its list, or by another") {
  stepped_executor on;
  permit_source source;
  bare_wait first, second, third;
  for (bare_wait* one : {&first, &second, &third}) {
    one->list_at(source, on);
    REQUIRE(one->wait.commit());
  }
  primitive::grants several;
  primitive::grant none;
  several.add(std::move(none));
  CHECK(several.empty());
  for (int i = 0; i < 2; ++i) several.add(source.pop()->claim_popped());
  CHECK(first.wait.decided());
  CHECK(on.posts() == 0);
  primitive::grant kept = source.pop()->claim_popped();
  primitive::waiter& stands_for_it = kept.defer(source);
  CHECK_FALSE(kept);
  CHECK(&stands_for_it == &third.entry);
  CHECK(third.wait.awaited() == &source);
  CHECK_FALSE(third.wait.over());
  several.post();
  CHECK(several.empty());
  CHECK(on.posts() == 2);
  stands_for_it.deferred().post();
  CHECK(on.posts() == 3);
  for (bare_wait* one : {&first, &second, &third}) CHECK(one->finish() == detail::wait_end::granted);
}

TEST_CASE("a grant that is dropped is fatal") {
  const auto drop = [](auto how) {
    stepped_executor on;
    permit_source source;
    bare_wait w;
    w.list_at(source, on);
    REQUIRE(w.wait.commit());
    how(source.pop()->claim_popped());
  };
  expect_fatal([&] { drop([](primitive::grant one) { CHECK(one); }); }, "a grant was dropped");
  expect_fatal([&] { drop([](primitive::grant one) { one = primitive::grant(); }); }, "a grant was dropped");
  expect_fatal(
      [&] {
        drop([](primitive::grant one) {
          primitive::grants several;
          several.add(std::move(one));
        });
      },
      "a grant was dropped");
}

TEST_CASE("a wait that is committed first is listed, and then ended by one: by its source, or by its stop") {
  for (const bool granted : {true, false}) {
    late_source source;
    stepped_executor on;
    auto ctx = context::child_of(context::root(), {.stop = &source.stop});
    std::optional<std::error_code> got;
    auto waiting = wait_for(source, got);
    waiting.start(on, ctx.get());
    on.run();
    CHECK_FALSE(got);
    CHECK_FALSE(source.line.empty());
    if (granted) source.wake();
    else source.stop.request();
    CHECK(source.line.empty());
    on.run();
    REQUIRE(got);
    CHECK(*got == (granted ? std::error_code{} : make_error_code(errc::cancelled)));
  }
}

TEST_CASE("what comes between the commit and the look decides: the coroutine goes straight on") {
  for (const between what : {between::stop, between::permit}) {
    late_source source;
    source.comes = what;
    stepped_executor on;
    auto ctx = context::child_of(context::root(), {.stop = &source.stop});
    std::optional<std::error_code> got;
    auto waiting = wait_for(source, got);
    waiting.start(on, ctx.get());
    const int before = on.posts();
    on.run();
    REQUIRE(got);
    CHECK(*got == (what == between::permit ? std::error_code{} : make_error_code(errc::cancelled)));
    CHECK(on.posts() == before);
    CHECK(source.line.empty());
  }
}

TEST_SUITE_END();
