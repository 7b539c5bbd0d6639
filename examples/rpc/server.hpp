// The called side: a thread that answers "upper" at once when it has got as many calls as it was told to wait for, so
// that all of them are in flight at a time; and "slow" not before it is told to go on.
#pragma once
#include <thread>
#include <vector>

#include "wire.hpp"

namespace rpc {

enum method : std::uint32_t { upper = 1, slow = 2, go_on = 3 };

class server {
 public:
  server(int fd, std::size_t in_flight) : thread_(&server::serve, fd, in_flight) {}
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

  static void serve(int fd, std::size_t in_flight) {
    std::vector<frame> calls, held_back;
    std::size_t seen = 0;
    frame_reader from(fd);
    for (frame one; from.read(one);) {
      if (one.what == go_on) {
        answer(fd, held_back);
        continue;
      }
      (one.what == slow ? held_back : calls).push_back(std::move(one));
      if (++seen >= in_flight) answer(fd, calls);
    }
    ::shutdown(fd, SHUT_WR);
  }

  std::thread thread_;
};

}  // namespace rpc
