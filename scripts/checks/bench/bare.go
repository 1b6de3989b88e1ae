package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// bareCommand is the argument that makes this program a bare server: it runs as a separate process to be measured.
const bareCommand = "serve-bare"

// canned is a recorded response.
type canned struct {
	Status int
	Header http.Header
	Body   []byte
}

// serveBare reads a canned response, a line of JSON, and sends it to every request: the upper limit for such a response with
// net/http. It prints its address, and stops at the end of its input.
func serveBare(in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	var response canned
	if err := json.Unmarshal(line, &response); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, listener.Addr())
	server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for name, values := range response.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(response.Status)
		_, _ = w.Write(response.Body)
	})}
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		server.Close()
	}()
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// startBare starts a bare server that sends the response of s to a request. stop is not nil if it was started, whatever the
// error.
func startBare(ctx context.Context, s server, raw []byte) (bare server, stop func(), err error) {
	response, body, err := send(s.addr, raw)
	if err != nil {
		return bare, nil, err
	}
	response.Header.Del("Date") // net/http writes its own
	recorded, err := json.Marshal(canned{response.StatusCode, response.Header, body})
	if err != nil {
		return bare, nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return bare, nil, err
	}
	process := exec.CommandContext(ctx, self, bareCommand)
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	if err != nil {
		return bare, nil, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return bare, nil, err
	}
	if err := process.Start(); err != nil {
		return bare, nil, err
	}
	stop = func() {
		in.Close()
		_ = process.Wait()
	}
	if _, err := in.Write(append(recorded, '\n')); err != nil {
		return bare, stop, err
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	return server{addr: strings.TrimSpace(addr), pid: process.Process.Pid, requests: s.requests}, stop, err
}
