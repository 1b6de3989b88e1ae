package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
)

// bareCommand is the argument that makes this program a bare server.
const bareCommand = "serve-bare"

// canned is a recorded response.
type canned struct {
	Status int
	Header http.Header
	Body   []byte
}

// serveBare reads a canned response from a JSON file, and sends the response to every request. Its rate is the upper limit for
// this response with net/http. It prints its address.
func serveBare(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var response canned
	if err := json.Unmarshal(text, &response); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for name, values := range response.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(response.Status)
		_, _ = w.Write(response.Body)
	}))
}

// startBare starts a bare server that sends the response of s to a request.
func startBare(ctx context.Context, s server, raw []byte, work string) (bare server, err error) {
	response, body, err := send(s.addr, raw)
	if err != nil {
		return bare, err
	}
	response.Header.Del("Date") // net/http writes this header
	recorded, err := json.Marshal(canned{response.StatusCode, response.Header, body})
	if err != nil {
		return bare, err
	}
	file := filepath.Join(work, "bare.json")
	if err := os.WriteFile(file, recorded, 0o600); err != nil {
		return bare, err
	}
	bare, err = startSelf(ctx, bareCommand, file)
	bare.Name, bare.requests = bareName, s.requests
	return bare, err
}
