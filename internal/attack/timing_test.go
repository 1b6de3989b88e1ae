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

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// rounds is the number of times that each of the two requests is measured.
const rounds = 150

// shareLonger returns the share of pairs in which the first request takes longer: 0.5 if the durations have the same
// distribution.
func shareLonger(a, b []time.Duration) float64 {
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

// sameTime measures two requests in turns, up to the end of their handler, since a client in this process competes
// for the CPU with work after the response. settle waits for that work after a and after b. The wide margin tolerates
// a busy machine: a skipped hash is still detected.
func sameTime(t *testing.T, api *testkit.API, a, b func(round int) request, settle ...func()) {
	t.Helper()
	var times [2][]time.Duration
	for i := range rounds {
		api.Clock.Advance(time.Hour) // past all rate limit windows
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
			recorder := httptest.NewRecorder()
			begun := time.Now()
			api.Handler.ServeHTTP(recorder, sent)
			times[k] = append(times[k], time.Since(begun))
			if k < len(settle) {
				settle[k]()
			}
		}
	}
	share := shareLonger(times[0], times[1])
	median := func(d []time.Duration) time.Duration { return slices.Sorted(slices.Values(d))[len(d)/2] }
	t.Logf("medians %v and %v; the first takes longer in %.0f%% of all pairs", median(times[0]), median(times[1]), 100*share)
	if share < 0.25 || share > 0.75 {
		t.Errorf("the attack succeeded: the durations differ")
	}
}

// TestTimeOfSignIn compares the durations of a failed sign-in for known and unknown addresses.
//
//	go test -tags timing -run TestTime ./internal/attack
func TestTimeOfSignIn(t *testing.T) {
	api := apitest.Start(t)
	ada := api.SignUp("user")
	sameTime(t, api,
		func(int) request { return signIn(ada.Email, guess) },
		func(i int) request { return signIn(fmt.Sprintf("%024d@example.com", i), guess) })
}

// TestTimeOfKey compares the durations for wrong master keys with a right prefix and without one.
func TestTimeOfKey(t *testing.T) {
	api := apitest.Start(t)
	post := func(key string) func(int) request {
		return func(int) request {
			return request{Method: "POST", Path: "/users", Header: http.Header{"Authorization": {"Bearer " + key}}}
		}
	}
	sameTime(t, api, post(testkit.MasterKey[:len(testkit.MasterKey)-1]+"x"), post("x"+testkit.MasterKey[1:]))
}

// TestTimeOfResetRequest compares the durations of reset requests for known and unknown addresses.
func TestTimeOfResetRequest(t *testing.T) {
	api := apitest.Start(t)
	ada := api.SignUp("user")
	sameTime(t, api,
		func(int) request { return askReset(ada.Email) },
		func(i int) request { return askReset(fmt.Sprintf("%024d@example.com", i)) },
		func() { api.Email.Next(t) })
}

// TestTimeOfCode compares the durations of requests for a code, and of wrong codes, for known and unknown addresses.
func TestTimeOfCode(t *testing.T) {
	api := apitest.Start(t)
	ada := api.SignUp("user")
	sameTime(t, api,
		func(int) request { return askCode(ada.Email) },
		func(i int) request { return askCode(fmt.Sprintf("%024d@example.com", i)) },
		func() { api.Email.Next(t) })
	guesses := func(address string) func(int) request {
		return func(int) request {
			return enterCode(challengeOf(t, api, address), "000000")
		}
	}
	sameTime(t, api, guesses(ada.Email), guesses("nobody@example.com"))
}
