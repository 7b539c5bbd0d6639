// go_client <url>: asks http_peers with net/http. Prints the number of connections, or the first fault.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	base        string
	connections atomic.Int64
	client      = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 50, MaxConnsPerHost: 50, ExpectContinueTimeout: 10 * time.Second}}
)

type sum struct {
	Bytes int64
	Crc   uint32
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}

func pattern(size int) []byte {
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i % 251)
	}
	return data
}

func do(method, path string, body io.Reader, fields map[string]string) (*http.Response, []byte) {
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if !info.Reused {
			connections.Add(1)
		}
	}}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), method, base+path, body)
	if err != nil {
		fail("%s", err)
	}
	for name, value := range fields {
		request.Header.Set(name, value)
	}
	answer, err := client.Do(request)
	if err != nil {
		fail("%s %s: %s", method, path, err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		fail("%s %s: body: %s", method, path, err)
	}
	return answer, data
}

func expectText(path, text string) {
	if answer, data := do("GET", path, nil, nil); answer.StatusCode != 200 || string(data) != text {
		fail("%s: %d %q", path, answer.StatusCode, data)
	}
}

func expectUpload(body []byte, reader io.Reader, fields map[string]string) {
	answer, data := do("POST", "/upload", reader, fields)
	var got sum
	if err := json.Unmarshal(data, &got); err != nil || answer.StatusCode != 200 {
		fail("upload: %d %q", answer.StatusCode, data)
	}
	if want := (sum{int64(len(body)), crc32.ChecksumIEEE(body)}); got != want {
		fail("upload: %v, want %v", got, want)
	}
}

func work(number int) {
	for i := 0; i < 20; i++ {
		expectText("/plain", "plain\n")
		expectText("/task", "task\n")
		expectText("/fiber", "fiber\n")
		body := pattern(10000*i + number)
		expectUpload(body, bytes.NewReader(body), nil)
		expectUpload(body, io.MultiReader(bytes.NewReader(body)), nil) // chunked
	}
}

// Cancels a request while its answer arrives.
func leave() {
	ctx, cancel := context.WithCancel(context.Background())
	request, _ := http.NewRequestWithContext(ctx, "GET", base+"/pattern?bytes=100000000", nil)
	answer, err := client.Do(request)
	if err != nil {
		fail("%s", err)
	}
	if _, err := io.ReadFull(answer.Body, make([]byte, 1000)); err != nil {
		fail("%s", err)
	}
	cancel()
	answer.Body.Close()
}

func expectEvents() {
	answer, err := client.Get(base + "/events?count=10")
	if err != nil {
		fail("%s", err)
	}
	defer answer.Body.Close()
	count := 0
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "id: ") {
			count++
		}
	}
	if count != 10 {
		fail("%d events", count)
	}
}

func main() {
	base = os.Args[1]
	expectText("/lines?count=3", "line 0\nline 1\nline 2\n")
	if _, data := do("GET", "/megabyte", nil, nil); !bytes.Equal(data, pattern(1<<20)) {
		fail("megabyte")
	}
	if answer, _ := do("HEAD", "/megabyte", nil, nil); answer.ContentLength != 1<<20 {
		fail("HEAD: %d", answer.ContentLength)
	}
	if answer, data := do("GET", "/files/large.bin", nil, map[string]string{"Range": "bytes=5-9"}); answer.StatusCode != 206 || !bytes.Equal(data, pattern(10)[5:]) {
		fail("range: %d %v", answer.StatusCode, data)
	}
	body := pattern(5000000)
	expectUpload(body, bytes.NewReader(body), map[string]string{"Expect": "100-continue"})
	if answer, _ := do("POST", "/unread", bytes.NewReader(body), map[string]string{"Expect": "100-continue"}); answer.StatusCode != 403 {
		fail("early answer: %d", answer.StatusCode)
	}
	expectEvents()
	var group sync.WaitGroup
	for i := 0; i < 50; i++ {
		group.Add(1)
		go func(number int) { defer group.Done(); work(number); leave() }(i)
	}
	group.Wait()
	fmt.Println(connections.Load())
}
