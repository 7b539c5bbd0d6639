// Several workers: coroutines that run at the same time, and computations that split themselves.
#include <hocket/stackless.hpp>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

using namespace hocket;

namespace {

// A recursion: each half may run on another worker.
task<std::int64_t> sum_of(const int* first, const int* last) {
  if (last - first <= 1024) co_return std::accumulate(first, last, std::int64_t{0});
  const int* middle = first + (last - first) / 2;
  auto [left, right] = co_await fork_join(sum_of(first, middle), sum_of(middle, last));
  co_return left + right;
}

// Many parts of one thing: each child is made by the worker that runs it.
task<std::int64_t> sum_of_parts(const std::vector<int>& numbers, std::size_t parts) {
  const std::size_t size = numbers.size() / parts;
  const auto part = [&](std::size_t i) { return sum_of(numbers.data() + i * size, numbers.data() + (i + 1) * size); };
  const std::vector<std::int64_t> sums = co_await fork_each(parts, part);
  co_return std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
}

// A flat loop.
task<> square_all(std::vector<int>& numbers) {
  co_await parallel_for(std::size_t{0}, numbers.size(), [&](std::size_t i) { numbers[i] *= numbers[i]; });
}

// What several coroutines share is protected.
task<> count_words(mutex& guard, int& total, int words) {
  auto held = co_await guard.lock();
  total += words;
}

task<int> all_documents() {
  mutex guard;
  int total = 0;
  std::vector<join_handle<>> readers;
  for (int words = 1; words <= 100; ++words)
    readers.push_back(spawn(count_words, std::ref(guard), std::ref(total), words));
  for (auto& reader : readers) co_await std::move(reader);
  co_return total;
}

}  // namespace

int main() {
  runtime rt;  // one worker for each CPU
  std::vector<int> numbers(100'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (int& n : numbers) n %= 10;
  sync_wait(spawn(rt, square_all, std::ref(numbers)));
  const std::int64_t sum = sync_wait(spawn(rt, sum_of, numbers.data(), numbers.data() + numbers.size()));
  const std::int64_t same = sync_wait(spawn(rt, sum_of_parts, std::cref(numbers), std::size_t{10}));
  const int words = sync_wait(spawn(rt, all_documents));
  std::printf("%lld %lld %d\n", static_cast<long long>(sum), static_cast<long long>(same), words);
  return sum == 2'850'000 && same == sum && words == 5050 ? 0 : 1;
}
