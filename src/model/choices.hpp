// The tree of decisions, and the walk through it.
//
// A decision has `options` possible answers. 0 is the plain one: continue with the same thread, read the newest store,
// no spurious failure. Bounds narrow it to the first `limit` answers, but do not hide it: a path has the answers to all
// decisions with more than one option, so it means the same under other bounds.
//
// A path is written as answers with dots between them. `0*7` means seven plain answers. Plain answers at the end are
// omitted.
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
  std::uint32_t choose(decision kind, std::uint32_t options, std::uint32_t limit);

  // Moves to the next path; false if all were walked. Random paths have no end.
  bool advance();

  // The body made another decision than the last time, or a replayed path has an answer that does not exist.
  bool diverged() const noexcept { return diverged_; }
  // The body has ended before the end of the path.
  bool unused() const noexcept {
    return position_ < path_.size() || (mode_ == mode::replay && position_ < replayed_.size());
  }

  std::string path() const;

 private:
  enum class mode : std::uint8_t { walk, replay, random };
  struct node {
    std::uint32_t answer, options, limit;
    decision kind;
  };

  std::uint32_t repeat(decision kind, std::uint32_t options, std::uint32_t limit);
  std::uint32_t invent(std::uint32_t limit) noexcept;

  mode mode_ = mode::walk;
  bool diverged_ = false;
  std::size_t position_ = 0;
  std::vector<node> path_;
  std::vector<std::uint32_t> replayed_;  // the answers of a replay
  std::uint64_t random_ = 1;
};

}}}  // namespace hocket::model
