package files_test

import (
	"crypto/sha256"
	"net/url"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store"
)

// TestLinks verifies links that are unchanged, changed in one part, expired, or to an earlier file.
func TestLinks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 1, time.UTC)
	digest := func(parts ...string) []byte {
		sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
		return sum[:]
	}
	links := files.Links{PublicURL: "https://api.example.com", Digest: digest, Now: func() time.Time { return now }}
	target := files.Target{Collection: "articles", Record: store.NewID(), Field: "cover", File: store.NewID()}
	link, err := links.New("/v1/articles/1/cover", target, 5*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	address, query, _ := strings.Cut(link.URL, "?")
	valid, err := url.ParseQuery(query)
	if err != nil || address != "https://api.example.com/v1/articles/1/cover" || len(valid) != 2 || valid.Get("expires") != "1767225901" || !link.ExpiresAt.Equal(time.Unix(1767225901, 0)) {
		t.Fatalf("%+v, %v", link, err)
	}
	signature := valid.Get("signature")
	other := []byte(signature)
	other[len(other)/2] ^= 1
	for name, test := range map[string]struct {
		query  string
		target func(*files.Target)
		after  time.Duration
		want   apperr.Code
	}{
		"valid":              {query: query},
		"last moment":        {query: query, after: 5 * time.Minute},
		"expired":            {query: query, after: 5*time.Minute + time.Second, want: apperr.Forbidden},
		"replaced":           {query: query, target: func(t *files.Target) { t.File = store.NewID() }, want: apperr.NotFound},
		"deleted":            {query: query, target: func(t *files.Target) { t.File = store.ID{} }, want: apperr.NotFound},
		"expired, replaced":  {query: query, target: func(t *files.Target) { t.File = store.NewID() }, after: time.Hour, want: apperr.Forbidden},
		"another record":     {query: query, target: func(t *files.Target) { t.Record = store.NewID() }, want: apperr.Forbidden},
		"another field":      {query: query, target: func(t *files.Target) { t.Field = "covers" }, want: apperr.Forbidden},
		"another collection": {query: query, target: func(t *files.Target) { t.Collection = "products" }, want: apperr.Forbidden},
		"later":              {query: "expires=1767225902&signature=" + signature, want: apperr.Forbidden},
		"zero":               {query: "expires=01767225901&signature=" + signature, want: apperr.Forbidden},
		"no expires":         {query: "signature=" + signature, want: apperr.Forbidden},
		"twice":              {query: query + "&expires=1", want: apperr.Forbidden},
		"changed":            {query: "expires=1767225901&signature=" + string(other), want: apperr.Forbidden},
		"cut":                {query: "expires=1767225901&signature=" + signature[:len(signature)-4], want: apperr.Forbidden},
		"last bits":          {query: "expires=1767225901&signature=" + signature[:len(signature)-1] + "_", want: apperr.Forbidden},
		"padded":             {query: "expires=1767225901&signature=" + signature + "%3D", want: apperr.Forbidden},
		"short":              {query: "expires=1767225901&signature=Zg", want: apperr.Forbidden},
		"empty":              {query: "expires=1767225901&signature=", want: apperr.Forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, err := url.ParseQuery(test.query)
			if err != nil || !files.IsLink(parsed) {
				t.Fatal(parsed, err)
			}
			at := target
			if test.target != nil {
				test.target(&at)
			}
			later := links
			later.Now = func() time.Time { return now.Add(test.after) }
			left, err := later.Verify(parsed, at)
			switch {
			case test.want != "" && !apperr.Is(err, test.want):
				t.Errorf("%v, want %s", err, test.want)
			case test.want == "" && (err != nil || left != 5*time.Minute-test.after+time.Second-1):
				t.Errorf("%s, %v", left, err)
			}
		})
	}
	rotated := links
	rotated.Digest = func(parts ...string) []byte { return digest(append(parts, "new key")...) }
	if _, err := rotated.Verify(valid, target); !apperr.Is(err, apperr.Forbidden) {
		t.Errorf("with another key: %v", err)
	}
	rotated.OldDigests = []func(...string) []byte{digest}
	if _, err := rotated.Verify(valid, target); err != nil {
		t.Errorf("after a rotation of the key: %v", err)
	}
	links.PublicURL = ""
	if _, err := links.New("/x", target, time.Minute); !apperr.Is(err, apperr.NotSupported) {
		t.Errorf("without PUBLIC_URL: %v", err)
	}
}
