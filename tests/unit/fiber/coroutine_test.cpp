#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/hibernate.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

struct counts_destruction {
  int* count;
  explicit counts_destruction(int& c) : count(&c) {}
  counts_destruction(counts_destruction&& other) noexcept : count(std::exchange(other.count, nullptr)) {}
  ~counts_destruction() {
    if (count) ++*count;
  }
};

}  // namespace

TEST_CASE("values go both ways, the last one by return") {
  coroutine<int(std::string)> talk{[](auto& self, std::string first) {
    std::string second = self.yield(int(first.size()));
    return int(second.size());
  }};
  CHECK(talk.status() == coroutine_status::unstarted);
  CHECK(talk.resume("voice") == 5);
  CHECK(talk.status() == coroutine_status::suspended);
  CHECK_FALSE(talk.done());
  CHECK(talk.resume("rest") == 4);
  CHECK(talk.done());
  CHECK(talk.status() == coroutine_status::finished);
}

TEST_CASE("all four shapes of void") {
  int steps = 0;
  coroutine<void()> plain{[&](auto& self) {
    ++steps;
    self.yield();
    ++steps;
  }};
  plain.resume();
  CHECK(steps == 1);
  plain.resume();
  CHECK(steps == 2);
  CHECK(plain.done());

  coroutine<int()> source{[](auto& self) {
    self.yield(1);
    self.yield(2);
    return 3;
  }};
  CHECK(source.resume() == 1);
  CHECK(source.resume() == 2);
  CHECK(source.resume() == 3);

  int sum = 0;
  coroutine<void(int)> sink{[&](auto& self, int value) {
    for (; value != 0; value = self.yield()) sum += value;
  }};
  for (int v : {4, 5, 0}) sink.resume(v);
  CHECK(sum == 9);
  CHECK(sink.done());
}

TEST_CASE("move-only values travel both ways and are not copied") {
  coroutine<std::unique_ptr<int>(std::unique_ptr<int>)> pass{[](auto& self, std::unique_ptr<int> p) {
    while (*p != 0) {
      ++*p;
      p = self.yield(std::move(p));
    }
    return p;
  }};
  auto back = pass.resume(std::make_unique<int>(7));
  CHECK(*back == 8);
  back = pass.resume(std::move(back));
  CHECK(*back == 9);
  CHECK(*pass.resume(std::make_unique<int>(0)) == 0);
  CHECK(pass.done());
}

TEST_CASE("references stay references") {
  int mine = 5;
  coroutine<int&(int&)> increment{[](auto& self, int& first) -> int& {
    ++first;
    int& second = self.yield(first);
    return second;
  }};
  int& got = increment.resume(mine);
  CHECK(&got == &mine);
  CHECK(mine == 6);
  int other = 1;
  CHECK(&increment.resume(other) == &other);

  const std::string text = "constant";
  coroutine<const std::string&()> shares{[&](auto& self) -> const std::string& {
    self.yield(text);
    return text;
  }};
  CHECK(&shares.resume() == &text);
}

TEST_CASE("an lvalue that is yielded or sent is copied, not moved from") {
  std::string kept = "a string that is too long for the small buffer";
  coroutine<std::string(std::string)> echo{[](auto& self, std::string in) {
    std::string local = in;
    self.yield(local);
    return local;  // still there
  }};
  CHECK(echo.resume(kept) == kept);
  CHECK(kept.size() == 46);
  CHECK(echo.resume(kept) == kept);
}

TEST_CASE("any function that the body calls may yield") {
  struct tree {
    int value;
    std::vector<tree> children{};
    void visit(coroutine<int()>::self& self) const {
      for (const tree& child : children) child.visit(self);
      self.yield(value);
    }
  };
  tree root{3, {{1}, {2, {}}}};
  coroutine<int()> walk{[&](auto& self) {
    root.visit(self);
    return 0;
  }};
  std::vector<int> seen;
  for (int v = walk.resume(); v != 0; v = walk.resume()) seen.push_back(v);
  CHECK(seen == std::vector<int>{1, 2, 3});
}

TEST_CASE("an exception leaves resume() with its identity, and the coroutine is done") {
  const void* thrown = nullptr;
  coroutine<int()> fails{[&](auto& self) -> int {
    self.yield(1);
    std::runtime_error error("inside");
    try {
      throw error;
    } catch (const std::runtime_error& e) {
      thrown = &e;
      throw;
    }
  }};
  fails.resume();
  try {
    fails.resume();
    FAIL("nothing was thrown");
  } catch (const std::runtime_error& e) {
    CHECK(&e == thrown);
    CHECK(std::string(e.what()) == "inside");
  }
  CHECK(fails.done());
}

TEST_CASE("destroying a suspended coroutine runs the destructors of its locals and of its callable") {
  int destroyed = 0;
  {
    coroutine<void()> c{[&, captured = counts_destruction(destroyed)](auto& self) {
      counts_destruction local(destroyed);
      self.yield();
      FAIL("it went on");
    }};
    c.resume();
    CHECK(destroyed == 0);
  }
  CHECK(destroyed == 2);
}

TEST_CASE("destroying an unstarted or finished coroutine runs no body") {
  int destroyed = 0;
  bool ran = false;
  {
    coroutine<void()> unstarted{[&, captured = counts_destruction(destroyed)](auto&) { ran = true; }};
  }
  CHECK(destroyed == 1);
  CHECK_FALSE(ran);
  {
    coroutine<std::unique_ptr<int>()> finished{[](auto&) { return std::make_unique<int>(1); }};
    static_cast<void>(finished.resume());
  }
}

TEST_CASE("unwinding passes catch (...) that rethrows, and sees no other exception in flight") {
  int uncaught = -1;
  bool cleaned = false;
  {
    coroutine<void()> c{[&](auto& self) {
      struct probe {
        int& uncaught;
        ~probe() { uncaught = std::uncaught_exceptions(); }
      } p{uncaught};
      try {
        self.yield();
      } catch (...) {
        cleaned = true;
        throw;
      }
    }};
    c.resume();
    try {
      throw 1;
    } catch (int) {
      c.reset();
      CHECK_FALSE(c);
    }
  }
  CHECK(cleaned);
  CHECK(uncaught == 1);  // its own unwinding, not the handler of its owner
}

TEST_CASE("coroutines nest, and yields go to whoever resumed") {
  coroutine<int()> inner{[](auto& self) {
    self.yield(1);
    self.yield(2);
    return 3;
  }};
  coroutine<int()> outer{[&](auto& self) {
    int a = inner.resume();
    CHECK(inner.status() == coroutine_status::suspended);
    self.yield(10 + a);
    int b = inner.resume();
    self.yield(10 + b);
    return 10 + inner.resume();
  }};
  CHECK(outer.resume() == 11);
  CHECK(inner.resume() == 2);  // resumed from here in between
  CHECK(outer.resume() == 13);
  CHECK(inner.done());
  outer.reset();
}

TEST_CASE("status tells running from resuming") {
  coroutine<void()>* outer_address = nullptr;
  coroutine_status inside{}, from_inner{};
  coroutine<void()> inner{[&](auto&) { from_inner = outer_address->status(); }};
  coroutine<void()> outer{[&](auto&) {
    inside = outer_address->status();
    inner.resume();
  }};
  outer_address = &outer;
  outer.resume();
  CHECK(inside == coroutine_status::running);
  CHECK(from_inner == coroutine_status::resuming);
  coroutine<void()> empty;
  CHECK(empty.status() == coroutine_status::empty);
}

TEST_CASE("a deep nest of coroutines, each resumed by the one before") {
  struct nest {
    static int depth(int n) {
      if (n == 0) return 0;
      coroutine<int()> next{[n](auto& self) {
        self.yield(0);
        return depth(n - 1) + 1;
      }};
      next.resume();
      return next.resume();
    }
  };
  CHECK(nest::depth(200) == 200);
}

TEST_CASE("moving a coroutine moves the handle; the body stays where it is") {
  coroutine<int()> a{[](auto& self) {
    int local = 1;
    int* address = &local;
    self.yield(1);
    return *address == local ? 2 : 0;
  }};
  a.resume();
  coroutine<int()> b = std::move(a);
  CHECK_FALSE(a);
  CHECK(b.resume() == 2);
  int destroyed = 0;
  coroutine<int()> c{[&](auto& self) {
    counts_destruction local(destroyed);
    self.yield(0);
    return 0;
  }};
  c.resume();
  c = std::move(b);
  CHECK(destroyed == 1);
}

TEST_CASE("name and user data belong to the coroutine") {
  int data = 0;
  coroutine<const char*()> c{{.name = "reader", .user_data = &data}, [&](auto& self) {
                               CHECK(self.user_data() == &data);
                               return self.name();
                             }};
  CHECK(std::string(c.name()) == "reader");
  CHECK(c.user_data() == &data);
  c.set_user_data(nullptr);
  CHECK(c.user_data() == nullptr);
  c.set_user_data(&data);
  CHECK(std::string(c.resume()) == "reader");
}

TEST_CASE("a pool of one's own: its size, its limit") {
  stack_pool pool({.stack_size = 1 << 20, .limit = 1});
  coroutine<std::size_t()> deep{pool, [](auto& self) {
                                  volatile char local[900 * 1024];
                                  local[0] = 1;
                                  local[sizeof local - 1] = 1;
                                  self.yield(sizeof local);
                                  return sizeof local;
                                }};
  CHECK(deep.resume() == 900 * 1024);
  CHECK_THROWS_WITH_AS(static_cast<void>(coroutine<void()>(pool, [](auto&) {})),
                       doctest::Contains("raise the pool's limit"), std::system_error);
  deep.reset();
  CHECK_NOTHROW(static_cast<void>(coroutine<void()>(pool, [](auto&) {})));
}

TEST_CASE("a callable that throws while it is moved in leaves nothing behind") {
  struct throws_on_copy {
    throws_on_copy() = default;
    throws_on_copy(const throws_on_copy&) { throw std::runtime_error("copy"); }
    void operator()(coroutine<void()>::self&) {}
  };
  stack_pool pool;
  throws_on_copy callable;
  CHECK_THROWS_AS(static_cast<void>(coroutine<void()>(pool, callable)), std::runtime_error);
  CHECK(pool.statistics().live == 0);
  struct huge {
    char bytes[100 * 1024];
    void operator()(coroutine<void()>::self&) {}
  };
  CHECK_THROWS_WITH_AS(static_cast<void>(coroutine<void()>(pool, huge{})), doctest::Contains("raise stack_size"),
                       std::system_error);
  CHECK(pool.statistics().live == 0);
}

TEST_CASE("each thread has coroutines of its own") {
  int total = 0;
  std::vector<std::thread> threads;
  std::vector<int> sums(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&sum = sums[static_cast<std::size_t>(t)]] {
      for (int round = 0; round < 50; ++round) {
        coroutine<int()> c{[](auto& self) {
          self.yield(1);
          return 2;
        }};
        sum += c.resume();
        sum += c.resume();
      }
    });
  for (std::thread& t : threads) t.join();
  for (int sum : sums) total += sum;
  CHECK(total == 4 * 50 * 3);
}

TEST_CASE("an over-aligned callable is aligned") {
  struct alignas(64) wide {
    char bytes[64];
    bool operator()(coroutine<bool()>::self&) { return reinterpret_cast<std::uintptr_t>(this) % 64 == 0; }
  };
  coroutine<bool()> c{wide{}};
  CHECK(c.resume());
}

TEST_CASE("the owner of many may ask for the memory of those that come later, whatever their state") {
  coroutine<void()> none;
  none.prefetch();
  std::vector<coroutine<int()>> all;
  for (int i = 0; i < 20; ++i) {
    all.emplace_back([i](auto& self) {
      self.yield(i);
      return -1;
    });
  }
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i + 8 < all.size()) all[i + 8].prefetch();  // unstarted, then suspended
      CHECK(all[i].resume() == (round == 0 ? int(i) : -1));
      all[i].prefetch();  // suspended, then finished
    }
    hibernate(all);  // where the back end has that, they are packed in the second round
  }
}
