// The page `managed` in Go; ../../harness/managed.hpp says what its workloads are. The goroutines are those of go-yield.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
)

const turnsBeforePeak = 10

// Tells the driver what to read of this process now, and waits until it has.
func letRead(what string) {
	fmt.Println(what)
	bufio.NewReader(os.Stdin).ReadString('\n')
}

func runManaged(r request, workload string, lines []line) {
	p := newYieldPage(r, lines)
	p.create()
	p.start()
	if workload == "switches" {
		r.emit(workload, "k/s", 1e6/p.rounds())
	} else {
		runtime.GC()
		letRead("live")
		p.turns(1 + turnsBeforePeak)
		letRead("peak")
	}
	p.destroy()
}
