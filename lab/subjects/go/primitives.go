// The page `primitives` in Go, on as many processors (GOMAXPROCS) as there are workers; ../../harness/primitives/primitives.hpp
// says what its workloads are. Where it is the same as on the page `wait`, its code is in wait.go.
//
//	mutex      sync.Mutex
//	semaphore  a channel of as many places as there are permits
//	event      a channel: of one place where nobody waits, else an unbuffered one
//	condition  sync.Cond; a monitor is a sync.Mutex and one of them
//	broadcast  a channel for each receiver
//	shared     sync.RWMutex. No lock may be taken again
//	timed      select with a time.Timer that is reset for each wait; a lock that can be given up is a channel
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	buffered           = 64
	permitsForMany     = 2
	burst              = 16
	producersConsumers = 4
)

// Does k units, and returns whether all went as intended.
var primitives = map[string]func(r load, k int) bool{
	"mutex_free":          mutexesFree,
	"mutex_contended":     func(r load, k int) bool { return oneMutex(r.count, k, true) },
	"mutex_parallel":      func(r load, k int) bool { return oneMutex(r.count, k, false) },
	"semaphore_free":      func(_ load, k int) bool { return permits(k, acquire) },
	"semaphore_contended": semaphoreContended,
	"event_free":          eventFree,
	"event_ping_pong":     func(_ load, k int) bool { return pingPong(k, receive) },
	"channel_same":        channelSame,
	"channel_1p1c":        func(_ load, k int) bool { return channelMany(1, k) },
	"channel_4p4c":        func(_ load, k int) bool { return channelMany(producersConsumers, k) },
	"channel_rendezvous":  channelRendezvous,
	"select_of_4":         func(_ load, k int) bool { return selectHandover(k) },
	"broadcast_100":       broadcast,
	"condition_ping_pong": conditionPingPong,
	"monitor_ping_pong":   monitorPingPong,
	"shared_free":         sharedFree,
	"shared_mixed":        sharedMixed,
	"timed_free":          timedFree,
	"timed_ping_pong":     timedPingPong,
}

func small(i int) int { return i & 127 }

func sumOfSmall(k int) (sum int) {
	for i := 0; i < k; i++ {
		sum += small(i)
	}
	return
}

// `body(i)` in as many goroutines, until all have ended.
func inGoroutines(count int, body func(i int)) {
	var group sync.WaitGroup
	group.Add(count)
	for i := 0; i < count; i++ {
		go func(i int) {
			defer group.Done()
			body(i)
		}(i)
	}
	group.Wait()
}

type guarded struct {
	_ [64]byte
	sync.Mutex
	counter int
	_       [64]byte
}

func mutexesFree(r load, k int) bool {
	all := make([]guarded, r.n)
	inGoroutines(r.n, func(i int) {
		m := &all[i]
		for left := k / r.n; left > 0; left-- {
			m.Lock()
			m.counter++
			m.Unlock()
		}
	})
	sum := 0
	for i := range all {
		sum += all[i].counter
	}
	return sum == k
}

func oneMutex(count, k int, yields bool) bool {
	var m guarded
	inGoroutines(count, func(int) {
		for left := k / count; left > 0; left-- {
			m.Lock()
			m.counter++
			if yields {
				runtime.Gosched()
			}
			m.Unlock()
		}
	})
	return m.counter == k
}

func semaphoreContended(r load, k int) bool {
	permit := make(chan bool, permitsForMany)
	var counter atomic.Int64
	inGoroutines(r.count, func(int) {
		for left := k / r.count; left > 0; left-- {
			permit <- true
			counter.Add(1)
			runtime.Gosched()
			<-permit
		}
	})
	return counter.Load() == int64(k)
}

func eventFree(_ load, k int) bool {
	event := make(chan bool, 1)
	seen := 0
	for i := 0; i < k; i++ {
		select {
		case event <- true:
		default:
		}
		if <-event {
			seen++
		}
	}
	return seen == k
}

func channelSame(_ load, k int) bool {
	c := make(chan int, buffered)
	sum := 0
	for i := 0; i < k; i++ {
		c <- small(i)
		sum += <-c
	}
	return sum == sumOfSmall(k)
}

// The last one that sends closes.
func channelMany(each, k int) bool {
	c := make(chan int, buffered)
	var sum, sending atomic.Int64
	sending.Store(int64(each))
	inGoroutines(2*each, func(i int) {
		if i < each {
			mine := k / each
			for j := i * mine; j < (i+1)*mine; j++ {
				c <- small(j)
			}
			if sending.Add(-1) == 0 {
				close(c)
			}
			return
		}
		received := 0
		for v := range c {
			received += v
		}
		sum.Add(int64(received))
	})
	return sum.Load() == int64(sumOfSmall(k))
}

func channelRendezvous(_ load, k int) bool {
	there, back := make(chan int), make(chan int)
	right, half := 0, k/2
	both(func(me int) {
		for i := 0; i < half; i++ {
			if me == 1 {
				back <- <-there
				continue
			}
			there <- i
			if <-back == i {
				right++
			}
		}
	})
	return right == k/2
}

func broadcast(r load, k int) bool {
	to := make([]chan int, r.count)
	for i := range to {
		to[i] = make(chan int, burst)
	}
	var left, sum atomic.Int64
	left.Store(int64(r.count))
	all := make(chan bool, 1)
	inGoroutines(r.count+1, func(i int) {
		if i == r.count {
			for j := 0; j < k; j++ {
				for _, c := range to {
					c <- small(j)
				}
				if (j+1)%burst == 0 {
					<-all
				}
			}
			return
		}
		mine := 0
		for j := 0; j < k; j++ {
			mine += <-to[i]
			if (j+1)%burst == 0 && left.Add(-1) == 0 {
				left.Store(int64(r.count))
				all <- true
			}
		}
		sum.Add(int64(mine))
	})
	return sum.Load() == int64(r.count*sumOfSmall(k))
}

func giveTurns(k int, m *sync.Mutex, changed [2]*sync.Cond) bool {
	turn, turns := 0, 0
	both(func(me int) {
		m.Lock()
		for i := 0; i < k/2; i++ {
			for turn != me {
				changed[me].Wait()
			}
			turns++
			turn = 1 - me
			changed[1-me].Signal()
		}
		m.Unlock()
	})
	return turns == k
}

func conditionPingPong(_ load, k int) bool {
	var m sync.Mutex
	return giveTurns(k, &m, [2]*sync.Cond{sync.NewCond(&m), sync.NewCond(&m)})
}

func monitorPingPong(_ load, k int) bool {
	var m sync.Mutex
	changed := sync.NewCond(&m)
	return giveTurns(k, &m, [2]*sync.Cond{changed, changed})
}

func sharedFree(_ load, k int) bool {
	var m sync.RWMutex
	counter := 0
	for i := 0; i < k; i++ {
		m.RLock()
		counter++
		m.RUnlock()
	}
	return counter == k
}

func sharedMixed(r load, k int) bool {
	var m sync.RWMutex
	writes := 0
	var reads atomic.Int64
	inGoroutines(r.count, func(int) {
		for i := 0; i < k/r.count; i++ {
			if i%8 == 7 {
				m.Lock()
				writes++
				runtime.Gosched()
				m.Unlock()
			} else {
				m.RLock()
				reads.Add(1)
				runtime.Gosched()
				m.RUnlock()
			}
		}
	})
	return writes+int(reads.Load()) == k
}

func timedFree(_ load, k int) bool {
	deadline := time.NewTimer(time.Hour)
	defer deadline.Stop()
	return permits(k, func(permit chan bool) bool {
		deadline.Reset(time.Hour)
		select {
		case permit <- true:
			return true
		case <-deadline.C:
			return false
		}
	})
}

func timedPingPong(_ load, k int) bool {
	var deadlines [2]*time.Timer
	for i := range deadlines {
		deadlines[i] = time.NewTimer(time.Hour)
		defer deadlines[i].Stop()
	}
	to := [2]chan bool{make(chan bool), make(chan bool)}
	received := [2]int{}
	both(func(me int) {
		for i := 0; i < k/2; i++ {
			if me == 0 {
				to[1] <- true
			}
			deadlines[me].Reset(time.Hour)
			select {
			case <-to[me]:
				received[me]++
			case <-deadlines[me].C:
			}
			if me == 1 {
				to[0] <- true
			}
		}
	})
	return received[0]+received[1] == k
}

// Each has a timer of its own, which it resets for the next wait.
func expireWaits(count, waits int) bool {
	var expired atomic.Int64
	each := time.Duration(count) * time.Microsecond
	inGoroutines(count, func(i int) {
		never := make(chan bool)
		deadline := time.NewTimer(time.Hour)
		for j := 0; j < waits; j++ {
			deadline.Reset(each + spread(i+j*count, each))
			select {
			case <-never:
			case <-deadline.C:
				expired.Add(1)
			}
		}
	})
	return int(expired.Load()) == count*waits
}

func timedExpire(r load) {
	const waits = 32
	if !expireWaits(r.count, waits) {
		fail("a wait did not expire")
	}
	before := processorTime()
	if !expireWaits(r.count, waits) {
		fail("a wait did not expire")
	}
	r.emit("timed_expire", "ns", (processorTime()-before)/float64(r.count*waits))
}
