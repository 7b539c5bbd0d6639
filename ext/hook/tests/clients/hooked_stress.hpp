// Workers for tests/stress/clients/client_stress.hpp that are hooked fibers.
//
// The pool asks the library for the status of its connection, as a program of a user does. So the run shows that the
// library calls each connection bad whose request was ended: hocket marks its socket.
#pragma once
#include <hocket/hook/hook.hpp>
#include <stress/clients/client_stress.hpp>

namespace client_tests {

using namespace hocket_test;

// Client::ask() returns a result<std::string>. Half of the requests have a limit of their own; the others end by the
// fiber's deadline, a cancel or a kill.
template <class Client>
hocket::result<void> use_hooked(client_stress<Client>& stress, random_engine& random, std::uint32_t worker) {
  auto lent = hocket::await(stress.pool.acquire());
  if (!lent) return hocket::failure(lent.error());
  for (std::uint32_t rounds = 1 + random.below(4); rounds != 0; --rounds) {
    const stress_request request = stress.run.begin_request(random, worker);
    const auto asking = [&] { return stress.client.ask(**lent, request); };
    const auto answer = random.below(2) == 0 ? hocket::hook::within(request.limit, asking) : asking();
    stress.run.judge(request, answer, answer || is_end_of_request(answer.error()));
    // A connection that the library calls bad must not give an answer either.
    if (answer ? !(*lent)->is_idle() : random.below(2) == 0) break;
  }
  return {};
}

struct hooked_workers {
  template <class Client>
  static hocket::join_handle<> spawn_worker(hocket::runtime& rt, client_stress<Client>& stress, std::uint32_t worker,
                                            random_engine& random) {
    return hocket::spawn(rt, worker_options(random), hocket::hook::hooked([&stress, worker, seed = random()] {
                           random_engine own(seed);
                           while (!stress.run.is_over()) {
                             const auto used = use_hooked(stress, own, worker);
                             if (!used && is_stop(used.error())) return;
                           }
                         }));
  }
};

// The error of a request that the library calls lost, or that no disturbance explains.
inline hocket::failure lost_connection() { return hocket::failure(std::make_error_code(std::errc::connection_reset)); }
inline hocket::failure unexpected_error() { return hocket::failure(std::make_error_code(std::errc::bad_message)); }

}  // namespace client_tests
