//! Tasks on tokio-postgres and redis, on tokio's current-thread runtime: the workloads of harness/clients/clients.hpp.
use std::time::Instant;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use futures::future::join_all;
use redis::{aio::MultiplexedConnection, IntoConnectionInfo, RedisConnectionInfo};
use tokio_postgres::{types::Type, NoTls};

struct Workload {
    name: String,
    n: usize,
}

impl Workload {
    fn waits(&self) -> bool {
        self.name.ends_with("_wait")
    }
}

fn place_of(variable: &str) -> String {
    std::env::var(variable).expect("the lab has not said where the server is")
}

/// A task's questions, one after the other.
trait Asker {
    async fn ask(&mut self, number: usize);
}

#[derive(Clone)]
struct Postgres {
    what: &'static Workload,
    pool: Pool,
}

impl Postgres {
    fn new(what: &'static Workload) -> Self {
        let place = place_of("HOCKET_POSTGRES").parse().expect("no place of PostgreSQL");
        let manager = Manager::from_config(place, NoTls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
        let pool = Pool::builder(manager).max_size(what.n).runtime(Runtime::Tokio1).build().expect("no pool");
        Postgres { what, pool }
    }
}

impl Asker for Postgres {
    async fn ask(&mut self, number: usize) {
        let client = self.pool.get().await.expect("no connection to PostgreSQL");
        let number = number as i32;
        let row = if self.what.name == "pg_prepared" {
            let statement = client.prepare_cached("select $1::int").await.expect("a statement is not prepared");
            client.query_one(&statement, &[&number]).await
        } else {
            let text = if self.what.waits() { "select $1::int from pg_sleep(0.1)" } else { "select $1::int" };
            client.query_typed_one(text, &[(&number, Type::INT4)]).await
        };
        let row = row.expect("no answer of PostgreSQL");
        assert_eq!(row.get::<_, i32>(0), number);
    }
}

/// A connection for each task; redis-rs has no pool. For redis_wait a connection per question.
struct Redis {
    what: &'static Workload,
    own: Option<MultiplexedConnection>,
}

async fn connect() -> MultiplexedConnection {
    let place = format!("redis://127.0.0.1:{}/", place_of("HOCKET_REDIS")).into_connection_info().unwrap();
    let nameless = RedisConnectionInfo::default().set_skip_set_lib_name();
    let client = redis::Client::open(place.set_redis_settings(nameless)).unwrap();
    let endless = redis::AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
    client.get_multiplexed_async_connection_with_config(&endless).await.expect("no connection to Redis")
}

impl Asker for Redis {
    async fn ask(&mut self, number: usize) {
        if self.what.waits() {
            let mut own = connect().await;
            let mut command = redis::cmd("BLPOP");
            command.arg(format!("nothing{number}")).arg("0.1");
            let got: Option<(String, String)> = command.query_async(&mut own).await.expect("no answer of Redis");
            assert!(got.is_none());
            return;
        }
        if self.own.is_none() {
            self.own = Some(connect().await);
        }
        let mut command = redis::cmd("ECHO");
        let got: String = command.arg(number).query_async(self.own.as_mut().unwrap()).await.expect("no answer of Redis");
        assert_eq!(got, number.to_string());
    }
}

async fn ask_all<A: Asker + 'static>(all: Vec<A>, times: usize) -> Vec<A> {
    let tasks = all.into_iter().enumerate().map(|(i, mut one)| {
        tokio::task::spawn_local(async move {
            for _ in 0..times {
                one.ask(i).await;
            }
            one
        })
    });
    join_all(tasks).await.into_iter().map(|one| one.unwrap()).collect()
}

fn processor_ns() -> f64 {
    let mut used = unsafe { std::mem::zeroed::<libc::timespec>() };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut used) };
    1e9 * used.tv_sec as f64 + used.tv_nsec as f64
}

fn emit(system: &str, workload: &str, n: usize, unit: &str, value: f64) {
    println!("{{\"system\":\"{system}\",\"workload\":\"{workload}\",\"n\":{n},\"unit\":\"{unit}\",\"value\":{value:.3}}}");
}

async fn run<A: Asker + 'static>(system: &str, what: &Workload, budget_ns: f64, mut all: Vec<A>) {
    all = ask_all(all, 1).await;
    if what.waits() {
        let begin = Instant::now();
        ask_all(all, 1).await;
        let took = begin.elapsed().as_secs_f64() * 1e3;
        assert!(took >= 95.0, "the server has not waited");
        return emit(system, &what.name, what.n, "ms", took);
    }
    let mut times = 1;
    loop {
        let begin = Instant::now();
        all = ask_all(all, times).await;
        if begin.elapsed().as_nanos() as f64 >= budget_ns / 4.0 {
            break;
        }
        times *= 2;
    }
    let (before, begin) = (processor_ns(), Instant::now());
    ask_all(all, times * 4).await;
    let took = begin.elapsed().as_nanos() as f64;
    let questions = (times * 4 * what.n) as f64;
    emit(system, &format!("{}_cpu", what.name), what.n, "us", (processor_ns() - before) / questions / 1e3);
    emit(system, &format!("{}_time", what.name), what.n, "us", took / questions / 1e3);
}

async fn run_any(system: &str, what: &'static Workload, budget_ns: f64) {
    if what.name.starts_with("redis") {
        let all = (0..what.n).map(|_| Redis { what, own: None }).collect();
        return run(system, what, budget_ns, all).await;
    }
    run(system, what, budget_ns, vec![Postgres::new(what); what.n]).await
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let what = Box::leak(Box::new(Workload { name: words[2].clone(), n: words[3].parse().unwrap() }));
    let budget_ns = words[5].parse::<f64>().unwrap() * 1e6;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, run_any(&words[1], what, budget_ns));
}
