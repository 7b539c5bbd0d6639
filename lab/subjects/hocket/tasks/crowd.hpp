#pragma once
// n coroutines of hocket that repeatedly wait for a value from outside each: document 004 calls this a switch.
//
// A *gate* passes a value to a coroutine. In a round the owner, a task on the same loop, opens one gate of each
// coroutine in a random order, and yields: the loop resumes the coroutines, each takes its value and waits for the next
// one. So a unit is one value, one resume, one wait; at n = 1 also the owner's own yield. The coroutine
// resets a completion, which is timed. A oneshot serves once: each coroutine has a ring of oneshots and
// waits at the next one. Used oneshots are made anew between the rounds. That is not timed, because document
// 004 makes all gates before.
#include <hocket/core/yield.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/completion.hpp>
#include <hocket/sync/event.hpp>

#include "tasks/values.hpp"

namespace lab {

template <class T, class Strength>
class oneshot_gate {
 public:
  using value_type = T;
  static constexpr bool serves_once = true;

  void make() {
    if constexpr (std::is_same_v<Strength, hocket::strength::unsync>) {
      set(hocket::unsync::make_oneshot<T>());
    } else {
      set(hocket::make_oneshot<T>());
    }
  }
  void give(T value) { sender_.send(std::move(value)); }
  auto wait() { return receiver_.receive(); }  // gives a result<T>; an error if it was closed
  void close() { sender_ = {}; }

 private:
  void set(hocket::oneshot<T, Strength> ends) {
    sender_ = std::move(ends.sender);
    receiver_ = std::move(ends.receiver);
  }
  hocket::oneshot_sender<T, Strength> sender_{};
  hocket::oneshot_receiver<T, Strength> receiver_{};
};

template <class T, class Strength>
class completion_gate {
 public:
  using value_type = T;
  static constexpr bool serves_once = false;

  void make() {}
  void reset() { value_.reset(); }
  void give(T value) { value_.complete(std::move(value)); }
  auto wait() { return value_.wait(); }
  void close() { value_.fail(std::make_error_code(std::errc::broken_pipe)); }

 private:
  hocket::basic_completion<Strength, T, hocket::no_hooks> value_;
};

// Document 004's generator_future.
template <class T, class Strength>
using future_gate = completion_gate<T, Strength>;

// The data of one coroutine: its counts, and behind them its gates, in as few cache lines as possible.
template <class Gate>
class station {
 public:
  using value_type = typename Gate::value_type;

  explicit station(std::size_t gates) : size_{static_cast<std::uint32_t>(gates)} {
    for (std::size_t i = 0; i < gates; ++i) (::new (static_cast<void*>(ring() + i)) Gate)->make();
  }
  station(const station&) = delete;
  station& operator=(const station&) = delete;
  ~station() { std::destroy_n(ring(), size_); }

  static constexpr std::size_t bytes(std::size_t gates) { return sizeof(station) + gates * sizeof(Gate); }

  auto wait() { return ring()[next(waits_)].wait(); }
  void take(const value_type& v) {
    sum_ += value<value_type>::number(v);
    ++taken_;
    if constexpr (!Gate::serves_once) ring()->reset();
  }
  void give(std::uint64_t number) { ring()[next(given_)].give(value<value_type>::made(number)); }
  // All but the one at which the coroutine waits; between rounds.
  void renew() {
    for (std::size_t used = size_ - 1; used; --used) ring()[next(renewed_)].make();
  }
  void close() { ring()[given_].close(); }

  std::uint32_t taken() const { return taken_; }
  std::uint64_t sum() const { return sum_; }

 private:
  Gate* ring() { return reinterpret_cast<Gate*>(this + 1); }
  std::uint32_t next(std::uint32_t& at) const { return std::exchange(at, at + 1 == size_ ? 0 : at + 1); }

  std::uint32_t size_;
  std::uint32_t waits_ = 0, given_ = 0, renewed_ = 0;
  std::uint32_t taken_ = 0;
  std::uint64_t sum_ = 0;
};

// All stations, each from the beginning of a cache line.
template <class Gate>
class stations {
 public:
  using place = station<Gate>;

  stations(std::size_t n, std::size_t gates)
      : n_{n},
        gates_{Gate::serves_once ? gates + 1 : 1},
        lines_each_{(station<Gate>::bytes(gates_) + sizeof(line) - 1) / sizeof(line)},
        lines_{n * lines_each_} {
    make();
  }
  stations(const stations&) = delete;
  stations& operator=(const stations&) = delete;
  ~stations() { drop(); }

  place& operator[](std::size_t i) { return *reinterpret_cast<place*>(&lines_[i * lines_each_]); }
  static std::uint64_t number_for(std::size_t i) { return i; }  // of the value that it gets
  void give(const std::vector<std::uint32_t>& order) {
    for (std::uint32_t i : order) (*this)[i].give(number_for(i));
  }
  void renew() {
    for (std::size_t i = 0; i < n_; ++i) (*this)[i].renew();
  }
  void close() {
    for (std::size_t i = 0; i < n_; ++i) (*this)[i].close();
  }
  void remake() {
    drop();
    make();
  }

 private:
  void make() {
    for (std::size_t i = 0; i < n_; ++i) ::new (static_cast<void*>(&lines_[i * lines_each_])) station<Gate>{gates_};
  }
  void drop() {
    for (std::size_t i = 0; i < n_; ++i) std::destroy_at(&(*this)[i]);
  }

  std::size_t n_, gates_, lines_each_;
  slots<line> lines_;
};

// A kind of coroutine defines how a coroutine of the loop starts it and awaits its end.
struct spawned_task {
  template <class Station>
  static hocket::task<void> body(Station& mine) {
    for (;;) {
      auto got = co_await mine.wait();
      if (!got) co_return;
      mine.take(*got);
    }
  }
  template <class Station>
  static auto start(hocket::loop& on, Station& mine) {
    return hocket::spawn(on, &body<Station>, std::ref(mine));
  }
};
struct eager {
  template <class Station>
  static hocket::eager_task<void> body(Station& mine) {
    for (;;) {
      auto got = co_await mine.wait();
      if (!got) co_return;
      mine.take(*got);
    }
  }
  template <class Station>
  static auto start(hocket::loop&, Station& mine) {
    return body(mine);
  }
};

// Places are stations, or an audience (audience.hpp).
template <class Kind, class Places>
class crowd {
  using place = typename Places::place;
  using started = decltype(Kind::start(std::declval<hocket::loop&>(), std::declval<place&>()));

 public:
  explicit crowd(std::size_t n)
      : n_{n}, gates_{std::max<std::size_t>(1, 100 / n)}, order_{random_order(n)}, places_{n, gates_}, coroutines_{n} {
    create_all();
  }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;
  ~crowd() { end_all(); }

  // Ends all, and creates them anew. Returns the time of one creation.
  double creation() {
    end_all();
    places_.remake();
    create_all();
    return created_ns_ / static_cast<double>(n_);
  }

  std::size_t units() const { return n_ * gates_; }  // of a round
  double rounds(std::size_t k) {
    double ns = 0;
    loop_.run_until(hocket::spawn(loop_, [&]() -> hocket::task<void> {
      for (std::size_t r = 0; r < k; ++r) {
        double begin = now_ns();
        for (std::size_t g = 0; g < gates_; ++g) {
          places_.give(order_);
          co_await hocket::yield();
        }
        double end = now_ns();
        ns += end - begin - (now_ns() - end);  // reading the clock
        places_.renew();
      }
    }));
    given_ += k * gates_;
    check();
    return ns;
  }

 private:
  // The creator stays until they have ended, because an eager task belongs to its caller.
  hocket::task<void> life() {
    created_ns_ = timed([this] {
      for (std::size_t i = 0; i < n_; ++i) coroutines_.put(i, [this, i] { return Kind::start(loop_, places_[i]); });
    });
    co_await hocket::yield();  // the spawned coroutines run to their first wait
    created_.set();
    static_cast<void>(co_await end_.wait());
    places_.close();
    for (std::size_t i = 0; i < n_; ++i) {
      co_await std::move(coroutines_[i]);
      coroutines_.drop(i);
    }
  }

  void create_all() {
    given_ = 0;
    creator_ = hocket::spawn(loop_, [this] { return life(); });
    loop_.run_until(
        hocket::spawn(loop_, [this]() -> hocket::task<void> { static_cast<void>(co_await created_.wait()); }));
    created_.reset();
  }

  void end_all() {
    end_.set();
    loop_.run_until(creator_);
    end_.reset();
  }

  void check() {
    for (std::size_t i = 0; i < n_; ++i) {
      using T = typename place::value_type;
      const std::uint64_t each = value<T>::number(value<T>::made(Places::number_for(i)));
      if (places_[i].taken() != given_ || places_[i].sum() != given_ * each) {
        fail("a coroutine has not taken the values that were given");
      }
    }
  }

  std::size_t n_;
  std::size_t gates_;
  std::vector<std::uint32_t> order_;
  hocket::loop loop_;
  Places places_;
  slots<started> coroutines_;
  hocket::unsync::event created_, end_;
  hocket::join_handle<void> creator_;
  double created_ns_ = 0;
  std::uint64_t given_ = 0;
};

}  // namespace lab
