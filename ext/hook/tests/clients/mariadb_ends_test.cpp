// libmariadb beside a scripted server: ended in each state, it never takes an answer for that of another query.
#include "scripted.hpp"

#include <mariadb/mysql.h>
#include <memory>

using namespace client_tests;

namespace {

std::string bytes_of(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}
std::string packet(int sequence, const std::string& body) {
  const int size = static_cast<int>(body.size());
  return bytes_of({size & 0xff, size >> 8 & 0xff, size >> 16 & 0xff, sequence}) + body;
}
std::string counted(const std::string& text) { return bytes_of({static_cast<int>(text.size())}) + text; }

class mariadb_client {
 public:
  static constexpr const char* answer_after_end = "error";

  explicit mariadb_client(const local_listener& at) : db_(mysql_init(nullptr), &mysql_close) {
    connected_ = mysql_real_connect(db_.get(), "127.0.0.1", "ada", "", nullptr, static_cast<unsigned>(at.port()),
                                    nullptr, 0) != nullptr;
  }
  bool is_usable() const { return connected_ && mysql_errno(db_.get()) == 0; }
  std::string ask(const std::string& name, std::size_t padding) {
    const std::string text = "select '" + name + "'" + std::string(padding, ' ');
    if (mysql_real_query(db_.get(), text.data(), text.size()) != 0) return "error";
    const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> rows{mysql_store_result(db_.get()),
                                                                        &mysql_free_result};
    const MYSQL_ROW row = rows ? mysql_fetch_row(rows.get()) : nullptr;
    return row && row[0] ? row[0] : "error";
  }

  // Protocol 4.1, with the plugin mysql_native_password. The password is empty, so the challenge is of no use.
  static void greet(peer& client) {
    client.write(packet(0, bytes_of({10}) + "5.5.5-10.11" + bytes_of({0, 1, 0, 0, 0}) + "12345678" +
                               bytes_of({0, 0x01, 0xa2, 33, 2, 0, 0x08, 0x00, 21}) + std::string(10, '\0') +
                               "123456789012" + bytes_of({0}) + "mysql_native_password" + bytes_of({0})));
    read_request(client);
    if (client.is_open()) client.write(packet(2, bytes_of({0, 0, 0, 2, 0, 0, 0})));
  }
  static void read_request(peer& client) {
    const std::string head = client.read(4);
    if (!client.is_open()) return;
    client.read(static_cast<std::size_t>(static_cast<unsigned char>(head[0]) |
                                         static_cast<unsigned char>(head[1]) << 8 |
                                         static_cast<unsigned char>(head[2]) << 16));
  }
  static void answer(peer& client, const std::string& value) {
    const std::string end = bytes_of({0xfe, 0, 0, 2, 0});
    const std::string column = counted("def") + counted("") + counted("") + counted("") + counted("v") + counted("") +
                               bytes_of({12, 33, 0, 100, 0, 0, 0, 0xfd, 0, 0, 0, 0, 0});
    client.write(packet(1, bytes_of({1})) + packet(2, column) + packet(3, end) + packet(4, counted(value)) +
                 packet(5, end));
  }

 private:
  std::unique_ptr<MYSQL, decltype(&mysql_close)> db_;
  bool connected_ = false;
};

}  // namespace

TEST_CASE("libmariadb that was ended while it connects, sends or reads calls its connection bad") {
  REQUIRE(mysql_library_init(0, nullptr, nullptr) == 0);
  end_in_each_state<mariadb_client>();
}
