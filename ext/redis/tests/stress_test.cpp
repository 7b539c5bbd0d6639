// hocket::redis under stress (tests/stress/clients/client_stress.hpp). Some requests move a job (moved_jobs.hpp).
#include <hocket/redis/connection.hpp>

#include "stress/clients/client_stress.hpp"
#include "stress/clients/redis_control.hpp"

using namespace hocket;
using namespace hocket_test;

namespace {

class redis_client : public coroutine_workers {
 public:
  using connection = redis::connection;

  redis_client(const server& db, moved_jobs& jobs) : port_(db.port()), jobs_(jobs) {}

  auto connector() const { return redis::connector("127.0.0.1", port_); }

  task<result<std::string>> ask(connection& db, const stress_request& request) {
    switch (request.kind % kinds) {
      case 0: return echo(db, request.token);
      case 1: return echo_after(db, request.token, {"SELECT", "1"});
      case 2: return echo_after(db, request.token, {"WATCH", "key"});
      case 3: return echo_after(db, request.token, {"BLPOP", "nothing", "0.002"});
      case 4: return echo_much(db, request.token);
      case 5: return echo_by_pipeline(db, request.token);
      case 6: return move_job(db, request);
      case 7: return echo_in_transaction(db, request.token, true);
      default: return echo_in_transaction(db, request.token, false);
    }
  }

  // The next command of a connection with outstanding answers gets its own. After MULTI it would be queued.
  task<bool> may_continue(connection& db, const stress_request& request, const result<std::string>&, random_engine&) {
    const connection_state state = db.state();
    co_return request.kind % kinds < transactions &&
        (state == connection_state::idle || state == connection_state::awaiting_answers);
  }

  static bool is_end(std::error_code error) { return is_end_of_request(error); }

 private:
  static constexpr std::uint32_t kinds = 9, transactions = 7;

  static std::string text_of(const redis::reply& reply) { return hocket_test::text_of(reply.get()); }

  static task<result<std::string>> echo(connection& db, std::string token) {
    const redis::reply answer = co_await or_return(db.command("ECHO", token));
    co_return text_of(answer);
  }
  static task<result<std::string>> echo_after(connection& db, std::string token, redis::words before) {
    co_await or_return(db.run(before));
    const redis::reply answer = co_await or_return(db.command("ECHO", token));
    co_return text_of(answer);
  }
  // More than a socket takes at once.
  static task<result<std::string>> echo_much(connection& db, std::string token) {
    const std::string padding(500'000, 'x');
    const redis::reply answer = co_await or_return(db.command("ECHO", padding + token));
    std::string text = text_of(answer);
    if (text.starts_with(padding)) text.erase(0, padding.size());
    co_return text;
  }
  static task<result<std::string>> echo_by_pipeline(connection& db, std::string token) {
    const std::vector<redis::words> commands{{"ECHO", "other"}, {"ECHO", token}};
    const auto answers = co_await or_return(db.pipeline(commands));
    co_return text_of(answers.back());
  }
  static task<result<std::string>> echo_in_transaction(connection& db, std::string token, bool is_executed) {
    co_await or_return(db.command("MULTI"));
    const redis::reply queued = co_await or_return(db.command("ECHO", token));
    if (!is_executed) co_return text_of(queued) == "QUEUED" ? token : text_of(queued);
    const redis::reply answers = co_await or_return(db.command("EXEC"));
    co_return answers->elements == 1 ? hocket_test::text_of(answers->element[0]) : text_of(answers);
  }
  task<result<std::string>> move_job(connection& db, stress_request request) {
    const std::string own_list = moved_jobs::list_of(request.worker);
    const redis::reply moved = co_await or_return(db.command("BLMOVE", "jobs", own_list, "LEFT", "RIGHT", "0.02"));
    if (moved->type == REDIS_REPLY_NIL) co_return request.token;
    const std::string job = text_of(moved);
    if (!jobs_.handle(job)) co_return "not a new job: " + job;
    const redis::reply removed = co_await or_return(db.command("LREM", own_list, "1", job));
    co_return removed->integer == 1 ? request.token : "not in the worker's list: " + job;
  }

  const int port_;
  moved_jobs& jobs_;
};

}  // namespace

TEST_CASE("no command gets the answer of another, and no job that is moved by BLMOVE is lost") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  moved_jobs jobs;
  redis_client client(db, jobs);
  redis_control control(db, jobs);
  run_stress(client, control);
  control.check_jobs();
}
