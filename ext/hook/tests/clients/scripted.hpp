// A server whose each step the test orders: on a thread of its own, with plain sockets.
//
// A conversation is a function of the server's end of a connection; the server holds one after the other. It answers
// when the test says so: before, at or after the end of the fiber that has asked.
#pragma once
#include <connections.hpp>
#include <cstring>
#include <functional>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>

namespace client_tests {

using namespace hooked_tests;

// The server's end of a connection. A read at the end of the stream gives less, and the conversation should end.
class peer {
 public:
  explicit peer(int fd) : fd_(fd) {}
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;
  ~peer() { ::close(fd_); }

  bool is_open() const { return open_; }
  std::string read(std::size_t size) {
    std::string text(size, '\0');
    const ssize_t count = ::recv(fd_, text.data(), size, MSG_WAITALL);
    text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    open_ = text.size() == size;
    return text;
  }
  std::string read_some() {
    std::string text(65536, '\0');
    const ssize_t count = ::recv(fd_, text.data(), text.size(), 0);
    text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    open_ = count > 0;
    return text;
  }
  void read_available() const {
    std::array<char, 4096> bytes;
    while (::recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
    }
  }
  void reset() const { reset_connection(fd_); }
  void write(const std::string& text) const { static_cast<void>(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL)); }
  void read_to_end() {
    while (open_) read_some();
  }

 private:
  const int fd_;
  bool open_ = true;
};

class scripted_server : public local_listener {
 public:
  explicit scripted_server(std::function<void(peer&)> conversation) : conversation_(std::move(conversation)) {
    const int bytes = 4096;  // so that a large request does not go at once
    REQUIRE(::setsockopt(fd(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) == 0);
    thread_ = std::thread([this] { serve(); });
  }
  // After the clients have closed their connections.
  ~scripted_server() {
    ::shutdown(fd(), SHUT_RD);  // ends accept()
    thread_.join();
  }

  // Lets the server take one step, and waits until it has been taken.
  void step() {
    may_step_.release();
    stepped_.acquire();
  }
  // In a conversation: waits for the test, then takes the step.
  template <class F>
  void on_step(F f) {
    may_step_.acquire();
    f();
    stepped_.release();
  }

 private:
  void serve() {
    for (;;) {
      const int connection = ::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      peer end(connection);
      conversation_(end);
    }
  }

  const std::function<void(peer&)> conversation_;
  std::counting_semaphore<> may_step_{0}, stepped_{0};
  std::thread thread_;
};

// Client: a type that owns a connection, with
//   explicit Client(const local_listener&);          connects
//   bool is_usable();                                what a pool would ask before it lends the connection
//   std::string ask(std::string name, std::size_t padding);      the answer, or "error"; the request has some bytes
//   more static void greet(peer&), read_request(peer&), answer(peer&, std::string); static constexpr const char*
//   answer_after_end;   of a request on a connection that was ended
template <class Client>
std::string ask_and_end(ending end, Client& client, const std::string& name, std::size_t padding) {
  std::string answer = "no end";
  run_and_end(end, [&] { answer = client.ask(name, padding); });
  return answer;
}

// A wait for the answer is ended. The answer arrives afterwards. The next user of the connection does not get it.
template <class Client>
void end_while_reading(ending end) {
  scripted_server* own = nullptr;
  bool is_first = true;
  scripted_server server([&](peer& client) {
    Client::greet(client);
    if (std::exchange(is_first, false))
      own->on_step([&] {
        client.read_available();
        Client::answer(client, "ada");
      });
    while (client.is_open()) {
      Client::read_request(client);
      if (client.is_open()) Client::answer(client, "bob");
    }
  });
  own = &server;
  std::optional<Client> client;
  in_fiber([&] { client.emplace(server); });
  REQUIRE(client->is_usable());
  CHECK(ask_and_end(end, *client, "ada", 0) == "error");
  server.step();
  CHECK_FALSE(client->is_usable());
  in_fiber([&] { CHECK(client->ask("bob", 0) == Client::answer_after_end); });
}

// A wait for the answer is ended. The answer has just arrived, and the server has reset the connection. The next user
// of the connection does not get the answer.
template <class Client>
void end_after_reset(ending end) {
  scripted_server* own = nullptr;
  bool is_first = true;
  scripted_server server([&](peer& client) {
    Client::greet(client);
    if (std::exchange(is_first, false)) {
      own->on_step([&] {
        client.read_available();
        Client::answer(client, "ada");
        client.reset();
      });
      return;
    }
    while (client.is_open()) {
      Client::read_request(client);
      if (client.is_open()) Client::answer(client, "bob");
    }
  });
  own = &server;
  std::optional<Client> client;
  in_fiber([&] { client.emplace(server); });
  REQUIRE(client->is_usable());
  std::string answer = "no end";
  run_and_end(end, [&] { answer = client->ask("ada", 0); }, [&] { server.step(); });
  CHECK(answer == "error");
  CHECK_FALSE(client->is_usable());
  in_fiber([&] { CHECK(client->ask("bob", 0) == Client::answer_after_end); });
}

// The server reads nothing, so the request does not go out. Then it reads on.
template <class Client>
void end_while_sending(ending end) {
  scripted_server* own = nullptr;
  scripted_server server([&](peer& client) {
    Client::greet(client);
    own->on_step([] {});
    client.read_to_end();
  });
  own = &server;
  std::optional<Client> client;
  in_fiber([&] { client.emplace(server); });
  REQUIRE(client->is_usable());
  CHECK(ask_and_end(end, *client, "ada", 20'000'000) == "error");
  server.step();
  CHECK_FALSE(client->is_usable());
}

// The connection is never accepted by the system; or it is accepted, and the server does not greet.
template <class Client>
void end_while_connecting(ending end) {
  const full_listener full;
  const local_listener silent;
  for (const local_listener* const listener : {static_cast<const local_listener*>(&full), &silent}) {
    std::optional<Client> client;
    run_and_end(end, [&] {
      client.emplace(*listener);
      if (client->is_usable()) CHECK(client->ask("ada", 0) == "error");
    });
    REQUIRE(client);
    CHECK_FALSE(client->is_usable());
  }
}

template <class Client>
void end_in_each_state() {
  for (const ending end : endings) {
    CAPTURE(std::string(name_of(end)));
    end_while_connecting<Client>(end);
    end_while_sending<Client>(end);
    end_while_reading<Client>(end);
    if (!is_by_time(end)) end_after_reset<Client>(end);
  }
}

}  // namespace client_tests
