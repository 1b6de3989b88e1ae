package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ginseng/kit/store/mongo/mongotest"
	"example.com/ginseng/testkit/process"
)

const masterKey = "kill-test-master-key-0123456789abcdef"

// TestKill kills the service with SIGKILL while 20 callers book, and starts it again. Every appointment that a caller has got is
// stored, none overlaps another one, each has an invoice, and all other times are free.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary := filepath.Join(dir, "clinic")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	database := "sqlite:clinic.db"
	if mongotest.Available() {
		database = mongotest.New(t).String()
	}
	start := func() *process.Process {
		cmd := exec.CommandContext(t.Context(), binary)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOST=127.0.0.1", "PORT=0", "DATABASE_URL="+database, "MASTER_KEY="+masterKey, "LOG_LEVEL=error",
			"JWT_SECRET=kill-test-jwt-secret-0123456789abcdef")
		p, err := process.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}

	p := start()
	user := signUp(t, p.URL, "user")
	practitioner := call(t, p.URL, "POST", "/practitioners", signUp(t, p.URL, "admin"), url.Values{"name": {"Grace"}}).want(t, 201)["id"].(string)
	begin := time.Now().AddDate(0, 0, 2).UTC().Truncate(24 * time.Hour)
	slot := func(n int) url.Values { // each of the 90 times overlaps the next one
		return url.Values{"practitioner": {practitioner}, "startsAt": {begin.Add(time.Duration(n) * 15 * time.Minute).Format(time.RFC3339)}, "minutes": {"20"}}
	}
	var mu sync.Mutex
	got := map[string]bool{}
	enough := make(chan struct{})
	var group sync.WaitGroup
	for n := range 20 {
		group.Go(func() {
			for i := range 90 {
				r := call(t, p.URL, "POST", "/appointments", user, slot((i*7+n)%90))
				mu.Lock()
				if r.status == 201 {
					if got[r.body["id"].(string)] = true; len(got) == 10 {
						close(enough)
					}
				}
				mu.Unlock()
				if r.status == 0 {
					return // killed
				}
			}
		})
	}
	select {
	case <-enough:
	case <-time.After(30 * time.Second):
		t.Fatal("less than 10 appointments after 30 s")
	}
	p.Stop(os.Kill)
	group.Wait()

	p = start()
	defer p.Stop(os.Kill)
	fill := func() {
		for n := range 90 {
			if r := call(t, p.URL, "POST", "/appointments", user, slot(n)); r.status != 201 && r.status != 409 {
				t.Fatalf("%+v", r)
			}
		}
	}
	fill()
	rows := call(t, p.URL, "GET", "/appointments?sort=startsAt&limit=100", user, nil).want(t, 200)["rows"].([]any)
	var end time.Time
	for _, row := range rows {
		a := row.(map[string]any)
		if a["state"] != "booked" {
			continue // the service was killed while it created the appointment
		}
		delete(got, a["id"].(string))
		starts, _ := time.Parse(time.RFC3339, a["startsAt"].(string))
		if starts.Before(end) {
			t.Errorf("overlaps the one before: %v", a)
		}
		if gap := starts.Sub(end); !end.IsZero() && gap >= 35*time.Minute {
			t.Errorf("%v before are neither taken nor free: %v", gap, a)
		}
		end, _ = time.Parse(time.RFC3339, a["endsAt"].(string))
		invoices := call(t, p.URL, "GET", fmt.Sprintf("/appointments/%v/invoices", a["id"]), user, nil).want(t, 200)
		if invoices["count"] != 1.0 {
			t.Errorf("%v invoices: %v", invoices["count"], a)
		}
	}
	if len(got) > 0 {
		t.Errorf("lost: %v", got)
	}
}

type response struct {
	status int // 0 if there was none
	body   map[string]any
}

func (r response) want(t *testing.T, status int) map[string]any {
	t.Helper()
	if r.status != status {
		t.Fatalf("status %d, want %d: %v", r.status, status, r.body)
	}
	return r.body
}

func call(t *testing.T, base, method, path, token string, form url.Values) response {
	request, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Error(err)
		return response{}
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if email, password, ok := strings.Cut(token, ":"); ok {
		request.SetBasicAuth(email, password)
	} else {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		return response{}
	}
	defer func() { _ = r.Body.Close() }()
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return response{}
	}
	return response{r.StatusCode, body}
}

// signUp creates a user with a role, and returns a token.
func signUp(t *testing.T, base, role string) string {
	t.Helper()
	form := url.Values{"email": {role + "@example.com"}, "password": {"analytical engine"}, "role": {role}}
	call(t, base, "POST", "/users", masterKey, form).want(t, 201)
	signedIn := call(t, base, "POST", "/auth", role+"@example.com:analytical engine", url.Values{"access_token": {masterKey}})
	return signedIn.want(t, 201)["token"].(string)
}
