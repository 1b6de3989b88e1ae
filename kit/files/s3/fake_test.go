package s3

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The keys of AWS's published examples.
var awsKeys = Keys{ID: "AKIAIOSFODNN7EXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}

const fakeBucket = "examplebucket"

// fake is a server with one bucket. It verifies signatures with code of its own.
type fake struct {
	t       *testing.T
	server  *httptest.Server
	mu      sync.Mutex
	objects map[string]object
	seen    []string // methods
	// fault responds to the first times requests instead of the server, or to all if times is negative. It returns false if the
	// request is to be handled as usual.
	fault func(w http.ResponseWriter, r *http.Request) bool
	times int
}

type object struct {
	data []byte
	sum  string
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, objects: map[string]object{}}
	f.server = httptest.NewServer(f)
	t.Cleanup(f.server.Close)
	return f
}

// open returns a Store in the bucket. query are parameters of its address.
func (f *fake) open(prefix, query string) *Store {
	f.t.Helper()
	endpoint := f.server.URL
	dial := (&net.Dialer{}).DialContext
	if !strings.Contains(query, "path-style=true") {
		endpoint = "http://s3.example.com"
	}
	address := "s3://" + fakeBucket + "/" + url.PathEscape(prefix) + "?region=us-east-1&" + query + "&endpoint=" + url.QueryEscape(endpoint)
	config, err := Parse(address)
	if err != nil {
		f.t.Fatal(err)
	}
	s := New(config, awsKeys)
	s.backoff = time.Microsecond
	s.transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dial(ctx, network, f.server.Listener.Addr().String())
	}
	f.t.Cleanup(s.transport.CloseIdleConnections)
	return s
}

// fails sets the fault.
func (f *fake) fails(times int, fault func(w http.ResponseWriter, r *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.times, f.seen = fault, times, nil
}

// requests returns the number of requests since the last call of fails.
func (f *fake) requests() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.seen)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.seen = append(f.seen, r.Method)
	fault := f.fault
	if f.times == 0 {
		fault = nil
	} else {
		f.times--
	}
	f.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	f.serve(w, r)
}

// reject responds with an error as S3 does.
func reject(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>A message.</Message></Error>", code)
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(r.URL.Path, "/")
	if !strings.HasPrefix(r.Host, fakeBucket+".") {
		var ok bool
		if key, ok = strings.CutPrefix(key, fakeBucket); !ok {
			reject(w, http.StatusNotFound, codeNoBucket)
			return
		}
		key = strings.TrimPrefix(key, "/")
	}
	if why := verify(r, awsKeys, "us-east-1"); why != "" {
		f.t.Errorf("%s %s: %s", r.Method, r.URL, why)
		reject(w, http.StatusForbidden, "SignatureDoesNotMatch")
		return
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Amz-Checksum") || strings.HasPrefix(name, "X-Amz-Sdk") {
			f.t.Errorf("the request has the header %s", name)
		}
	}
	if r.ContentLength >= continueSize && r.Header.Get("Expect") == "" {
		f.t.Error("a large upload does not wait until the server accepts it")
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != r.Header.Get("X-Amz-Content-Sha256") {
		reject(w, http.StatusBadRequest, "XAmzContentSHA256Mismatch")
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch found, ok := f.objects[key]; {
	case key == "" && r.Method == http.MethodGet:
		f.list(w, r.URL.Query())
	case r.Method == http.MethodPut:
		f.objects[key] = object{data: body, sum: r.Header.Get(headerSum)}
	case r.Method == http.MethodDelete:
		delete(f.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !ok:
		reject(w, http.StatusNotFound, codeNoKey)
	default:
		w.Header().Set(headerSum, found.sum)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(found.data))
	}
}

// list responds with pages of at most 100 keys.
func (f *fake) list(w http.ResponseWriter, query url.Values) {
	if query.Get("list-type") != "2" {
		f.t.Errorf("list-type is %q", query.Get("list-type"))
	}
	limit, err := strconv.Atoi(query.Get("max-keys"))
	if err != nil {
		f.t.Error(err)
	}
	var keys []string
	for key := range f.objects {
		if strings.HasPrefix(key, query.Get("prefix")) && key > query.Get("continuation-token") {
			if before, _, ok := strings.Cut(key[len(query.Get("prefix")):], query.Get("delimiter")); ok && query.Get("delimiter") != "" {
				key = query.Get("prefix") + before + query.Get("delimiter")
			}
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	next := ""
	if n := min(limit, 100); len(keys) > n {
		keys = keys[:n]
		next = keys[n-1]
	}
	_, _ = io.WriteString(w, `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`)
	element := "<Contents><Key>%s</Key></Contents>"
	if query.Get("delimiter") != "" {
		element = "<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>"
	}
	for _, key := range keys {
		var escaped strings.Builder
		_ = xml.EscapeText(&escaped, []byte(key))
		_, _ = fmt.Fprintf(w, element, &escaped)
	}
	if next != "" {
		_, _ = io.WriteString(w, "<NextContinuationToken>")
		_ = xml.EscapeText(w, []byte(next))
		_, _ = io.WriteString(w, "</NextContinuationToken>")
	}
	_, _ = io.WriteString(w, "</ListBucketResult>")
}

// verify returns why the signature of a request is wrong, or "". It follows the steps of AWS's documentation.
func verify(r *http.Request, keys Keys, region string) string {
	var credential, signedHeaders, signature string
	fields, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return "no signature"
	}
	for field := range strings.SplitSeq(fields, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch name {
		case "Credential":
			credential = value
		case "SignedHeaders":
			signedHeaders = value
		case "Signature":
			signature = value
		}
	}
	date := r.Header.Get("X-Amz-Date")
	scope := date[:8] + "/" + region + "/s3/aws4_request"
	if credential != keys.ID+"/"+scope {
		return "the credential is " + credential
	}
	encode := func(text string, keep string) string {
		out := ""
		for _, b := range []byte(text) {
			if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte(keep, b) >= 0 {
				out += string(rune(b))
			} else {
				out += fmt.Sprintf("%%%02X", b)
			}
		}
		return out
	}
	var query []string
	for name, values := range r.URL.Query() {
		query = append(query, encode(name, "-._~")+"="+encode(values[0], "-._~"))
	}
	slices.Sort(query)
	canonical := []string{r.Method, encode(r.URL.Path, "-._~/"), strings.Join(query, "&")}
	signed := strings.Split(signedHeaders, ";")
	for _, name := range signed {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		canonical = append(canonical, name+":"+strings.TrimSpace(value))
	}
	for name := range r.Header {
		if name = strings.ToLower(name); strings.HasPrefix(name, "x-amz-") && !slices.Contains(signed, name) {
			return name + " is not signed"
		}
	}
	canonical = append(canonical, "", signedHeaders, r.Header.Get("X-Amz-Content-Sha256"))
	hashed := sha256.Sum256([]byte(strings.Join(canonical, "\n")))
	toSign := "AWS4-HMAC-SHA256\n" + date + "\n" + scope + "\n" + hex.EncodeToString(hashed[:])
	sign := func(key []byte, data string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(data))
		return h.Sum(nil)
	}
	key := sign(sign(sign(sign([]byte("AWS4"+keys.Secret), date[:8]), region), "s3"), "aws4_request")
	if want := hex.EncodeToString(sign(key, toSign)); signature != want {
		return "the signature is " + signature + ", want " + want
	}
	return ""
}
