// The invariant of the clients as a stress: no request gets the answer of another, whatever ends requests before it.
//
// 64 workers share 8 connections of a connection_pool. The thread of the test disturbs them, by choices from a seed.
//
// # Disturbances
//
//   - a third of the requests has a limit of 0 to 1.5 ms, an eighth of the workers a deadline of up to 100 ms
//   - each millisecond a worker is cancelled or killed, and another one takes its place
//   - sessions are ended by the server
//   - the server is stopped (SIGSTOP) for up to 20 ms. Meanwhile up to 8 workers are ended and joined, and the server
//     continues only after that: so the order shows that no end waits for the server
//
// # After the run
//
//   1. All workers are joined.
//   2. All 8 connections are borrowed: the drains have ended.
//   3. The server is asked until no transaction is open. One that stays open is found by the watchdog.
//   4. The pool is closed; no lease remains.
//
// # Watchdog
//
// A run that makes no progress for 30 s ends its program (support/deadline.hpp). It decides nothing else.
//
// # Adapters
//
// Client, one for each client, has
//
//   connection                    the type in the pool
//   connector()                   a connector for the pool
//   ask(connection&, request)     a request; the answer's value, which is the request's token if the client is right,
//   or
//                                 an error if there is no answer. A task<result<std::string>>; of a hooked library a
//                                 result<std::string>
//   may_continue(connection&, request, answer, random)   whether the worker uses the lease on; a task<bool> or bool
//   is_end(error)                 whether a disturbance explains the error
//   spawn_worker(...)             from coroutine_workers, or from hooked_workers (ext/hook/tests/clients)
//
// Control, one for each server, is its side, by a library that blocks the thread of the test:
//
//   advance(random)               called each millisecond
//   end_session(random)           ends a session, or several
//   stop(random)                  a stopped_process
//   sessions_in_doubt()           how many sessions are in a transaction, or changed
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/pool/connection_pool.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include "servers/server.hpp"
#include "stress/clients/stopped_process.hpp"
#include "stress/clients/stress_run.hpp"
#include "support/deadline.hpp"

#include <functional>
#include <iostream>

namespace hocket_test {

inline constexpr std::uint32_t worker_count = 64;
inline constexpr std::size_t connection_count = 8;
inline constexpr unsigned watchdog_seconds = 30;

// What the workers of a client share.
template <class Client>
struct client_stress {
  Client& client;
  stress_run& run;
  hocket::connection_pool<typename Client::connection>& pool;
};

inline hocket::spawn_options worker_options(random_engine& random) {
  const bool has_deadline = random.below(8) == 0;
  return {.within = has_deadline ? std::chrono::milliseconds(random.below(100)) : hocket::duration::max()};
}
// Whether the worker's next wait would end by the same error.
inline bool is_stop(std::error_code error) noexcept {
  return error == std::errc::operation_canceled || error == std::errc::timed_out;
}

// --- workers that are coroutines, by turns tasks and fibers

template <class Client>
hocket::task<hocket::result<void>> use_connection(client_stress<Client>& stress, random_engine& random,
                                                  std::uint32_t worker) {
  auto lent = co_await hocket::or_return(stress.pool.acquire());
  for (std::uint32_t rounds = 1 + random.below(4); rounds != 0; --rounds) {
    const stress_request request = stress.run.begin_request(random, worker);
    auto asking = stress.client.ask(*lent, request);
    const auto answer = co_await hocket::within(request.limit, std::move(asking));
    stress.run.judge(request, answer, answer || stress.client.is_end(answer.error()));
    auto continuing = stress.client.may_continue(*lent, request, answer, random);
    const bool continues = co_await std::move(continuing);
    if (!continues) break;
  }
  co_return {};
}
template <class Client>
hocket::task<> work(client_stress<Client>& stress, std::uint32_t worker, std::uint64_t seed) {
  random_engine random(seed);
  while (!stress.run.is_over()) {
    const auto used = co_await use_connection(stress, random, worker);
    if (!used && is_stop(used.error())) co_return;
  }
}

struct coroutine_workers {
  template <class Client>
  static hocket::join_handle<> spawn_worker(hocket::runtime& rt, client_stress<Client>& stress, std::uint32_t worker,
                                            random_engine& random) {
    const hocket::spawn_options options = worker_options(random);
    const std::uint64_t seed = random();
    if (worker % 2 == 0) return hocket::spawn(rt, options, work<Client>, std::ref(stress), worker, seed);
    return hocket::spawn(rt, options, [&stress, worker, seed] { hocket::await(work(stress, worker, seed)); });
  }
};

// --- the thread of the test

inline void pause(hocket::duration time) { static_cast<void>(hocket::sync_wait(hocket::sleep_for(time))); }

// The handles of the workers. spawn(worker, random) begins one.
template <class Spawn>
class worker_set {
 public:
  worker_set(Spawn spawn, random_engine& random) : spawn_(std::move(spawn)), random_(random) {
    for (std::uint32_t worker = 0; worker != worker_count; ++worker) handles_.push_back(spawn_(worker, random_));
  }
  // Begins a worker in the place of each that has ended.
  void replace_ended() {
    for (std::uint32_t worker = 0; worker != worker_count; ++worker)
      if (handles_[worker].done()) handles_[worker] = spawn_(worker, random_);
  }
  // Cancels or kills a worker, joins it, and begins another one in its place.
  void end_worker() {
    const std::uint32_t worker = random_.below(worker_count);
    auto& handle = handles_[worker];
    if (random_.below(2) == 0) handle.cancel();
    else handle.kill();
    static_cast<void>(hocket::sync_wait(handle.join()));
    handle = spawn_(worker, random_);
  }
  void join_all() {
    for (auto& handle : handles_) static_cast<void>(hocket::sync_wait(handle.join()));
  }

 private:
  Spawn spawn_;
  random_engine& random_;
  std::vector<hocket::join_handle<>> handles_;
};

template <class Workers, class Control>
void end_workers_of_stopped_server(Workers& workers, Control& control, random_engine& random) {
  const stopped_process stopped = control.stop(random);
  pause(std::chrono::milliseconds(random.below(20)));
  for (std::uint32_t i = 1 + random.below(8); i != 0; --i) workers.end_worker();
}

template <class Control, class Spawn>
void disturb(stress_run& run, Control& control, Spawn spawn) {
  random_engine random(run.seed());
  worker_set<Spawn> workers(std::move(spawn), random);
  for (std::uint64_t known = 0; !run.is_over();) {
    pause(std::chrono::milliseconds(1));
    if (std::exchange(known, run.progress()) != run.progress()) deadline::restart(watchdog_seconds);
    control.advance(random);
    workers.replace_ended();
    switch (random.below(40)) {
      case 0: control.end_session(random); break;
      case 1: end_workers_of_stopped_server(workers, control, random); break;
      default: workers.end_worker();
    }
  }
  workers.join_all();
}

template <class Pool>
hocket::task<std::vector<typename Pool::lease>> borrow_all(Pool& pool) {
  std::vector<typename Pool::lease> leases;
  while (leases.size() != connection_count) {
    auto lent = co_await pool.acquire();
    if (lent) leases.push_back(*std::move(lent));
  }
  co_return leases;
}

// After the workers have ended: all drains end, and leave no transaction.
template <class Pool, class Control>
void settle(hocket::runtime& rt, Pool& pool, Control& control) {
  deadline::restart(watchdog_seconds);
  {
    auto borrowing = hocket::spawn(rt, borrow_all<Pool>, std::ref(pool));
    const auto leases = hocket::sync_wait(borrowing);
    for (const auto& lent : leases) CHECK(lent->state() == hocket::connection_state::idle);
    while (control.sessions_in_doubt() != 0) pause(std::chrono::milliseconds(1));
  }
  const auto closing = hocket::sync_wait(pool.graceful_shutdown({.drain = std::chrono::seconds(watchdog_seconds)}));
  CHECK(closing.remaining == 0);
}

template <class Client, class Control>
void run_stress(Client& client, Control& control) {
  stress_run run;
  MESSAGE("HOCKET_STRESS_SEED=", run.seed());
  std::cout.flush();  // a run that hangs is aborted
  hocket::runtime rt({.workers = 2});
  hocket::connection_pool<typename Client::connection> pool(rt, client.connector(), {.limit = connection_count});
  client_stress<Client> stress{client, run, pool};
  disturb(run, control,
          [&](std::uint32_t worker, random_engine& random) { return client.spawn_worker(rt, stress, worker, random); });
  settle(rt, pool, control);
  run.report(pool.statistics());
}

}  // namespace hocket_test
