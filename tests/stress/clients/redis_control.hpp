// Redis' side of a stress (client_stress.hpp), by hiredis on a plain thread. It also adds jobs (moved_jobs.hpp).
#pragma once
#include "servers/server.hpp"
#include "stress/clients/client_stress.hpp"
#include "stress/clients/moved_jobs.hpp"

#include <hiredis/hiredis.h>
#include <memory>

namespace hocket_test {

using hiredis_handle = std::unique_ptr<redisContext, decltype(&redisFree)>;

struct free_reply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using hiredis_reply = std::unique_ptr<redisReply, free_reply>;

inline std::string text_of(const redisReply* reply) {
  return reply && reply->str ? std::string(reply->str, reply->len) : std::string();
}
template <class... Words>
hiredis_reply call_redis(redisContext* db, const Words&... words) {
  const char* texts[] = {std::string_view(words).data()...};
  const std::size_t sizes[] = {std::string_view(words).size()...};
  return hiredis_reply(
      static_cast<redisReply*>(redisCommandArgv(db, static_cast<int>(sizeof...(words)), texts, sizes)));
}

class redis_control {
 public:
  redis_control(const server& db, moved_jobs& jobs)
      : db_(redisConnect("127.0.0.1", db.port()), &redisFree), jobs_(jobs) {
    REQUIRE(db_->err == 0);
    call("FLUSHALL");
  }

  void advance(random_engine& random) {
    for (std::uint32_t i = random.below(3); i != 0; --i) call("RPUSH", "jobs", jobs_.create());
  }
  void end_session(random_engine& random) {
    if (random.below(4) == 0) return void(call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"));
    const auto clients = sessions();
    const std::string& chosen = clients[random.below(static_cast<std::uint32_t>(clients.size()))];
    call("CLIENT", "KILL", "ID", field_of(chosen, "id"), "SKIPME", "yes");
  }
  stopped_process stop(random_engine&) { return {server_, ::getppid()}; }
  std::size_t sessions_in_doubt() {
    const auto clients = sessions();
    return static_cast<std::size_t>(std::count_if(clients.begin(), clients.end(), [](const std::string& client) {
      return field_of(client, "multi") != "-1" || field_of(client, "db") != "0" || field_of(client, "sub") != "0";
    }));
  }

  void check_jobs() {
    std::vector<std::string> listed;
    add_list("jobs", listed);
    for (std::uint32_t worker = 0; worker != worker_count; ++worker) add_list(moved_jobs::list_of(worker), listed);
    jobs_.check(listed);
  }

 private:
  template <class... Words>
  hiredis_reply call(const Words&... words) {
    auto reply = call_redis(db_.get(), words...);
    REQUIRE(reply);
    return reply;
  }
  // A line of CLIENT LIST for each.
  std::vector<std::string> sessions() {
    const std::string text = text_of(call("CLIENT", "LIST", "TYPE", "normal").get());
    std::vector<std::string> lines;
    for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      lines.push_back(' ' + text.substr(begin, end - begin) + ' ');
    return lines;
  }
  static std::string field_of(const std::string& line, const std::string& name) {
    const std::size_t begin = line.find(' ' + name + '=') + name.size() + 2;
    return line.substr(begin, line.find(' ', begin) - begin);
  }
  void add_list(const std::string& list, std::vector<std::string>& listed) {
    const hiredis_reply items = call("LRANGE", list, "0", "-1");
    for (std::size_t i = 0; i != items->elements; ++i) listed.push_back(text_of(items->element[i]));
  }

  const pid_t server_ = server_process("HOCKET_REDIS_PID");
  const hiredis_handle db_;
  moved_jobs& jobs_;
};

}  // namespace hocket_test
