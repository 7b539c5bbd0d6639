// The page `scheduler` in Go: `go-subject go-workers <workload> <workers> <stack bytes> <budget ms> <count>`, on as many
// processors (GOMAXPROCS) as there are workers; ../../harness/scheduler/scheduler.hpp defines its workloads. The workloads
// of the page `primitives` begin here, too, and are in primitives.go.
//
//	spawn_join    a goroutine and a channel of its own
//	post_outside  the main goroutine, locked to its thread, executes the go statements; it takes turns with the others
//	ping_pong     two unbuffered channels
//	timer_cancel  time.AfterFunc and Stop
//	timer_expire  a goroutine that receives from time.After
//	wake          as post_outside; with one processor nothing sleeps, so there is no figure
package main

import (
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type load struct {
	request
	count int
}

var loads = map[string]func(r load){
	"yields":           yields,
	"spawn_join":       spawnJoin,
	"post_outside":     postOutside,
	"ping_pong":        handToken,
	"when_all_10000":   whenAll,
	"timer_cancel":     timerCancel,
	"timer_cancel_1e6": timerCancelLive,
	"timer_expire":     timerExpire,
	"wake":             wake,
	"spread":           spreadOut,
	"beside_stuck":     besideStuck,
	"idle":             idle,
	"sleeping":         sleeping,
	"fib":              fib,
	"skynet":           skynet,
	"nqueens":          nqueens,
	"flat_loop":        flatLoop,
	"timed_expire":     timedExpire,
}

func runScheduler(r request, workload, count string) {
	n, err := strconv.Atoi(count)
	run := loads[workload]
	if units := primitives[workload]; units != nil {
		run = func(l load) { measureBatches(l.request, workload, func(k int) bool { return units(l, k) }) }
	}
	if err != nil || n < 1 || run == nil {
		fail("unknown workload, or no count")
	}
	if workload == "sleeping" {
		runtime.GOMAXPROCS(2)
	} else {
		runtime.GOMAXPROCS(r.n)
	}
	run(load{r, n})
	os.Exit(0)
}

// As median_of_some in ../../harness/scheduler/scheduler.hpp.
func medianOfSome(budget time.Duration, round func() float64) float64 {
	first := round()
	if first > 10*float64(budget) {
		return first
	}
	var values []float64
	used := 0.0
	for len(values) == 0 || (used < float64(budget) && len(values) < 7) {
		values = append(values, round())
		used += values[len(values)-1]
	}
	return median(values)
}

// The time from the arrival of all until all have left.
type gate struct {
	arriving, staying atomic.Int64
	open              atomic.Bool
	begin, end        time.Time
	over              chan bool
}

func newGate(count int) *gate {
	g := &gate{over: make(chan bool, 1)}
	g.arriving.Store(int64(count))
	g.staying.Store(int64(count))
	return g
}

func (g *gate) arrive() {
	if g.arriving.Add(-1) == 0 {
		g.begin = time.Now()
		g.open.Store(true)
	}
	for !g.open.Load() {
		runtime.Gosched()
	}
}

func (g *gate) leave() {
	if g.staying.Add(-1) == 0 {
		g.end = time.Now()
		g.over <- true
	}
}

func (g *gate) wait() float64 {
	<-g.over
	return float64(g.end.Sub(g.begin))
}

// `body(k)` in a number of goroutines: the time from the moment at which all run until all have ended.
func together(count, k int, body func(k int)) float64 {
	g := newGate(count)
	for i := 0; i < count; i++ {
		go func() {
			g.arrive()
			body(k)
			g.leave()
		}()
	}
	return g.wait()
}

func yields(r load) {
	ns := medianOfRounds(r.budget, func(k int) float64 {
		return together(r.count, k, func(k int) {
			for ; k > 0; k-- {
				runtime.Gosched()
			}
		})
	})
	r.emit("yields", "ns", ns/float64(r.count))
}

func spawnJoin(r load) {
	ns := medianOfRounds(r.budget, func(k int) float64 {
		counter := 0
		ns := timed(func() {
			for i := 0; i < k; i++ {
				ended := make(chan bool)
				go func() {
					counter++
					ended <- true
				}()
				<-ended
			}
		})
		if counter != k {
			fail("not every goroutine has run")
		}
		return ns
	})
	r.emit("spawn_join", "ns", ns)
}

func postOutside(r load) {
	runtime.LockOSThread()
	ns := medianOfSome(r.budget, func() float64 {
		var left atomic.Int64
		left.Store(int64(r.count))
		over := make(chan bool, 1)
		return timed(func() {
			for i := 0; i < r.count; i++ {
				go func() {
					if left.Add(-1) == 0 {
						over <- true
					}
				}()
			}
			<-over
		})
	})
	r.emit("post_outside", "ns", ns/float64(r.count))
}

func handToken(r load) {
	ns := medianOfSome(r.budget, func() float64 {
		there, back := make(chan int), make(chan int)
		ways := r.count / 2
		go func() {
			for i := 0; i < ways; i++ {
				back <- <-there
			}
		}()
		over := make(chan float64)
		go func() {
			over <- timed(func() {
				for i := 0; i < ways; i++ {
					there <- i
					if <-back != i {
						fail("another token came back")
					}
				}
			})
		}()
		return <-over
	})
	r.emit("ping_pong", "ns", ns/float64(r.count))
}

func whenAll(r load) {
	rounds, units := togetherRounds(r.count)
	r.emit("when_all_10000", "ns", medianOfRounds(r.budget, rounds)/float64(units))
}

// As spread in ../../harness/scheduler/scheduler.hpp.
func spread(i int, over time.Duration) time.Duration {
	return time.Duration(int64(uint64(i)*0x9E3779B97F4A7C15>>44) * int64(over) >> 20)
}

func far(i int) time.Duration { return time.Hour + spread(i, 30*time.Minute) }

func cancelTimers(r load, workload string) {
	fired := func() { fail("a timer fired that was far away") }
	ns := medianOfRounds(r.budget, func(k int) float64 {
		return together(r.n, k, func(k int) {
			for i := 0; i < k; i++ {
				if !time.AfterFunc(far(i), fired).Stop() {
					fail("a timer could not be stopped")
				}
			}
		})
	})
	r.emit(workload, "ns", ns/float64(r.n))
}

func timerCancel(r load) { cancelTimers(r, "timer_cancel") }

func timerCancelLive(r load) {
	live := make([]*time.Timer, r.count)
	for i := range live {
		live[i] = time.AfterFunc(far(i), func() {})
	}
	runtime.GC()
	cancelTimers(r, "timer_cancel_1e6")
	runtime.KeepAlive(live)
}

func processorTime() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		fail(err.Error())
	}
	return float64(used.Utime.Nano() + used.Stime.Nano())
}

// The processor time of the second round, when the goroutines exist.
func timerExpire(r load) {
	each := time.Duration(r.count) * time.Microsecond
	round := func() {
		var left atomic.Int64
		left.Store(int64(r.count))
		over := make(chan bool, 1)
		go func() {
			for i := 0; i < r.count; i++ {
				go func(i int) {
					<-time.After(each + spread(i, each))
					if left.Add(-1) == 0 {
						over <- true
					}
				}(i)
			}
		}()
		<-over
	}
	round()
	before := processorTime()
	round()
	r.emit("timer_expire", "ns", (processorTime()-before)/float64(r.count))
}

func wake(r load) {
	if r.n == 1 {
		r.skip("wake", "the thread that posts is the only one that runs goroutines")
		return
	}
	runtime.LockOSThread()
	var took []float64
	const first = 8
	for i := 0; i < r.count+first; i++ {
		time.Sleep(time.Millisecond)
		var ran atomic.Int64
		begin := time.Now()
		go func() { ran.Store(int64(time.Since(begin))) }()
		for ran.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		if i >= first {
			took = append(took, float64(ran.Load()))
		}
	}
	sort.Float64s(took)
	r.emit("wake_median", "ns", took[len(took)/2])
	r.emit("wake_p99", "ns", took[len(took)*99/100])
}

func idle(r load) {
	time.Sleep(100 * time.Millisecond)
	begin, before := time.Now(), processorTime()
	time.Sleep(time.Duration(r.count) * time.Millisecond)
	r.emit("idle", "%", 100*(processorTime()-before)/float64(time.Since(begin)))
}

func heldBytes() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fail(err.Error())
	}
	for _, l := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(l, "VmPTE:") {
			kib, _ := strconv.ParseFloat(strings.Fields(l)[1], 64)
			return residentBytes() + kib*1024
		}
	}
	fail("no VmPTE line in status")
	return 0
}

func sleeping(r load) {
	runtime.GC()
	before := heldBytes()
	var begun sync.WaitGroup
	begun.Add(r.n)
	for i := 0; i < r.n; i++ {
		go func(i int) {
			begun.Done()
			time.Sleep(far(i))
		}(i)
	}
	begun.Wait()
	time.Sleep(100 * time.Millisecond)
	r.emit("sleeping", "B", (heldBytes()-before)/float64(r.n))
}
