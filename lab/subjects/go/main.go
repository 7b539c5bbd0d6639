// Goroutines under GOMAXPROCS=1, called as `go-subject <system> <workload> <n> <stack bytes> <budget ms>`. This file has
// the workload switch. wait.go, managed.go, collector.go, tasks.go and manager.go have the others; scheduler.go and
// primitives.go have the workloads with a sixth argument, on one processor or more. The phases are the phases of
// ../../harness/harness.hpp. Stacks grow by themselves, so the stack size has no effect.
//
// Creation is the go statement: the goroutine is ready and has not run. A goroutine that creates others for 10 ms is
// preempted, and they run. So the statements are timed a hundred at a time, and the new goroutines start in between,
// which is not timed. A goroutine ends by itself and is not destroyed, so there is no phase between finish and destroy:
// destroy is the time from the signal to stop to the end of the last one.
//
//	go-yield    runtime.Gosched: the goroutine leaves for the scheduler (one switch), which enters the next one (the
//	            other), so one Gosched is one round trip of the table
//	go-channel  the owner sends to a goroutine and receives from it: two switches as well
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// One cache line each. Only the goroutine itself writes count; everything runs on one thread.
type line struct {
	count uint64
	_     [56]byte
}

type request struct {
	system string
	n      int
	budget time.Duration
}

func (r request) emit(workload, unit string, value float64) {
	fmt.Printf("{\"system\":%q,\"workload\":%q,\"n\":%d,\"unit\":%q,\"value\":%.3f}\n",
		r.system, workload, r.n, unit, value)
}

func (r request) skip(workload, why string) {
	fmt.Printf("{\"system\":%q,\"workload\":%q,\"n\":%d,\"skip\":%q}\n", r.system, workload, r.n, why)
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(1)
}

func median(values []float64) float64 {
	sort.Float64s(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}

func residentBytes() float64 {
	text, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		fail(err.Error())
	}
	for _, l := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(l, "Anonymous:") {
			kib, _ := strconv.ParseFloat(strings.Fields(l)[1], 64)
			return kib * 1024
		}
	}
	fail("no Anonymous line in smaps_rollup")
	return 0
}

// Reading the clock costs as much as creating one goroutine, so the time of the next reading is subtracted.
func timed(f func()) float64 {
	begin := time.Now()
	f()
	end := time.Now()
	reading := time.Since(end)
	ns := float64(end.Sub(begin) - reading)
	if ns < 0 {
		return 0
	}
	return ns
}

const batch = 100 // go statements between two occasions for the new goroutines to start

func timedGo(n int, create func(i int)) float64 {
	total := 0.0
	for next := 0; next < n; {
		total += timed(func() {
			for end := next + batch; next < end && next < n; next++ {
				create(next)
			}
		})
		runtime.Gosched()
	}
	return total / float64(n)
}

func check(lines []line, expected uint64) {
	for i := range lines {
		if lines[i].count != expected {
			fail(fmt.Sprintf("goroutine %d counted %d activations, not %d", i, lines[i].count, expected))
		}
		lines[i].count = 0
	}
}

func main() {
	if len(os.Args) == 4 { // a server of the page net: net.go
		serveNet(os.Args[2], os.Args[3])
	}
	if len(os.Args) != 6 && len(os.Args) != 7 {
		fail("usage: go-subject <system> <workload> <n> <stack bytes> <budget ms> [<count>]")
	}
	n, err := strconv.Atoi(os.Args[3])
	budget, err2 := strconv.ParseFloat(os.Args[5], 64)
	if err != nil || err2 != nil || n < 1 || budget <= 0 {
		fail("n and budget must be positive numbers")
	}
	runtime.GOMAXPROCS(1)
	r := request{os.Args[1], n, time.Duration(budget * float64(time.Millisecond))}
	workload := os.Args[2]
	if len(os.Args) == 7 {
		runScheduler(r, workload, os.Args[6])
	}
	if isTasksWorkload(workload) {
		runTasks(r, workload)
		return
	}
	if runManager(r, workload) {
		return
	}
	if isCollectorWorkload(workload) {
		runCollector(r, workload)
		return
	}
	managed := workload == "switches" || workload == "memory"
	if workload != "switch" && !managed {
		runBatches(r, workload)
		return
	}
	lines := make([]line, n)
	check(lines, 0) // which also touches every page
	if managed {
		runManaged(r, workload, lines)
		return
	}
	switch r.system {
	case "go-yield":
		runYield(r, lines)
	case "go-channel":
		runChannel(r, lines)
	default:
		fail("unknown system")
	}
}

// measureLife runs the phases: cold creation, start, memory, round trips, destruction, then again without the trips.
func measureLife(r request, create func() float64, start func(), rounds func() float64, destroy func()) {
	n := float64(r.n)
	runtime.GC()
	before := residentBytes()
	cold := create()
	start()
	grown := residentBytes() - before
	if grown < 0 {
		grown = 0
	}
	r.emit("create", "ns", cold)
	r.emit("bytes", "B", grown/n)
	r.emit("round_trip", "ns", rounds())
	ends := []float64{timed(destroy) / n}
	var warm, lives []float64
	begin := time.Now()
	for len(warm) < 2 || (len(warm) < 999 && time.Since(begin) < r.budget) {
		created := create()
		turn, ended := timed(start)/n, timed(destroy)/n
		warm, ends, lives = append(warm, created), append(ends, ended), append(lives, created+turn+ended)
	}
	r.emit("destroy", "ns", median(ends))
	r.emit("create_warm", "ns", median(warm))
	r.emit("lifetime", "ns", median(lives))
}

// The goroutines of go-yield run by themselves, roughly in turn; number 0 measures the time. The scheduler sometimes
// favours the head of its global queue, so some goroutines run more often: the time of a repetition is divided by the
// activations that all lines show. Each continues to the same limit, where it waits on a channel for the end, as it
// waits for the beginning of the rounds.
// (One thread runs them all, but the runtime may preempt it anywhere; hence the atomics. Loading one is a plain load.)
type yieldPage struct {
	lines      []line
	limit      atomic.Uint64
	arrived    atomic.Int64
	all        chan bool // sent by the last goroutine that arrives
	begin, end chan bool // closed: all continue
	turning    bool      // they do not end yet
	measuring  bool
	budget     time.Duration
	values     []float64
}

const noLimit = ^uint64(0)

func (p *yieldPage) life(i int) {
	mine := &p.lines[i]
	mine.count++
	p.arriveAndWait(p.begin)
	if p.turning {
		if i == 0 && p.measuring {
			p.measure(mine)
		}
		for mine.count < p.limit.Load() {
			mine.count++
			runtime.Gosched()
		}
		p.arriveAndWait(p.end)
	}
	p.arrive()
}

func (p *yieldPage) arrive() {
	if p.arrived.Add(1) == int64(len(p.lines)) {
		p.arrived.Store(0)
		p.all <- true
	}
}

func (p *yieldPage) arriveAndWait(gate chan bool) {
	p.arrive()
	<-gate
}

func (p *yieldPage) activations() (total, highest uint64) {
	for i := range p.lines {
		count := p.lines[i].count
		total += count
		if count > highest {
			highest = count
		}
	}
	return
}

// k turns of goroutine 0: their nanoseconds, and the activations of all goroutines meanwhile
func (p *yieldPage) some(mine *line, k int) (ns, activations float64) {
	before, _ := p.activations()
	begin := time.Now()
	for i := 0; i < k; i++ {
		mine.count++
		runtime.Gosched()
	}
	ns = float64(time.Since(begin))
	after, _ := p.activations()
	return ns, float64(after - before)
}

func (p *yieldPage) measure(mine *line) {
	k := 1
	p.some(mine, 1)
	took, _ := p.some(mine, 1)
	for ; took < float64(p.budget)/16; took, _ = p.some(mine, k) {
		k *= 2
	}
	repetitions := 7
	if took > float64(p.budget)/3 {
		repetitions = 3
	}
	for i := 0; i < repetitions; i++ {
		ns, activations := p.some(mine, k)
		p.values = append(p.values, ns/activations)
	}
	_, highest := p.activations()
	p.limit.Store(highest + 1)
}

func (p *yieldPage) create() float64 {
	p.limit.Store(1)
	p.begin, p.end, p.turning = make(chan bool), make(chan bool), false
	return timedGo(len(p.lines), func(i int) { go p.life(i) })
}

func (p *yieldPage) start() {
	<-p.all
}

func (p *yieldPage) rounds() float64 {
	p.measuring = true
	p.turns(noLimit)
	p.measuring = false
	return median(p.values)
}

// All continue until each has been entered `limit` times.
func (p *yieldPage) turns(limit uint64) {
	p.limit.Store(limit)
	p.turning = true
	close(p.begin)
	<-p.all
}

func (p *yieldPage) destroy() {
	if p.turning {
		close(p.end)
	} else {
		close(p.begin)
	}
	<-p.all
	check(p.lines, p.limit.Load())
}

func newYieldPage(r request, lines []line) *yieldPage {
	return &yieldPage{lines: lines, budget: r.budget, all: make(chan bool, 1)}
}

func runYield(r request, lines []line) {
	p := newYieldPage(r, lines)
	measureLife(r, p.create, p.start, p.rounds, p.destroy)
}

func runChannel(r request, lines []line) {
	to := make([]chan bool, r.n)
	for i := range to {
		to[i] = make(chan bool)
	}
	back := make(chan bool)
	expected := uint64(0)
	life := func(i int) {
		mine := &lines[i]
		for <-to[i] {
			mine.count++
			back <- true
		}
		back <- false
	}
	create := func() float64 {
		expected = 0
		return timedGo(r.n, func(i int) { go life(i) })
	}
	trips := func(k int) float64 {
		expected += uint64(k)
		return timed(func() {
			for ; k > 0; k-- {
				for i := range to {
					to[i] <- true
					<-back
				}
			}
		})
	}
	start := func() { trips(1) }
	rounds := func() float64 {
		k := 1
		trips(1)
		took := trips(1)
		for ; took < float64(r.budget)/16; took = trips(k) {
			k *= 2
		}
		repetitions := 7
		if took > float64(r.budget)/3 {
			repetitions = 3
		}
		var values []float64
		for i := 0; i < repetitions; i++ {
			values = append(values, trips(k)/float64(k*r.n))
		}
		return median(values)
	}
	destroy := func() {
		for i := range to {
			to[i] <- false
			<-back
		}
		check(lines, expected)
	}
	measureLife(r, create, start, rounds, destroy)
}
