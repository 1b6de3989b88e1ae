package progress

import (
	"bytes"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		b := Start(&out, "copying", "documents", 8000)
		b.Add(1000)
		time.Sleep(lineInterval)
		b.Add(1000)
		b.Add(1000)
		b.Stop()
		want := "copying: 2,000 of 8,000 documents, 30s left\ncopying: 3,000 documents in 10s\n"
		if out.String() != want {
			t.Errorf("the output is %q, want %q", &out, want)
		}
	})
}

// TestNothingDone checks that a line has no remaining time if no work is done yet.
func TestNothingDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		b := Start(&out, "copying", "documents", 8000)
		time.Sleep(lineInterval)
		b.Add(0)
		if want := "copying: 0 of 8,000 documents\n"; out.String() != want {
			t.Errorf("the output is %q, want %q", &out, want)
		}
	})
}

// TestMoreThanTotal checks that a line has no remaining time if more than the total is done, because the work grew meanwhile.
func TestMoreThanTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		b := Start(&out, "export", "records", 1000)
		time.Sleep(lineInterval)
		b.Add(1001)
		if want := "export: 1,001 of 1,000 records\n"; out.String() != want {
			t.Errorf("the output is %q, want %q", &out, want)
		}
	})
}

func TestUnknownTotal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		b := Start(&out, "import", "kB", -1)
		time.Sleep(lineInterval)
		b.Add(1)
		b.Stop()
		if want := "import: 10s\n"; out.String() != want {
			t.Errorf("the output is %q, want %q", &out, want)
		}
	})
}

func TestIsTerminal(t *testing.T) {
	t.Parallel()
	if IsTerminal(io.Discard) {
		t.Error("io.Discard is a terminal")
	}
}
