package password

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"example.com/ginseng/kit/apperr"
)

func TestHashAndVerify(t *testing.T) {
	t.Parallel()
	h := NewHasher()
	for _, pass := range []string{"correct horse battery", " spaces count ", "пароль密码", strings.Repeat("x", 128)} {
		hash, err := h.Hash(t.Context(), pass)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(hash, "$argon2id$v=19$m=7168,t=5,p=1$") {
			t.Errorf("hash %s", hash)
		}
		if match, outdated, err := h.Verify(t.Context(), pass, hash); !match || outdated || err != nil {
			t.Errorf("%q: match %v, outdated %v, %v", pass, match, outdated, err)
		}
		if match, _, err := h.Verify(t.Context(), pass+"x", hash); match || err != nil {
			t.Errorf("%q with one more: match %v, %v", pass, match, err)
		}
		if again, _ := h.Hash(t.Context(), pass); again == hash {
			t.Error("two hashes share a salt")
		}
	}
}

func TestVerifyForeignHashes(t *testing.T) {
	t.Parallel()
	h := NewHasher()
	old, err := bcrypt.GenerateFromPassword([]byte("an old password"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	weak := format(1024, 1, 1, []byte("0123456789abcdef"), []byte("0123456789abcdef0123456789abcdef"))
	earlier, err := newHasher(19*1024, 2).Hash(t.Context(), "an old password") // the default before m=7168, t=5
	if err != nil {
		t.Fatal(err)
	}
	const composed, decomposed = "caf\u00e9 au lait", "cafe\u0301 au lait"
	normal, err := h.Hash(t.Context(), decomposed)
	if err != nil {
		t.Fatal(err)
	}
	salt := []byte("0123456789abcdef")
	unchanged := format(h.memory, h.passes, lanes, salt, argon2.IDKey([]byte(decomposed), salt, h.passes, h.memory, lanes, hashBytes)) // of an earlier version
	for name, test := range map[string]struct {
		pass, hash      string
		match, outdated bool
		fails           bool
	}{
		"composed":              {composed, normal, true, false, false},
		"decomposed":            {decomposed, normal, true, false, false},
		"unchanged, decomposed": {decomposed, unchanged, true, true, false},
		"unchanged, composed":   {composed, unchanged, false, false, false},
		"decomposed, nobody":    {decomposed, "", false, false, false},
		"decomposed, wrong":     {decomposed + "x", unchanged, false, false, false},
		"bcrypt":                {"an old password", string(old), true, true, false},
		"bcrypt, wrong":         {"another", string(old), false, true, false},
		"19 MiB":                {"an old password", earlier, true, true, false},
		"19 MiB, wrong":         {"another", earlier, false, true, false},
		"weaker argon2id":       {"x", weak, false, true, false},
		"nobody":                {"", "", false, false, false},
		"nobody, any":           {"anything", "", false, false, false},
		"plain text":            {"secret", "secret", false, false, true},
		"argon2i":               {"x", strings.Replace(weak, "argon2id", "argon2i", 1), false, false, true},
		"too much memory":       {"x", format(1<<22, 1, 1, []byte("salt"), []byte("sum")), false, false, true},
		"no pass":               {"x", format(1024, 0, 1, []byte("salt"), []byte("sum")), false, false, true},
		"no lane":               {"x", format(1024, 1, 0, []byte("salt"), []byte("sum")), false, false, true},
		"no sum":                {"x", format(1024, 1, 1, []byte("salt"), nil), false, false, true},
		"broken salt":           {"x", "$argon2id$v=19$m=1024,t=1,p=1$!$AAAA", false, false, true},
		"broken parameter":      {"x", "$argon2id$v=19$m=a,t=1,p=1$AAAA$AAAA", false, false, true},
	} {
		match, outdated, err := h.Verify(t.Context(), test.pass, test.hash)
		if match != test.match || (err != nil) != test.fails || (err == nil && outdated != test.outdated) {
			t.Errorf("%s: match %v, outdated %v, %v", name, match, outdated, err)
		}
	}
}

// TestFlood fills the slots and the queue: the next caller is rejected immediately, and a caller that leaves frees its
// place.
func TestFlood(t *testing.T) {
	t.Parallel()
	h := NewHasher()
	var release []func()
	for range cap(h.slots) {
		r, err := h.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		release = append(release, r)
	}
	gone, cancel := context.WithCancel(t.Context())
	waiters := make(chan error)
	for range h.limit {
		go func() {
			_, err := h.acquire(gone)
			waiters <- err
		}()
	}
	for h.waiting.Load() < h.limit+int64(cap(h.slots)) {
		select {
		case err := <-waiters:
			t.Fatalf("a waiting caller was rejected: %v", err)
		default:
		}
	}
	_, err := h.acquire(t.Context())
	var e *apperr.Error
	if !errors.As(err, &e) || e.Code != apperr.Unavailable || e.RetryAfter == 0 {
		t.Fatalf("one too many: %v", err)
	}
	var metrics []float64 // running, waiting, rejected
	for _, c := range h.Collectors() {
		metrics = append(metrics, testutil.ToFloat64(c))
	}
	if !slices.Equal(metrics, []float64{float64(cap(h.slots)), float64(h.limit), 1}) {
		t.Errorf("metrics %v", metrics)
	}
	cancel()
	for range h.limit {
		if err := <-waiters; !apperr.Is(err, apperr.Unavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("one who gave up: %v", err)
		}
	}
	for _, r := range release {
		r()
	}
	if n := h.waiting.Load(); n != 0 {
		t.Errorf("%d still counted", n)
	}
	if r, err := h.acquire(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	} else {
		r()
	}
}

func TestIsCommon(t *testing.T) {
	t.Parallel()
	for pass, want := range map[string]bool{"password": true, "PassWord1": true, "12345678": true, "correct horse battery": false, "": false, "# The most": false} {
		if IsCommon(pass) != want {
			t.Errorf("%q: %v", pass, !want)
		}
	}
	if n := len(common()); n < 1000 {
		t.Errorf("only %d passwords", n)
	}
	for word := range common() {
		if len(word) < 8 || word != strings.ToLower(word) {
			t.Errorf("%q can never match", word)
		}
	}
}

// BenchmarkHash compares the default with the other parameters of OWASP's Password Storage Cheat Sheet, and with bcrypt at the
// cost that the sheet requires.
func BenchmarkHash(b *testing.B) {
	old, err := bcrypt.GenerateFromPassword([]byte("correct horse battery"), bcrypt.DefaultCost)
	if err != nil {
		b.Fatal(err)
	}
	hash := func(memory, passes uint32) func() error {
		h := newHasher(memory, passes)
		return func() error {
			_, err := h.Hash(b.Context(), "correct horse battery")
			return err
		}
	}
	for _, test := range []struct {
		name string
		run  func() error
	}{
		{"m=7168,t=5", hash(memoryKiB, passes)},
		{"m=9216,t=4", hash(9*1024, 4)},
		{"m=12288,t=3", hash(12*1024, 3)},
		{"m=19456,t=2", hash(19*1024, 2)},
		{"m=47104,t=1", hash(46*1024, 1)},
		{"bcrypt,cost=10", func() error { return bcrypt.CompareHashAndPassword(old, []byte("correct horse battery")) }},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := test.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
