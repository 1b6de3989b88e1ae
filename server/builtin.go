package server

import (
	"context"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/audit"
	"example.com/ginseng/kit/batch"
	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/middleware"
)

// builtIn returns the modules that every service has.
func builtIn(o HandlerOptions, table *route.Table, authenticator middleware.Authenticator, idempotency *middleware.Idempotency, emails func() []email.Preview) []kit.Module {
	modules := []kit.Module{health{o.Ready}}
	if o.Settings.Docs {
		modules = append(modules, newDocumentation(o.Documents, o.Settings.APIRoot))
	}
	if o.Deps.Development {
		modules = append(modules, newPreviews(emails))
	}
	return append(modules,
		sweeper{o.Deps, idempotency, o.Settings.ChangesRetention},
		newEmailQueue(o.Deps),
		&audit.Module{DB: o.Deps.DB, Cursors: o.Deps.Cursors},
		&batch.Module{DB: o.Deps.DB, Table: table, Authenticate: authenticator.Verify, Keep: middleware.KeepResponse})
}

const livez, readyz = "/livez", "/readyz"

// health has the health checks: /livez responds 200 while the process runs, /readyz while the service can serve requests.
type health struct {
	ready func(context.Context) error
}

// Parts implements kit.Module.
func (h health) Parts() kit.Parts { return kit.Parts{} }

// Routes implements kit.Module.
func (h health) Routes(r *route.Router) {
	ok := func(g *gin.Context) error { return rest.OK(g, map[string]string{"status": "ok"}) }
	r = r.AtRoot()
	r.GET(livez, route.Open, ok)
	r.GET(readyz, route.Open, func(g *gin.Context) error {
		if err := h.ready(g.Request.Context()); err != nil {
			return err
		}
		return ok(g)
	})
}

// sweeper deletes expired records of the server: responses to requests with an Idempotency-Key, states of rate limits, files that no
// record refers to, and entries of the log of changes.
type sweeper struct {
	deps      kit.Deps
	responses *middleware.Idempotency
	retention time.Duration // of the log of changes
}

// Routes implements kit.Module.
func (s sweeper) Routes(*route.Router) {}

// Parts implements kit.Module.
func (s sweeper) Parts() kit.Parts {
	log := job.Job{Name: "expired-changes", Interval: job.SweepInterval, Run: s.sweepLog}
	return kit.Parts{
		Jobs:    append(slices.Concat(s.responses.Jobs(), s.deps.Limiter.Jobs(), s.deps.Files.Jobs()), log),
		Workers: []func(context.Context){s.deps.Files.Work},
		Closers: []func(context.Context){s.deps.Files.Close},
	}
}

func (s sweeper) sweepLog(ctx context.Context) error {
	before := store.At(s.deps.Now().Add(-s.retention))
	for {
		n, err := s.deps.DB.Log().Sweep(ctx, before)
		if err != nil || n == 0 {
			return err
		}
	}
}
