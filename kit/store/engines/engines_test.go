package engines

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"sqlite:data/ginseng.db":                                 "sqlite:data/ginseng.db",
		"sqlite:///data/a@b.db":                                  "sqlite:///data/a@b.db",
		"mongodb://host":                                         "mongodb://host",
		"mongodb://user:secret@host:27017/name?tls=true":         "mongodb://host:27017/name",
		"mongodb://user:secret@a:1,b:2/name?replicaSet=x":        "mongodb://a:1,b:2/name",
		"mongodb+srv://user:secret@cluster.example.com/x":        "mongodb+srv://cluster.example.com/x",
		"mongodb://user:sec/ret@host/name":                       "mongodb:…",
		"mongodb://user:sec?ret@host/name":                       "mongodb:…",
		"mongodb://user:secret@secret@host/name":                 "mongodb:…",
		"mongodb://host/name?authMechanismProperties=X:secret@y": "mongodb:…",
	} {
		if got := Redact(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Link(file, link)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"sqlite:" + file, "sqlite://" + file, true},
		{"sqlite:" + file, "sqlite:" + link, true},
		{"sqlite:" + file, "sqlite:" + filepath.Join(dir, "c.db"), false},
		{"sqlite:nothing.db", "sqlite:./nothing.db", true},
		{"sqlite:" + file, "mongodb://host/name", false},
		{"mongodb://a:b@host/name?tls=true", "mongodb://host/name", true},
		{"mongodb://host/name", "mongodb://host/other", false},
	} {
		if got := Same(test.a, test.b); got != test.want {
			t.Errorf("%s, %s: %v", test.a, test.b, got)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "nothing", "postgres://user:secret@host/name", "mongodb://user:secret@host:99999999/x", "mongodb://user:sec/ret@host"} {
		if _, err := Open(t.Context(), address); !errors.Is(err, ErrAddress) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec/ret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
