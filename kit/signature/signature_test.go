package signature_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/signature"
)

const (
	standardSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	otherStandard  = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
	stripeSecret   = "whsec_0123456789abcdef0123456789abcdef"
	body           = `{"id":"evt_1","type":"payment.succeeded","note":"größer"}`
)

var signedAt = time.Unix(1767366245, 0)

// standardHeaders is what standardwebhooks 1.1.1 of npm makes of body; stripeHeader is what stripe 23.1.0 of npm makes of it.
func standardHeaders() http.Header {
	return http.Header{
		"Webhook-Id": {"msg_1"}, "Webhook-Timestamp": {"1767366245"},
		"Webhook-Signature": {"v1,kgSeIxceG+rWkxRhkgA6nsZKdZiP8KVgnt/AxuHKbLw="},
	}
}

func stripeHeader() http.Header {
	return http.Header{"Stripe-Signature": {"t=1767366245,v1=86d1bb9ea49ac896624250df91329bdb52884a580bfdcf098ac214055c26149f"}}
}

func standard(t testing.TB, now time.Time, secrets ...string) *signature.Verifier {
	v, err := signature.NewStandard(func() time.Time { return now }, secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func stripe(t testing.TB, now time.Time, secrets ...string) *signature.Verifier {
	v, err := signature.NewTimestamped(func() time.Time { return now }, "Stripe-Signature", secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// field returns the header and the code of an error of Verify, or "".
func field(t testing.TB, err error) string {
	var e *apperr.Error
	if err == nil {
		return ""
	}
	if !errors.As(err, &e) || e.Code != apperr.ValidationFailed || len(e.Fields) != 1 || e.Fields[0].In != "header" {
		t.Fatalf("%#v", err)
	}
	return e.Fields[0].Param + " " + string(e.Fields[0].Code)
}

func TestVerifyStandard(t *testing.T) {
	t.Parallel()
	valid := standardHeaders()["Webhook-Signature"][0]
	for name, c := range map[string]struct {
		set, value, body string
		now              time.Duration
		secrets          []string
		want             string
	}{
		"valid":                    {},
		"old secret":               {secrets: []string{otherStandard, standardSecret}},
		"without prefix":           {secrets: []string{strings.TrimPrefix(standardSecret, "whsec_")}},
		"several signatures":       {set: "Webhook-Signature", value: "v1a,AAAA v1,AAAA v2 v1 v1,? " + valid},
		"5 minutes late":           {now: 5 * time.Minute},
		"5 minutes early":          {now: -5 * time.Minute},
		"late":                     {now: 5*time.Minute + time.Second, want: "Webhook-Timestamp min"},
		"early":                    {now: -5*time.Minute - time.Second, want: "Webhook-Timestamp max"},
		"other secret":             {secrets: []string{otherStandard}, want: "Webhook-Signature wrong"},
		"other body":               {body: body + "\n", want: "Webhook-Signature wrong"},
		"other id":                 {set: "Webhook-Id", value: "msg_2", want: "Webhook-Signature wrong"},
		"other timestamp":          {set: "Webhook-Timestamp", value: "1767366246", want: "Webhook-Signature wrong"},
		"other form of timestamp":  {set: "Webhook-Timestamp", value: "01767366245", want: "Webhook-Signature wrong"},
		"no ID":                    {set: "Webhook-Id", want: "Webhook-Id required"},
		"no timestamp":             {set: "Webhook-Timestamp", want: "Webhook-Timestamp required"},
		"no signature":             {set: "Webhook-Signature", want: "Webhook-Signature required"},
		"sign":                     {set: "Webhook-Timestamp", value: "+1767366245", want: "Webhook-Timestamp format"},
		"timestamp out of range":   {set: "Webhook-Timestamp", value: "9223372036854775808", want: "Webhook-Timestamp format"},
		"no signature of the kind": {set: "Webhook-Signature", value: "v1a,AAAA", want: "Webhook-Signature format"},
		"empty signature":          {set: "Webhook-Signature", value: "v1,", want: "Webhook-Signature wrong"},
		"part of the signature":    {set: "Webhook-Signature", value: "v1,kgSe", want: "Webhook-Signature wrong"},
	} {
		header, secrets, sent := standardHeaders(), c.secrets, body
		if c.set != "" {
			header.Set(c.set, c.value)
		}
		if secrets == nil {
			secrets = []string{standardSecret}
		}
		if c.body != "" {
			sent = c.body
		}
		if got := field(t, standard(t, signedAt.Add(c.now), secrets...).Verify(header, []byte(sent))); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestVerifyTimestamped(t *testing.T) {
	t.Parallel()
	timestamp, valid, _ := strings.Cut(stripeHeader().Get("Stripe-Signature"), ",")
	for name, c := range map[string]struct {
		value   string
		now     time.Duration
		secrets []string
		want    string
	}{
		"valid":              {value: timestamp + "," + valid},
		"other order":        {value: "v0=aa, " + valid + " , " + timestamp},
		"several signatures": {value: timestamp + ",v1=00,v1=?,v1," + valid},
		"old secret":         {value: timestamp + "," + valid, secrets: []string{"another secret, of 16 bytes", stripeSecret}},
		"late":               {value: timestamp + "," + valid, now: 5*time.Minute + time.Second, want: "Stripe-Signature min"},
		"early":              {value: timestamp + "," + valid, now: -5*time.Minute - time.Second, want: "Stripe-Signature max"},
		"other secret":       {value: timestamp + "," + valid, secrets: []string{"another secret, of 16 bytes"}, want: "Stripe-Signature wrong"},
		"other timestamp":    {value: "t=1767366246," + valid, want: "Stripe-Signature wrong"},
		"two timestamps":     {value: timestamp + "," + valid + ",t=1767366246", want: "Stripe-Signature wrong"},
		"no header":          {want: "Stripe-Signature required"},
		"no timestamp":       {value: valid, want: "Stripe-Signature format"},
		"no signature":       {value: timestamp, want: "Stripe-Signature format"},
		"negative":           {value: "t=-1," + valid, want: "Stripe-Signature format"},
		"other scheme":       {value: timestamp + "," + strings.Replace(valid, "v1", "v0", 1), want: "Stripe-Signature format"},
	} {
		secrets := c.secrets
		if secrets == nil {
			secrets = []string{stripeSecret}
		}
		got := field(t, stripe(t, signedAt.Add(c.now), secrets...).Verify(http.Header{"Stripe-Signature": {c.value}}, []byte(body)))
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSign(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string][2]*signature.Verifier{
		"standard": {standard(t, signedAt, standardSecret, otherStandard), standard(t, signedAt, otherStandard)},
		"stripe":   {stripe(t, signedAt, stripeSecret, "another secret, of 16 bytes"), stripe(t, signedAt, "another secret, of 16 bytes")},
	} {
		if err := pair[1].Verify(pair[0].Sign("msg_1", []byte(body)), []byte(body)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, want := standard(t, signedAt, standardSecret).Sign("msg_1", []byte(body)), standardHeaders(); got.Get("Webhook-Signature") != want.Get("Webhook-Signature") {
		t.Error(got)
	}
	if got, want := stripe(t, signedAt, stripeSecret).Sign("", []byte(body)), stripeHeader(); got.Get("Stripe-Signature") != want.Get("Stripe-Signature") {
		t.Error(got)
	}
}

// TestStandard compares a signature with the example of the specification of Standard Webhooks.
func TestStandard(t *testing.T) {
	t.Parallel()
	secret, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(standardSecret, "whsec_"))
	got := signature.Standard([][]byte{secret}, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Error(got)
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	short := "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 23))
	for _, secrets := range [][]string{nil, {""}, {"whsec_"}, {"whsec_?"}, {short}, {standardSecret, short}} {
		if v, err := signature.NewStandard(time.Now, secrets...); err == nil {
			t.Errorf("%q: %v", secrets, v)
		}
	}
	for _, secrets := range [][]string{nil, {""}, {"fifteen bytes.."}} {
		if v, err := signature.NewTimestamped(time.Now, "Signature", secrets...); err == nil {
			t.Errorf("%q: %v", secrets, v)
		}
	}
	if v, err := signature.NewTimestamped(time.Now, "", stripeSecret); err == nil {
		t.Errorf("no header: %v", v)
	}
}

// FuzzVerify looks for headers that a Verifier accepts although they do not have the signature, and for panics.
func FuzzVerify(f *testing.F) {
	s, h := standardHeaders(), stripeHeader().Get("Stripe-Signature")
	f.Add("msg_1", "1767366245", s.Get("Webhook-Signature"), h)
	f.Add(" ", "-1", "v1,, v1,=", "t=,v1=,t=1")
	f.Add("a.b", "9223372036854775807", "v1 v1a,AA==", "t=9223372036854775807,v1=zz,,=")
	one, two := standard(f, signedAt, standardSecret), stripe(f, signedAt, stripeSecret)
	genuine, digest := s.Get("Webhook-Signature"), h[strings.Index(h, "v1=")+3:]
	f.Fuzz(func(t *testing.T, id, timestamp, signatures, stripe string) {
		header := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signatures}, "Stripe-Signature": {stripe}}
		if field(t, one.Verify(header, []byte(body))) == "" && (id+timestamp != "msg_11767366245" || !strings.Contains(signatures, genuine)) {
			t.Errorf("accepted %q", header)
		}
		if field(t, two.Verify(header, []byte(body))) == "" && (!strings.Contains(stripe, "t=1767366245") || !strings.Contains(strings.ToLower(stripe), digest)) {
			t.Errorf("accepted %q", header)
		}
	})
}
