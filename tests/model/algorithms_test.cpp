// Known algorithms, each beside a variant with one ordering weakened, which must fail.
#include "verdict.hpp"

namespace {

using hocket::model::atomic;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::fence;
using hocket::model::pause;
using hocket::model::require;
using hocket::model::var;
using order = std::memory_order;

// Peterson's lock for two. By stores, all operations have the given strength; by exchange, that one has.
enum class turn_by { store, exchange };

class peterson {
 public:
  peterson(turn_by how, order strength) : how_(how), strength_(strength) {}

  void lock(int me) {
    bool all = how_ == turn_by::store;
    wants_[me].store(true, all ? strength_ : order::relaxed);
    if (how_ == turn_by::exchange) turn_.exchange(1 - me, strength_);
    else turn_.store(1 - me, strength_);
    auto look = all && strength_ == order::seq_cst ? order::seq_cst : order::acquire;
    while (wants_[1 - me].load(look) && turn_.load(look) == 1 - me) pause();
  }
  void unlock(int me) { wants_[me].store(false, order::release); }

 private:
  const turn_by how_;
  const order strength_;
  atomic<bool> wants_[2];
  atomic<int> turn_{0, "turn"};
};

// Dekker's entry without the turn: who sees the other one gives up.
auto dekker(order between) {
  return [=](execution& run) {
    atomic<bool> wants[2];
    var<int> inside{0, "inside"};
    for (int me : {0, 1}) {
      run.thread(me == 0 ? "zero" : "one", [&, me] {
        wants[me].store(true, order::relaxed);
        fence(between);
        if (!wants[1 - me].load(order::acquire)) inside = me;
      });
    }
    run.join();
  };
}

auto exclusion_by_peterson(turn_by how, order strength) {
  return [=](execution& run) {
    peterson lock(how, strength);
    var<int> count{0, "count"};
    for (int me : {0, 1}) {
      run.thread(me == 0 ? "zero" : "one", [&, me] {
        lock.lock(me);
        count = count + 1;
        lock.unlock(me);
      });
    }
    run.join();
    require(count == 2);
  };
}

auto spin_lock(order taking, order leaving) {
  return [=](execution& run) {
    atomic<bool> taken{false, "taken"};
    var<int> count{0, "count"};
    for (const char* name : {"a", "b", "c"}) {
      run.thread(name, [&] {
        while (taken.exchange(true, taking)) pause();
        count = count + 1;
        taken.store(false, leaving);
      });
    }
    run.join();
    require(count == 3);
  };
}

// Treiber's stack; nodes are never reused here.
class treiber {
 public:
  struct node {
    var<int> value{0, "value"};
    var<node*> next{nullptr, "next"};
  };

  treiber(order push, order pop) : push_(push), pop_(pop) {}

  void push(node& fresh) {
    auto* top = top_.load(order::relaxed);
    do fresh.next = top;
    while (!top_.compare_exchange_weak(top, &fresh, push_, order::relaxed));
  }
  node* pop() {
    auto* top = top_.load(pop_);
    while (top && !top_.compare_exchange_weak(top, top->next, pop_, pop_)) {
    }
    return top;
  }

 private:
  const order push_, pop_;
  atomic<node*> top_{nullptr, "top"};
};

auto stack_keeps_values(order push, order pop) {
  return [=](execution& run) {
    treiber stack(push, pop);
    treiber::node nodes[2];
    int sum = 0;
    for (int i : {0, 1}) {
      run.thread(i == 0 ? "pushes 1" : "pushes 2", [&, i] {
        nodes[i].value = i + 1;
        stack.push(nodes[i]);
      });
    }
    run.thread("pops", [&] {
      if (auto* top = stack.pop()) sum += top->value;
    });
    run.join();
    while (auto* top = stack.pop()) sum += top->value;
    require(sum == 3, "a value was lost");
  };
}

// The ABA problem: a node that is popped and pushed again while another thread is about to pop it. (`next` is atomic
// here: as plain data the race alone would give it away.)
auto reused_nodes(execution& run) {
  struct node {
    atomic<node*> next{nullptr};
  };
  node a, b;
  a.next.store(&b);
  atomic<node*> top{&a, "top"};
  auto pop = [&] {
    auto* seen = top.load();
    while (seen && !top.compare_exchange_strong(seen, seen->next.load())) {
    }
    return seen;
  };
  node* mine = nullptr;
  run.thread("pops one", [&] { mine = pop(); });
  node *first = nullptr, *second = nullptr;
  run.thread("pops two, pushes one back", [&] {
    first = pop();
    second = pop();
    if (!first) return;
    auto* seen = top.load();
    do first->next.store(seen);
    while (!top.compare_exchange_strong(seen, first));
    first = nullptr;
  });
  run.join();
  auto* left = top.load();
  require(left == nullptr || left != second, "a popped node is in the stack");
}

}  // namespace

TEST_CASE("Dekker's entry excludes with a seq_cst fence only") {
  verdict::never(dekker(order::seq_cst));
  verdict::found(bug::data_race, dekker(order::acq_rel));
}

TEST_CASE("Peterson's lock excludes with seq_cst everywhere") {
  verdict::never(exclusion_by_peterson(turn_by::store, order::seq_cst));
  verdict::found(bug::data_race, exclusion_by_peterson(turn_by::store, order::release));
}

TEST_CASE("Peterson's lock excludes with an acq_rel exchange of the turn, and nothing stronger") {
  verdict::never(exclusion_by_peterson(turn_by::exchange, order::acq_rel));
  verdict::found(bug::data_race, exclusion_by_peterson(turn_by::exchange, order::release));
  verdict::found(bug::data_race, exclusion_by_peterson(turn_by::exchange, order::acquire));
}

TEST_CASE("a spin lock needs acquire and release") {
  verdict::none(spin_lock(order::acquire, order::release));
  verdict::found(bug::data_race, spin_lock(order::acquire, order::relaxed));
  verdict::found(bug::data_race, spin_lock(order::relaxed, order::release));
}

TEST_CASE("Treiber's stack needs a releasing push and an acquiring pop") {
  verdict::none(stack_keeps_values(order::release, order::acquire));
  verdict::found(bug::data_race, stack_keeps_values(order::relaxed, order::acquire));
  verdict::found(bug::data_race, stack_keeps_values(order::release, order::relaxed));
}

TEST_CASE("a stack that reuses its nodes has the ABA problem") { verdict::found(bug::assertion, reused_nodes); }
