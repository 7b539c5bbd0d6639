// hiredis under stress, in hooked fibers. Some requests move a job.
#include "hooked_stress.hpp"

#include <csignal>
#include <stress/clients/redis_control.hpp>

using namespace client_tests;

namespace {

// The pool asks hiredis.
struct hiredis_connection {
  hiredis_handle handle;

  hocket::connection_state state() const noexcept {
    return handle && handle->err == 0 ? hocket::connection_state::idle : hocket::connection_state::broken;
  }
  bool is_idle() noexcept { return state() == hocket::connection_state::idle; }
};

class hiredis_client : public hooked_workers {
 public:
  using connection = hiredis_connection;

  hiredis_client(const server& db, moved_jobs& jobs) : port_(db.port()), jobs_(jobs) {}

  auto connector() const {
    return hocket::hook::hooked([port = port_]() -> hocket::result<connection> {
      connection db{{redisConnect("127.0.0.1", port), &redisFree}};
      if (!db.is_idle()) return lost_connection();
      return db;
    });
  }

  hocket::result<std::string> ask(connection& db, const stress_request& request) {
    switch (request.kind % 6) {
      case 0: return value_of(call_redis(db.handle.get(), "ECHO", request.token));
      case 1: return echo_much(db, request.token);
      case 2: return echo_by_pipeline(db, request.token);
      case 3: return echo_in_transaction(db, request.token);
      case 4: return echo_after_wait(db, request.token);
      default: return move_job(db, request);
    }
  }

 private:
  static hocket::result<std::string> value_of(const hiredis_reply& reply) {
    if (!reply) return lost_connection();
    return text_of(reply.get());
  }
  // More than a socket takes at once.
  static hocket::result<std::string> echo_much(connection& db, const std::string& token) {
    const std::string padding(500'000, 'x');
    const hiredis_reply reply = call_redis(db.handle.get(), "ECHO", padding + token);
    const std::string text = text_of(reply.get());
    if (text.starts_with(padding)) return text.substr(padding.size());
    return value_of(reply);
  }
  static hocket::result<std::string> echo_by_pipeline(connection& db, const std::string& token) {
    redisAppendCommand(db.handle.get(), "ECHO other");
    redisAppendCommand(db.handle.get(), "ECHO %s", token.c_str());
    hiredis_reply replies[2];
    for (hiredis_reply& reply : replies) {
      void* next = nullptr;
      if (redisGetReply(db.handle.get(), &next) != REDIS_OK) return lost_connection();
      reply.reset(static_cast<redisReply*>(next));
    }
    return value_of(replies[1]);
  }
  static hocket::result<std::string> echo_in_transaction(connection& db, const std::string& token) {
    if (!call_redis(db.handle.get(), "MULTI") || !call_redis(db.handle.get(), "ECHO", token)) return lost_connection();
    const hiredis_reply reply = call_redis(db.handle.get(), "EXEC");
    if (reply && reply->elements == 1) return text_of(reply->element[0]);
    return value_of(reply);
  }
  static hocket::result<std::string> echo_after_wait(connection& db, const std::string& token) {
    const hiredis_reply waited = call_redis(db.handle.get(), "BLPOP", "nothing", "0.002");
    if (!waited || waited->type != REDIS_REPLY_NIL) return value_of(waited);
    return value_of(call_redis(db.handle.get(), "ECHO", token));
  }
  hocket::result<std::string> move_job(connection& db, const stress_request& request) {
    const std::string own_list = moved_jobs::list_of(request.worker);
    const hiredis_reply moved = call_redis(db.handle.get(), "BLMOVE", "jobs", own_list, "LEFT", "RIGHT", "0.02");
    if (!moved) return lost_connection();
    if (moved->type == REDIS_REPLY_NIL) return request.token;
    const std::string job = text_of(moved.get());
    if (!jobs_.handle(job)) return "not a new job: " + job;
    const hiredis_reply removed = call_redis(db.handle.get(), "LREM", own_list, "1", job);
    if (!removed) return lost_connection();
    return removed->integer == 1 ? request.token : "not in the worker's list: " + job;
  }

  const int port_;
  moved_jobs& jobs_;
};

}  // namespace

TEST_CASE("hooked hiredis: no command gets the answer of another, and no job that is moved by BLMOVE is lost") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  std::signal(SIGPIPE, SIG_IGN);  // hiredis writes to sockets without MSG_NOSIGNAL
  moved_jobs jobs;
  hiredis_client client(db, jobs);
  redis_control control(db, jobs);
  run_stress(client, control);
  control.check_jobs();
}
