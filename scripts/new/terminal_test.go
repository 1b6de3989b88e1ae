package main

import (
	"bufio"
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, typed, want string }{
		{"", "store\n\nnone\n", "store --module example.com/store --with none"},
		{"", "", "shop --module example.com/shop --with all"},
		{"a --with user", "github.com/you/a\n", "a --with user --module github.com/you/a"},
		{"a --module x.org/a --without policy", "", "a --module x.org/a --without policy"},
		{"upgrade --dir x", "", "upgrade --dir x"},
		{"--config -", "", "--config -"},
	} {
		var out bytes.Buffer
		got := ask(strings.Fields(test.args), bufio.NewReader(strings.NewReader(test.typed)), &out)
		if want := strings.Fields(test.want); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", test.args, got, want)
		}
		if asked := strings.Count(out.String(), "]: "); asked != (len(got)-len(strings.Fields(test.args))+1)/2 {
			t.Errorf("%q: asked %d times:\n%s", test.args, asked, &out)
		}
	}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = read.Close(), write.Close() }()
	if terminal(null) || terminal(read) || terminal(strings.NewReader("")) {
		t.Error("nobody sits there")
	}
}
