#pragma once
// hiredis, blocking.
#include <hiredis/hiredis.h>

#include "clients.hpp"

namespace lab {

class client {
 public:
  explicit client(const client_workload& what) : what_(what), db_(redisConnect("127.0.0.1", port_of("HOCKET_REDIS"))) {
    if (!db_ || db_->err != 0) fail("no connection to Redis");
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() { redisFree(db_); }

  static void begin() {}

  void ask(std::size_t number) {
    const std::string text = std::to_string(number);
    void* const got = what_.waits() ? redisCommand(db_, "BLPOP nothing%s 0.1", text.c_str())
                                    : redisCommand(db_, "ECHO %s", text.c_str());
    const auto* reply = static_cast<redisReply*>(got);
    if (!reply ||
        (what_.waits() ? reply->type != REDIS_REPLY_NIL : reply->type != REDIS_REPLY_STRING || text != reply->str))
      fail("a wrong answer of Redis");
    freeReplyObject(got);
  }

 private:
  const client_workload& what_;
  redisContext* const db_;
};

}  // namespace lab
