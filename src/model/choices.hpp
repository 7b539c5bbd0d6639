// The tree of decisions, and the walk through it.
//
// A decision has `options` possible answers, 0 the plain one: go on with the same thread, read the newest store, no
// spurious failure. Bounds narrow it to `limit` of them, always the first ones, but do not hide it: a path names the
// answers to all decisions with more than one option, so it means the same under other bounds.
//
// A path is written as answers with dots between, where `0*7` stands for seven plain ones; plain ones at the end are
// left out.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

enum class decision : std::uint8_t { thread, read, spurious, waiter };

class choices {
 public:
  // Starts a depth-first walk, a replay of one path, or random paths.
  void walk();
  bool replay(std::string_view path);  // false if it is not a path
  void random(std::uint64_t seed);

  // Back to the start of the body, on the current path.
  void rewind() noexcept { position_ = 0; }

  // The answer to the next decision. `options` > 1; 1 <= `limit` <= `options`.
  std::uint32_t choose(decision what, std::uint32_t options, std::uint32_t limit);

  // To the next path that is not yet walked; false if there is none. Random paths have no end.
  bool advance();

  // The body asked for another decision than the last time, or a replayed path has an answer that does not exist.
  bool diverged() const noexcept { return diverged_; }
  // The body has ended before it asked for all of the path.
  bool unused() const noexcept {
    return position_ < path_.size() || (mode_ == mode::replay && position_ < given_.size());
  }

  std::string path() const;

 private:
  enum class mode : std::uint8_t { walk, replay, random };
  struct node {
    std::uint32_t answer, options, limit;
    decision what;
  };

  std::uint32_t repeat(decision what, std::uint32_t options, std::uint32_t limit);
  std::uint32_t invent(std::uint32_t limit) noexcept;

  mode mode_ = mode::walk;
  bool diverged_ = false;
  std::size_t position_ = 0;
  std::vector<node> path_;
  std::vector<std::uint32_t> given_;  // the answers of a replay
  std::uint64_t random_ = 1;
};

}}}  // namespace hocket::model
