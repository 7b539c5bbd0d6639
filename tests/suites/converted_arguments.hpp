// Callables with a reference parameter, which refers to the converted argument, and a check that the converted object
// lived while the coroutine ran. No code here reads a destroyed object.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/coro/task.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace hocket_test {

// Made of a literal or a string; knows how many there are.
struct text {
  text(const char* from) : words(from) { ++live; }  // NOLINT: implicit, as in std::string
  text(const std::string& from) : words(from) { ++live; }
  text(text&& other) noexcept : words(std::move(other.words)) { ++live; }
  text(const text& other) : words(other.words) { ++live; }
  ~text() { --live; }
  std::string words;
  static inline int live = 0;
};

// What a coroutine reads after it has been suspended: the words, if there still is a text.
inline hocket::task<std::string> read_later(const text& from) {
  co_await hocket::yield();
  co_return text::live > 0 ? from.words : "gone";
}
inline hocket::task<std::string> read_moved(text&& from) {
  co_await hocket::yield();
  co_return text::live > 0 ? from.words : "gone";
}

struct reader {
  std::string first = "member: ";
  hocket::task<std::string> read(const text& from) const {
    co_await hocket::yield();
    co_return text::live > 0 ? first + from.words : "gone";
  }
};

// Its parameters cannot be asked for.
struct overloaded {
  hocket::task<std::string> operator()(int, const text& from) const { return read_later(from); }
  hocket::task<std::string> operator()(const char*, const text& from) const { return read_later(from); }
};

inline constexpr auto known = [](const text& from) -> hocket::task<std::string> {
  co_await hocket::yield();
  co_return text::live > 0 ? from.words : "gone";
};
inline constexpr auto generic = [](auto, const text& from) -> hocket::task<std::string> {
  co_await hocket::yield();
  co_return text::live > 0 ? from.words : "gone";
};
inline constexpr auto by_default = [](int, const text& from = "default") -> hocket::task<std::string> {
  co_await hocket::yield();
  co_return text::live > 0 ? from.words : "gone";
};
inline constexpr auto only_default = [](const text& from = "default") -> hocket::task<std::string> {
  co_await hocket::yield();
  co_return text::live > 0 ? from.words : "gone";
};

}  // namespace hocket_test
