// The servers of the page `net`, called as `go-subject <system> <mode> <workers>`; ../../harness/net/server.hpp says what each
// mode does. A goroutine for each connection, GOMAXPROCS the number of workers, the package net as it is: it has one
// listener, and sets TCP_NODELAY by itself.
package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
)

const (
	response     = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"
	requestRoom  = 4096
	echoRoom     = 16384
	sinkRoom     = 65536
	datagramRoom = 2048
)

var (
	responses    = bytes.Repeat([]byte(response), requestRoom/4)
	endOfRequest = []byte("\r\n\r\n")
)

// serveHTTP answers all requests that are complete in one read by one write.
func serveHTTP(peer net.Conn) {
	defer peer.Close()
	buffer := make([]byte, requestRoom)
	have := 0
	for have < requestRoom {
		n, err := peer.Read(buffer[have:])
		if err != nil {
			return
		}
		have += n
		count, used := 0, 0
		for at := bytes.Index(buffer[:have], endOfRequest); at >= 0; at = bytes.Index(buffer[used:have], endOfRequest) {
			count++
			used += at + len(endOfRequest)
		}
		have = copy(buffer, buffer[used:have])
		if count > 0 {
			if _, err := peer.Write(responses[:count*len(response)]); err != nil {
				return
			}
		}
	}
}

func serveEcho(peer net.Conn) {
	defer peer.Close()
	buffer := make([]byte, echoRoom)
	for {
		n, err := peer.Read(buffer)
		if err != nil {
			return
		}
		if _, err := peer.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func serveSink(peer net.Conn) {
	defer peer.Close()
	buffer := make([]byte, sinkRoom)
	for {
		if _, err := peer.Read(buffer); err != nil {
			return
		}
	}
}

// echoDatagrams takes one at a time: the package has no batches.
func echoDatagrams(door *net.UDPConn) {
	buffer := make([]byte, datagramRoom)
	for {
		n, from, err := door.ReadFromUDPAddrPort(buffer)
		if err != nil {
			fail(err.Error())
		}
		door.WriteToUDPAddrPort(buffer[:n], from)
	}
}

// serveDatagrams has as many goroutines as workers at one socket.
func serveDatagrams(workers int) {
	door, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		fail(err.Error())
	}
	fmt.Println(door.LocalAddr().(*net.UDPAddr).Port)
	for i := 1; i < workers; i++ {
		go echoDatagrams(door)
	}
	echoDatagrams(door)
}

// serveNet is all of a server. It ends by SIGTERM.
func serveNet(mode, workersText string) {
	workers, err := strconv.Atoi(workersText)
	handler := map[string]func(net.Conn){"http": serveHTTP, "echo": serveEcho, "sink": serveSink}[mode]
	if err != nil || workers < 1 || (handler == nil && mode != "udp") {
		fail("usage: go-subject <system> http|echo|sink|udp <workers>")
	}
	runtime.GOMAXPROCS(workers)
	if mode == "udp" {
		serveDatagrams(workers)
	}
	door, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fail(err.Error())
	}
	fmt.Println(door.Addr().(*net.TCPAddr).Port)
	for {
		peer, err := door.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		go handler(peer)
	}
}
