package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"

	"example.com/ginseng/kit/progress"
)

// fill creates the articles whose number is at least from and less than to, by requests on several connections. It calls created
// with the number and the ID of each article; the calls are not concurrent.
func fill(
	ctx context.Context, addr string, from, to int, request func(i int) []byte, stderr io.Writer, created func(i int, id string),
) error {
	bar := progress.Start(stderr, "creating articles", "articles", int64(to-from))
	defer bar.Stop()
	var mu sync.Mutex
	numbers := make(chan int)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(numbers)
		for i := from; i < to; i++ {
			select {
			case numbers <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range connections {
		group.Go(func() error {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				return err
			}
			defer conn.Close()
			in := bufio.NewReader(conn)
			for i := range numbers {
				id, err := create(conn, in, request(i))
				if err != nil {
					return fmt.Errorf("article %d: %w", i, err)
				}
				mu.Lock()
				created(i, id)
				mu.Unlock()
				bar.Add(1)
			}
			return nil
		})
	}
	return group.Wait()
}

// create sends a request that creates an article, and returns its ID.
func create(conn net.Conn, in *bufio.Reader, raw []byte) (id string, err error) {
	if err := conn.SetDeadline(time.Now().Add(responseTimeout)); err != nil {
		return "", err
	}
	if _, err := conn.Write(raw); err != nil {
		return "", err
	}
	var response fasthttp.Response
	if err := response.Read(in); err != nil {
		return "", err
	}
	if response.StatusCode() >= http.StatusBadRequest {
		return "", fmt.Errorf("status %d: %s", response.StatusCode(), response.Body())
	}
	var created struct{ ID string }
	err = json.Unmarshal(response.Body(), &created)
	return created.ID, err
}
