// What waits beside goroutines that compute: as in ../../harness/scheduler/scheduler.hpp.
package main

import (
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

func compute(long time.Duration) {
	for begin := time.Now(); time.Since(begin) < long; {
	}
}

func spreadOut(r load) {
	r.emit("spread", "ms", medianOfSome(r.budget, func() float64 {
		var left atomic.Int64
		left.Store(int64(r.count))
		over := make(chan bool, 1)
		begin := time.Now()
		go func() {
			for i := 0; i < r.count; i++ {
				go func() {
					compute(time.Millisecond)
					if left.Add(-1) == 0 {
						over <- true
					}
				}()
			}
			compute(20 * time.Millisecond)
		}()
		<-over
		return float64(time.Since(begin))
	})/1e6)
}

func besideStuck(r load) {
	var over atomic.Bool
	late := make([][]float64, r.count)
	var all sync.WaitGroup
	for i := range late {
		all.Add(1)
		go func(mine *[]float64) {
			for !over.Load() {
				begin := time.Now()
				time.Sleep(time.Millisecond)
				*mine = append(*mine, float64(time.Since(begin)-time.Millisecond)/1e6)
			}
			all.Done()
		}(&late[i])
	}
	all.Add(1)
	go func() {
		time.Sleep(5 * time.Millisecond)
		compute(300 * time.Millisecond)
		over.Store(true)
		all.Done()
	}()
	all.Wait()
	var sorted []float64
	for _, mine := range late {
		sorted = append(sorted, mine...)
	}
	sort.Float64s(sorted)
	r.emit("beside_stuck_median", "ms", sorted[len(sorted)/2])
	r.emit("beside_stuck_longest", "ms", sorted[len(sorted)-1])
}
