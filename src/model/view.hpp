// What a thread knows: for every thread, up to which of its operations (a vector clock, for happens-before), and for
// every atomic location, the oldest store that it may still read (a stamp, for coherence). One array holds both, since
// both only grow and join entry by entry:
//
//   index   0 ... max_threads-1      max_threads ...
//   entry   clock of the thread      stamp of location (index - max_threads)
//
// A message carries an immutable copy, a snapshot. Snapshots live until the end of the execution, so they are bumped
// off an arena that keeps its memory.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

inline constexpr std::uint32_t max_threads = 16;  // the body is one of them

class snapshot_arena {
 public:
  std::uint32_t* take(std::size_t count) {
    if (used_ + count > chunk_size || chunks_.empty()) next_chunk(count);
    auto* entries = chunks_[chunk_].entries.get() + used_;
    used_ += count;
    return entries;
  }
  void clear() noexcept { chunk_ = 0, used_ = 0; }

 private:
  static constexpr std::size_t chunk_size = 16 * 1024;
  struct chunk {
    std::unique_ptr<std::uint32_t[]> entries;
  };

  void next_chunk(std::size_t count) {
    if (!chunks_.empty()) ++chunk_;
    // A view beyond the usual size has a chunk to itself, which is not kept apart from the others.
    if (chunk_ == chunks_.size() || count > chunk_size) {
      auto fresh = chunk{std::make_unique<std::uint32_t[]>(std::max(count, chunk_size))};
      chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(chunk_), std::move(fresh));
    }
    used_ = 0;
  }

  std::vector<chunk> chunks_;
  std::size_t chunk_ = 0;
  std::size_t used_ = 0;
};

struct snapshot {
  const std::uint32_t* entries = nullptr;
  std::uint32_t size = 0;
};

class view {
 public:
  std::uint32_t operator[](std::size_t index) const noexcept { return index < entries_.size() ? entries_[index] : 0; }

  void raise(std::size_t index, std::uint32_t to) {
    if (index >= entries_.size()) entries_.resize(index + 1);
    entries_[index] = std::max(entries_[index], to);
  }

  void join(snapshot other, std::size_t from = 0) {
    if (other.size > entries_.size()) entries_.resize(other.size);
    for (std::size_t i = from; i < other.size; ++i) entries_[i] = std::max(entries_[i], other.entries[i]);
  }
  void join(const view& other, std::size_t from = 0) {
    join({other.entries_.data(), static_cast<std::uint32_t>(other.entries_.size())}, from);
  }

  snapshot freeze(snapshot_arena& arena) const {
    auto* copy = arena.take(entries_.size());
    std::copy(entries_.begin(), entries_.end(), copy);
    return {copy, static_cast<std::uint32_t>(entries_.size())};
  }

  void clear() noexcept { entries_.clear(); }

 private:
  std::vector<std::uint32_t> entries_;
};

}}}  // namespace hocket::model
