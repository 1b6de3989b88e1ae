package service_test

import (
	"runtime"
	"strings"
	"testing"

	"example.com/ginseng/testkit"
)

// TestBatchMemory checks that batches do not allocate much more memory than their bodies and records have. It is not parallel,
// because the memory is that of the process.
func TestBatchMemory(t *testing.T) {
	const most = 64 << 20 // bytes
	api := startBatch(t)
	ada := api.SignUp("user")
	long := api.Do(testkit.Request{
		Method: "POST", Path: "/articles", As: ada.Token, JSON: `{"title":"T","content":"` + strings.Repeat("x", 100_000) + `"}`,
	}).Header.Get("Location")
	change := `{"name":"a","method":"PATCH","path":"` + long + `","body":{"title":"U"}}`
	create := func(body string) string { return `{"method":"POST","path":"/articles","body":` + body + `}` }
	list := func(item string, n int) string { return `["` + strings.Repeat(item+`","`, n) + `"]` }
	for name, operations := range map[string][]string{
		"references to a long string":            {change, create(`{"title":` + list("$a.content", 2000) + `}`)},
		"references to a field of a long record": {change, create(`{"title":` + list("$a.id", 2000) + `}`)},
		"operations without a method":            {strings.Repeat("{},", 200_000) + "{}"},
		"invalid references with a long name":    {create(`{"` + strings.Repeat("x", 20_000) + `":` + list("$x", 20_000) + `}`)},
		"invalid references in nested lists":     {create(`{"x":` + strings.Repeat("[", 5000) + list("$x", 2000) + strings.Repeat("]", 5000) + `}`)},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		response := api.Do(batchOf(ada.Token, operations...))
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; response.Status != 400 && response.Status != 413 || allocated > most {
			t.Errorf("%s: status %d, %d MiB", name, response.Status, allocated>>20)
		}
	}
}
