package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/internal/resilience"
)

func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("loads the built service for seconds")
	}
	t.Chdir("../..")
	var out bytes.Buffer
	err := run(t.Context(), options{lasts: 3 * time.Second, every: 200 * time.Millisecond, clients: 4}, &out)
	if err != nil && !strings.Contains(err.Error(), "memory grows") { // seconds are too short for the collector
		t.Errorf("%v\n%s", err, &out)
	}
	for _, want := range []string{header, "| last |", "0 requests failed", "goroutines run at rest"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, &out)
		}
	}
}

// TestJudge finds what must not be.
func TestJudge(t *testing.T) {
	t.Parallel()
	flat := row{memory: 100 << 20, files: 20, perSecond: 1}
	for name, test := range map[string]struct {
		last    row
		verdict resilience.Verdict
		says    string
	}{
		"flat":             {flat, resilience.Verdict{}, ""},
		"memory":           {row{memory: 111 << 20, files: 20}, resilience.Verdict{}, "memory grows"},
		"files":            {row{memory: 100 << 20, files: 30}, resilience.Verdict{}, "open files grow"},
		"failures":         {row{memory: 100 << 20, files: 20, failed: 1}, resilience.Verdict{}, "1 requests failed"},
		"a broken promise": {flat, resilience.Verdict{Wrong: []string{"lost"}}, "lost"},
	} {
		err := judge([]row{flat, flat, test.last}, test.verdict, new(bytes.Buffer))
		if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := judge([]row{flat, flat}, resilience.Verdict{}, new(bytes.Buffer)); err == nil {
		t.Error("two lines are compared")
	}
}
