// The page `managed`, what a collector makes of it: ../../harness/collector/libgc.hpp says what its workloads are. Go's
// collector runs beside the goroutines, so a collection is timed from the call of runtime.GC() until it returns; most of
// that is no pause. Each goroutine has a pointer to an object in its frame, and is blocked on a channel.
package main

import (
	"runtime"
	"runtime/metrics"
	"time"
)

const framesOfDeep, collections = 10, 9

type heldObject struct {
	mark uintptr
	rest [5]uintptr
}

//go:noinline
func makeObject(mark int) *heldObject {
	return &heldObject{mark: uintptr(mark)}
}

//go:noinline
func below(frames int, gate chan bool) {
	if frames > 0 {
		below(frames-1, gate)
	} else {
		<-gate
	}
}

// Nothing but the frame refers to the object.
func holdUntil(gate chan bool, i, frames int, arrived, intact chan<- bool) {
	held := makeObject(i + 1)
	arrived <- true
	if frames > 0 {
		below(frames, gate)
	} else {
		<-gate
	}
	intact <- held.mark == uintptr(i+1)
}

func isCollectorWorkload(workload string) bool {
	return workload == "gc_pause" || workload == "gc_pause_deep" || workload == "gc_words"
}

func runCollector(r request, workload string) {
	gate, arrived, intact := make(chan bool), make(chan bool), make(chan bool)
	frames := 0
	if workload == "gc_pause_deep" {
		frames = framesOfDeep
	}
	for i := 0; i < r.n; i++ {
		go holdUntil(gate, i, frames, arrived, intact)
	}
	for i := 0; i < r.n; i++ {
		<-arrived
	}
	runtime.GC()
	var values []float64
	for i := 0; i < collections; i++ {
		begin := time.Now()
		runtime.GC()
		values = append(values, float64(time.Since(begin))/1e6)
	}
	if workload == "gc_words" {
		scanned := []metrics.Sample{{Name: "/gc/scan/stack:bytes"}}
		metrics.Read(scanned)
		if scanned[0].Value.Kind() == metrics.KindBad {
			r.skip(workload, "needs Go 1.21, whose metrics have the bytes of scanned stacks")
			return
		}
		r.emit(workload, "words", float64(scanned[0].Value.Uint64())/8/float64(r.n))
	} else {
		r.emit(workload, "ms", median(values))
	}
	close(gate)
	for i := 0; i < r.n; i++ {
		if !<-intact {
			fail("an object that a goroutine holds was freed")
		}
	}
}
