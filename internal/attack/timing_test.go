//go:build timing

package attack_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/testkit"
	"example.com/ginseng/modules/apitest"
)

// rounds is how often each of two requests is timed.
const rounds = 150

// told is how often the first of two requests takes longer than the second, of all pairs: a half where the time tells
// nothing, none or all where it tells everything.
func told(a, b []time.Duration) float64 {
	longer := 0.0
	for _, x := range a {
		for _, y := range b {
			switch {
			case x > y:
				longer++
			case x == y:
				longer += 0.5
			}
		}
	}
	return longer / float64(len(a)*len(b))
}

// sameTime times two requests in turns, up to the end of their handler: a client in this process would wait for the
// processor while the service goes on after the answer. settle waits for what goes on after a, and after b. The margin is wide, so that a busy machine does not fail it: a
// hash that is left out tells all.
func sameTime(t *testing.T, api *testkit.API, a, b func(round int) request, settle ...func()) {
	t.Helper()
	var times [2][]time.Duration
	for i := range rounds {
		api.Clock.Advance(time.Hour) // out of all limits
		order := []func(int) request{a, b}
		for k := range order {
			k = (k + i) % 2
			r := order[k](i)
			sent := httptest.NewRequest(r.Method, r.Path, strings.NewReader(r.Form.Encode()))
			maps.Copy(sent.Header, r.Header)
			sent.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if r.Email != "" {
				sent.SetBasicAuth(r.Email, r.Password)
			}
			answer := httptest.NewRecorder()
			begun := time.Now()
			api.Handler.ServeHTTP(answer, sent)
			times[k] = append(times[k], time.Since(begun))
			if k < len(settle) {
				settle[k]()
			}
		}
	}
	share := told(times[0], times[1])
	median := func(d []time.Duration) time.Duration { return slices.Sorted(slices.Values(d))[len(d)/2] }
	t.Logf("medians %v and %v; the first takes longer in %.0f%% of all pairs", median(times[0]), median(times[1]), 100*share)
	if share < 0.25 || share > 0.75 {
		t.Errorf("the attack succeeded: the attacker can tell by the time")
	}
}

// TestTimeOfSignIn tells who has an account by how long a wrong password takes.
//
//	go test -tags timing -run TestTime ./internal/attack
func TestTimeOfSignIn(t *testing.T) {
	api := apitest.Start(t)
	ada := api.SignUp("user")
	sameTime(t, api,
		func(int) request { return signIn(ada.Email, guess) },
		func(i int) request { return signIn(fmt.Sprintf("%024d@example.com", i), guess) })
}

// TestTimeOfKey tells how much of the master key is right by how long a wrong one takes.
func TestTimeOfKey(t *testing.T) {
	api := apitest.Start(t)
	post := func(key string) func(int) request {
		return func(int) request {
			return request{Method: "POST", Path: "/users", Header: http.Header{"Authorization": {"Bearer " + key}}}
		}
	}
	sameTime(t, api, post(testkit.MasterKey[:len(testkit.MasterKey)-1]+"x"), post("x"+testkit.MasterKey[1:]))
}

// TestTimeOfAsking tells who has an account by how long it takes to ask for a reset.
func TestTimeOfAsking(t *testing.T) {
	api := apitest.Start(t)
	ada := api.SignUp("user")
	sameTime(t, api,
		func(int) request { return askReset(ada.Email) },
		func(i int) request { return askReset(fmt.Sprintf("%024d@example.com", i)) },
		func() { api.Email.Next(t) })
}
