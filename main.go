// Ginseng is a REST API service over MongoDB or an embedded database.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"example.com/ginseng/config"
	"example.com/ginseng/docs"
	"example.com/ginseng/kit"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/drain"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/password"
	"example.com/ginseng/kit/server"
	"example.com/ginseng/kit/settings"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/transfer"
	"example.com/ginseng/kit/telemetry"
	"example.com/ginseng/modules"
)

// General information of the API's documentation.
//
//	@title						Ginseng
//	@version					1.0
//	@description				Parameters travel form-encoded or as JSON with the same names. Every error is a Problem (RFC 9457).
//	@BasePath					/
//
//	@securityDefinitions.basic	BasicAuth
//
//	@securityDefinitions.apikey	MasterKey
//	@in							query
//	@name						access_token
//	@description				The master key (MASTER_KEY), as Authorization: Bearer KEY, or as access_token in the body or, with QUERY_TOKENS=true, in the query.
//
//	@securityDefinitions.apikey	UserToken
//	@in							header
//	@name						Authorization
//	@description				The token that POST /auth answered, as Authorization: Bearer TOKEN, or as access_token in the body or query.
func main() {
	unused := make([]byte, ballast)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	runtime.KeepAlive(unused)
	os.Exit(code)
}

// ballast is a part of the heap that takes no memory, as nobody writes to it. Go collects a heap when it has doubled: one of
// 2 MiB, which the service's is, a hundred times a second under load. A larger GOGC would let the 38 MiB of two sign-ins
// grow as well.
const ballast = 3 << 20

// Exit codes: 78 is EX_CONFIG of sysexits.h.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitBadConf = 78
)

const usage = `Usage: ginseng [healthcheck | copy | backup | version | help]

Without a word it serves, with the settings of the environment and of .env (see .env.example).
  healthcheck   ask the service on this machine whether it is ready; exit 0 if it is
  copy          copy a database to another engine or file; see: ginseng copy --help
  backup FILE   write the embedded database into a file, while the service runs
  version       print the version
`

// version is set by the linker: go build -ldflags "-X main.version=v1.2.3".
var version = "unknown"

var errUsage = errors.New("no such command")

// run is main without the process: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var err error
	command, more := "", args
	if len(args) > 0 {
		command, more = args[0], args[1:]
	}
	host := transfer.Host{Database: databaseURL, Collections: collections, Stdout: stdout, Stderr: stderr}
	switch {
	case command == "copy":
		err = transfer.CopyCommand(ctx, more, host)
	case command == "backup":
		err = transfer.BackupCommand(ctx, more, host)
	case len(more) > 0:
		err = errUsage
	case command == "":
		err = serve(ctx, stdout, stderr)
	case command == "healthcheck":
		err = healthcheck(ctx)
	case command == "version":
		_, err = fmt.Fprintln(stdout, "ginseng", version)
	case command == "help", command == "-h", command == "--help":
		_, err = fmt.Fprint(stdout, usage)
	default:
		err = errUsage
	}
	var invalid *settings.Invalid
	switch {
	case errors.Is(err, flag.ErrHelp): // and got it
		return exitOK
	case errors.Is(err, errUsage):
		_, _ = fmt.Fprint(stderr, usage)
		return exitUsage
	case errors.Is(err, transfer.ErrUsage):
		_, _ = fmt.Fprintln(stderr, "ginseng:", err)
		return exitUsage
	case errors.As(err, &invalid):
		_, _ = fmt.Fprintln(stderr, invalid)
		return exitBadConf
	case err != nil:
		_, _ = fmt.Fprintln(stderr, "ginseng:", err)
		return exitFailed
	}
	return exitOK
}

// newLog writes readable lines in development and JSON elsewhere.
func newLog(app server.Settings, loaded settings.Source, w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(app.LogLevel)) // validated
	options := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = slog.NewJSONHandler(w, options)
	if app.Env == settings.Development {
		handler = slog.NewTextHandler(w, options)
	}
	logger := slog.New(handler)
	logger.Info("starting", "version", version, "mode", app.Env)
	if loaded.Created != "" {
		logger.Info("wrote a file with fresh secrets", "file", loaded.Created)
	}
	for _, name := range loaded.Unknown {
		logger.Warn("the file .env has a name that is no setting; is it misspelt?", "name", name)
	}
	return logger
}

// The service's patience.
const (
	databaseWait   = 30 * time.Second // for a database that is away at start
	databaseRetry  = 2 * time.Second
	headerTime     = 5 * time.Second
	readTime       = 60 * time.Second // for header and body; middleware gives the body less
	writeTime      = 60 * time.Second // from the end of the header: body, request and answer
	idleTime       = 60 * time.Second
	drainTime      = 48 * time.Second // a little more than the longest request: its body, and what is done with it
	takeTime       = 5 * time.Second  // for a client to take some of its answer meanwhile
	finishTime     = 8 * time.Second  // for the mails that wait then
	flushTime      = 2 * time.Second  // for the traces that wait then: all in all less than a minute
	maxHeaderBytes = 64 << 10
	sweepInterval  = 10 * time.Minute
)

// serve runs the service until ctx ends, then answers the requests under way, finishes their mails and closes the
// database.
func serve(ctx context.Context, stdout, stderr io.Writer) (err error) {
	var s config.Settings
	loaded, err := settings.Load(".", &s)
	if err != nil {
		return err
	}
	logger := newLog(s.Settings, loaded, stderr)
	logger.Info("opening the database", "address", engines.Redact(s.DatabaseURL))
	db, err := engines.Open(ctx, s.DatabaseURL)
	if errors.Is(err, engines.ErrAddress) {
		return &settings.Invalid{Problems: []settings.Problem{{Name: "DATABASE_URL", Reason: err.Error()}}}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	observer, stopObserving, err := observe(ctx, s, logger)
	if err != nil {
		return err
	}
	defer stopObserving()
	development := s.Env == settings.Development
	emails := email.Options{Log: logger, Transport: observer.Transport}
	if development {
		emails.Print = stderr
	}
	sender, err := email.New(s.Email, emails)
	if err != nil {
		return err
	}
	if !s.Email.Sends() && !development {
		logger.Warn("no emails are sent: MAIL_URL is not set, or log:")
	}
	deps := server.NewDeps(server.DepsOptions{
		DB: db, MasterKeys: s.MasterKeys, Now: time.Now, Log: logger, Sender: sender, Hasher: password.NewHasher(), Observer: observer, Development: development,
	})
	var draining atomic.Bool
	handler, err := server.NewHandler(server.HandlerOptions{
		Settings: s.Settings, Deps: deps, Modules: modules.New(deps, s.Modules), Observer: observer,
		Documents: server.Documents{OpenAPI: docs.OpenAPI, Swagger: docs.Swagger},
		Ready: func(ctx context.Context) error {
			if draining.Load() {
				return apperr.New(apperr.Unavailable, "The service is shutting down.")
			}
			return db.Ping(ctx)
		},
	})
	if err != nil {
		return err
	}
	if err := prepare(ctx, db, logger, databaseWait, databaseRetry); ctx.Err() != nil {
		return nil // told to stop before it began
	} else if err != nil {
		return err
	}
	opened, err := net.Listen("tcp", net.JoinHostPort(s.Host, strconv.Itoa(s.Port)))
	if err != nil {
		return fmt.Errorf("cannot listen (set HOST and PORT to another address): %w", err)
	}
	listener := drain.NewListener(opened, takeTime)
	_, _ = fmt.Fprintf(stdout, "Server listening on http://%s, in %s mode\n", shown(s.Host, listener.Addr()), s.Env)

	httpServer := newServer(handler, logger)
	failed := make(chan error, 1)
	go func() { failed <- httpServer.Serve(listener) }()
	sweepCtx, stopSweeping := context.WithCancel(ctx)
	defer stopSweeping()
	go sweep(sweepCtx, sweepInterval, handler.Sweepers, logger)

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	draining.Store(true)
	logger.Info("stopping: answering the requests under way")
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.DrainDelay+drainTime)
	defer cancel()
	time.Sleep(s.DrainDelay)
	listener.Hurry()
	if err := httpServer.Shutdown(stopping); err != nil {
		logger.Warn("requests were cut off: they took too long", "error", err)
		_ = httpServer.Close()
	}
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTime)
	defer cancel()
	for _, c := range handler.Closers {
		c.Close(finish)
	}
	return nil
}

// observe starts what watches the service, as the settings say: metrics on a listener of their own, and traces. stop is
// for the very end; it sends the traces that wait. With neither the Observer is nil.
func observe(ctx context.Context, s config.Settings, logger *slog.Logger) (observer *telemetry.Observer, stop func(), err error) {
	address := s.MetricsAddr
	observer, err = telemetry.New(ctx, telemetry.Options{
		Metrics: address != "", Traces: s.Traces, Service: "ginseng", Version: version, Log: logger,
	})
	if err != nil {
		return nil, nil, err
	}
	var server *http.Server
	if address != "" {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			_ = observer.Shutdown(ctx) // there is nothing to send
			return nil, nil, fmt.Errorf("cannot listen for metrics (set METRICS_ADDR to another address): %w", err)
		}
		logger.Info("metrics are served", "address", "http://"+listener.Addr().String()+"/metrics")
		server = newServer(observer.Metrics(logger), logger)
		go func() { _ = server.Serve(listener) }()
	}
	return observer, func() {
		flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
		defer cancel()
		if server != nil && server.Shutdown(flush) != nil {
			_ = server.Close() // no scrape takes that long
		}
		if err := observer.Shutdown(flush); err != nil {
			logger.Warn("traces are lost: there was no time to export them", "error", err)
		}
	}, nil
}

func newServer(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: log.New(writer(func(line []byte) { logger.Warn("http", "error", string(line)) }), "", 0),
	}
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// prepare makes what is missing in the database. If that is away, it tries again for a while.
func prepare(ctx context.Context, db store.DB, logger *slog.Logger, wait, retry time.Duration) error {
	deadline := time.Now().Add(wait)
	for {
		err := transfer.CheckFinished(ctx, db)
		if err == nil {
			err = db.Prepare(ctx)
		}
		if !apperr.Is(err, apperr.Unavailable) || ctx.Err() != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the database did not answer within %s; check DATABASE_URL, and that it runs: %w", wait, err)
		}
		logger.Warn("the database does not answer; trying again", "in", retry, "error", err)
		select {
		case <-time.After(retry):
		case <-ctx.Done():
		}
	}
}

// shown is the address as configured, with the port that was really taken.
func shown(host string, addr net.Addr) string {
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	return net.JoinHostPort(host, port)
}

// sweep deletes what has expired, at intervals, until ctx ends.
func sweep(ctx context.Context, interval time.Duration, sweepers []kit.Sweeper, logger *slog.Logger) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for ctx.Err() == nil { // a tick that waits beside the end must not be taken
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		for _, s := range sweepers {
			if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
				logger.Warn("could not delete what has expired", "error", err)
			}
		}
	}
}

// databaseURL is where the service keeps its data.
func databaseURL() (string, error) {
	var database server.Database
	err := settings.LoadPart(".", &database)
	return database.DatabaseURL, err
}

// collections are those of all modules, made on a database that only takes their names.
func collections() ([]store.Spec, error) {
	var db transfer.Recorder
	log := slog.New(slog.DiscardHandler)
	deps := server.NewDeps(server.DepsOptions{DB: &db, MasterKeys: []string{""}, Now: time.Now, Log: log})
	_, err := server.NewHandler(server.HandlerOptions{Deps: deps, Modules: modules.New(deps, modules.Settings{})})
	deps.Email.Close(context.Background())
	return db.Specs, err
}

// healthcheck asks the service that runs with the same settings.
func healthcheck(ctx context.Context) error {
	var address server.Address
	if err := settings.LoadPart(".", &address); err != nil {
		return err
	}
	host := address.Host
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, headerTime)
	defer cancel()
	ready := "http://" + net.JoinHostPort(host, strconv.Itoa(address.Port)) + "/readyz"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, ready, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", ready, answer.Status)
	}
	return nil
}
