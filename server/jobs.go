package server

import (
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
)

// jobList shows and starts the jobs of the service.
type jobList struct{ runner *job.Runner }

// Parts implements kit.Module.
func (c jobList) Parts() kit.Parts { return kit.Parts{} }

// Routes implements kit.Module.
func (c jobList) Routes(r *route.Router) {
	r.GET("/jobs", route.Admin, c.list, route.AllowAdminKey)
	r.POST("/jobs/:name/run", route.Admin, c.run, route.AllowAdminKey)
}

// JobView is the representation of a job.
type JobView struct {
	Name            string      `json:"name" example:"expired-sessions"`
	IntervalSeconds int64       `json:"intervalSeconds" example:"600"`                                                                                  // time from the start of a run to the start of the next run
	Running         bool        `json:"running" example:"false"`                                                                                        // an instance is running the job
	StartedAt       *store.Time `json:"startedAt" swaggertype:"string" format:"date-time" extensions:"x-nullable" example:"2026-01-02T15:04:05.678Z"`   // start of the last run; null: there was none
	SucceededAt     *store.Time `json:"succeededAt" swaggertype:"string" format:"date-time" extensions:"x-nullable" example:"2026-01-02T15:04:05.702Z"` // end of the last successful run; null: there was none
	FailedAt        *store.Time `json:"failedAt" swaggertype:"string" format:"date-time" extensions:"x-nullable" example:"2026-01-01T03:00:00.005Z"`    // end of the last failed run; null: there was none
	Error           string      `json:"error" example:"the database is unavailable"`                                                                    // beginning of the error of the last failed run, as in the log; "": there was none
	NextAt          store.Time  `json:"nextAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:14:05.678Z"`                              // time at which the next run can start; during a run, the time at which the run is repeated if its instance was killed
} //	@name	Job

// JobList is the list of all jobs.
type JobList struct {
	Rows []JobView `json:"rows"` // by name
} //	@name	JobList

func jobView(s job.Status) JobView {
	return JobView{
		Name: s.Name, IntervalSeconds: int64(s.Interval / time.Second), Running: s.Running, StartedAt: s.StartedAt,
		SucceededAt: s.SucceededAt, FailedAt: s.FailedAt, Error: s.Error, NextAt: s.NextAt,
	}
}

// list lists the jobs.
//
//	@Summary		List jobs
//	@Description	Returns the periodic work of the service, with the last runs on any instance.
//	@Tags			jobs
//	@Success		200	{object}	JobList
//	@x-tag			"Periodic work of the service."
//	@Router			/jobs [get]
func (c jobList) list(g *gin.Context) error {
	found, err := c.runner.List(g.Request.Context())
	if err != nil {
		return err
	}
	list := JobList{Rows: make([]JobView, len(found))}
	for i, s := range found {
		list.Rows[i] = jobView(s)
	}
	return rest.OK(g, list)
}

// run starts a job.
//
//	@Summary		Run a job now
//	@Description	Makes the job due, and responds before it runs. The instance that receives the request runs the job immediately.
//	@Tags			jobs
//	@Param			name	path		string	true	"name of the job"	example(expired-sessions)
//	@Success		202		{object}	JobView
//	@Failure		404		{object}	rest.Problem	"not_found: there is no such job"
//	@Failure		409		{object}	rest.Problem	"conflict: the job is running"
//	@Router			/jobs/{name}/run [post]
func (c jobList) run(g *gin.Context) error {
	if _, err := rest.Bind[struct{}](g); err != nil { // no parameters besides access_token
		return err
	}
	started, err := c.runner.Start(g.Request.Context(), g.Param("name"))
	if err != nil {
		return err
	}
	return rest.Accepted(g, jobView(started))
}
