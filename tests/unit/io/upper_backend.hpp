// A stacked backend that turns the letters of operation passes into capitals.
#pragma once
#include <hocket/io/seam/stacked_backend.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

namespace hocket_test {

class upper_backend : public hocket::detail::stacked_backend {
 public:
  explicit upper_backend(int& releases) : releases_(releases) {}
  virtual ~upper_backend() = default;
  const char* name() const noexcept override { return "upper"; }

 protected:
  using call_end = hocket::detail::call_end;
  using transfer = hocket::detail::transfer;

  call_end read(hocket::detail::open_descriptor& at, transfer& operation) noexcept override {
    const std::size_t before = operation.done;
    const call_end end = call_below(at, operation);
    raise(static_cast<char*>(operation.data) + before, operation.done - before);
    return end;
  }

  // The caller's bytes are constant: a copy is written, some at a time.
  call_end write(hocket::detail::open_descriptor& at, transfer& operation) noexcept override {
    std::array<char, 1000> copy{};
    const std::size_t size = std::min(copy.size(), operation.size - operation.done);
    std::memcpy(copy.data(), static_cast<const char*>(operation.data) + operation.done, size);
    raise(copy.data(), size);
    transfer part(*operation.side, hocket::detail::call_kind::write, copy.data(), size);
    const call_end end = call_below(at, part);
    if (part.error != 0) return operation.fail(part.error), end;
    return part.ended != 0 ? moved(operation, part.done, end) : end;
  }

  void release() noexcept override {
    ++releases_;
    delete this;
  }

 private:
  static void raise(char* text, std::size_t size) noexcept {
    std::transform(text, text + size, text, [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  }
  int& releases_;
};

}  // namespace hocket_test
