// Fork-join of the page `scheduler`: a goroutine for each branch, a sync.WaitGroup to wait for them. Go has neither a
// cheaper branch nor a parallel loop, and a fib of 35 would take half a minute: 25 is the most here, and what is told is
// the time of a call.
package main

import "sync"

func forkJoin(r load, workload, unit string, units float64, expected int, round func() int) {
	ns := medianOfSome(r.budget, func() float64 { return checked(expected, round)(1) })
	r.emit(workload, unit, ns/units)
}

func plainFib(n int) int {
	before, now := 1, 0
	for ; n > 0; n-- {
		before, now = now, before+now
	}
	return now
}

func fibOf(n int) (sum int) {
	if n < 2 {
		return n
	}
	var first int
	var forked sync.WaitGroup
	forked.Add(1)
	go func() {
		first = fibOf(n - 1)
		forked.Done()
	}()
	second := fibOf(n - 2)
	forked.Wait()
	return first + second
}

func fib(r load) {
	n := r.count
	if n > 25 {
		n = 25
	}
	forkJoin(r, "fib", "ns", float64(2*plainFib(n+1)-1), plainFib(n), func() int { return fibOf(n) })
}

func skynetOf(first, leaves int) (sum int) {
	if leaves == 1 {
		return first
	}
	var sums [10]int
	var forked sync.WaitGroup
	forked.Add(len(sums))
	for i := range sums {
		go func(i int) {
			sums[i] = skynetOf(first+i*(leaves/10), leaves/10)
			forked.Done()
		}(i)
	}
	forked.Wait()
	for _, one := range sums {
		sum += one
	}
	return
}

func skynet(r load) {
	forkJoin(r, "skynet", "ms", 1e6, r.count*(r.count-1)/2, func() int { return skynetOf(0, r.count) })
}

const mostQueens = 16

// The column of the queen in each row so far.
type board [mostQueens]uint8

func (b *board) isFree(row, column int) bool {
	for above := 0; above < row; above++ {
		distance, its := row-above, int(b[above])
		if its == column || its+distance == column || its == column+distance {
			return false
		}
	}
	return true
}

func queensOf(queens board, row, n int) (sum int) {
	if row == n {
		return 1
	}
	var found [mostQueens]int
	var forked sync.WaitGroup
	for column := 0; column < n; column++ {
		if !queens.isFree(row, column) {
			continue
		}
		next := queens
		next[row] = uint8(column)
		forked.Add(1)
		go func(column int) {
			found[column] = queensOf(next, row+1, n)
			forked.Done()
		}(column)
	}
	forked.Wait()
	for _, one := range found {
		sum += one
	}
	return
}

func nqueens(r load) {
	known := []int{1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712}
	if r.count >= len(known) {
		fail("the lab does not know how many solutions there are")
	}
	forkJoin(r, "nqueens", "ms", 1e6, known[r.count], func() int { return queensOf(board{}, 0, r.count) })
}

func flatLoop(r load) {
	stored := make([]uint32, r.count)
	iterate := func(i int, forked *sync.WaitGroup) {
		stored[i] = uint32(i) + 1
		forked.Done()
	}
	ns := medianOfSome(r.budget, func() float64 {
		ns := timed(func() {
			var forked sync.WaitGroup
			forked.Add(r.count)
			for i := range stored {
				go iterate(i, &forked)
			}
			forked.Wait()
		})
		for i := range stored {
			if stored[i] != uint32(i)+1 {
				fail("an iteration has not run")
			}
			stored[i] = 0
		}
		return ns
	})
	r.emit("flat_loop", "ns", ns/float64(r.count))
}
