#include "choices.hpp"

#include <algorithm>
#include <charconv>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {
namespace {

constexpr std::size_t longest_path = 10'000'000;

bool read_number(std::string_view& text, std::uint32_t& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// answer[*times], and a dot if something follows.
bool read_run(std::string_view& text, std::vector<std::uint32_t>& answers) {
  std::uint32_t answer = 0, times = 1;
  if (!read_number(text, answer)) return false;
  if (text.starts_with('*')) {
    text.remove_prefix(1);
    if (!read_number(text, times)) return false;
  }
  if (times > longest_path - std::min(answers.size(), longest_path)) return false;
  answers.insert(answers.end(), times, answer);
  if (text.empty()) return true;
  if (!text.starts_with('.') || text.size() == 1) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

void choices::walk() {
  mode_ = mode::walk;
  diverged_ = false;
  path_.clear();
  rewind();
}

bool choices::replay(std::string_view path) {
  walk();
  mode_ = mode::replay;
  replayed_.clear();
  while (!path.empty()) {
    if (!read_run(path, replayed_)) return false;
  }
  return true;
}

void choices::random(std::uint64_t seed) {
  walk();
  mode_ = mode::random;
  random_ = seed * 0x9e3779b97f4a7c15U | 1;
}

std::uint32_t choices::choose(decision kind, std::uint32_t options, std::uint32_t limit) {
  if (position_ < path_.size()) return repeat(kind, options, limit);
  std::uint32_t answer = 0;
  if (mode_ == mode::replay && position_ < replayed_.size()) {
    answer = replayed_[position_];
    if (answer >= options) {
      diverged_ = true;
      answer = 0;
    }
  } else if (mode_ == mode::random) {
    answer = invent(limit);
  }
  path_.push_back({answer, options, limit, kind});
  ++position_;
  return answer;
}

std::uint32_t choices::repeat(decision kind, std::uint32_t options, std::uint32_t limit) {
  auto& known = path_[position_++];
  if (known.kind != kind || known.options != options || known.limit != limit) {
    diverged_ = true;
    return 0;
  }
  return known.answer;
}

// Plain answers are three times as likely as all others together: a schedule of coin tosses spends its preemptions in
// the first few operations.
std::uint32_t choices::invent(std::uint32_t limit) noexcept {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  if (limit == 1 || (random_ >> 40) % 4 != 0) return 0;
  return static_cast<std::uint32_t>((random_ >> 20) % (limit - 1)) + 1;
}

bool choices::advance() {
  rewind();
  if (mode_ == mode::random) {
    path_.clear();
    return true;
  }
  while (!path_.empty() && path_.back().answer + 1 >= path_.back().limit) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().answer;
  return true;
}

std::string choices::path() const {
  auto end = position_;
  while (end > 0 && path_[end - 1].answer == 0) --end;
  std::string text;
  for (std::size_t i = 0; i < end;) {
    std::size_t next = i + 1;
    while (next < end && path_[next].answer == path_[i].answer) ++next;
    if (!text.empty()) text += '.';
    text += std::to_string(path_[i].answer);
    if (next - i > 1) text += '*' + std::to_string(next - i);
    i = next;
  }
  // The plain path has no answers to write, but an empty text is no path.
  return text.empty() ? "0" : text;
}

}}}  // namespace hocket::model
