package progress

import (
	"bytes"
	"regexp"
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		total, before, done int64
		after               time.Duration
		want                string
	}{
		{100_000, 0, 0, time.Second, "copying [                    ] 0 %, 0 documents/s, ? left"},
		{100_000, 0, 25_000, 2 * time.Second, "copying [=====               ] 25 %, 12,500 documents/s, 6s left"},
		{100_000, 50_000, 25_000, 2 * time.Second, "copying [===============     ] 75 %, 12,500 documents/s, 2s left"},
		{10, 0, 20, time.Second, "copying [====================] 100 %, 20 documents/s, 0s left"},
		{0, 0, 0, 0, "copying [                    ] 0 %, 0 documents/s, ? left"},
		{9_000_000, 0, 1, time.Second, "copying [                    ] 0 %, 1 documents/s, 2499h59m59s left"},
	} {
		b := &Bar{what: "copying", unit: "documents", total: test.total, from: test.before}
		b.Add(test.before + test.done)
		if got := b.line(test.after); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := Start(&out, "copying", "documents", 10, 4)
	b.Add(6)
	b.Stop()
	if !regexp.MustCompile(`^copying: 6 documents in [0-9.]+s, [0-9,]+ documents/s\n$`).Match(out.Bytes()) {
		t.Errorf("%q", &out)
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -100: "-100", -1000: "-1,000"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
