// libpq beside a scripted server: ended in each state, it never takes an answer for that of another request.
#include "scripted.hpp"

#include <memory>
#include <postgresql/libpq-fe.h>
#include <stdexcept>

using namespace client_tests;

namespace {

std::string number(std::size_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xff);
  return text;
}
std::string message(char kind, const std::string& body) { return kind + number(body.size() + 4, 4) + body; }
std::size_t value_of(const std::string& text) {
  std::size_t value = 0;
  for (const char byte : text) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}
std::string nul() { return std::string(1, '\0'); }
std::string ready() { return message('Z', "I"); }

class libpq_client {
 public:
  static constexpr const char* answer_after_end = "error";

  explicit libpq_client(const local_listener& at)
      : db_(PQconnectdb(("host=127.0.0.1 user=ada sslmode=disable gssencmode=disable port=" + std::to_string(at.port()))
                            .c_str()),
            &PQfinish) {}
  bool is_usable() const {
    return PQstatus(db_.get()) == CONNECTION_OK && PQtransactionStatus(db_.get()) == PQTRANS_IDLE;
  }
  std::string ask(const std::string& name, std::size_t padding) {
    const std::string text = "select '" + name + "'" + std::string(padding, ' ');
    const std::unique_ptr<PGresult, decltype(&PQclear)> rows{PQexec(db_.get(), text.c_str()), &PQclear};
    return PQntuples(rows.get()) == 1 ? PQgetvalue(rows.get(), 0, 0) : "error";
  }

  static void greet(peer& client) {
    const std::string length = client.read(4);
    if (client.is_open()) client.read(value_of(length) - 4);
    if (client.is_open()) client.write(message('R', number(0, 4)) + ready());
  }
  static void read_request(peer& client) {
    const std::string head = client.read(5);
    if (client.is_open()) client.read(value_of(head.substr(1)) - 4);
  }
  static void answer(peer& client, const std::string& value) {
    const std::string column = "v" + nul() + number(0, 4) + number(0, 2) + number(25, 4) + number(0xffff, 2) +
                               number(0xffffffff, 4) + number(0, 2);
    client.write(message('T', number(1, 2) + column) + message('D', number(1, 2) + number(value.size(), 4) + value) +
                 message('C', "SELECT 1" + nul()) + ready());
  }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> db_;
};

}  // namespace

TEST_CASE("libpq that was ended while it connects, sends or reads calls its connection bad") {
  end_in_each_state<libpq_client>();
}

TEST_CASE("libpq: a query under hook::within leaves the fiber on time, and the next connection works") {
  scripted_server server([](peer& client) {
    libpq_client::greet(client);
    libpq_client::read_request(client);
    if (client.is_open()) client.read_some();  // no answer: the client closes
  });
  scripted_server other([](peer& client) {
    libpq_client::greet(client);
    libpq_client::read_request(client);
    libpq_client::answer(client, "bob");
    client.read_to_end();
  });
  in_fiber([&] {
    libpq_client first(server);
    CHECK(hook::within(1ms, [&] { return first.ask("ada", 0); }).error() == std::errc::timed_out);
    CHECK_FALSE(first.is_usable());
    libpq_client second(other);
    CHECK(second.ask("bob", 0) == "bob");
  });
}

TEST_CASE("libpq: a destructor rolls back while an exception unwinds, and the connection is in step afterwards") {
  scripted_server server([](peer& client) {
    libpq_client::greet(client);
    for (const char* const value : {"begun", "rolled back", "bob"}) {
      libpq_client::read_request(client);
      libpq_client::answer(client, value);
    }
    client.read_to_end();
  });
  in_fiber([&] {
    libpq_client db(server);
    struct transaction {
      libpq_client& db;
      explicit transaction(libpq_client& owner) : db(owner) { CHECK(db.ask("begin", 0) == "begun"); }
      ~transaction() { CHECK(db.ask("rollback", 0) == "rolled back"); }
    };
    try {
      const transaction guard(db);
      throw std::runtime_error("no funds");
    } catch (const std::runtime_error&) {
    }
    CHECK(db.is_usable());
    CHECK(db.ask("bob", 0) == "bob");
  });
}
