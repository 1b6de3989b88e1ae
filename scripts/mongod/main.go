// Command mongod is a MongoDB-compatible server for tests, on a machine where no MongoDB is installed: FerretDB on its
// SQLite backend, in one process, of Go alone. It is not for production, nor for measuring: it lacks transactions and
// partial, text and TTL indexes, reads a whole collection for most queries, does one command at a time, and keeps no
// promise of durability.
//
// To run a command against a server of its own, from the folder that the command needs:
//
//	go -C scripts/mongod run . -- go test ./...
//
// The command finds the server's address in TEST_MONGODB_URI and runs in the folder that the caller stands in (PWD, as
// the shell sets it; the working folder where that is not set). mongod ends with the command and with its exit code;
// `go run` itself reports each failure as 1, a built binary (`go -C scripts/mongod build -o /tmp/mongod`) as it is.
//
// To keep a server running until SIGINT or SIGTERM:
//
//	go -C scripts/mongod run . [--listen 127.0.0.1:0] [--data DIR]
//
// It prints one line when it answers, the URI (mongodb://127.0.0.1:PORT/), and keeps its data in a temporary folder
// that is removed at the end, or in DIR, which stays. Nothing leaves the machine: no telemetry, no other connection.
// SIGTERM ends `go run` and not what it runs: for that, send it to a built binary.
//
// It is a module of its own, so that no dependency of the server becomes one of the service. Any MongoDB does in its
// place: set TEST_MONGODB_URI by hand.
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

// run is main without the process: it returns the exit code, 2 for a wrong command line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("mongod", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: mongod [--listen ADDRESS] [--data DIR] [-- command arguments…]")
		flags.PrintDefaults()
	}
	listen := flags.String("listen", "127.0.0.1:0", "`address` to listen on; port 0 takes a free one")
	data := flags.String("data", "", "`folder` to keep the data in (default: a temporary one, removed at the end)")
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

// serve runs a server for as long as use does, and tells use its URI. An empty data stands for a temporary folder.
func serve(ctx context.Context, listen, data string, log *slog.Logger, use func(context.Context, string) error) error {
	door, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	defer door.Close()
	folder, err := dataFolder(data)
	if err != nil {
		return err
	}
	if data == "" {
		defer os.RemoveAll(folder)
	}
	// Not waiting for the disk makes each test quicker; a lost power supply is no case for a test server.
	address := url.URL{Scheme: "file", Path: folder + "/", RawQuery: url.Values{"_pragma": {"synchronous(off)"}}.Encode()}
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

	// Both outlive ctx: what use still does in ending must find them. The gate goes first, so that the server is rid
	// of its clients and stops at once.
	background := context.WithoutCancel(ctx)
	front := gate{backend: backend.Host}
	stopServer := start(background, server.Run)
	stopGate := start(background, func(ctx context.Context) error { return front.serve(ctx, door) })
	err = use(ctx, "mongodb://"+door.Addr().String()+"/")
	return errors.Join(err, stopGate(), stopServer())
}

// start runs f in the background; the function that it returns ends the context of f and waits for its error.
func start(ctx context.Context, f func(context.Context) error) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// dataFolder returns the absolute path of the folder, made if missing; a new temporary one for "".
func dataFolder(data string) (string, error) {
	if data == "" {
		return os.MkdirTemp("", "mongod-")
	}
	folder, err := filepath.Abs(data)
	if err != nil {
		return "", err
	}
	return folder, os.MkdirAll(folder, 0o700)
}

// execute runs the command with the URI in TEST_MONGODB_URI, in the caller's folder, on this process's own streams. The
// end of ctx interrupts it, and kills it ten seconds later.
func execute(ctx context.Context, command []string, uri string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = os.Getenv("PWD")
	cmd.Env = append(os.Environ(), "TEST_MONGODB_URI="+uri)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd.Run()
}
