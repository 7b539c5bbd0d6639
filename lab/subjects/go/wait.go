// The page `wait` in Go: `go-subject <system> <workload> <n> <stack bytes> <budget ms>`. ../../harness/wait.hpp defines one
// unit of a workload; in Go it consists of
//
//	mutex      sync.Mutex. A goroutine that unlocks it may lock it again before the woken waiter gets it. So in
//	           mutex_handover each holder calls runtime.Gosched while it holds the mutex, and again after.
//	event      an unbuffered channel. Go has no event.
//	oneshot    a channel of capacity 1, made for one value
//	semaphore  a channel of capacity 1, the language's idiom
//	within     a lock that can be given up: again a channel of capacity 1, in a select with time.After (system go) or with
//	           context.WithTimeout, which is cancelled afterwards (system go-context). No timer expires.
//	select     select over four channels
package main

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Does k units, with an even k, and returns whether all results were right.
type units func(k int) bool

var waitBatches = map[string]map[string]units{
	"go": {
		"mutex":              mutexFree,
		"mutex_handover":     mutexHandover,
		"event":              func(k int) bool { return pingPong(k, receive) },
		"oneshot":            oneshotReady,
		"oneshot_handover":   oneshotHandover,
		"semaphore":          func(k int) bool { return permits(k, acquire) },
		"semaphore_handover": semaphoreHandover,
		"within":             func(k int) bool { return permits(k, acquireOrTimer) },
		"within_handover":    func(k int) bool { return pingPong(k, receiveOrTimer) },
		"select":             selectReady,
		"select_handover":    selectHandover,
	},
	"go-context": {
		"within":          func(k int) bool { return permits(k, acquireOrContext) },
		"within_handover": func(k int) bool { return pingPong(k, receiveOrContext) },
	},
}

func runBatches(r request, workload string) {
	f, known := waitBatches[r.system][workload]
	if !known {
		fail("this subject does not know that workload")
	}
	measureBatches(r, workload, f)
}

func measureBatches(r request, workload string, f units) {
	measure := func(k int) float64 {
		right := false
		ns := timed(func() { right = f(k) })
		if !right {
			fail("a batch returned a wrong result")
		}
		return ns
	}
	k := 64
	for took := measure(k); took < float64(r.budget)/16; took = measure(k) {
		k *= 2
	}
	var values []float64
	for used := 0.0; len(values) < 9 && used < 8*float64(r.budget); { // as in ../../harness/harness.hpp
		took := measure(k)
		used += took
		values = append(values, took/float64(k))
	}
	r.emit(workload, "ns", median(values))
}

// both runs two goroutines to their end, number 0 first.
func both(body func(me int)) {
	var group sync.WaitGroup
	for _, me := range []int{1, 0} { // what is started last runs first
		group.Add(1)
		go func(me int) {
			defer group.Done()
			body(me)
		}(me)
	}
	group.Wait()
}

func mutexFree(k int) bool {
	var m sync.Mutex
	counter := 0
	for i := 0; i < k; i++ {
		m.Lock()
		counter++
		m.Unlock()
	}
	return counter == k
}

// Every 61st time the scheduler looks at its global queue first. The holder is in this queue after Gosched, so it keeps
// the mutex then. The scheduler also preempts. Hence not all handovers are expected.
func mutexHandover(k int) bool {
	var m sync.Mutex
	last, handed := -1, 0
	both(func(me int) {
		for i := 0; i < k/2; i++ {
			m.Lock()
			if last != me {
				handed++
			}
			last = me
			runtime.Gosched()
			m.Unlock()
			runtime.Gosched()
		}
	})
	return handed*100 >= k*90
}

func receive(from chan bool) bool {
	return <-from
}

func receiveOrTimer(from chan bool) bool {
	select {
	case <-from:
		return true
	case <-time.After(time.Hour):
		return false
	}
}

func receiveOrContext(from chan bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	select {
	case <-from:
		return true
	case <-ctx.Done():
		return false
	}
}

func pingPong(k int, receive func(from chan bool) bool) bool {
	to := [2]chan bool{make(chan bool), make(chan bool)}
	received := 0
	both(func(me int) {
		for i := 0; i < k/2; i++ {
			if me == 0 {
				to[1] <- true
			}
			if receive(to[me]) {
				received++
			}
			if me == 1 {
				to[0] <- true
			}
		}
	})
	return received == k
}

func oneshotReady(k int) bool {
	sum := 0
	for i := 0; i < k; i++ {
		c := make(chan int, 1)
		c <- i
		sum += <-c
	}
	return sum == k*(k-1)/2
}

// Each makes a channel for its next value, passes it to the other goroutine, and sends on the channel that it got.
func oneshotHandover(k int) bool {
	var left [2]chan int
	received := 0
	both(func(me int) {
		for i := 0; i < k/2; i++ {
			mine := make(chan int, 1)
			left[me] = mine
			if other := left[1-me]; other != nil {
				left[1-me] = nil
				other <- 1
			}
			if i+1 < k/2 || me == 0 {
				received += <-mine
			}
		}
	})
	return received == k-1
}

func acquire(permit chan bool) bool {
	permit <- true
	return true
}

func acquireOrTimer(permit chan bool) bool {
	select {
	case permit <- true:
		return true
	case <-time.After(time.Hour):
		return false
	}
}

func acquireOrContext(permit chan bool) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	select {
	case permit <- true:
		return true
	case <-ctx.Done():
		return false
	}
}

func permits(k int, acquire func(permit chan bool) bool) bool {
	permit := make(chan bool, 1)
	counter := 0
	for i := 0; i < k; i++ {
		if acquire(permit) {
			counter++
			<-permit
		}
	}
	return counter == k
}

func semaphoreHandover(k int) bool {
	permit := make(chan bool, 1)
	last, handed := -1, 0
	both(func(me int) {
		for i := 0; i < k/2; i++ {
			permit <- true
			if last != me {
				handed++
			}
			last = me
			if i == 0 && me == 0 {
				runtime.Gosched() // let the other one wait
			}
			<-permit
		}
	})
	return handed*100 >= k*90
}

type four [4]chan int

func makeFour(capacity int) (f four) {
	for i := range f {
		f[i] = make(chan int, capacity)
	}
	return
}

func (f *four) receive() int {
	select {
	case v := <-f[0]:
		return v
	case v := <-f[1]:
		return v
	case v := <-f[2]:
		return v
	case v := <-f[3]:
		return v
	}
}

func selectReady(k int) bool {
	f := makeFour(1)
	sum := 0
	for i := 0; i < k; i++ {
		f[i%4] <- i
		sum += f.receive()
	}
	return sum == k*(k-1)/2
}

func selectHandover(k int) bool {
	to := [2]four{makeFour(0), makeFour(0)}
	received := 0
	both(func(me int) {
		for i := 0; i < k/2; i++ {
			if me == 0 {
				to[1][i%4] <- 1
			}
			received += to[me].receive()
			if me == 1 {
				to[0][i%4] <- 1
			}
		}
	})
	return received == k
}
