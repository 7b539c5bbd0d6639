// The page `tasks` in Go: `go-subject go <workload> <n> <stack bytes> <budget ms>`; ../hocket/tasks/ says what one unit of a
// workload is. A task is a goroutine that leaves its value in a channel of capacity 1, and to await it is to receive.
//
//	oneshot_trip  n goroutines, each at an unbuffered channel of its own; the owner sends to one after the other
//	when_all      a sync.WaitGroup, the values in a slice
//	throw         an error beside the value, which each hands on
package main

import (
	"errors"
	"sync"
	"time"
)

func isTasksWorkload(workload string) bool {
	_, known := taskRounds[workload]
	return known || workload == "frame_bytes"
}

// Makes the function that does k rounds and returns how long they took, and says how many units a round has.
var taskRounds = map[string]func(n int) (rounds func(k int) float64, units int){
	"await_int":     func(n int) (func(k int) float64, int) { return awaitRounds(n, ints) },
	"await_string":  func(n int) (func(k int) float64, int) { return awaitRounds(n, texts) },
	"nested_int":    func(n int) (func(k int) float64, int) { return nestedRounds(n, ints) },
	"nested_string": func(n int) (func(k int) float64, int) { return nestedRounds(n, texts) },
	"throw":         throwRounds,
	"oneshot_trip":  tripRounds,
	"when_all":      togetherRounds,
}

func runTasks(r request, workload string) {
	if workload == "frame_bytes" {
		runFrameBytes(r)
		return
	}
	rounds, units := taskRounds[workload](r.n)
	r.emit(workload, "ns", medianOfRounds(r.budget, rounds)/float64(units))
}

// The median of one round's time over several repetitions, as in ../../harness/harness.hpp.
func medianOfRounds(budget time.Duration, rounds func(k int) float64) float64 {
	k := 1
	rounds(1)
	took := rounds(1)
	for ; took < float64(budget)/16; took = rounds(k) {
		k *= 2
	}
	repetitions := 7
	if took > float64(budget)/3 {
		repetitions = 3
	}
	var values []float64
	for i := 0; i < repetitions; i++ {
		values = append(values, rounds(k)/float64(k))
	}
	return median(values)
}

// What tasks give, as in ../../harness/tasks/values.hpp.
type valueKind[T any] struct {
	made   func(i int) T
	number func(T) int
}

var ints = valueKind[int]{func(i int) int { return i & 0xffff }, func(v int) int { return v }}

// Strings of up to eight bytes, which nobody makes anew: a string of Go is a pointer and a length.
var texts = valueKind[string]{func(i int) string { return "eight of"[:i%8+1] }, func(v string) int { return len(v) }}

func (v valueKind[T]) sum(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += v.number(v.made(i))
	}
	return
}

func leaf[T any](v valueKind[T], i int) chan T {
	gives := make(chan T, 1)
	go func() { gives <- v.made(i) }()
	return gives
}

func sumOfValues(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += i & 0xffff
	}
	return
}

// As random_order in ../../harness/tasks/values.hpp.
func randomOrder(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	state := uint64(42)
	for i := n - 1; i > 0; i-- {
		state = state*6364136223846793005 + 1442695040888963407
		j := (state >> 33) % uint64(i+1)
		order[i], order[j] = order[j], order[i]
	}
	return order
}

func awaitRounds[T any](n int, v valueKind[T]) (func(k int) float64, int) {
	if n == 1 {
		const some = 64
		return checked(v.sum(some), func() (sum int) {
			for i := 0; i < some; i++ {
				sum += v.number(<-leaf(v, i))
			}
			return
		}), some
	}
	live, order := make([]chan T, n), randomOrder(n)
	return checked(v.sum(n), func() (sum int) {
		for i := range live {
			live[i] = leaf(v, i)
		}
		for _, i := range order {
			sum += v.number(<-live[i])
		}
		return
	}), n
}

// k rounds, each of which must give the same sum.
func checked(expected int, round func() int) func(k int) float64 {
	return func(k int) float64 {
		sum := 0
		ns := timed(func() {
			for i := 0; i < k; i++ {
				sum += round()
			}
		})
		if sum != expected*k {
			fail("the goroutines gave another sum")
		}
		return ns
	}
}

func nested[T any](v valueKind[T], depth int) chan T {
	gives := make(chan T, 1)
	go func() {
		if depth == 1 {
			gives <- v.made(1)
			return
		}
		gives <- <-nested(v, depth-1)
	}()
	return gives
}

func nestedRounds[T any](n int, v valueKind[T]) (func(k int) float64, int) {
	return checked(v.number(v.made(1)), func() int { return v.number(<-nested(v, n)) }), n
}

type outcome struct {
	value int
	err   error
}

var errFailed = errors.New("failed")

func failing(depth int) chan outcome {
	gives := make(chan outcome, 1)
	go func() {
		if depth == 1 {
			gives <- outcome{err: errFailed}
			return
		}
		got := <-failing(depth - 1)
		if got.err != nil {
			gives <- outcome{err: got.err}
			return
		}
		gives <- outcome{value: got.value + 1}
	}()
	return gives
}

// The unit is the whole.
func throwRounds(n int) (func(k int) float64, int) {
	return checked(1, func() int {
		if got := <-failing(n); errors.Is(got.err, errFailed) {
			return 1
		}
		return 0
	}), 1
}

func tripRounds(n int) (func(k int) float64, int) {
	to, taken, order := make([]chan int, n), make([]line, n), randomOrder(n)
	for i := range to {
		to[i] = make(chan int)
		go func(i int) {
			for value := range to[i] {
				if value != i {
					fail("a goroutine received another's value")
				}
				taken[i].count++
			}
		}(i)
	}
	return func(k int) float64 {
		return timed(func() {
			for ; k > 0; k-- {
				for _, i := range order {
					to[i] <- i
				}
			}
		})
	}, n
}

func togetherRounds(n int) (func(k int) float64, int) {
	return checked(sumOfValues(n), func() (sum int) {
		var group sync.WaitGroup
		values := make([]int, n)
		group.Add(n)
		for i := range values {
			go func(i int) {
				values[i] = i & 0xffff
				group.Done()
			}(i)
		}
		group.Wait()
		for _, value := range values {
			sum += value
		}
		return
	}), n
}

// Goroutines that were created and have given nothing yet, with their channels.
func runFrameBytes(r request) {
	begin := make(chan int)
	live := make([]chan int, r.n)
	for i := range live {
		live[i] = begin // touches every page
	}
	before := residentBytes()
	for i := range live {
		gives := make(chan int, 1)
		live[i] = gives
		go func(i int) {
			<-begin
			gives <- i & 0xffff
		}(i)
	}
	grown := residentBytes() - before
	close(begin)
	sum := 0
	for i := range live {
		sum += <-live[i]
	}
	if sum != sumOfValues(r.n) {
		fail("the goroutines gave another sum")
	}
	if grown < 0 {
		grown = 0
	}
	r.emit("frame_bytes", "B", grown/float64(r.n))
}
