// The page `manager` in Go; ../../harness/manager/manager.hpp defines its workloads. Goroutines have no ids, so the ids
// are as in a server: a map under a mutex.
//
//	go-statement     nothing else: no id
//	go-registry      an id leads to a context.CancelFunc and, once there is a deadline, to a time.AfterFunc that calls
//	                 it; the id of a reply leads to a channel of one place. A group is a context, the parent of its
//	                 members' contexts
//	go-waiting       the goroutines of go-registry, where deadlines pass (deadlines.go)
//	go-timers        time.AfterFunc: no goroutine waits, a function counts
//	go-with-timeout  context.WithTimeout: no goroutine waits
//	go-one-context   all wait for one context
package main

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	atATime          = 64
	cancelledAtATime = 1000
)

type managedEntry struct {
	cancel context.CancelFunc
	timer  *time.Timer
}

type registry struct {
	sync.Mutex
	next    uint64
	all     map[uint64]*managedEntry
	pending map[uint64]chan uint64
	waiting int // goroutines of one thread that give way at calls alone; the mutex guards it all the same
	live    int
}

func newRegistry() *registry {
	return &registry{all: make(map[uint64]*managedEntry), pending: make(map[uint64]chan uint64)}
}

func (g *registry) spawn(of context.Context, body func(ctx context.Context)) uint64 {
	ctx, cancel := context.WithCancel(of)
	g.Lock()
	g.next++
	id := g.next
	g.all[id] = &managedEntry{cancel: cancel}
	g.live++
	g.Unlock()
	go func() {
		body(ctx)
		g.end(id)
	}()
	return id
}

func (g *registry) end(id uint64) {
	g.Lock()
	e := g.all[id]
	delete(g.all, id)
	g.live--
	g.Unlock()
	if e.timer != nil {
		e.timer.Stop()
	}
	e.cancel()
}

func (g *registry) find(id uint64) *managedEntry {
	g.Lock()
	e := g.all[id]
	g.Unlock()
	return e
}

func (g *registry) setDeadline(id uint64, within time.Duration) bool {
	g.Lock()
	defer g.Unlock()
	e := g.all[id]
	if e == nil {
		return false
	}
	if e.timer == nil {
		e.timer = time.AfterFunc(within, e.cancel)
	} else {
		e.timer.Reset(within)
	}
	return true
}

func (g *registry) count() (waiting, live int) {
	g.Lock()
	defer g.Unlock()
	return g.waiting, g.live
}

func (g *registry) wait(ctx context.Context) {
	g.Lock()
	g.waiting++
	g.Unlock()
	<-ctx.Done()
	g.Lock()
	g.waiting--
	g.Unlock()
}

// All wait when it returns.
func (g *registry) fill(of context.Context, count int, place func(i int, id uint64)) {
	before, _ := g.count()
	for i := 0; i < count; i++ {
		place(i, g.spawn(of, g.wait))
		if i%atATime == 0 {
			runtime.Gosched()
		}
	}
	for {
		if waiting, _ := g.count(); waiting == before+count {
			return
		}
		runtime.Gosched()
	}
}

func (g *registry) untilLive(count int) {
	for {
		if _, live := g.count(); live == count {
			return
		}
		runtime.Gosched()
	}
}

func dropID(int, uint64) {}

// As shuffled in ../../harness/manager/manager.hpp, gone round.
func placesOf(n int) func() int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	state := uint64(42)
	for i := n; i > 1; i-- {
		state = state*6364136223846793005 + 1442695040888963407
		j := int((state >> 33) % uint64(i))
		all[i-1], all[j] = all[j], all[i-1]
	}
	at := 0
	return func() int {
		if at == n {
			at = 0
		}
		at++
		return all[at-1]
	}
}

func managerAdd(r request) {
	g := newRegistry()
	never := make(chan bool)
	if r.system == "go-registry" {
		g.fill(context.Background(), r.n, dropID)
	} else {
		for i := 0; i < r.n; i++ {
			go func() { <-never }()
			if i%atATime == 0 {
				runtime.Gosched()
			}
		}
	}
	runtime.GC()
	var ended atomic.Int64
	ns := medianOfRounds(r.budget, func(k int) float64 {
		ended.Store(0)
		return timed(func() {
			for round := 1; round <= k; round++ {
				for i := 0; i < atATime; i++ {
					if r.system == "go-registry" {
						g.spawn(context.Background(), func(context.Context) { ended.Add(1) })
					} else {
						go func() { ended.Add(1) }()
					}
				}
				for ended.Load() != int64(round*atATime) {
					runtime.Gosched()
				}
			}
		})
	})
	r.emit("manager_add", "ns", ns/atATime)
	runtime.KeepAlive(never)
}

func managerByID(r request) {
	g := newRegistry()
	ids := make([]uint64, r.n)
	g.fill(context.Background(), r.n, func(i int, id uint64) { ids[i] = id })
	runtime.GC()
	next := placesOf(r.n)
	r.emit("manager_find", "ns", medianOfRounds(r.budget, func(k int) float64 {
		return timed(func() {
			for ; k > 0; k-- {
				if g.find(ids[next()]) == nil {
					fail("an id was not found")
				}
			}
		})
	}))
	number := 0
	r.emit("manager_deadline", "ns", medianOfRounds(r.budget, func(k int) float64 {
		return timed(func() {
			for ; k > 0; k-- {
				if !g.setDeadline(ids[next()], far(number)) {
					fail("a deadline was not set")
				}
				number++
			}
		})
	}))
	some := cancelledAtATime
	if some > r.n {
		some = r.n
	}
	chosen := make([]int, some)
	ns := medianOfRounds(r.budget, func(k int) (took float64) {
		for ; k > 0; k-- {
			for i := range chosen {
				chosen[i] = next()
			}
			took += timed(func() {
				for _, place := range chosen {
					g.find(ids[place]).cancel()
				}
				g.untilLive(r.n - some)
			})
			g.fill(context.Background(), some, func(i int, id uint64) { ids[chosen[i]] = id })
		}
		return
	})
	r.emit("manager_cancel", "ns", ns/float64(some))
}

func (g *registry) expect() (uint64, chan uint64) {
	reply := make(chan uint64, 1)
	g.Lock()
	g.next++
	id := g.next
	g.pending[id] = reply
	g.Unlock()
	return id, reply
}

func (g *registry) complete(id, value uint64) {
	g.Lock()
	reply, expected := g.pending[id]
	delete(g.pending, id)
	g.Unlock()
	if !expected {
		fail("nobody expected the reply")
	}
	reply <- value
}

func managerReply(r request) {
	g := newRegistry()
	for i := 0; i < r.n; i++ {
		g.expect()
	}
	runtime.GC()
	measure := func(metric string, other bool) {
		r.emit(metric, "ns", medianOfRounds(r.budget, func(k int) float64 {
			var wanted atomic.Uint64
			expectAll := func() {
				sum := uint64(0)
				for i := 0; i < k; i++ {
					id, reply := g.expect()
					if other {
						wanted.Store(id)
					} else {
						g.complete(id, uint64(i))
					}
					sum += <-reply
				}
				if sum != uint64(k)*uint64(k-1)/2 {
					fail("the replies were others")
				}
			}
			if !other {
				return timed(expectAll)
			}
			ended := make(chan float64)
			go func() { ended <- timed(expectAll) }()
			for wanted.Load() == 0 {
				runtime.Gosched()
			}
			last := uint64(0)
			for i := 0; i < k; i++ {
				for wanted.Load() == last {
					runtime.Gosched()
				}
				last = wanted.Load()
				g.complete(last, uint64(i))
				runtime.Gosched()
			}
			return <-ended
		}))
	}
	measure("manager_reply_ready", false)
	measure("manager_reply_handover", true)
}

// Whether the workload is one of these.
func runManager(r request, workload string) bool {
	measure := map[string]func(request){
		"manager_add":            managerAdd,
		"manager_by_id":          managerByID,
		"manager_reply":          managerReply,
		"manager_expire":         func(r request) { managerExpire(r, workload, false) },
		"manager_expire_in_turn": func(r request) { managerExpire(r, workload, true) },
		"manager_group":          managerGroup,
	}[workload]
	if measure == nil {
		return false
	}
	measure(r)
	return true
}
