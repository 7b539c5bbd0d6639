// A backend service in tasks: each request asks two stores at once, under one deadline, and at most four requests run at
// a time. Cancelling and late answers are values on one error path.
#include <hocket/stackless.hpp>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

task<std::string> user(int id) {
  co_await yield();
  co_return "user " + std::to_string(id);
}
task<int> quota(int id) {
  co_await yield();
  co_return id * 10;
}

task<result<std::string>> serve(semaphore& slots, int id) {
  auto slot = co_await or_return(within(5s, slots.acquire()));  // too late: serve() ends here, with that error
  auto [name, limit] = co_await or_return(within(2s, when_all(user(id), quota(id))));
  co_return name + ": " + std::to_string(limit);
}

task<int> serve_all(int requests) {
  semaphore slots(4);
  int served = 0;
  auto body = [&](scope& all) -> task<> {
    std::vector<join_handle<result<std::string>>> answers;
    for (int id = 1; id <= requests; ++id) answers.push_back(spawn(all, serve, std::ref(slots), id));
    for (auto& answer : answers) {
      auto text = co_await answer;
      if (!text) continue;
      std::printf("%s\n", text->c_str());
      ++served;
    }
  };
  co_await in_scope(body);
  co_return served;
}

}  // namespace

int main() { return run(serve_all, 10) == 10 ? 0 : 1; }
