// Command mongod is a MongoDB-compatible server for tests on a machine without MongoDB: FerretDB with its SQLite backend, in
// one process, without cgo. It is not for production or benchmarks: it has no transactions and no partial, text and TTL
// indexes, reads a whole collection for most queries, runs one command at a time, and does not guarantee durability.
//
// To start a server for a command:
//
//	go -C scripts/mongod run . -- go test ./...
//
// The command gets the server's address in TEST_MONGODB_URI and runs in the caller's directory (PWD). mongod exits with the
// command's exit code; `go run` reports every failure as 1.
//
// To keep a server running until SIGINT or SIGTERM:
//
//	go -C scripts/mongod run . [--listen 127.0.0.1:0] [--data DIR]
//
// It prints its URI (mongodb://127.0.0.1:PORT/) when it is ready, and keeps its data in a temporary directory that it
// removes at the end, or in DIR. It sends no telemetry. SIGTERM stops `go run` but not the program that it runs: send it to
// a built binary.
//
// This is a separate module so that the server's dependencies are not the service's. To test with MongoDB, set
// TEST_MONGODB_URI instead.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process: it returns the exit code, 2 for wrong arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("mongod", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: mongod [--listen ADDRESS] [--data DIR] [-- command arguments…]")
		flags.PrintDefaults()
	}
	listen := flags.String("listen", "127.0.0.1:0", "`address` to listen on; port 0 selects a free one")
	data := flags.String("data", "", "`directory` for the data (default: a temporary one, removed at the end)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}

	err := serve(ctx, *listen, *data, slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		func(ctx context.Context, uri string) error {
			if flags.NArg() > 0 {
				return execute(ctx, flags.Args(), uri)
			}
			fmt.Fprintln(stdout, uri)
			<-ctx.Done()
			return nil
		})
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(stderr, "mongod:", err)
		return 1
	}
	return 0
}

// serve runs a server, calls use with its URI, and stops the server when use returns. An empty data selects a temporary
// directory.
func serve(ctx context.Context, listen, data string, log *slog.Logger, use func(context.Context, string) error) error {
	door, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	defer door.Close()
	directory, err := dataDirectory(data)
	if err != nil {
		return err
	}
	if data == "" {
		defer os.RemoveAll(directory)
	}
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

	// Both outlive ctx, because use needs them until it returns. The gate stops first: without clients, the server stops
	// immediately.
	background := context.WithoutCancel(ctx)
	front := gate{backend: backend.Host}
	stopServer := start(background, server.Run)
	stopGate := start(background, func(ctx context.Context) error { return front.serve(ctx, door) })
	err = use(ctx, "mongodb://"+door.Addr().String()+"/")
	return errors.Join(err, stopGate(), stopServer())
}

// start runs f in the background. stop cancels its context, waits for it and returns its error.
func start(ctx context.Context, f func(context.Context) error) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// dataDirectory returns the absolute path of the directory and creates it if it is missing; "" selects a temporary one.
func dataDirectory(data string) (string, error) {
	if data == "" {
		return os.MkdirTemp("", "mongod-")
	}
	directory, err := filepath.Abs(data)
	if err != nil {
		return "", err
	}
	return directory, os.MkdirAll(directory, 0o700)
}

// execute runs the command in the caller's directory with the URI in TEST_MONGODB_URI. When ctx ends it is interrupted, and
// killed ten seconds later.
func execute(ctx context.Context, command []string, uri string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = os.Getenv("PWD")
	cmd.Env = append(os.Environ(), "TEST_MONGODB_URI="+uri)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd.Run()
}
