// Package server runs a service: it reads the settings, opens the database, serves HTTP, and shuts down without losing
// requests. It also has the commands that every service offers.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
	_ "time/tzdata" // an image from scratch has no time zones

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/spf13/pflag"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/command"
	"example.com/ginseng/kit/password"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/settings"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/transfer"
)

// Config is implemented by every struct that embeds Settings.
type Config interface{ base() Settings }

func (s Settings) base() Settings { return s }

// Service describes a service. C is the struct of the settings of the server and of the modules.
type Service[C Config] struct {
	Name    string // the name of the program, and the default of OTEL_SERVICE_NAME
	Version string
	Modules func(kit.Deps, C) []kit.Module // creates the modules, dependencies first
	OpenAPI []byte                         // the OpenAPI 3 document
	Swagger []byte                         // the same document in Swagger 2
}

// Main runs the command in os.Args, or serve if there is no command, and exits. SIGINT and SIGTERM stop the service; a second
// signal ends the process immediately.
func Main[C Config](s Service[C]) {
	tuneMemory(memlimit.FromCgroup)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	code := newProgram(s).run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// program is a Service without its type parameter.
type program struct {
	name, version string
	documents     Documents

	// load reads the settings from the environment and from .env with read, which is settings.Load or settings.LoadAtStart. It
	// returns the settings of the server, and a constructor that creates the modules with their settings.
	load func(read func(dir string, target any) (settings.Source, error)) (Settings, constructor, settings.Source, error)
	// unconfigured creates the modules with zero settings, to list their collections.
	unconfigured constructor
}

type constructor func(kit.Deps) []kit.Module

func newProgram[C Config](s Service[C]) program {
	constructorWith := func(c *C) constructor { return func(d kit.Deps) []kit.Module { return s.Modules(d, *c) } }
	return program{
		name: s.Name, version: s.Version, documents: Documents{OpenAPI: s.OpenAPI, Swagger: s.Swagger},
		load: func(read func(string, any) (settings.Source, error)) (Settings, constructor, settings.Source, error) {
			c := new(C)
			source, err := read(".", c)
			return (*c).base(), constructorWith(c), source, err
		},
		unconfigured: constructorWith(new(C)),
	}
}

// Exit codes; 78 is EX_CONFIG of sysexits.h.
const (
	exitOK       = 0
	exitFailure  = 1
	exitUsage    = 2
	exitSettings = 78
)

func (p program) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := p.dispatch(ctx, args, stdout, stderr)
	var invalid *settings.Invalid
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return exitOK
	case errors.As(err, &invalid):
		_, _ = fmt.Fprintln(stderr, invalid)
		return exitSettings
	}
	_, _ = fmt.Fprintf(stderr, "%s: %v\n", p.name, err)
	if errors.Is(err, command.ErrUsage) {
		return exitUsage
	}
	return exitFailure
}

// newLogger returns a logger that writes text in development, and otherwise JSON with a delay of up to logDelay. flush writes the
// delayed lines.
func newLogger(s Settings, w io.Writer) (logger *slog.Logger, flush func()) {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // cannot fail: LOG_LEVEL is validated
	options := &slog.HandlerOptions{Level: level}
	if s.Env == settings.Development {
		return slog.New(slog.NewTextHandler(w, options)), func() {}
	}
	buffer := &logBuffer{w: w}
	return slog.New(slog.NewJSONHandler(buffer, options)), buffer.Flush
}

// Limits of a logBuffer.
const (
	logDelay    = 100 * time.Millisecond
	logBuffered = 64 << 10 // bytes; a buffer of this size is written immediately
)

// logBuffer writes many lines in one system call. A crash loses the lines of the last logDelay.
type logBuffer struct {
	mu    sync.Mutex
	w     io.Writer
	lines []byte
}

func (b *logBuffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lines) == 0 {
		time.AfterFunc(logDelay, b.Flush)
	}
	b.lines = append(b.lines, line...)
	if len(b.lines) >= logBuffered {
		b.flush()
	}
	return len(line), nil
}

// Flush writes the buffered lines.
func (b *logBuffer) Flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush()
}

func (b *logBuffer) flush() {
	_, _ = b.w.Write(b.lines) // there is no place to report an error
	b.lines = b.lines[:0]
}

// assemble creates the modules and the handler. o has the database, the log, and options that only some commands need. ready is
// HandlerOptions.Ready.
func (p program) assemble(s Settings, modules constructor, o DepsOptions, ready func(context.Context) error) (*Handler, error) {
	o.Name, o.MasterKeys, o.Now, o.Hasher = p.name, s.MasterKeys, time.Now, password.NewHasher()
	o.Development, o.PublicURL = s.Env == settings.Development, s.PublicURL
	deps := NewDeps(o)
	return NewHandler(HandlerOptions{Settings: s, Deps: deps, Modules: modules(deps), Documents: p.documents, Observer: o.Observer, Ready: ready})
}

// databaseURL returns the setting DATABASE_URL, or its default.
func databaseURL() (string, error) {
	var database Database
	err := settings.LoadPart(".", &database)
	return database.DatabaseURL, err
}

// collections returns the collections of all modules.
func (p program) collections() ([]store.Spec, error) {
	var db transfer.Recorder
	err := p.describe(&db, func(*Handler) error { return nil })
	return db.Specs, err
}

// routes prints the table of routes, and the references of resources, as JSON.
func (p program) routes(w io.Writer) error {
	return p.describe(&transfer.Recorder{}, func(h *Handler) error {
		out := json.NewEncoder(w)
		out.SetIndent("", "\t")
		return out.Encode(struct {
			route.Description
			References map[string]map[string]string `json:"references,omitempty"` // see kit.Resources.References
		}{h.table.Describe(), h.deps.Resources.References()})
	})
}

// describe calls f with a handler whose modules have no settings and a database that only records the collections.
func (p program) describe(db *transfer.Recorder, f func(*Handler) error) error {
	handler, err := p.assemble(Settings{MasterKeys: []string{""}}, p.unconfigured, DepsOptions{DB: db, Log: slog.New(slog.DiscardHandler)}, nil)
	if err != nil {
		return err
	}
	defer handler.close(context.Background())
	return f(handler)
}
