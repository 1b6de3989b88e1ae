package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store"
)

// call sends a request to a service, with the token of the user unless the header has another one.
func call(t testing.TB, method, url string, body io.Reader, header ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+userToken)
	r.Header.Set("Accept-Encoding", "gzip")
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i+1] == "" {
			r.Header.Del(header[i])
		}
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, data
}

// TestUpload sends the bytes of one file in every form to a route with route.Upload.
func TestUpload(t *testing.T) {
	t.Parallel()
	s, h := newThings(t, io.Discard)
	base := listen(t, h) + "/things/" + s.id.Hex()
	formType1, form1 := form(filePart("cover", "form.png", png))
	_, twice := form(filePart("cover", "a.png", png), filePart("cover", "b.png", png))
	_, other := form(filePart("covers", "a.png", png))
	_, more := form(filePart("cover", "a.png", png), part{"access_token", "", userToken})
	_, none := form()
	_, noName := form(part{"", `form-data; name="cover"; filename=""`, png})
	_, starred := form(part{"", `form-data; name="cover"; filename="a.png"; filename*=UTF-8''%e2%82%ac.png`, png})
	boundary := func(body string) string {
		return "multipart/form-data; boundary=" + strings.TrimPrefix(strings.SplitN(body, "\r\n", 2)[0], "--")
	}
	noneType := "multipart/form-data; boundary=" + strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(none), "--"), "--")
	for name, test := range map[string]struct {
		path, body string
		header     []string
		status     int
		want       string
	}{
		"bytes":                    {"/cover", png, nil, 200, `"name":"cover.png","type":"image/png"`},
		"chunked":                  {"/cover", png, []string{"chunked", "1"}, 200, `"name":"cover.png"`},
		"form":                     {"/cover", form1, []string{"Content-Type", formType1}, 200, `"name":"form.png","type":"image/png"`},
		"form without a name":      {"/cover?filename=q.png", noName, []string{"Content-Type", boundary(noName)}, 200, `"name":"q.png"`},
		"form with filename*":      {"/cover?filename=q.png", starred, []string{"Content-Type", boundary(starred)}, 200, `"name":"€.png"`},
		"form, twice":              {"/cover", twice, []string{"Content-Type", boundary(twice)}, 400, "validation_failed cover:type"},
		"form, another name":       {"/cover", other, []string{"Content-Type", boundary(other)}, 400, "validation_failed covers:unknown"},
		"form, a parameter":        {"/cover", more, []string{"Content-Type", boundary(more)}, 400, "validation_failed access_token:unknown"},
		"form without parts":       {"/cover", none, []string{"Content-Type", noneType}, 400, "validation_failed cover:required"},
		"form without a boundary":  {"/cover", form1, []string{"Content-Type", "multipart/form-data"}, 400, "malformed_body"},
		"form that ends early":     {"/cover", form1[:len(form1)-20], []string{"Content-Type", formType1}, 400, "malformed_body"},
		"declared as a form":       {"/cover", png, []string{"Content-Type", formType}, 200, `"type":"image/png"`},
		"declared as JSON":         {"/cover", png, []string{"Content-Type", "application/json"}, 200, `"type":"image/png"`},
		"JSON":                     {"/paper", `{"access_token":"x"}`, []string{"Content-Type", "application/json"}, 200, `"size":20`},
		"name in the query":        {"/cover?filename=a.png", png, nil, 200, `"name":"a.png"`},
		"name in the header":       {"/cover?filename=a.png", png, []string{"Content-Disposition", `attachment; filename="b.png"`}, 200, `"name":"b.png"`},
		"filename*":                {"/cover", png, []string{"Content-Disposition", `attachment; filename="b.png"; filename*=UTF-8''%e4.png%c3%a4`}, 200, `ä"`},
		"path":                     {"/cover?filename=" + url.QueryEscape(`../..\a/`+"\u202e\r\n\x00"+`x".png`), png, nil, 200, `"name":"x\".png"`},
		"empty":                    {"/cover", "", nil, 400, "validation_failed cover:required"},
		"HTML as PNG":              {"/cover", "<html><script>alert(1)</script>", []string{"Content-Type", "image/png"}, 400, "validation_failed cover:type"},
		"SVG":                      {"/cover", `<svg xmlns="http://www.w3.org/2000/svg"/>`, []string{"Content-Type", "image/svg+xml"}, 400, "validation_failed cover:type"},
		"GIF of 60,000 × 60,000":   {"/cover", "GIF89a\x60\xea\x60\xea\x00\x00\x00;", nil, 400, "validation_failed cover:max"},
		"too large":                {"/cover", png + strings.Repeat("x", 1<<20), nil, 413, "payload_too_large"},
		"too large, chunked":       {"/cover", png + strings.Repeat("x", 1<<20), []string{"chunked", "1"}, 413, "payload_too_large"},
		"too large, in a form":     {"/cover", strings.Replace(form1, png, png+strings.Repeat("x", 1<<20), 1), []string{"Content-Type", formType1}, 413, "payload_too_large"},
		"compressed":               {"/cover", png, []string{"Content-Encoding", "gzip"}, 415, "unsupported_media_type"},
		"identity":                 {"/cover", png, []string{"Content-Encoding", "identity"}, 200, "image/png"},
		"no credential":            {"/cover", png, []string{"Authorization", ""}, 401, "unauthorized"},
		"credential in the query":  {"/cover?access_token=" + userToken, png, []string{"Authorization", ""}, 200, "image/png"},
		"credential in a form":     {"/cover", "access_token=" + userToken, []string{"Authorization", "", "Content-Type", formType}, 401, "unauthorized"},
		"another query parameter":  {"/cover?file=a", png, nil, 400, "validation_failed file:unknown"},
		"too large, no credential": {"/cover", png + strings.Repeat("x", 1<<20), []string{"Authorization", ""}, 401, "unauthorized"},
	} {
		var body io.Reader = strings.NewReader(test.body)
		header := test.header
		if len(header) > 0 && header[0] == "chunked" {
			body, header = io.MultiReader(body), header[2:]
		}
		response, data := call(t, "PUT", base+test.path, body, header...)
		got := string(data)
		if response.StatusCode != 200 {
			got = problemCodes(data)
		}
		if response.StatusCode != test.status || !strings.Contains(got, test.want) {
			t.Errorf("%s: %d %s, want %d %s", name, response.StatusCode, got, test.status, test.want)
		}
	}
	noFiles(t, s)
}

// TestDownload reads a file as a whole, in ranges, and with the headers of caches and browsers.
func TestDownload(t *testing.T) {
	t.Parallel()
	s, h := newThings(t, io.Discard)
	address := listen(t, h) + "/things/" + s.id.Hex() + "/paper"
	text := strings.Repeat("0123456789", 20_000)
	if response, data := call(t, "PUT", address+"?filename="+url.QueryEscape(`a "€".txt`), strings.NewReader(text)); response.StatusCode != 200 {
		t.Fatalf("%d %s", response.StatusCode, data)
	}
	uploaded, _ := s.target()
	tag := `"` + uploaded.SHA256 + `"`
	last := fmt.Sprintf("bytes 199999-199999/%d", len(text))
	for name, test := range map[string]struct {
		header     []string
		status     int
		want, part string // the body, Content-Range
	}{
		"whole":                     {nil, 200, text, ""},
		"part":                      {[]string{"Range", "bytes=10-11"}, 206, "01", "bytes 10-11/200000"},
		"beyond the end":            {[]string{"Range", "bytes=199999-999999999"}, 206, "9", last},
		"from":                      {[]string{"Range", "bytes=199999-"}, 206, "9", last},
		"last byte":                 {[]string{"Range", "BYTES=-1"}, 206, "9", last},
		"more than all last bytes":  {[]string{"Range", "bytes=-300000"}, 206, text, "bytes 0-199999/200000"},
		"after the end":             {[]string{"Range", "bytes=200000-"}, 416, "range_not_satisfiable", "bytes */200000"},
		"no last bytes":             {[]string{"Range", "bytes=-0"}, 416, "range_not_satisfiable", "bytes */200000"},
		"several":                   {[]string{"Range", "bytes=0-1,3-4"}, 200, text, ""},
		"1,000":                     {[]string{"Range", "bytes=0-1" + strings.Repeat(",0-1", 999)}, 200, text, ""},
		"another unit":              {[]string{"Range", "lines=0-1"}, 200, text, ""},
		"malformed":                 {[]string{"Range", "bytes=a-b"}, 200, text, ""},
		"empty":                     {[]string{"Range", "bytes=-"}, 200, text, ""},
		"backwards":                 {[]string{"Range", "bytes=5-4"}, 200, text, ""},
		"number that is too large":  {[]string{"Range", "bytes=99999999999999999999-"}, 200, text, ""},
		"If-Range":                  {[]string{"Range", "bytes=0-1", "If-Range", tag}, 206, "01", "bytes 0-1/200000"},
		"weak If-Range":             {[]string{"Range", "bytes=0-1", "If-Range", "W/" + tag}, 200, text, ""},
		"stale If-Range":            {[]string{"Range", "bytes=0-1", "If-Range", `"0"`}, 200, text, ""},
		"If-Range with a date":      {[]string{"Range", "bytes=0-1", "If-Range", "Wed, 21 Oct 2026 07:28:00 GMT"}, 200, text, ""},
		"stale If-Range, after end": {[]string{"Range", "bytes=200000-", "If-Range", `"0"`}, 200, text, ""},
		"If-None-Match":             {[]string{"If-None-Match", `"0", W/` + tag}, 304, "", ""},
		"If-None-Match and Range":   {[]string{"If-None-Match", tag, "Range", "bytes=200000-"}, 304, "", ""},
		"stale If-None-Match":       {[]string{"If-None-Match", `"0"`}, 200, text, ""},
		"no credential":             {[]string{"Authorization", ""}, 401, "unauthorized", ""},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			response, data := call(t, method, address, nil, test.header...)
			got, header := string(data), response.Header
			if response.StatusCode >= 400 && method == "GET" {
				got = problemCodes(data)
			}
			want := test.want
			if method == "HEAD" {
				want = ""
			}
			if response.StatusCode != test.status || got != want || header.Get("Content-Range") != test.part || header.Get("Content-Encoding") != "" && test.status < 400 {
				t.Errorf("%s %s: %d %.100s, %v", method, name, response.StatusCode, got, header)
			}
			if test.status < 300 && (header.Get("Content-Length") != fmt.Sprint(len(test.want)) || header.Get("Content-Type") != "text/plain; charset=utf-8" ||
				header.Get("Content-Disposition") != `inline; filename="a ___.txt"; filename*=UTF-8''a%20%22%E2%82%AC%22.txt`) {
				t.Errorf("%s %s: %v", method, name, header)
			}
			if test.status < 400 && (header.Get("Etag") != tag || header.Get("Cache-Control") != "private, no-cache" || header.Get("Accept-Ranges") != "bytes" ||
				header.Get("Content-Security-Policy") != "default-src 'none'; sandbox" || header.Get("X-Content-Type-Options") != "nosniff") {
				t.Errorf("%s %s: %v", method, name, header)
			}
		}
	}
}

// TestInline checks which types browsers show.
func TestInline(t *testing.T) {
	t.Parallel()
	s, h := newThings(t, io.Discard)
	address := listen(t, h) + "/things/" + s.id.Hex() + "/paper"
	for body, want := range map[string]string{
		png:                                `inline; filename="paper.png"`,
		"%PDF-1.7\n":                       `inline; filename="paper.pdf"`,
		"plain":                            `inline; filename="paper.txt"`,
		"<!doctype html><script></script>": `attachment; filename="paper.html"`,
		`<svg xmlns="http://www.w3.org/2000/svg"></svg>`: `attachment; filename="paper.svg"`,
		`<?xml version="1.0"?><a/>`:                      `attachment; filename="paper.xml"`,
		"\x00\x01\x02":                                   `attachment; filename="paper`,
	} {
		call(t, "PUT", address, strings.NewReader(body))
		response, data := call(t, "GET", address, nil)
		if got := response.Header.Get("Content-Disposition"); !strings.HasPrefix(got, want) || string(data) != body {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
	}
}

// TestLinks reads a file with a link: without a credential, with other methods, changed, and after the file was replaced. No log line
// has the signature.
func TestLinks(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	s, h := newThings(t, &log)
	base := listen(t, h)
	address := base + "/things/" + s.id.Hex() + "/paper"
	if response, data := call(t, "POST", address+"/link", nil); response.StatusCode != 201 {
		t.Fatalf("%d %s", response.StatusCode, data)
	}
	call(t, "PUT", address, strings.NewReader("one"))
	_, data := call(t, "POST", address+"/link", nil)
	var link files.Link
	if err := json.Unmarshal(data, &link); err != nil {
		t.Fatal(err)
	}
	signed := base + strings.TrimPrefix(link.URL, "https://api.example.com")
	_, signature, _ := strings.Cut(signed, "signature=")
	expect := func(method, url, authorization string, status int, body string) {
		t.Helper()
		response, data := call(t, method, url, nil, "Authorization", authorization)
		if response.StatusCode != status || !strings.Contains(string(data), body) {
			t.Errorf("%s %s: %d %s", method, url, response.StatusCode, data)
		}
		if cache := response.Header.Get("Cache-Control"); status == 200 && cache != "private, max-age=60" && cache != "private, max-age=59" {
			t.Errorf("Cache-Control: %s", cache)
		}
		if allow := response.Header.Get("Allow"); status == 405 && allow != "GET, HEAD" && method != "PATCH" && method != "POST" {
			t.Errorf("Allow: %s", allow)
		}
	}
	expect("GET", signed, "", 200, "one")
	expect("HEAD", signed, "", 200, "")
	expect("GET", signed, "Bearer invalid", 200, "one")
	for _, method := range []string{"PUT", "DELETE", "PATCH", "POST"} {
		expect(method, signed, "Bearer "+userToken, 405, "method_not_allowed")
		expect(method, signed, "", 405, "method_not_allowed")
	}
	expect("GET", signed+"&filename=a", "", 400, "filename")
	expect("GET", strings.Replace(signed, "expires=1", "expires=2", 1), "", 403, "forbidden")
	expect("GET", address+"?signature=", "", 403, "forbidden")
	expect("GET", strings.Replace(signed, s.id.Hex(), store.NewID().Hex(), 1), "Bearer "+userToken, 200, "one") // this resource has one record
	call(t, "PUT", address, strings.NewReader("two"))
	expect("GET", signed, "", 404, "not_found")
	if text := log.String(); strings.Contains(text, signature) || strings.Contains(text, "expires=") || !strings.Contains(text, "/paper") {
		t.Errorf("the log has the signature: %s", text)
	}
}

// TestCurl uploads and downloads files with curl.
func TestCurl(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("SKIPPED: there is no curl")
	}
	s, h := newThings(t, io.Discard)
	base, dir := listen(t, h), t.TempDir()
	picture, large := filepath.Join(dir, "ü.png"), filepath.Join(dir, "large.bin")
	if err := errors.Join(os.WriteFile(picture, []byte(png), 0o600), os.WriteFile(large, bytes.Repeat([]byte("ab\x00"), 2<<20), 0o600)); err != nil {
		t.Fatal(err)
	}
	curl := func(want string, arguments ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, append([]string{"-sS", "-w", " %{http_code}", "-H", "Authorization: Bearer " + userToken}, arguments...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("curl %v: %.300s, %v; want %s", arguments, out, err, want)
		}
	}
	paper := base + "/things/" + s.id.Hex() + "/paper"
	curl(`"Title":"a","Cover":"ü.png image/png","Papers":["ü.png `, base+"/things", "--form", "title=a", "--form", "cover=@"+picture, "--form", "papers=@"+picture)
	curl(`"name":"ü.png","type":"image/png"`, base+"/things/"+s.id.Hex()+"/cover", "--request", "PUT", "--form", "cover=@"+picture)
	curl(`"name":"paper`, paper, "--upload-file", large)
	curl(`"name":"large.bin"`, paper+"?filename=large.bin", "--upload-file", large, "--header", "Transfer-Encoding: chunked")
	curl(" 404", base+"/things/"+store.NewID().Hex()+"/paper", "--upload-file", large)
	curl(" 206", paper, "--range", "3-5", "--output", "part")
	curl(" 206", paper, "--continue-at", "-", "--output", "part")
	curl(" 200", paper, "--remote-name", "--remote-header-name", "--output-dir", t.TempDir())
	sent, err := os.ReadFile(large)
	if err != nil {
		t.Fatal(err)
	}
	part, err := os.ReadFile(filepath.Join(dir, "part"))
	if err != nil || !bytes.Equal(part, sent) { // 3 bytes of the range are those at the beginning, too
		t.Errorf("a continued download has %d bytes, %v", len(part), err)
	}
}

// lockedBuffer is a buffer for the log of a running service.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
