package service_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/job"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// worker is a module with a job.
type worker struct{ job job.Job }

func (worker) Routes(*route.Router) {}

func (w worker) Parts() kit.Parts { return kit.Parts{Jobs: []job.Job{w.job}} }

// TestJobs lists and runs a job, for an admin.
func TestJobs(t *testing.T) {
	t.Parallel()
	failure := errors.New("the printer is out of paper")
	begun, end := make(chan struct{}), make(chan struct{})
	api := apitest.Start(t, func(c *testkit.Config) {
		c.Modules = append(c.Modules, worker{job.Job{Name: "printer", Interval: 90 * time.Minute, Run: func(context.Context) error {
			begun <- struct{}{}
			<-end
			return failure
		}}})
	})
	admin := api.SignUp("admin")
	run := testkit.Request{Method: "POST", Path: "/jobs/printer/run", As: admin.Token}
	printer := func() map[string]any {
		t.Helper()
		for _, row := range api.Do(testkit.Request{Method: "GET", Path: "/jobs", As: admin.Token}).JSON(200)["rows"].([]any) {
			if row := row.(map[string]any); row["name"] == "printer" {
				return row
			}
		}
		t.Fatal("the job is not listed")
		return nil
	}
	work := func(during func()) {
		t.Helper()
		ended := make(chan error)
		go func() { ended <- api.Handler.Jobs.RunDue(t.Context()) }()
		<-begun
		during()
		end <- struct{}{}
		if err := <-ended; !errors.Is(err, failure) {
			t.Error(err)
		}
	}
	if p := printer(); p["intervalSeconds"] != 5400.0 || p["running"] != false || p["startedAt"] != nil || p["failedAt"] != nil || p["error"] != "" || p["nextAt"] == nil {
		t.Errorf("before the first run: %v", p)
	}
	work(func() {
		if p := printer(); p["running"] != true || p["startedAt"] == nil {
			t.Errorf("during the run: %v", p)
		}
		api.Do(run).Want(409, "The job is running.")
	})
	if p := printer(); p["running"] != false || p["failedAt"] == nil || p["succeededAt"] != nil || p["error"] != failure.Error() {
		t.Errorf("after the run: %v", p)
	}
	if started := api.Do(run).JSON(202); started["name"] != "printer" || started["nextAt"] != started["failedAt"] {
		t.Errorf("not due now, the time of the clock: %v", started)
	}
	work(func() {})
	run.Path = "/jobs/other/run"
	api.Do(run).Want(404, "not_found")
}
