// The table of heads: bytes in, verdict, section of the rule.
#pragma once
#include <hocket/http/detail/framing.hpp>
#include <cstdint>
#include <span>
#include <string_view>

namespace http_wire {

enum class body : std::uint8_t { none, chunked, length_5 };

struct head_case {
  std::string_view bytes;  // the head, and 5 bytes of the body if there is one
  int status;              // 200: accepted
  std::string_view section;
  body kind = body::none;
  bool keeps_alive = true;
};

std::span<const head_case> head_cases() noexcept;     // lines, targets, names and values
std::span<const head_case> framing_cases() noexcept;  // Host, and the fields that delimit a body

}  // namespace http_wire
