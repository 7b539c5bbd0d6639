// A backend on top of the kernel's, which turns the letters of a connection into capitals.
#include <hocket/hocket.hpp>
#include <hocket/io/seam/stacked_backend.hpp>
#include <hocket/net.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <string>

namespace {

using namespace hocket::detail;

class upper final : public stacked_backend {
 public:
  const char* name() const noexcept override { return "upper"; }

 private:
  static void raise(char* text, std::size_t size) noexcept {
    std::transform(text, text + size, text, [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  }
  call_end read(open_descriptor& at, transfer& operation) noexcept override {
    const std::size_t before = operation.done;
    const call_end end = call_below(at, operation);
    raise(static_cast<char*>(operation.data) + before, operation.done - before);
    return end;
  }
  call_end write(open_descriptor& at, transfer& operation) noexcept override {
    std::array<char, 512> copy;
    const std::size_t size = std::min(copy.size(), operation.size - operation.done);
    std::memcpy(copy.data(), static_cast<const char*>(operation.data) + operation.done, size);
    raise(copy.data(), size);
    transfer part(*operation.side, call_kind::write, copy.data(), size);
    const call_end end = call_below(at, part);
    if (part.error != 0) return operation.fail(part.error), end;
    return part.ended != 0 ? moved(operation, part.done, end) : end;
  }
  void release() noexcept override { delete this; }
};

}  // namespace

int main() {
  auto [near, far] = hocket::make_unix_pair().value();
  auto* const top = new upper;
  if (top->push(descriptor_access::record_of(near)) != 0) return 1;
  std::string there, back;
  hocket::loop lp;
  hocket::spawn(lp, [&]() -> hocket::task<> {
    static_cast<void>(co_await near.write_all("hello"));
    static_cast<void>(near.shutdown_write());
    back = (co_await hocket::read_all(near)).value();
  });
  hocket::spawn(lp, [&] {
    there = hocket::await(hocket::read_all(far)).value();
    static_cast<void>(hocket::await(far.write_all("goodbye")));
    far.close();
  });
  lp.run();
  return there == "HELLO" && back == "GOODBYE" ? 0 : 1;
}
