package appointment_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"example.com/ginseng/testkit"
)

func TestInsurer(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	insurer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/policies/A 1":
		case "/policies/slow":
			<-stop
		case "/policies/broken":
			w.WriteHeader(http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(insurer.Close)
	t.Cleanup(func() { close(stop) })
	c := openClinic(t, testkit.Env("INSURER_URL", insurer.URL), testkit.Env("INSURER_TIMEOUT", "100ms"))
	book := func(number string) testkit.Response {
		body := c.at(100*time.Hour, 30)
		body["insurance"] = number
		return c.post(c.patient.Token, "/appointments", body)
	}
	wantStatus(t, book("slow"), 503, "The insurer is unavailable.")
	wantStatus(t, book("broken"), 503, "The insurer is unavailable.")
	wantStatus(t, book("A 2"), 400, `"param":"insurance","code":"unknown_reference"`)
	if n := c.stored(t, "appointments"); n != 0 {
		t.Errorf("%d appointments", n)
	}
	// 20 callers wait at the same time. Nobody else waits for them.
	count := c.concurrently(func(int) testkit.Request {
		body := c.at(100*time.Hour, 30)
		body["insurance"] = "slow"
		return testkit.Request{Method: "POST", Path: "/appointments", As: c.patient.Token, JSON: body}
	})
	if count[503] != 20 {
		t.Errorf("%v", count)
	}
	wantStatus(t, book("A 1"), 201, `"insurance":"A 1"`)
	wantStatus(t, book(""), 409, "another appointment")
}
