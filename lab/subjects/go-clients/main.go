// Goroutines on pgx and go-redis, GOMAXPROCS=1: the workloads of harness/clients/clients.hpp.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func placeOf(variable string) string {
	found, has := os.LookupEnv(variable)
	if !has {
		must(fmt.Errorf("the lab has not said where the server is"))
	}
	return found
}

var background = context.Background()

type workload struct {
	name string
	n    int
}

func (what workload) waits() bool { return strings.HasSuffix(what.name, "_wait") }

// ask() asks one question. Each round calls begin() first and end() last.
type asker interface {
	begin()
	ask(number int)
	end()
}

type postgres struct {
	pool *pgxpool.Pool
	text string
	mode pgx.QueryExecMode
}

func openPostgres(what workload) *postgres {
	config, err := pgxpool.ParseConfig(placeOf("HOCKET_POSTGRES"))
	must(err)
	config.MaxConns = int32(what.n)
	pool, err := pgxpool.NewWithConfig(background, config)
	must(err)
	made := &postgres{pool: pool, text: "select $1::int", mode: pgx.QueryExecModeExec}
	if what.waits() {
		made.text = "select $1::int from pg_sleep(0.1)"
	}
	if what.name == "pg_prepared" {
		made.mode = pgx.QueryExecModeCacheStatement // the default
	}
	return made
}

func (p *postgres) begin() {}
func (p *postgres) end()   {}
func (p *postgres) ask(number int) {
	var got int
	must(p.pool.QueryRow(background, p.text, p.mode, number).Scan(&got))
	if got != number {
		must(fmt.Errorf("a wrong answer of PostgreSQL"))
	}
}

// Without deadlines, like all systems. For redis_wait each round makes a new client, so that each question connects.
type redisPool struct {
	what   workload
	client *redis.Client
}

func (r *redisPool) begin() {
	if r.client == nil {
		r.client = redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + placeOf("HOCKET_REDIS"), PoolSize: r.what.n,
			Protocol: 2, DisableIdentity: true, ReadTimeout: -2, WriteTimeout: -2})
	}
}
func (r *redisPool) end() {
	if r.what.waits() {
		must(r.client.Close())
		r.client = nil
	}
}
func (r *redisPool) ask(number int) {
	if r.what.waits() {
		if err := r.client.Do(background, "BLPOP", "nothing"+strconv.Itoa(number), "0.1").Err(); err != redis.Nil {
			must(fmt.Errorf("a wrong answer of Redis: %v", err))
		}
		return
	}
	got, err := r.client.Echo(background, number).Result()
	must(err)
	if got != strconv.Itoa(number) {
		must(fmt.Errorf("a wrong answer of Redis"))
	}
}

func askAll(one asker, n, times int) time.Duration {
	begin := time.Now()
	one.begin()
	var group sync.WaitGroup
	for i := range n {
		group.Add(1)
		go func() {
			for range times {
				one.ask(i)
			}
			group.Done()
		}()
	}
	group.Wait()
	one.end()
	return time.Since(begin)
}

const clockProcess = 2 // CLOCK_PROCESS_CPUTIME_ID

func processorTime() time.Duration {
	var used syscall.Timespec
	if _, _, failed := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockProcess, uintptr(unsafe.Pointer(&used)), 0); failed != 0 {
		must(failed)
	}
	return time.Duration(used.Nano())
}

func emit(system, name string, n int, unit string, value float64) {
	fmt.Printf("{\"system\":%q,\"workload\":%q,\"n\":%d,\"unit\":%q,\"value\":%.3f}\n", system, name, n, unit, value)
}

func main() {
	runtime.GOMAXPROCS(1)
	system := os.Args[1]
	n, err := strconv.Atoi(os.Args[3])
	must(err)
	budget, err := strconv.ParseFloat(os.Args[5], 64)
	must(err)
	what := workload{os.Args[2], n}
	var one asker = &redisPool{what: what}
	if strings.HasPrefix(what.name, "pg") {
		one = openPostgres(what)
	}
	askAll(one, n, 1)
	if what.waits() {
		took := float64(askAll(one, n, 1).Microseconds()) / 1e3
		if took < 95 {
			must(fmt.Errorf("the server has not waited"))
		}
		emit(system, what.name, n, "ms", took)
		return
	}
	times := 1
	for float64(askAll(one, n, times).Microseconds())/1e3 < budget/4 {
		times *= 2
	}
	before := processorTime()
	took, questions := askAll(one, n, times*4), float64(times*4*n)
	emit(system, what.name+"_cpu", n, "us", float64(processorTime()-before)/questions/1e3)
	emit(system, what.name+"_time", n, "us", float64(took)/questions/1e3)
}
