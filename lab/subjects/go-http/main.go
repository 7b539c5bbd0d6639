// The server of the package net/http on the page `net`, called as `go-http-subject <system> http <workers>`;
// ../../harness/net/server.hpp describes the modes. GOMAXPROCS is the number of workers. The server is net/http's default:
// no deadlines, a ServeMux with one route. It is a program of its own, because net/http would add to the memory of ../go.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
)

func fail(why string) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(1)
}

func hello(answer http.ResponseWriter, _ *http.Request) {
	answer.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(answer, "hello\n")
}

func main() {
	if len(os.Args) != 4 || os.Args[2] != "http" {
		fail("usage: go-http-subject <system> http <workers>")
	}
	workers, err := strconv.Atoi(os.Args[3])
	if err != nil || workers < 1 {
		fail("the number of workers must be positive")
	}
	runtime.GOMAXPROCS(workers)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fail(err.Error())
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	routes := http.NewServeMux()
	routes.HandleFunc("/", hello)
	fail(http.Serve(listener, routes).Error())
}
