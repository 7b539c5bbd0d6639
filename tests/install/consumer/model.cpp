#include <hocket/model/model.hpp>

namespace model = hocket::model;

// A message passed without ordering: the checker must find the race.
static auto body = [](model::execution& run) {
  model::atomic<bool> ready{false, "ready"};
  model::var<int> data{0, "data"};
  run.thread("producer", [&] {
    data = 1;
    ready.store(true, std::memory_order_relaxed);
  });
  run.thread("consumer", [&] {
    if (ready.load(std::memory_order_relaxed)) model::require(data == 1);
  });
  run.join();
};

int main() { return model::explore(body).kind == model::bug::data_race ? 0 : 1; }
