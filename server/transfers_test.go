package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// The fields for files of the resource things.
var (
	cover  = files.Field{Name: "cover", Image: true, MaxBytes: 1 << 20}
	paper  = files.Field{Name: "paper", MaxBytes: 100 << 20}
	papers = files.Field{Name: "papers", List: true, MaxBytes: 1 << 20}
)

// thingsQuota is the quota in bytes of each user.
const thingsQuota = 200 << 20

// things is a resource with one record, which belongs to userID. It keeps files without records.
type things struct {
	files *files.Files
	links files.Links
	id    store.ID
	spool string // the directory of uploads in progress

	mu      sync.Mutex
	papers  *files.File
	created int // number of records
}

type thingFields struct {
	Title  string       `json:"title"`
	Cover  *files.File  `json:"cover"`
	Papers []files.File `json:"papers"`
}

// received is what a test sees of the parameters.
type received struct {
	ID     string
	Title  string
	Cover  string
	Papers []string
	Given  []string
}

func (s *things) routes(r *route.Router) {
	r = r.Resource(listing.Spec{Name: "things", Files: []files.Field{cover, papers}})
	r.POST("/things", route.User, s.create, route.LargeBody, route.Idempotent, route.Files)
	r.PATCH("/things/:id", route.User, s.update, route.LargeBody, route.Files)
	r.POST("/public-things", route.Public, s.create, route.Files)
	r.PUT("/things/:id/paper", route.User, s.put(paper), route.Upload(paper))
	r.PUT("/things/:id/cover", route.User, s.put(cover), route.Upload(cover))
	r.GET("/things/:id/paper", route.User, s.get, route.Download)
	r.DELETE("/things/:id/paper", route.User, rest.NoContent)
	r.POST("/things/:id/paper/link", route.User, s.link, route.Read)
}

func view(fields thingFields, given []string) received {
	v := received{ID: store.NewID().Hex(), Title: fields.Title, Given: given}
	if fields.Cover != nil {
		v.Cover = fields.Cover.Name + " " + fields.Cover.Type
	}
	for _, p := range fields.Papers {
		v.Papers = append(v.Papers, fmt.Sprint(p.Name, " ", p.Size))
	}
	return v
}

func (s *things) create(g *gin.Context) error {
	in, err := rest.Bind[thingFields](g)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.created++
	return rest.OK(g, view(in, nil))
}

func (s *things) update(g *gin.Context) error {
	in, err := rest.BindPatch[thingFields](g)
	if err != nil {
		return err
	}
	return rest.OK(g, view(in.Fields, in.Given))
}

func (s *things) put(field files.Field) route.Handler {
	return func(g *gin.Context) error {
		if id, err := rest.ID(g); err != nil || id != s.id {
			return store.ErrNotFound
		}
		f, err := rest.ReceiveFile(g, s.files, field)
		if err != nil {
			return err
		}
		if err := s.files.Put(g.Request.Context(), files.Owner{Collection: "things", Field: field.Name, Record: s.id}, f); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.papers = f
		return rest.OK(g, f.View("/"))
	}
}

func (s *things) target() (file *files.File, target files.Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	target = files.Target{Collection: "things", Record: s.id, Field: "paper"}
	if s.papers != nil {
		target.File = s.papers.ID
	}
	return s.papers, target
}

func (s *things) get(g *gin.Context) error {
	file, target := s.target()
	cache := "private, no-cache"
	if query := rest.Query(g); files.IsLink(query) {
		left, err := s.links.Verify(query, target)
		if err != nil {
			return err
		}
		cache = fmt.Sprintf("private, max-age=%d", int(left.Seconds()))
	}
	if file == nil {
		return store.ErrNotFound
	}
	return rest.ServeFile(g, *file, func() (io.ReadSeekCloser, error) { return s.files.Open(g.Request.Context(), *file) }, cache)
}

func (s *things) link(g *gin.Context) error {
	_, target := s.target()
	link, err := s.links.New("/things/"+s.id.Hex()+"/paper", target, time.Minute)
	if err != nil {
		return err
	}
	return rest.CreatedSecret(g, link)
}

// newThings returns the handler of a service with things, which logs to log.
func newThings(t testing.TB, log io.Writer) (*things, *Handler) {
	t.Helper()
	db := testdb.Open(t)
	local, err := files.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	digest := keyedDigest("key")
	s := &things{
		spool: t.TempDir(), id: store.NewID(), links: files.Links{PublicURL: "https://api.example.com", Digest: digest, Now: time.Now},
	}
	s.files = files.New(files.Options{TempDir: s.spool, DB: db, Store: local, Quota: thingsQuota, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	h := newHandler(t, log, s.routes, func(o *HandlerOptions) {
		o.Deps.DB, o.Deps.Files = db, s.files
		o.Settings.MaxBodyBytes = 64 << 10
	})
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, h
}

// listen serves the handler as the service does, and returns the address.
func listen(t testing.TB, h http.Handler) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener = clientListener{listener, slowClientTimeout}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x02\x00\x00\x00\x01\x08\x02\x00\x00\x00\x7b\x40\xe8\xdd\x00\x00\x00\x0cIDATx\x9cc\xf8\xff\xff?\x00\x05\xfe\x02\xfe\x0d\xefF\xb8\x00\x00\x00\x00IEND\xaeB`\x82"

// part is a part of a multipart body. Without a disposition, it is a parameter with the name.
type part struct{ name, disposition, body string }

func form(parts ...part) (contentType, body string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		if p.disposition == "" {
			_ = w.WriteField(p.name, p.body)
			continue
		}
		out, _ := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {p.disposition}})
		_, _ = io.WriteString(out, p.body)
	}
	_ = w.Close()
	return w.FormDataContentType(), b.String()
}

func filePart(field, name, body string) part {
	return part{"", fmt.Sprintf("form-data; name=%q; filename=%q", field, name), body}
}

// problem returns the code of a problem, with its fields and their codes.
func problemCodes(body []byte) string {
	var p rest.Problem
	if json.Unmarshal(body, &p) != nil {
		return string(body)
	}
	out := string(p.Code)
	for _, f := range p.Errors {
		out += " " + f.Param + ":" + string(f.Code)
	}
	return out
}

// TestForms sends multipart bodies with files to routes with route.Files.
func TestForms(t *testing.T) {
	t.Parallel()
	s, h := newThings(t, io.Discard)
	token := part{"access_token", "", userToken}
	many := make([]part, files.MaxItems+1)
	for i := range many {
		many[i] = filePart("papers", fmt.Sprint(i), "x")
	}
	large := strings.Repeat("x", 70<<10)
	for name, test := range map[string]struct {
		parts  []part
		header bool // send the token in the header
		path   string
		status int
		want   string
	}{
		"all":                     {[]part{token, {"title", "", "a"}, filePart("cover", "c.png", png), filePart("papers", "1", "one"), filePart("papers", "2", "two22")}, false, "", 200, `"Title":"a","Cover":"c.png image/png","Papers":["1 3","2 5"]`},
		"parameters last":         {[]part{filePart("papers", "1", "one"), {"title", "", "a"}}, true, "", 200, `"Title":"a","Cover":"","Papers":["1 3"]`},
		"no file":                 {[]part{token, {"title", "", "a"}}, false, "", 200, `"Title":"a","Cover":"","Papers":null`},
		"empty file input":        {[]part{token, {"", `form-data; name="cover"; filename=""`, ""}, {"", `form-data; name="papers"; filename=""`, ""}}, false, "", 200, `"Cover":"","Papers":null`},
		"file without a name":     {[]part{token, {"", `form-data; name="cover"; filename=""`, png}}, false, "", 200, `"Cover":"cover.png image/png"`},
		"empty parameter":         {[]part{token, {"cover", "", ""}, {"papers", "", ""}}, false, "", 200, `"Cover":"","Papers":null`},
		"view":                    {[]part{token, {"cover", "", `{"name":1,"url":"/x"}`}, {"papers", "", `[{"id":"1"}]`}}, false, "", 200, `"Cover":"","Papers":null`},
		"string":                  {[]part{token, {"cover", "", "abc"}, {"papers", "", "{}"}}, false, "", 400, "validation_failed cover:type papers:type"},
		"empty file":              {[]part{token, filePart("cover", "c.png", ""), filePart("papers", "1", "")}, false, "", 400, "validation_failed cover:required papers:required"},
		"wrong type":              {[]part{token, filePart("cover", "c.png", "<html>"), {"title2", "", "a"}}, false, "", 400, "validation_failed cover:type title2:unknown"},
		"two covers":              {[]part{token, filePart("cover", "c.png", png), filePart("cover", "d.png", png)}, false, "", 400, "validation_failed cover:type"},
		"file and null":           {[]part{token, {"cover", "", "null"}, filePart("cover", "d.png", png)}, false, "", 400, "validation_failed cover:type"},
		"a file for a string":     {[]part{token, filePart("title", "t", "x"), filePart("other", "t", "x")}, false, "", 400, "validation_failed title:type other:type"},
		"21 files":                {append([]part{token}, many...), false, "", 409, "conflict"},
		"20 files":                {append([]part{token}, many[1:]...), false, "", 200, `"20 1"]`},
		"larger than max":         {[]part{token, filePart("papers", "1", strings.Repeat("x", 1<<20+1)), filePart("cover", "c", "x")}, false, "", 413, "payload_too_large"},
		"exactly max":             {[]part{token, filePart("papers", "1", strings.Repeat("x", 1<<20))}, false, "", 200, `"1 1048576"`},
		"large parameter":         {[]part{token, {"title", "", large[:60<<10]}, filePart("papers", "1", "x")}, false, "", 200, `"1 1"`},
		"parameters too large":    {[]part{token, {"title", "", large}}, false, "", 413, "payload_too_large"},
		"too large, after a file": {[]part{token, filePart("papers", "1", "x"), {"title", "", large}}, false, "", 413, "payload_too_large"},
		"large, small route":      {[]part{{"title", "", large[:60<<10]}, filePart("papers", "1", "x")}, false, "/public-things", 200, `"1 1"`},
		"too large, small route":  {[]part{{"title", "", large}}, false, "/public-things", 413, "payload_too_large"},
		"no file, then a token":   {[]part{{"", `form-data; name="cover"; filename=""`, ""}, token, filePart("papers", "1", "x")}, false, "", 200, `"1 1"`},
		"no file for a string":    {[]part{token, {"", `form-data; name="title"; filename=""`, ""}}, false, "", 400, "title:type"},
		"no token":                {[]part{filePart("papers", "1", "x")}, false, "", 401, "unauthorized"},
		"token after a file":      {[]part{filePart("papers", "1", "x"), token}, false, "", 401, "unauthorized"},
		"token after, header too": {[]part{filePart("papers", "1", "x"), token}, true, "", 401, "unauthorized"},
		"public, token after":     {[]part{filePart("papers", "1", "x"), token}, false, "/public-things", 401, "unauthorized"},
		"public":                  {[]part{filePart("papers", "1", "x")}, false, "/public-things", 200, `"1 1"`},
		"NUL in a parameter":      {[]part{token, {"title", "", "a\x00"}}, false, "", 400, "title:format"},
		"no UTF-8":                {[]part{token, {"title", "", "a\xff"}}, false, "", 400, "malformed_body"},
		"no UTF-8, in a file":     {[]part{token, filePart("papers", "1", "a\xff\x00")}, false, "", 200, `"1 3"`},
		"path as name":            {[]part{token, filePart("papers", "../../etc/passwd", "x")}, false, "", 200, `"passwd 1"`},
		"huge header":             {[]part{token, {"", `form-data; name="papers"; filename="` + large + `"`, "x"}}, false, "", 400, "malformed_body"},
		"long name":               {[]part{token, filePart("papers", large[:4096], "x")}, false, "", 200, `"` + large[:255] + ` 1"`},
		"part without a name":     {[]part{token, {"", `form-data; filename="a"`, "x"}}, false, "", 400, "malformed_body"},
	} {
		contentType, body := form(test.parts...)
		var header []string
		if test.header {
			header = []string{"Authorization", "Bearer " + userToken}
		}
		path := "/things"
		if test.path != "" {
			path = test.path
		}
		w := do(h, "POST", path, contentType, body, header...)
		got := w.Body.String()
		if w.Code != 200 {
			got = problemCodes(w.Body.Bytes())
		}
		if w.Code != test.status || !strings.Contains(got, test.want) {
			t.Errorf("%s: %d %s, want %d %s", name, w.Code, got, test.status, test.want)
		}
	}
	noFiles(t, s)
}

// TestFormsIdempotency repeats a form with files with the same Idempotency-Key.
func TestFormsIdempotency(t *testing.T) {
	t.Parallel()
	s, h := newThings(t, io.Discard)
	send := func(key string, parts ...part) (status int, replayed, body string) {
		contentType, sent := form(parts...)
		w := do(h, "POST", "/things", contentType, sent, "Authorization", "Bearer "+userToken, "Idempotency-Key", key)
		return w.Code, w.Header().Get("Idempotency-Replayed"), w.Body.String()
	}
	title, one := part{"title", "", "a"}, filePart("papers", "1", "one")
	_, _, first := send("k", title, one)
	for name, test := range map[string]struct {
		parts    []part
		status   int
		replayed string
	}{
		"same":            {[]part{title, one}, 200, "true"},
		"another order":   {[]part{one, title}, 200, "true"},
		"another name":    {[]part{title, filePart("papers", "2", "one")}, 422, ""},
		"other bytes":     {[]part{title, filePart("papers", "1", "two")}, 422, ""},
		"another title":   {[]part{{"title", "", "b"}, one}, 422, ""},
		"one more":        {[]part{title, one, one}, 422, ""},
		"none":            {[]part{title}, 422, ""},
		"an invalid file": {[]part{title, one, filePart("cover", "c", "x")}, 422, ""},
	} {
		status, replayed, body := send("k", test.parts...)
		if status != test.status || replayed != test.replayed || status == 200 && body != first {
			t.Errorf("%s: %d %q %s", name, status, replayed, body)
		}
	}
	reservation, err := s.files.Reserve(t.Context(), &userID, thingsQuota)
	if err != nil {
		t.Fatal(err)
	}
	if status, replayed, body := send("k", title, one); status != 200 || replayed != "true" || body != first {
		t.Errorf("without room: %d %q %s", status, replayed, body)
	}
	if status, _, body := send("new", title, one); status != 413 || problemCodes([]byte(body)) != "quota_exceeded" {
		t.Errorf("a new key without room: %d %s", status, body)
	}
	reservation.Free(t.Context())
	if status, _, body := send("new", title, one); status != 200 || body == first || s.created != 2 {
		t.Errorf("a new key: %d %s, %d records", status, body, s.created)
	}
	noFiles(t, s)
}

// noFiles checks that no uploads are left. It does not work for files that were stored.
func noFiles(t *testing.T, s *things) {
	t.Helper()
	entries, err := os.ReadDir(s.spool)
	if err != nil || len(entries) > 0 {
		t.Errorf("%d uploads are left, %v", len(entries), err)
	}
}
