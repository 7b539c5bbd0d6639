#pragma once
// The channels of the page `primitives` for hocket. `Channel` is one of numbers: channel, or spsc_channel where there
// is one sender and one receiver.
#include <hocket/sync/broadcast.hpp>
#include <hocket/sync/channel.hpp>

#include <array>

#include "../waits.hpp"
#include "primitives/primitives.hpp"

namespace lab {

template <class Channel>
bool channel_same(const load&, std::uint64_t k) {
  Channel c(buffered);
  std::uint64_t sum = 0;
  alone([&]() -> coroutine {
    for (std::uint64_t i = 0; i < k; ++i) {
      auto sent = LAB_AWAIT(c.send(value_of(i)));
      if (!sent) break;
      auto got = LAB_AWAIT(c.receive());
      if (!got) break;
      sum += *got;
    }
    LAB_END;
  });
  return sum == sum_of_values(0, k);
}

template <class Channel>
coroutine send_values(Channel& to, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t i = begin; i < end; ++i) {
    auto sent = LAB_AWAIT(to.send(value_of(i)));
    if (!sent) break;
  }
  LAB_END;
}

template <class Channel>
coroutine receive_each(Channel& from, std::uint64_t& sum) {
  for (;;) {
    auto got = LAB_AWAIT(from.receive());
    if (!got) break;
    sum += *got;
  }
  LAB_END;
}

template <class Channel>
coroutine receive_batches(Channel& from, std::uint64_t& sum) {
  std::array<std::uint64_t, most_at_once> some;
  for (;;) {
    auto count = LAB_AWAIT(from.receive_batch(some));
    if (!count) break;
    for (std::size_t i = 0; i < *count; ++i) sum += some[i];
  }
  LAB_END;
}

// The last one that sends closes.
template <class Channel, std::size_t Each, std::size_t Places, coroutine (*Receive)(Channel&, std::uint64_t&)>
bool channel_many(const load&, std::uint64_t k) {
  Channel c(Places);
  std::atomic<std::size_t> sending{Each};
  std::atomic<std::uint64_t> sum{0};
  many(2 * Each, [&](int number) -> coroutine {
    const auto i = static_cast<std::size_t>(number);
    if (i < Each) {
      LAB_CALL(send_values(c, i * (k / Each), (i + 1) * (k / Each)));
      if (--sending == 0) c.close();
    } else {
      std::uint64_t mine = 0;
      LAB_CALL(Receive(c, mine));
      sum += mine;
    }
    LAB_END;
  });
  return sum == sum_of_values(0, k);
}

template <class Channel>
bool channel_rendezvous(const load&, std::uint64_t k) {
  Channel there(0), back(0);
  std::uint64_t right = 0;
  both([&](int me) -> coroutine {
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      if (me == 0) {
        auto sent = LAB_AWAIT(there.send(i));
        if (!sent) break;
        auto got = LAB_AWAIT(back.receive());
        right += got && *got == i;
      } else {
        auto got = LAB_AWAIT(there.receive());
        if (!got) break;
        auto sent = LAB_AWAIT(back.send(*got));
        if (!sent) break;
      }
    }
    LAB_END;
  });
  return right == k / 2;
}

// The receivers are there before anything is sent.
inline bool broadcast_100(const load& r, std::uint64_t k) {
  using published = primitives::broadcast<std::uint64_t>;
  published all(burst);
  std::vector<published::receiver> to(r.count, all.subscribe());
  burst_count having(r.count);
  auto_reset_event had;
  std::atomic<std::uint64_t> sum{0};
  many(static_cast<int>(r.count) + 1, [&](int number) -> coroutine {
    const auto me = static_cast<std::size_t>(number);
    std::uint64_t mine = 0;
    for (std::uint64_t i = 0; i < k; ++i) {
      const bool ends_burst = (i + 1) % burst == 0;
      if (me == r.count) {
        all.send(value_of(i));
        if (!ends_burst) continue;
        auto told = LAB_AWAIT(had.wait());
        if (!told) break;
      } else {
        auto got = LAB_AWAIT(to[me].receive());
        if (!got) break;
        mine += *got;
        if (ends_burst && having.is_last()) had.set();
      }
    }
    sum += mine;
    LAB_END;
  });
  return sum == r.count * sum_of_values(0, k);
}

}  // namespace lab
