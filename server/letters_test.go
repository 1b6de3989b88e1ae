package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
)

// expect calls a path of the service, and returns the body of the response.
func (s *letters) expect(status int, method, path, body string, header ...string) []byte {
	s.t.Helper()
	response, data := call(s.t, method, s.base+path, strings.NewReader(body), header...)
	if response.StatusCode != status {
		s.t.Errorf("%s %s: %d %s, want %d", method, path, response.StatusCode, data, status)
	}
	return data
}

// give makes another user the owner of the letter at the path.
func (s *letters) give(path string, to store.ID) {
	s.t.Helper()
	id, _ := store.ParseID(strings.TrimPrefix(path, "/letters/"))
	if _, err := s.Update(s.t.Context(), store.Eq("id", id), store.Set("userId", to)); err != nil {
		s.t.Fatal(err)
	}
}

// link returns the path and the query of a link to the file at the path.
func (s *letters) link(path string) string {
	s.t.Helper()
	var link struct{ URL string }
	if err := json.Unmarshal(s.expect(201, "POST", path+"/link", ""), &link); err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimPrefix(link.URL, "https://api.example.com")
}

// TestFilesOfOthers calls the paths of another user's files, also below an own record.
func TestFilesOfOthers(t *testing.T) {
	t.Parallel()
	s := serveLetters(t, 0)
	own, others := s.insert(userID), s.insert(userID)
	s.expect(200, "PUT", others+"/paper", "secret")
	var stored letter
	if err := json.Unmarshal(s.expect(201, "POST", others+"/pages", "secret"), &stored); err != nil {
		t.Fatal(err)
	}
	page := "/pages/" + stored.Pages[0].ID.Hex()
	s.expect(200, "GET", others+page, "")
	s.give(others, store.NewID())
	for _, path := range []string{others + "/paper", others + page, own + page, own + "/paper", own + "/pages/" + stored.Paper.ID.Hex(), own + "/pages/..%2f" + stored.Paper.ID.Hex()} {
		for _, method := range []string{"GET", "DELETE"} {
			s.expect(404, method, path, "")
		}
		s.expect(404, "POST", path+"/link", "")
	}
	s.expect(404, "PUT", others+"/paper", "x")
	s.expect(404, "POST", others+"/pages", "x")
	s.expect(404, "GET", own+"/pages/x", "")
}

// TestLinksOfRecords uses links of records that were changed and deleted, and links of other files.
func TestLinksOfRecords(t *testing.T) {
	t.Parallel()
	s := serveLetters(t, 0)
	path, other := s.insert(userID), s.insert(userID)
	anonymous := []string{"Authorization", ""}
	s.expect(200, "PUT", path+"/paper", "one")
	s.expect(200, "PUT", other+"/paper", "two")
	link := s.link(path + "/paper")
	s.expect(403, "GET", strings.Replace(link, path, other, 1), "", anonymous...)
	s.expect(403, "GET", strings.Replace(link, "/paper", "/pages/"+store.NewID().Hex(), 1), "", anonymous...)
	for _, method := range []string{"PUT", "DELETE"} {
		s.expect(405, method, link, "x")
	}
	s.expect(401, "GET", path+"/paper", "", anonymous...)
	s.give(path, store.NewID())
	s.expect(404, "GET", path+"/paper", "")
	if data := s.expect(200, "GET", link, "", anonymous...); string(data) != "one" {
		t.Errorf("%q", data)
	}
	if _, err := s.Delete(t.Context(), store.Ne("id", nil)); err != nil {
		t.Fatal(err)
	}
	s.expect(404, "GET", link, "", anonymous...)
	s.expect(404, "GET", link, "")
}

// TestWrongLengths sends bodies that do not end, or have another length than the header says. Nothing is left of them, also of the
// quota.
func TestWrongLengths(t *testing.T) {
	t.Parallel()
	s := serveLetters(t, letterSize+100)
	path := s.insert(userID) + "/paper"
	for name, test := range map[string]struct {
		length string
		body   func(net.Conn) (sent int) // sends the body
		want   string                    // status
	}{
		"chunked without end": {"Transfer-Encoding: chunked", endless, "413"},
		"longer":              {"Content-Length: 3", text("abcGET /x HTTP/1.1\r\n\r\n"), "200"},
		"shorter":             {"Content-Length: 1000", text("abc"), "400"},
		"shorter, a chunk":    {"Transfer-Encoding: chunked", text("a\r\nabc"), "400"},
		"no last chunk":       {"Transfer-Encoding: chunked", text("3\r\nabc\r\n"), "400"},
		"no chunk":            {"Transfer-Encoding: chunked", text("xyz\r\n"), "400"},
		"two lengths":         {"Content-Length: 3\r\nContent-Length: 4", text("abcd"), "400"},
		"length and chunks":   {"Content-Length: 3\r\nTransfer-Encoding: chunked", text("1\r\na\r\n0\r\n\r\n"), "200"}, // RFC 9112 section 6.1
		"negative length":     {"Content-Length: -1", text("abc"), "400"},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		_, _ = fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nConnection: close\r\n%s\r\n\r\n", path, userToken, test.length)
		sent := test.body(conn)
		if test.want == "400" {
			_ = conn.(*net.TCPConn).CloseWrite() // ends a complete request, too
		}
		response, err := io.ReadAll(conn)
		_ = conn.Close()
		if got := strings.TrimPrefix(string(response), "HTTP/1.1 "); !strings.HasPrefix(got, test.want) || sent > 16*letterSize {
			t.Errorf("%s: %.300s, %v, after %d bytes", name, response, err, sent)
		}
	}
	spooled, err := os.ReadDir(s.spool)
	if err != nil || len(spooled) > 0 {
		t.Errorf("%d uploads are left, %v", len(spooled), err)
	}
	s.expect(http.StatusOK, "PUT", path, strings.Repeat("y", letterSize)) // has room
}

// text returns a function that sends a text.
func text(s string) func(net.Conn) int {
	return func(conn net.Conn) int {
		n, _ := io.WriteString(conn, s) // the server may have closed the connection
		return n
	}
}

// endless sends chunks until the server closes the connection.
func endless(conn net.Conn) (sent int) {
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 64<<10, strings.Repeat("x", 64<<10))
	for sent < 64*letterSize {
		n, err := io.WriteString(conn, chunk)
		if sent += n; err != nil {
			break
		}
	}
	return sent
}
