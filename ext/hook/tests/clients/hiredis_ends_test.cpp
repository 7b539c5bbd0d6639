// hiredis beside a scripted server: ended in each state, it never takes an answer for that of another command.
#include "scripted.hpp"

#include <hiredis/hiredis.h>
#include <memory>

using namespace client_tests;

namespace {

class hiredis_client {
 public:
  static constexpr const char* answer_after_end = "error";

  explicit hiredis_client(const local_listener& at) : db_(redisConnect("127.0.0.1", at.port()), &redisFree) {}
  bool is_usable() const { return db_ && db_->err == 0; }
  std::string ask(const std::string& name, std::size_t padding) {
    const std::string value(padding, 'x');
    const std::unique_ptr<void, decltype(&freeReplyObject)> reply{
        redisCommand(db_.get(), "GET %b%b", name.data(), name.size(), value.data(), value.size()), &freeReplyObject};
    const auto* const text = static_cast<const redisReply*>(reply.get());
    return text && text->type == REDIS_REPLY_STRING ? std::string(text->str, text->len) : "error";
  }

  static void greet(peer&) {}
  static void read_request(peer& client) { client.read_some(); }
  static void answer(peer& client, const std::string& value) {
    client.write("$" + std::to_string(value.size()) + "\r\n" + value + "\r\n");
  }

 private:
  std::unique_ptr<redisContext, decltype(&redisFree)> db_;
};

}  // namespace

TEST_CASE("hiredis that was ended while it connects, sends or reads calls its connection bad") {
  end_in_each_state<hiredis_client>();
}
