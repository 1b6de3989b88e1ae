// Command mongod is a MongoDB-compatible server for tests on a machine without MongoDB: FerretDB with its SQLite backend, in
// one process, without cgo. It is not for production or benchmarks: it has no transactions and no partial, text and TTL
// indexes, reads a whole collection for most queries, runs one command at a time, and does not guarantee durability.
//
// To start a server for a command:
//
//	go -C scripts/mongod run . -- go test ./...
//
// The command gets the server's address (mongodb://127.0.0.1:PORT/) in TEST_MONGODB_URI and runs in the caller's directory (PWD).
// mongod exits with the command's exit code; `go run` reports every failure as 1. The data is in a temporary directory, which is
// removed at the end. The server sends no telemetry. SIGTERM stops `go run` but not the program that it runs, so send SIGTERM to
// a built binary.
//
// This is a separate module so that the server's dependencies are not the service's. To test with MongoDB, set
// TEST_MONGODB_URI instead.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stderr))
}

// run executes the command line and returns the exit code: that of the command, 2 for invalid arguments, or 1 for other errors.
func run(ctx context.Context, args []string, stderr io.Writer) int {
	if len(args) < 2 || args[0] != "--" {
		fmt.Fprintln(stderr, "usage: mongod -- command arguments…")
		return 2
	}
	err := serve(ctx, args[1:], slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(stderr, "mongod:", err)
		return 1
	}
	return 0
}

// serve starts a server, runs the command, and stops the server.
func serve(ctx context.Context, command []string, log *slog.Logger) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	directory, err := os.MkdirTemp("", "mongod-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	// Tests are faster without waiting for the disk; a test server need not survive a power failure.
	address := url.URL{Scheme: "file", Path: directory + "/", RawQuery: url.Values{"_pragma": {"synchronous(off)"}}.Encode()}
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: "127.0.0.1:0"},
		Logger:    log,
		Handler:   "sqlite",
		SQLiteURL: address.String(),
	})
	if err != nil {
		return err
	}
	backend, err := url.Parse(server.MongoDBURI())
	if err != nil {
		return err
	}

	// The gate and the server outlive ctx, because the command needs them until it exits. The gate stops first: without
	// clients, the server stops immediately.
	background := context.WithoutCancel(ctx)
	front := gate{backend: backend.Host}
	stopServer := start(background, server.Run)
	stopGate := start(background, func(ctx context.Context) error { return front.serve(ctx, listener) })
	err = execute(ctx, command, "mongodb://"+listener.Addr().String()+"/")
	return errors.Join(err, stopGate(), stopServer())
}

// start runs f in the background. The returned function cancels f's context, waits for f and returns its error.
func start(ctx context.Context, f func(context.Context) error) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// execute runs the command in the caller's directory with the URI in TEST_MONGODB_URI. When ctx ends, it interrupts the
// command, and kills it ten seconds later.
func execute(ctx context.Context, command []string, uri string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = os.Getenv("PWD")
	cmd.Env = append(os.Environ(), "TEST_MONGODB_URI="+uri)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd.Run()
}
