package appointment_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/clinic/modules/apitest"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit"
)

// clinic is the service with two instances, a patient and a practitioner.
type clinic struct {
	*testkit.API
	second       *testkit.API // another instance with the same database
	patient      testkit.Account
	practitioner string
}

func openClinic(t *testing.T, options ...testkit.Option) *clinic {
	t.Helper()
	api := apitest.Start(t, options...)
	api.Clock.Advance(24*time.Hour - time.Duration(api.Clock.Now().UnixNano())%(24*time.Hour)) // midnight
	c := &clinic{API: api, second: api.Instance(options...), patient: api.SignUp("user")}
	created := c.Do(testkit.Request{Method: "POST", Path: "/practitioners", As: c.SignUp("admin").Token, JSON: map[string]any{"name": "Grace"}})
	c.practitioner = created.JSON(201)["id"].(string)
	return c
}

// at returns the parameters of an appointment that starts after a time.
func (c *clinic) at(after time.Duration, minutes int) map[string]any {
	return map[string]any{"practitioner": c.practitioner, "startsAt": store.At(c.Clock.Now().Add(after)).String(), "minutes": minutes}
}

func (c *clinic) post(token, path string, body any) testkit.Response {
	return c.Do(testkit.Request{Method: "POST", Path: path, As: token, JSON: body})
}

// book creates an appointment of the patient, and returns its path.
func (c *clinic) book(t *testing.T, after time.Duration, minutes int) string {
	t.Helper()
	return "/appointments/" + c.post(c.patient.Token, "/appointments", c.at(after, minutes)).JSON(201)["id"].(string)
}

// concurrently sends 20 requests to two instances, and counts the statuses.
func (c *clinic) concurrently(request func(n int) testkit.Request) map[int]int {
	var mu sync.Mutex
	var group sync.WaitGroup
	count := map[int]int{}
	for n := range 20 {
		r := request(n)
		group.Go(func() {
			api := []*testkit.API{c.API, c.second}[n%2]
			status := api.Do(r).Status
			mu.Lock()
			defer mu.Unlock()
			count[status]++
		})
	}
	group.Wait()
	return count
}

// stored returns the number of documents in a collection.
func (c *clinic) stored(t *testing.T, collection string) int64 {
	t.Helper()
	n, err := store.Open[document](c.DB, store.Spec{Name: collection}).Count(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

type document struct {
	store.Meta `bson:",inline"`
}

// wantStatus fails the test unless a response has the status, and the body contains the text.
func wantStatus(t *testing.T, r testkit.Response, status int, text string) {
	t.Helper()
	if r.Status != status || !strings.Contains(string(r.Body), text) {
		t.Errorf("%d %s, want %d %s", r.Status, r.Body, status, text)
	}
}
