package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/migrate"
	"example.com/ginseng/kit/settings"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
	"example.com/ginseng/kit/store/transfer"
	"example.com/ginseng/kit/telemetry"
)

// Server timeouts. A shutdown takes at most DRAIN_DELAY, drainTimeout, closeTimeout and flushTimeout: less than a minute after
// DRAIN_DELAY.
const (
	databaseTimeout   = 30 * time.Second // for the database to become available at start
	databaseRetry     = 2 * time.Second  // interval of the attempts to reach the database
	headerTimeout     = 5 * time.Second
	readTimeout       = 60 * time.Second // for header and body; the middleware has a shorter timeout for the body
	writeTimeout      = 60 * time.Second // for a response of the metrics server; the API has slowClientTimeout
	idleTimeout       = 60 * time.Second // for the next request on a connection
	drainTimeout      = 48 * time.Second // for the requests in progress at a shutdown; must exceed bodyTimeout plus requestTimeout
	slowClientTimeout = 5 * time.Second  // how long writes to a client can take in addition to the time at minRate
	closeTimeout      = 8 * time.Second  // for the Closers
	flushTimeout      = 2 * time.Second  // to stop the metrics server and export the last traces
	maxHeaderBytes    = 64 << 10
)

// serve runs the service until ctx ends, then completes the requests in progress, runs the Closers and closes the
// database.
func (p program) serve(ctx context.Context, stdout, stderr io.Writer) (err error) {
	s, modules, source, err := p.load(settings.LoadAtStart)
	if err != nil {
		return err
	}
	logger, flush := newLogger(s, stderr)
	defer flush()
	p.logStart(logger, s, source)
	db, err := openDatabase(ctx, s.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	observer, stopObserving, err := p.observe(ctx, s, logger)
	if err != nil {
		return err
	}
	defer stopObserving()
	sender, err := newSender(s, logger, observer, stderr)
	if err != nil {
		return err
	}
	storage, err := openFiles(s, logger)
	if err != nil {
		return err
	}
	if err := checkBucket(ctx, s, logger); err != nil {
		return err
	}
	var draining atomic.Bool
	handler, err := p.assemble(s, modules, DepsOptions{DB: db, Log: logger, Sender: sender, Observer: observer, Files: storage}, func(ctx context.Context) error {
		if draining.Load() {
			return apperr.New(apperr.Unavailable, "The service is shutting down.")
		}
		return db.Ping(ctx)
	})
	if err != nil {
		return err
	}
	if err := prepare(ctx, db, handler.Migrations, logger, databaseTimeout, databaseRetry); err != nil {
		if ctx.Err() != nil {
			return nil // stopped by a signal
		}
		return err
	}
	if err := claimFiles(ctx, s, handler.deps.Files); err != nil {
		return err
	}
	handler.Migrations.Log, handler.Migrations.Progress = logger, progressWriter(logger, stderr)
	pending, err := handler.Migrations.Pending(ctx)
	if err != nil {
		return err
	}
	handler.migrating.Store(len(pending) > 0)
	cancelCtx, stop := context.WithCancel(ctx)
	group, background := errgroup.WithContext(cancelCtx) // background ends with ctx, or if a migration fails
	defer func() {
		stop()
		err = errors.Join(err, group.Wait())
	}()
	group.Go(func() error {
		err := handler.migrateAndWork(background, pending)
		if ctx.Err() != nil {
			return nil // stopped by a signal
		}
		return err
	})
	return listenAndServe(background, s, handler, logger, stdout, &draining)
}

// migrateAndWork runs the pending migrations, and then the jobs and the Workers until ctx ends.
func (h *Handler) migrateAndWork(ctx context.Context, pending []migrate.Migration) error {
	if err := h.Migrations.Run(ctx, pending); err != nil {
		return err
	}
	h.migrating.Store(false)
	h.Emails.Send() // sends emails that a stopped instance left unsent
	h.work(ctx)
	return nil
}

func (p program) logStart(logger *slog.Logger, s Settings, source settings.Source) {
	level := slog.LevelInfo
	if s.Env == settings.Development {
		level = slog.LevelDebug // in development, greeting prints the mode instead
	}
	ctx := context.Background()
	logger.Log(ctx, level, "starting", "version", p.version, "mode", s.Env)
	if source.Created != "" {
		logger.Info("wrote a file with new secrets", "file", source.Created)
	} else if len(source.Added) > 0 {
		logger.Info("added new secrets to .env", "names", source.Added)
	}
	for _, name := range source.Unknown {
		logger.Warn("a name in .env is not a setting; check the spelling", "name", name)
	}
	logger.Log(ctx, level, "opening the database", "address", engines.Redact(s.DatabaseURL))
}

// openDatabase opens the database. It does not wait until the database is available.
func openDatabase(ctx context.Context, url string) (store.DB, error) {
	db, err := engines.Open(ctx, url)
	if errors.Is(err, engines.ErrAddress) {
		return nil, &settings.Invalid{Problems: []settings.Problem{{Name: "DATABASE_URL", Reason: err.Error()}}}
	}
	return db, err
}

// newSender returns the email sender. If the settings do not configure email, the sender prints emails in development.
func newSender(s Settings, logger *slog.Logger, observer *telemetry.Observer, stderr io.Writer) (email.Sender, error) {
	options := email.Options{Log: logger, Transport: observer.Transport}
	if s.Env == settings.Development {
		options.Print = stderr
	} else if !s.Email.Sends() {
		logger.Warn("emails are not sent: MAIL_URL is not set, or is \"log:\"")
	}
	return email.New(s.Email, options)
}

// observe starts the metrics server and tracing, if the settings enable them. stop shuts down the metrics server and
// exports the remaining traces.
func (p program) observe(ctx context.Context, s Settings, logger *slog.Logger) (observer *telemetry.Observer, stop func(), err error) {
	observer, err = telemetry.New(ctx, telemetry.Options{
		Metrics: s.MetricsAddr != "", Traces: s.Traces, Service: p.name, Version: p.version, Log: logger,
	})
	if err != nil {
		return nil, nil, err
	}
	var metrics *http.Server
	if s.MetricsAddr != "" {
		listener, err := net.Listen("tcp", s.MetricsAddr)
		if err != nil {
			_ = observer.Shutdown(ctx) // has nothing to export
			return nil, nil, fmt.Errorf("cannot listen for metrics (set METRICS_ADDR to another address): %w", err)
		}
		logger.Info("serving metrics", "address", "http://"+listener.Addr().String()+"/metrics")
		metrics = newHTTPServer(observer.Metrics(logger), logger)
		go func() { _ = metrics.Serve(listener) }()
	}
	return observer, func() {
		flushCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
		defer cancel()
		if metrics != nil && metrics.Shutdown(flushCtx) != nil {
			_ = metrics.Close()
		}
		if err := observer.Shutdown(flushCtx); err != nil {
			logger.Warn("traces are lost: they could not be exported", "error", err)
		}
	}, nil
}

// listenAndServe serves until ctx ends. Then it sets draining, accepts requests for another DRAIN_DELAY, completes the requests
// in progress, and closes the handler.
func listenAndServe(ctx context.Context, s Settings, handler *Handler, logger *slog.Logger, stdout io.Writer, draining *atomic.Bool) error {
	opened, err := net.Listen("tcp", net.JoinHostPort(s.Host, strconv.Itoa(s.Port)))
	if err != nil {
		return fmt.Errorf("cannot listen (set HOST and PORT to another address): %w", err)
	}
	listener := clientListener{opened, slowClientTimeout}
	hasAdmin := s.Env == settings.Development && handler.hasAdmin(ctx)
	_, _ = io.WriteString(stdout, greeting(s, listener.Addr(), handler.Routes(), hasAdmin))
	server := newHTTPServer(handler, logger)
	server.WriteTimeout = 0 // the listener sets the deadlines of writes
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	draining.Store(true)
	handler.Long.Close() // streams and exports end at once; their clients continue on another instance
	logger.Info("shutting down: completing the requests in progress")
	drainCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.DrainDelay+drainTimeout)
	defer cancel()
	time.Sleep(s.DrainDelay)
	if err := server.Shutdown(drainCtx); err != nil {
		logger.Warn("requests were aborted after the drain timeout", "error", err)
		_ = server.Close()
	}
	closeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	handler.close(closeCtx)
	return nil
}

func newHTTPServer(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes, ErrorLog: log.New(lineWriter(func(line string) { logger.Warn("http", "error", line) }), "", 0),
	}
}

// prepare creates missing collections and indexes. It fails if the database is an unfinished copy of another database, or has
// migrations that this version lacks. While the database is unavailable, prepare tries again, for at most timeout. retry is the
// time between two attempts.
func prepare(ctx context.Context, db store.DB, migrations *migrate.Runner, logger *slog.Logger, timeout, retry time.Duration) error {
	deadline := time.Now().Add(timeout)
	for {
		err := transfer.CheckFinished(ctx, db)
		if err == nil {
			err = migrations.CheckKnown(ctx)
		}
		if err == nil {
			err = db.Prepare(ctx)
		}
		if err == nil {
			return reportTransactions(ctx, db, logger)
		}
		if !apperr.Is(err, apperr.Unavailable) || ctx.Err() != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the database was unavailable for %s; check DATABASE_URL: %w", timeout, err)
		}
		logger.Warn("the database is unavailable; retrying", "in", retry, "error", err)
		select {
		case <-time.After(retry):
		case <-ctx.Done():
		}
	}
}

// reportTransactions logs a message if the database server does not support transactions.
func reportTransactions(ctx context.Context, db store.DB, logger *slog.Logger) error {
	err := db.Atomic(ctx, func(context.Context) error { return nil })
	if errors.Is(err, store.ErrNoTransactions) {
		logger.Info("the database server does not support transactions: requests that need them get 501")
		return nil
	}
	return err
}

// clientListener is a listener whose connections fail if the client reads slowly: if the writes are more than timeout behind minRate.
// Time between writes reduces the delay. Without this limit, responses to slow clients would stay in memory and delay a shutdown. It
// applies to every response, export and stream, except while a handler sets the deadlines of writes.
type clientListener struct {
	net.Listener
	timeout time.Duration
}

const (
	minRate    = 32 << 10 // bytes per second
	writeChunk = 64 << 10 // bytes
	// writeBuffer is the size in bytes of a connection's send buffer. Linux doubles it to 256 KiB, and reports the socket
	// as writable only when a third of the buffer is free, so a client must read about 85 KiB within the time for a chunk. The
	// default buffer grows to several MiB, and slow clients would time out.
	writeBuffer = 128 << 10
)

func (l clientListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(writeBuffer) // fails if the connection was closed
	}
	return &clientConn{Conn: conn, timeout: l.timeout}, nil
}

type clientConn struct {
	net.Conn
	timeout time.Duration
	paced   bool          // the handler sets the deadlines
	late    time.Duration // how far the writes are behind minRate
	ended   time.Time     // end of the last write
}

// Write writes in chunks. While there is nothing to write, the client reads what is in the buffer: this time makes up for a delay.
func (c *clientConn) Write(p []byte) (written int, err error) {
	if c.paced {
		return c.Conn.Write(p)
	}
	begun := time.Now()
	c.late = max(0, c.late-begun.Sub(c.ended))
	for written < len(p) && err == nil {
		chunk := p[written:min(len(p), written+writeChunk)]
		takes := time.Duration(len(chunk)) * time.Second / minRate
		_ = c.Conn.SetWriteDeadline(begun.Add(takes + c.timeout - c.late)) // if this fails, Write fails too
		var n int
		n, err = c.Conn.Write(chunk)
		written += n
		c.ended = time.Now()
		c.late = max(0, c.late+c.ended.Sub(begun)-takes)
		begun = c.ended
	}
	return written, err
}

// SetWriteDeadline lets a handler set the deadlines of writes, until it sets the zero time: see middleware.Transfers.
func (c *clientConn) SetWriteDeadline(t time.Time) error {
	c.paced, c.ended = !t.IsZero(), time.Now()
	return c.Conn.SetWriteDeadline(t)
}

// ReadFrom implements io.ReaderFrom. If the handler sets the deadlines, the operating system can send a file (sendfile). Otherwise,
// Write sets them.
func (c *clientConn) ReadFrom(from io.Reader) (int64, error) {
	if to, ok := c.Conn.(io.ReaderFrom); ok && c.paced {
		return to.ReadFrom(from)
	}
	return io.Copy(struct{ io.Writer }{c}, from)
}

// CloseWrite closes the sending half of the connection. net/http calls CloseWrite after the response to a request whose body
// was not read.
func (c *clientConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// greeting returns the text that the service prints at start: its address, the admin page if there is one and, in development, where the
// documentation, the settings and the data are, and how to create an admin if there is none.
func greeting(s Settings, addr net.Addr, routes []string, hasAdmin bool) string {
	var b strings.Builder
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil { // not TCP
		port = addr.String()
	}
	fmt.Fprintf(&b, "Server listening on http://%s, in %s mode\n", net.JoinHostPort(s.Host, port), s.Env)
	base := "http://" + net.JoinHostPort(dialHost(s.Host), port)
	if slices.Contains(routes, "GET /admin/") {
		fmt.Fprintf(&b, "  admin page   %s/admin/\n", cmp.Or(s.PublicURL, base))
	}
	if s.Env != settings.Development {
		return b.String()
	}
	if s.Docs {
		fmt.Fprintf(&b, "  Swagger UI   %s/docs/\n", base)
	}
	source := ""
	if file, err := filepath.Abs(".env"); err == nil {
		if _, err := os.Stat(file); err == nil {
			fmt.Fprintf(&b, "  settings     %s\n", file)
			source = ". ./.env; "
		}
	}
	data := engines.Redact(s.DatabaseURL)
	if path := engines.Path(s.DatabaseURL); path != "" {
		data = path
		if absolute, err := filepath.Abs(path); err == nil {
			data = absolute
		}
	}
	fmt.Fprintf(&b, "  data         %s\n", data)
	if !hasAdmin && slices.Contains(routes, "POST "+s.APIRoot+"/users") {
		fmt.Fprintf(&b, "  first admin  %scurl %s%s/users -d access_token=\"$MASTER_KEY\" -d role=admin -d email=YOU@example.com -d password=…\n",
			source, base, s.APIRoot)
	}
	return b.String()
}

// dialHost returns the host to connect to on this machine if a server listens on host.
func dialHost(host string) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return "localhost"
	}
	return host
}
