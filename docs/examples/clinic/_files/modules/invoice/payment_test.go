package invoice_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/clinic/modules/apitest"
	"example.com/clinic/modules/invoice"
	"example.com/ginseng/kit/settings"
	"example.com/ginseng/kit/signature"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit"
)

const (
	secret    = "whsec_0123456789abcdef"
	oldSecret = "whsec_fedcba9876543210"
)

// billing is the service with two instances, an invoice, and a payment provider.
type billing struct {
	*testkit.API
	second   *testkit.API // another instance with the same database
	admin    string       // token
	path, id string       // of the invoice
	provider *signature.Verifier
}

func openBilling(t *testing.T) *billing {
	t.Helper()
	env := testkit.Env("PAYMENT_SECRETS", secret+","+oldSecret)
	api := apitest.Start(t, env)
	b := &billing{API: api, second: api.Instance(env), admin: api.SignUp("admin").Token}
	newAppointment(api, store.ID{11: 1}, store.NewID())
	path := "/appointments/000000000000000000000001/invoices"
	b.id = b.Do(testkit.Request{Method: "POST", Path: path, As: b.admin, JSON: map[string]any{"amount": "50"}}).JSON(201)["id"].(string)
	b.path = path + "/" + b.id
	b.provider = signs(t, b.Clock.Now, secret)
	return b
}

func signs(t *testing.T, now func() time.Time, secret string) *signature.Verifier {
	t.Helper()
	v, err := signature.NewTimestamped(now, "Payment-Signature", secret)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// event returns the body of an event about the invoice.
func (b *billing) event(id, kind string) string {
	return b.eventOf(id, kind, b.id, "50")
}

func (b *billing) eventOf(id, kind, invoice, amount string) string {
	return fmt.Sprintf(`{"id":%q,"type":%q,"created":%d,"data":{"invoice":%q,"amount":%q}}`, id, kind, b.Clock.Now().Unix(), invoice, amount)
}

func request(body string, header http.Header) testkit.Request {
	return testkit.Request{Method: "POST", Path: "/payment-events", Body: body, ContentType: "application/json", Header: header}
}

// send sends an event that the provider signs now.
func (b *billing) send(body string) int {
	return b.Do(request(body, b.provider.Sign("", []byte(body)))).Status
}

// want fails the test unless the invoice has the state, and the ledger has so many entries.
func (b *billing) want(t *testing.T, state string, entries int64) {
	t.Helper()
	got := b.Do(testkit.Request{Method: "GET", Path: b.path, As: b.admin}).JSON(200)["state"]
	if n := b.Count("ledger-entries"); got != state || n != entries {
		t.Errorf("%v with %d entries, want %s with %d", got, n, state, entries)
	}
}

// TestSignature sends events whose signature is missing, wrong or old.
func TestSignature(t *testing.T) {
	t.Parallel()
	b := openBilling(t)
	body := b.event("evt_1", "payment.succeeded")
	sign := func(v *signature.Verifier, body string) http.Header { return v.Sign("", []byte(body)) }
	old := sign(b.provider, body)
	b.Clock.Advance(5*time.Minute + time.Second)
	for _, test := range []struct {
		name   string
		header http.Header
		body   string
		code   string
	}{
		{"missing", nil, body, "required"},
		{"malformed", http.Header{"Payment-Signature": {"v1"}}, body, "format"},
		{"of another secret", sign(signs(t, b.Clock.Now, "another secret of 16 bytes"), body), body, "wrong"},
		{"of another body", sign(b.provider, body), body + " ", "wrong"},
		{"old", old, body, "min"},
		{"of the future", sign(signs(t, func() time.Time { return b.Clock.Now().Add(time.Hour) }, secret), body), body, "max"},
	} {
		r := b.Do(request(test.body, test.header))
		var problem struct {
			Errors []struct{ In, Param, Code string }
		}
		err := json.Unmarshal(r.Body, &problem)
		if r.Status != 400 || err != nil || len(problem.Errors) != 1 || problem.Errors[0].Param != "Payment-Signature" || problem.Errors[0].Code != test.code {
			t.Errorf("%s: %d %s, want %s", test.name, r.Status, r.Body, test.code)
		}
	}
	b.want(t, "open", 0)
	header := sign(signs(t, b.Clock.Now, oldSecret), body)
	header.Set("Authorization", "Basic cHJvdmlkZXI6") // no credential of the service
	if r := b.Do(request(body, header)); r.Status != 204 {
		t.Errorf("old secret: %d %s", r.Status, r.Body)
	}
	b.want(t, "paid", 1)
}

func TestTwice(t *testing.T) {
	t.Parallel()
	b := openBilling(t)
	body := b.event("evt_1", "payment.succeeded")
	for range 2 {
		if status := b.send(body); status != 204 {
			t.Error(status)
		}
	}
	b.Clock.Advance(31 * 24 * time.Hour) // the provider repeats it so late that its ID was deleted
	b.RunJobs()
	for range 2 {
		if status := b.send(body); status != 204 {
			t.Error(status)
		}
	}
	b.admin = b.SignUp("admin").Token // the other token has expired
	b.want(t, "paid", 1)
}

// TestTwiceConcurrently sends the same event 20 times to two instances at the same time. On a server without transactions, the
// response to some of them is 503, and the provider repeats these.
func TestTwiceConcurrently(t *testing.T) {
	t.Parallel()
	b := openBilling(t)
	body := b.event("evt_1", "payment.succeeded")
	header := b.provider.Sign("", []byte(body))
	var group sync.WaitGroup
	for n := range 20 {
		group.Go(func() {
			if status := []*testkit.API{b.API, b.second}[n%2].Do(request(body, header)).Status; status != 204 && status != 503 {
				t.Error(status)
			}
		})
	}
	group.Wait()
	if status := b.send(body); status != 204 {
		t.Error(status)
	}
	b.want(t, "paid", 1)
}

func TestOutOfOrder(t *testing.T) {
	t.Parallel()
	b := openBilling(t)
	paid, refunded := b.event("evt_1", "payment.succeeded"), b.event("evt_2", "payment.refunded")
	if status := b.send(refunded); status != 204 {
		t.Error(status)
	}
	b.want(t, "refunded", 1)
	b.Clock.Advance(3 * 24 * time.Hour) // the first attempts to send the other event have failed
	if status := b.send(paid); status != 204 {
		t.Error(status)
	}
	b.admin = b.SignUp("admin").Token
	b.want(t, "refunded", 2)
}

// TestAmount sends a payment and a refund whose amount is not that of the invoice. They are in the ledger and in the log.
func TestAmount(t *testing.T) {
	t.Parallel()
	b := openBilling(t)
	for n, test := range []struct{ kind, amount, state string }{
		{"payment.succeeded", "49.99", "open"}, {"payment.succeeded", "50.00", "paid"}, {"payment.refunded", "20", "paid"},
	} {
		if status := b.send(b.eventOf(fmt.Sprint(n), test.kind, b.id, test.amount)); status != 204 {
			t.Errorf("%+v: %d", test, status)
		}
		b.want(t, test.state, int64(n)+1)
	}
	if n := strings.Count(b.Log.String(), "a payment event matches no invoice"); n != 2 {
		t.Errorf("%d log lines, want 2", n)
	}
}

// TestOtherEvents sends events whose repetition would change nothing, and bodies that are no events.
func TestOtherEvents(t *testing.T) {
	t.Parallel()
	b := openBilling(t)
	for _, body := range []string{
		b.event("evt_1", "customer.created"), b.eventOf("evt_2", "payment.succeeded", "unknown", "1"),
		`{"id":"evt_3","type":"customer.created","data":{"invoice":{"id":1},"amount":[]}}`, `{"id":"evt_4","type":"ping"}`,
	} {
		if status := b.send(body); status != 204 {
			t.Errorf("%d for %s", status, body)
		}
	}
	b.want(t, "open", 0)
	if log := b.Log.String(); strings.Count(log, "a payment event matches no invoice") != 1 || !strings.Contains(log, "event=evt_2") {
		t.Errorf("no log line of evt_2: %s", log)
	}
	for _, body := range []string{
		"", "id=evt_1", `{"type":"payment.succeeded","data":{"invoice":"` + b.id + `","amount":"1"}}`,
		`{"id":"evt_5","type":"payment.succeeded","data":{"invoice":1}}`, `{"id":"evt_5","type":"payment.succeeded"}`,
	} {
		if status := b.send(body); status != 400 {
			t.Errorf("%d for %q", status, body)
		}
	}
	if status := b.Do(testkit.Request{Method: "DELETE", Path: b.path, As: b.admin}).Status; status != 204 {
		t.Fatal(status)
	}
	if status := b.send(b.event("evt_6", "payment.succeeded")); status != 204 || b.Count("ledger-entries") != 1 {
		t.Errorf("deleted invoice: %d, %d entries", status, b.Count("ledger-entries"))
	}
}

func TestPaymentSecrets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		secrets []string
		valid   bool
	}{{nil, true}, {[]string{secret}, true}, {[]string{secret, oldSecret}, true}, {[]string{"short"}, false}} {
		if err := settings.Validate(&invoice.Settings{PaymentSecrets: test.secrets}); (err == nil) != test.valid {
			t.Errorf("%q: %v", test.secrets, err)
		}
	}
	r, err := http.Post(apitest.Start(t).URL+"/payment-events", "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	if r.StatusCode != 404 {
		t.Errorf("without a secret: %d", r.StatusCode)
	}
}
