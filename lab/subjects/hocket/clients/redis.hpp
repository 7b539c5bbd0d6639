#pragma once
// hocket::redis.
#include <hocket/redis/connection.hpp>

#include "../../../harness/clients/clients.hpp"

namespace lab {

using hocket::redis::connection;

inline hocket::task<hocket::result<connection>> open(const client_workload&) {
  return hocket::redis::connect("127.0.0.1", port_of("HOCKET_REDIS"));
}

inline void check(const client_workload& what, const redisReply& got, const std::string& number) {
  if (what.waits() ? got.type != REDIS_REPLY_NIL : got.type != REDIS_REPLY_STRING || number != got.str)
    fail("a wrong answer of Redis");
}

inline hocket::task<> ask(const client_workload& what, connection& db, const std::string& number) {
  if (what.waits()) {
    const auto got = co_await db.command("BLPOP", "nothing" + number, "0.1");
    check(what, *got.value(), number);
  } else {
    const auto got = co_await db.command("ECHO", number);
    check(what, *got.value(), number);
  }
}

}  // namespace lab
