// The page `manager` in Go, what is stopped by its time or with others; manager.go has the rest.
package main

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

func nearby(i, n int, inTurn bool) time.Duration {
	half := time.Duration(n) * 500
	if inTurn {
		return half + time.Duration(i)*500
	}
	return half + spread(i, half)
}

// The processor time of a round, from when it says that all is there.
func expireOnce(r request, inTurn bool) float64 {
	var before float64
	begin := func() {
		runtime.GC()
		before = processorTime()
	}
	switch r.system {
	case "go-timers":
		begin()
		var left atomic.Int64
		left.Store(int64(r.n))
		over := make(chan bool, 1)
		for i := 0; i < r.n; i++ {
			time.AfterFunc(nearby(i, r.n, inTurn), func() {
				if left.Add(-1) == 0 {
					over <- true
				}
			})
		}
		<-over
	case "go-with-timeout":
		contexts := make([]context.Context, r.n)
		begin()
		for i := range contexts {
			ctx, cancel := context.WithTimeout(context.Background(), nearby(i, r.n, inTurn))
			_ = cancel // it passes
			contexts[i] = ctx
		}
		time.Sleep(time.Duration(r.n) * time.Microsecond)
		for _, ctx := range contexts {
			for ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
		}
	case "go-waiting":
		g := newRegistry()
		ids := make([]uint64, r.n)
		g.fill(context.Background(), r.n, func(i int, id uint64) { ids[i] = id })
		begin()
		for i, id := range ids {
			if !g.setDeadline(id, nearby(i, r.n, inTurn)) {
				fail("a deadline was not set")
			}
		}
		for {
			if _, live := g.count(); live == 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	return processorTime() - before
}

func managerExpire(r request, metric string, inTurn bool) {
	expireOnce(r, inTurn)
	r.emit(metric, "ns", expireOnce(r, inTurn)/float64(r.n))
}

// Each member waits for the group's own context, and no other.
func sharedContext(r request, k int) (took float64) {
	for ; k > 0; k-- {
		ctx, cancel := context.WithCancel(context.Background())
		var begun, ended sync.WaitGroup
		begun.Add(r.n)
		ended.Add(r.n)
		for i := 0; i < r.n; i++ {
			go func() {
				begun.Done()
				<-ctx.Done()
				ended.Done()
			}()
		}
		begun.Wait()
		runtime.Gosched()
		took += timed(func() {
			cancel()
			ended.Wait()
		})
	}
	return
}

func managerGroup(r request) {
	g := newRegistry()
	ns := medianOfRounds(r.budget, func(k int) (took float64) {
		if r.system == "go-one-context" {
			return sharedContext(r, k)
		}
		for ; k > 0; k-- {
			of, cancel := context.WithCancel(context.Background())
			g.fill(of, r.n, dropID)
			took += timed(func() {
				cancel()
				g.untilLive(0)
			})
		}
		return
	})
	r.emit("manager_group", "ns", ns/float64(r.n))
}
