// Streams whose transfers are ended at random and continued by their counts (io/stream.hpp): every byte arrives, once
// and in order. Each stream is written and read whole, plainly, in parts, as a file, with the count of the operation or
// of the stream; a deadline or a cancel ends the operations anywhere.
//
// It runs for HOCKET_STRESS_SECONDS (10 by default), or until HOCKET_STRESS_GIGABYTES have arrived. The seed is random
// and printed; HOCKET_STRESS_SEED=<n> repeats its choices (the schedule is the machine's).
#include <hocket/core/sync_wait.hpp>
#include <hocket/io/send_file.hpp>
#include <hocket/io/stream.hpp>

#include "stress/rounds.hpp"
#include "support/sockets.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

using namespace hocket_test;

namespace {

constexpr std::size_t stream_count = 6, period = 65'521;  // a prime: no power of two hides a shift
constexpr std::size_t max_size = 400'000;

// The content of every stream: the byte at a position is repeated after `period`.
class content {
 public:
  content() : bytes_(max_size + period, '\0'), file_(std::tmpfile(), &std::fclose) {
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      bytes_[i] = static_cast<char>((i % period) * 0x9e37'79b9'7f4a'7c15u >> 56);
    REQUIRE(file_ != nullptr);
    REQUIRE(std::fwrite(bytes_.data(), 1, bytes_.size(), file_.get()) == bytes_.size());
    REQUIRE(std::fflush(file_.get()) == 0);
  }
  std::string_view at(std::uint64_t position, std::size_t size) const {
    return std::string_view(bytes_).substr(position % period, size);
  }
  int file() const { return ::fileno(file_.get()); }

 private:
  std::string bytes_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

struct transfer_run {
  explicit transfer_run(stream_pair pair, const content& bytes) : ends(std::move(pair)), text(bytes) {}
  stream_pair ends;
  const content& text;
  std::atomic<std::uint64_t> sent{0}, received{0};
  std::atomic<bool> stops{false};
};

std::atomic<std::uint64_t> continued{0};  // transfers that were ended in the middle

std::size_t any_size(detail::random_engine& random) {
  return 1 + random.below(random.below(3) == 0 ? 64 : static_cast<std::uint32_t>(max_size));
}

// The count of a failed operation: its own variable, or the stream's.
std::size_t count_of(bool own, std::size_t moved, std::size_t of_stream) {
  if (own) REQUIRE(moved == of_stream);
  return of_stream;
}

// --- a write, in a coroutine of its own, so that it can be cancelled

task<result<std::size_t>> write_once(transfer_run& run, std::size_t size, std::uint32_t call, duration limit,
                                     std::size_t& moved) {
  const std::string_view text = run.text.at(run.sent, size);
  const std::array<const_buffer, 3> parts{text.substr(0, size / 3), const_buffer(), text.substr(size / 3)};
  stream& to = run.ends.near;
  if (call == 0) co_return co_await within(limit, to.write_all(text));
  if (call == 1) co_return co_await within(limit, to.write_all(text, moved));
  if (call == 2) co_return co_await within(limit, to.write_all(parts));
  if (call == 3) co_return co_await within(limit, to.write_all(parts, moved));
  const std::uint64_t offset = run.sent % period;
  if (call == 4) co_return co_await within(limit, send_file(to, run.text.file(), offset, size));
  co_return co_await within(limit, send_file(to, run.text.file(), offset, size, moved));
}

task<> write_on(transfer_run& run, std::uint64_t seed) {
  detail::random_engine random(seed);
  while (!run.stops) {
    const std::uint32_t call = random.below(6);
    std::size_t moved = 0;
    auto writing = spawn(write_once, std::ref(run), any_size(random), call, no_or_short_time(random), std::ref(moved));
    if (random.below(4) == 0) {
      for (std::uint32_t i = random.below(4); i > 0; --i) co_await yield();
      writing.cancel();
    }
    const result<std::size_t> written = co_await writing.join();
    if (written) {
      run.sent += *written;
      continue;
    }
    const std::size_t part = run.ends.near.partial_write_size();
    REQUIRE(run.ends.near.resume_after_partial_write() == part);
    run.sent += count_of(call % 2 == 1, moved, part);
    continued += part != 0 ? 1 : 0;
  }
  run.ends.near.close();
}

// --- a read

task<result<std::size_t>> read_once(transfer_run& run, std::span<char> room, std::uint32_t call, duration limit,
                                    std::size_t& moved) {
  const std::array<mutable_buffer, 2> parts{room.first(room.size() / 3), room.subspan(room.size() / 3)};
  stream& from = run.ends.far;
  if (call == 0) co_return co_await within(limit, from.read_exactly(room));
  if (call == 1) co_return co_await within(limit, from.read_exactly(room, moved));
  if (call == 2) co_return co_await within(limit, from.read_exactly(parts));
  co_return co_await within(limit, from.read_exactly(parts, moved));
}

task<> read_on(transfer_run& run, std::uint64_t seed) {
  detail::random_engine random(seed);
  std::vector<char> buffer(max_size);
  for (;;) {
    const std::span<char> room = std::span(buffer).first(any_size(random));
    const std::uint32_t call = random.below(4);
    std::size_t moved = 0;
    auto reading = spawn(read_once, std::ref(run), room, call, no_or_short_time(random), std::ref(moved));
    if (random.below(4) == 0) {
      for (std::uint32_t i = random.below(4); i > 0; --i) co_await yield();
      reading.cancel();
    }
    const result<std::size_t> read = co_await reading.join();
    const std::size_t size = read ? *read : count_of(call % 2 == 1, moved, run.ends.far.partial_read_size());
    REQUIRE(std::string_view(room.data(), size) == run.text.at(run.received, size));
    run.received += size;
    if (read) continue;
    continued += size != 0 ? 1 : 0;
    if (read.error() == errc::end_of_stream) co_return;
  }
}

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

}  // namespace

TEST_CASE("transfers that are continued by their counts lose no byte and double none") {
  const std::uint64_t seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=", seed);
  detail::random_engine random(seed);
  const content text;
  const std::uint64_t wanted_bytes = number_of("HOCKET_STRESS_GIGABYTES", 0) << 30;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(number_of("HOCKET_STRESS_SECONDS", 10));
  std::uint64_t arrived = 0;
  while (wanted_bytes != 0 ? arrived < wanted_bytes : std::chrono::steady_clock::now() < end) {
    hocket::runtime rt(runtime_options{.workers = 1 + random.below(4)});
    std::vector<std::unique_ptr<transfer_run>> runs;
    std::vector<join_handle<>> all;
    for (std::size_t i = 0; i < stream_count; ++i) {
      runs.push_back(std::make_unique<transfer_run>(i % 3 == 0 ? piped() : connected(i % 3 == 1 ? 4096 : 0), text));
      all.push_back(spawn(rt, read_on, std::ref(*runs.back()), random()));
      all.push_back(spawn(rt, write_on, std::ref(*runs.back()), random()));
    }
    event never;
    CHECK_FALSE(sync_wait(within(std::chrono::seconds(1), never.wait())));
    for (const auto& run : runs) run->stops = true;
    wait_for(all);
    for (const auto& run : runs) {
      CHECK(run->received == run->sent);
      arrived += run->received;
    }
  }
  MESSAGE((arrived >> 20), " MiB have arrived, ", continued.load(), " transfers were continued");
  CHECK(continued > 0);
}
