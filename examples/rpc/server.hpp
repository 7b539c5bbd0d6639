// The called side: a thread that takes calls and keeps them until it is told to answer: the "upper" ones, or the "slow"
// ones. So as many are in flight as the other end wants.
#pragma once
#include <thread>
#include <vector>

#include "wire.hpp"

namespace rpc {

enum method : std::uint32_t { upper = 1, slow, answer_upper, answer_slow };

class server {
 public:
  explicit server(int fd) : thread_(&server::serve, fd) {}
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server() { thread_.join(); }

 private:
  static void answer(int fd, std::vector<frame>& calls) {
    std::string bytes;
    for (frame& call : calls) {
      for (char& letter : call.payload)
        if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
      append(bytes, call);
    }
    static_cast<void>(write_all(fd, bytes));
    calls.clear();
  }

  static void serve(int fd) {
    std::vector<frame> uppers, slow_ones;
    frame_reader from(fd);
    for (frame one; !from.read(one);) {
      switch (one.what) {
        case upper: uppers.push_back(std::move(one)); break;
        case slow: slow_ones.push_back(std::move(one)); break;
        case answer_upper: answer(fd, uppers); break;
        default: answer(fd, slow_ones);
      }
    }
    ::shutdown(fd, SHUT_WR);
  }

  std::thread thread_;
};

}  // namespace rpc
