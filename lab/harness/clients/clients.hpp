#pragma once
// Shared by the subjects of the page `clients`.
//
// A subject queries servers that the lab has started (labkit/servers.py). The environment has their addresses:
// HOCKET_POSTGRES is a connection string, HOCKET_REDIS, HOCKET_MARIADB and HOCKET_HTTPS are ports of 127.0.0.1,
// HOCKET_HTTPS_CA is a file.
//
//   pg_wait       n queries at once, each on a connection of its own; each waits 100 ms at the server. The time of all.
//                 The connections are opened before
//   redis_wait, mariadb_wait, https_wait    like pg_wait, but each query opens and closes a connection
//   pg_short, redis_short    n coroutines or threads ask short questions one after the other, as many as fit into the
//                 budget: this process' processor time per question, and the time of all. For each question they
//                 borrow a connection of a pool. PostgreSQL gets the statement and its parameter in one trip, and
//                 parses it
//   pg_prepared   like pg_short, with statements that the server has parsed before
//
// Every answer holds the asker's number and is compared with it. (The web server's answer is one line for all.)
// No subject sets deadlines.
//
// A C++ subject defines a class with
//   subject(const lab::client_workload&)
//   void ask_all(std::size_t times)    all ask `times` times, at once; returns after all answers
// Blocking clients are classes `lab::client` with begin(), which comes first in a process, a constructor of (const
// client_workload&) that connects, ask(number), and a destructor that closes: libpq.hpp, hiredis.hpp, mariadb.hpp,
// curl.hpp.
#include <ctime>

#include <cstdlib>
#include <string>

#include "../harness.hpp"

namespace lab {

struct client_workload {
  std::string name;
  std::size_t n;
  std::size_t stack;

  bool waits() const { return name.ends_with("_wait"); }
  bool connects() const { return waits() && name != "pg_wait"; }  // for each question
  bool prepares() const { return name == "pg_prepared"; }
};

// A server's address.
inline const char* place_of(const char* variable) {
  const char* const found = std::getenv(variable);
  if (!found) fail("the lab has not said where the server is");
  return found;
}
inline int port_of(const char* variable) { return std::atoi(place_of(variable)); }

// The statement for PostgreSQL. Its answer is its parameter.
inline const char* sql_of(const client_workload& what) {
  return what.waits() ? "select $1::int from pg_sleep(0.1)" : "select $1::int";
}

// User and system time of all threads.
inline double processor_ns() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return 1e9 * static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec);
}

template <class Subject>
int run_clients(const char* system, int argc, char** argv) {
  const request asked = parse(argc, argv);
  const client_workload what{std::string(asked.workload), asked.n, asked.stack};
  Subject subject(what);
  subject.ask_all(1);  // opens connections, and does other one-time work
  if (what.waits()) {
    const double ms = timed([&] { subject.ask_all(1); }) / 1e6;
    if (ms < 95) fail("the server has not waited");
    emit(system, what.name.c_str(), asked.n, "ms", ms);
    return 0;
  }
  std::size_t times = 1;
  while (timed([&] { subject.ask_all(times); }) < asked.budget_ns / 4) times *= 2;
  const double before = processor_ns();
  const double took = timed([&] { subject.ask_all(times * 4); });
  const double questions = static_cast<double>(times * 4 * asked.n);
  emit(system, (what.name + "_cpu").c_str(), asked.n, "us", (processor_ns() - before) / questions / 1e3);
  emit(system, (what.name + "_time").c_str(), asked.n, "us", took / questions / 1e3);
  return 0;
}

}  // namespace lab
