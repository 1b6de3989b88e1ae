package testkit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"example.com/ginseng/kit/store"
)

// upload returns the media type and the bytes of a file that the field accepts, different for each n. A test of a field whose type has
// a signature that testkit does not know sets Field.Bytes.
func (f *Field) upload(n int) (mediaType string, data []byte) {
	mediaType = "text/plain"
	switch {
	case len(f.MediaTypes) > 0:
		mediaType = f.MediaTypes[0]
	case f.Type == "image":
		mediaType = "image/png"
	}
	if f.Bytes != nil {
		return mediaType, f.Bytes(n)
	}
	var buf bytes.Buffer
	square := image.NewGray(image.Rect(0, 0, n+1, n+1))
	switch mediaType {
	case "image/png":
		_ = png.Encode(&buf, square) // a bytes.Buffer does not fail
	case "image/jpeg":
		_ = jpeg.Encode(&buf, square, nil)
	case "image/gif":
		_ = gif.Encode(&buf, square, nil)
	case "image/webp": // a lossless image of n+1 pixels in a row: the size is in 14 bits after the signature
		buf.WriteString("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f" + string(rune(n)) + "\x00\x00\x00\x07\x10\x11\x11\x88\x88\xfe\x07\x00")
	case "application/pdf":
		fmt.Fprintf(&buf, "%%PDF-1.4\n%% file %d\n%%%%EOF\n", n)
	default:
		fmt.Fprintf(&buf, "file %d\n", n)
	}
	return mediaType, buf.Bytes()
}

// fileSuite checks the files of one field.
type fileSuite struct {
	*suite
	f    Field
	base string // path of the field of the record
}

// checkFiles uploads, reads and deletes files of each field, as each caller.
func checkFiles(s *suite) {
	s = s.start(true)
	for _, f := range s.fileFields {
		s.part(f.Name, func(s *suite) {
			if s.has("update") {
				fileSuite{suite: s, f: f}.checkFile()
			}
			for _, caller := range slices.Sorted(maps.Keys(s.Access)) {
				s.caller = caller
				fileSuite{suite: s, f: f}.checkAccess(caller)
			}
			if s.caller = ""; s.has("update") {
				fileSuite{suite: s, f: f}.checkKeys()
			}
		})
	}
}

// add stores a record.
func (s *fileSuite) add() {
	s.t.Helper()
	s.base = s.suite.add(s.valid()) + "/" + s.f.Name
}

// request returns the request that stores file n.
func (s *fileSuite) request(n int, token string) Request {
	mediaType, data := s.f.upload(n)
	method := map[bool]string{false: "PUT", true: "POST"}[s.f.isList()]
	return Request{Method: method, Path: s.base + "?filename=" + url.QueryEscape(fmt.Sprintf("File %d", n)), As: token, Body: string(data), ContentType: mediaType}
}

// created is the status of a successful upload.
func (s *fileSuite) created() int {
	if s.f.isList() {
		return 201
	}
	return 200
}

// store stores file n as a caller who may, and returns its path and its view.
func (s *fileSuite) store(n int) (path string, view map[string]any) {
	s.t.Helper()
	response := s.expect(s.created(), s.request(n, s.as("update")))
	value := response.JSON(s.created())[s.f.Name]
	if list, ok := value.([]any); ok && s.f.isList() && len(list) > 0 {
		value = list[len(list)-1]
	}
	view, ok := value.(map[string]any)
	if path = s.base; s.f.isList() {
		path += "/" + textOf(view["id"])
	}
	if !ok || view["url"] != path {
		s.t.Fatalf("%s: %s is %v, want a file with the url %s", response.to, s.f.Name, value, path)
	}
	return path, view
}

// checkFile checks the files of a record as a caller who may change it.
func (s fileSuite) checkFile() {
	s.add()
	record, as := strings.TrimSuffix(s.base, "/"+s.f.Name), s.as("update")
	read := func() any {
		s.t.Helper()
		return s.expect(200, Request{Method: "PATCH", Path: record, As: as, JSON: s.preparedUpdate(map[string]any{})}).JSON(200)[s.f.Name]
	}
	s.expect(400, Request{Method: s.request(0, as).Method, Path: s.base, As: as, ContentType: "application/octet-stream"})
	path, view := s.store(0)
	_, data := s.f.upload(0)
	sum := sha256.Sum256(data)
	s.compare(view, map[string]any{"name": "File 0", "size": float64(len(data)), "sha256": hex.EncodeToString(sum[:])})
	if s.has("show") || s.has("list") {
		if got := s.expect(200, Request{Method: "GET", Path: path, As: as}); !bytes.Equal(got.Body, data) {
			s.t.Errorf("GET %s: %q, want %q", path, got.Body, data)
		}
	}
	other := s.expect(200, Request{Method: "PATCH", Path: record, As: as, JSON: s.preparedUpdate(map[string]any{s.f.Name: read()})})
	s.compare(other.JSON(200), map[string]any{s.f.Name: read()})
	stale := s.request(1, as)
	stale.Header = http.Header{"If-Match": {`"stale"`}}
	s.expect(412, stale)
	second, _ := s.store(1)
	s.expect(204, Request{Method: "DELETE", Path: second, As: as})
	s.expect(404, Request{Method: "DELETE", Path: second, As: as})
	s.expect(200, s.multipart("PATCH", record, as, s.preparedUpdate(map[string]any{}), 2))
	s.expect(200, Request{Method: "PATCH", Path: record, As: as, JSON: s.preparedUpdate(map[string]any{s.f.Name: nil})})
	if got := read(); got != nil && fmt.Sprint(got) != "[]" {
		s.t.Errorf("after null: %v", got)
	}
	s.checkPlaces()
	if s.has("create") {
		sent := s.multipart("POST", s.Path, s.as("create"), s.valid(), 3)
		if got := s.expect(201, sent).JSON(201)[s.f.Name]; got == nil {
			s.t.Errorf("%s of a record that was created with a file is null", s.f.Name)
		}
	}
}

// checkPlaces calls the routes of a file with the path of another record and of another parent, and with links.
func (s fileSuite) checkPlaces() {
	first, _ := s.store(4)
	record := s.base
	if s.has("show") {
		link, err := url.Parse(textOf(s.expect(201, Request{Method: "POST", Path: first + "/link", As: s.as("show")}).JSON(201)["url"]))
		s.must(err)
		s.add()
		second, _ := s.store(5)
		for _, method := range []string{"GET", "HEAD"} {
			s.expect(200, Request{Method: method, Path: first, As: s.as("show")})
			s.expect(200, Request{Method: method, Path: first + "?" + link.RawQuery})
			s.expect(403, Request{Method: method, Path: second + "?" + link.RawQuery})
		}
	}
	if s.Under == "" {
		return
	}
	for _, parent := range []string{RecordID(1).Hex(), store.NewID().Hex()} {
		path, base := strings.Replace(first, RecordID(0).Hex(), parent, 1), strings.Replace(record, RecordID(0).Hex(), parent, 1)
		requests := []Request{
			{Method: s.request(6, "").Method, Path: base, As: s.as("update"), Body: "x", ContentType: "text/plain"}, {Method: "DELETE", Path: path, As: s.as("update")},
			s.multipart("PATCH", strings.TrimSuffix(base, "/"+s.f.Name), s.as("update"), s.preparedUpdate(map[string]any{}), 6),
		}
		if s.has("show") {
			requests = append(requests, Request{Method: "GET", Path: path, As: s.as("show")}, Request{Method: "POST", Path: path + "/link", As: s.as("show")})
		}
		for _, request := range requests {
			s.expect(404, request)
		}
	}
}

// checkAccess calls the routes of the field as a caller.
func (s fileSuite) checkAccess(caller string) {
	token := s.account(caller).Token
	status := func(method string, success int) int {
		if code := s.status(method, caller); code/100 != 2 {
			return code
		}
		return success
	}
	path := ""
	if s.has("update") {
		s.add()
		s.expect(status("update", s.created()), s.request(0, token))
		path, _ = s.store(1)
		record := strings.TrimSuffix(s.base, "/"+s.f.Name)
		s.expect(status("update", 200), s.multipart("PATCH", record, token, s.preparedUpdate(map[string]any{}), 2))
		if !s.f.isList() { // it has replaced the file, or not
			path, _ = s.store(1)
		}
	}
	if s.has("create") {
		s.expect(status("create", 201), s.multipart("POST", s.Path, token, s.valid(), 3))
	}
	if path != "" && s.has("show") {
		s.expect(status("show", 200), Request{Method: "GET", Path: path, As: token})
		s.expect(status("show", 201), Request{Method: "POST", Path: path + "/link", As: token, JSON: map[string]any{"expiresIn": 1}})
	}
	if path != "" {
		s.expect(status("update", 204), Request{Method: "DELETE", Path: path, As: token})
	}
}

// checkKeys calls the routes of the field with the API keys of a user who may change records: one that may only read, and one that may
// only write.
func (s fileSuite) checkKeys() {
	caller, scopes := "owner", []string{}
	if s.status("update", caller)/100 != 2 {
		if caller = s.callerOf("update"); caller == "nobody" {
			caller = "user"
		}
	}
	if caller == "admin" {
		scopes = append(scopes, "admin")
	}
	if caller == "master key" {
		return
	}
	for _, scope := range []string{"read", "write"} {
		create := Request{Method: "POST", Path: "/users/me/api-keys", As: s.account(caller).Token, JSON: map[string]any{"name": scope, "scopes": append(scopes, "*:"+scope)}}
		response := s.Do(create)
		if response.Status == http.StatusNotFound || response.Status == http.StatusMethodNotAllowed {
			return // without the component api-key
		}
		key := textOf(response.JSON(201)["key"])
		status := func(needs string, success int) int {
			if needs != scope {
				return http.StatusForbidden
			}
			return success
		}
		s.add()
		path, _ := s.store(0)
		if s.has("show") && s.status("show", caller)/100 == 2 {
			s.expect(status("read", 200), Request{Method: "GET", Path: path, As: key})
			s.expect(status("read", 201), Request{Method: "POST", Path: path + "/link", As: key})
		}
		s.expect(status("write", s.created()), s.request(1, key))
		s.expect(status("write", 200), s.multipart("PATCH", strings.TrimSuffix(s.base, "/"+s.f.Name), key, s.preparedUpdate(map[string]any{}), 2))
		path, _ = s.store(3)
		s.expect(status("write", 204), Request{Method: "DELETE", Path: path, As: key})
	}
}

// multipart returns a request with a form that has a file.
func (s *fileSuite) multipart(method, path, token string, body map[string]any, n int) Request {
	s.t.Helper()
	var buf bytes.Buffer
	form := multipart.NewWriter(&buf)
	for name, values := range formOf(body) {
		for _, value := range values {
			s.must(form.WriteField(name, value))
		}
	}
	mediaType, data := s.f.upload(n)
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {fmt.Sprintf(`form-data; name=%q; filename="File %d"`, s.f.Name, n)}, "Content-Type": {mediaType},
	})
	s.must(err)
	_, err = part.Write(data)
	s.must(err)
	s.must(form.Close())
	return Request{Method: method, Path: path, As: token, Body: buf.String(), ContentType: form.FormDataContentType()}
}

func (f *Field) isList() bool { return kinds[f.Type].isList }

// isFile reports whether the field has files.
func (f *Field) isFile() bool { return kinds[f.Type].isFile }
