package policy_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// TestEvaluateSeesEveryWrite runs many writers to one namespace, through two instances. Each acknowledged write must be visible
// to the next evaluation, through either instance.
func TestEvaluateSeesEveryWrite(t *testing.T) {
	t.Parallel()
	one := apitest.Start(t)
	instances := []*testkit.API{one, one.Instance()}
	admin := one.SignUp("admin")
	const writers, rounds = 6, 5
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			mine, other := instances[w%2], instances[(w+1)%2]
			do := func(method, path, body string, status int) testkit.Response {
				response := mine.Do(request{Method: method, Path: path, As: admin.Token, JSON: body})
				if response.Status != status {
					t.Errorf("%s %s: %d %s", method, path, response.Status, response.Body)
				}
				return response
			}
			// sees evaluates for a workload that only the writer's own policies select.
			sees := func(version int, want string) {
				for _, api := range []*testkit.API{other, mine} {
					proxy := fmt.Sprintf(`{"namespace":"n","instance":{"labels":{"writer":"%d","version":"%d"}}}`, w, version)
					if got := strings.Join(evaluate(t, api, admin.Token, proxy), " "); got != want {
						t.Errorf("writer %d, version %d: %q apply, want %q", w, version, got, want)
					}
				}
			}
			selector := func(version int) string {
				return fmt.Sprintf(`"selector":{"matchLabels":{"writer":"%d","version":"%d"}}`, w, version)
			}
			for round := range rounds {
				name := fmt.Sprintf("w%d-%d", w, round)
				path := do("POST", "/policies", `{"namespace":"n","name":"`+name+`",`+selector(1)+`}`, 201).Header.Get("Location")
				sees(1, name)
				do("PATCH", path, `{`+selector(2)+`}`, 200)
				sees(1, "")
				sees(2, name)
				do("PATCH", path, `{"name":"`+name+`-new"}`, 200)
				sees(2, name+"-new")
				do("DELETE", path, "", 204)
				sees(2, "")
			}
		})
	}
	running.Wait()
}
