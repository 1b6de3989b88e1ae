package middleware

import (
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

// from returns a request of a user from an IP address. user can be the zero ID.
func from(address string, user store.ID) *gin.Context {
	g, _ := gin.CreateTestContext(httptest.NewRecorder())
	g.Request = httptest.NewRequest("GET", "/", nil)
	g.Request.RemoteAddr = net.JoinHostPort(address, "1")
	rest.SetCaller(g, access.Principal{UserID: user})
	return g
}

// TestStreamShares opens as many streams as a network, a site, all anonymous callers and all users can have.
func TestStreamShares(t *testing.T) {
	t.Parallel()
	s := NewStreams(NewLongResponses(Authenticator{}), 16, 2) // a quarter is 4
	var nobody store.ID
	var ends []func()
	open := func(g *gin.Context, want apperr.Code) {
		t.Helper()
		end, err := s.begin(g)
		if apperr.CodeOf(err) != want {
			t.Errorf("stream %d: %v, want %q", len(ends)+1, err, want)
		}
		if err == nil {
			ends = append(ends, end)
		}
	}
	open(from("2001:db8:0:1::1", nobody), "")
	open(from("2001:db8:0:1::2", nobody), "")
	open(from("2001:db8:0:1::3", nobody), apperr.TooManyRequests) // the limit of the network
	open(from("2001:db8:0:2::1", nobody), "")
	open(from("2001:db8:0:3::1", nobody), "")
	open(from("2001:db8:0:4::1", nobody), apperr.TooManyRequests) // a quarter
	for i := range 4 {
		address := fmt.Sprintf("192.0.2.%d", i)
		open(from(address, nobody), "")
		open(from(address, nobody), "")
		open(from(address, nobody), apperr.TooManyRequests)
	}
	open(from("192.0.2.9", nobody), apperr.Unavailable) // the others are kept for users
	ada := store.NewID()
	open(from("192.0.2.9", ada), "")
	open(from("192.0.2.9", ada), "")
	open(from("192.0.2.9", ada), apperr.TooManyRequests)
	open(from("192.0.2.9", store.NewID()), "")
	open(from("192.0.2.9", store.NewID()), "")
	open(from("192.0.2.9", store.NewID()), apperr.Unavailable)
	if s.Open() != 16 || len(ends) != 16 {
		t.Errorf("%d of %d streams are open", s.Open(), len(ends))
	}
	for _, end := range ends {
		end()
	}
	if s.Open() != 0 {
		t.Errorf("%d streams are open", s.Open())
	}
	open(from("192.0.2.9", nobody), "")
}

// TestExportShares begins as many exports as a caller and all callers can have.
func TestExportShares(t *testing.T) {
	t.Parallel()
	e := NewExports(NewLongResponses(Authenticator{}))
	begin := func(address string, user store.ID, want apperr.Code) func() {
		t.Helper()
		end, err := e.begin(from(address, user))
		if apperr.CodeOf(err) != want {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
		return end
	}
	var nobody store.ID
	end := begin("192.0.2.1", nobody, "")
	begin("192.0.2.1", nobody, apperr.Unavailable)
	begin("192.0.2.1", store.NewID(), "")
	begin("2001:db8:0:1::1", nobody, "")
	begin("2001:db8:0:2::1", nobody, apperr.Unavailable)
	begin("192.0.2.2", nobody, "")
	begin("192.0.2.3", nobody, apperr.Unavailable)
	end()
	begin("192.0.2.3", nobody, "")
}

// verifier is an access.TokenVerifier that returns the Principal for every token.
type verifier struct{ access.Principal }

func (v verifier) VerifyToken(context.Context, string) (access.Principal, error) {
	return v.Principal, nil
}

// TestStreamOfReader verifies the caller of an open stream, a user who can only read.
func TestStreamOfReader(t *testing.T) {
	t.Parallel()
	reader := access.Principal{UserID: store.NewID(), Restriction: &access.Restriction{Err: apperr.New(apperr.Forbidden, "Only reads."), Reads: true}}
	l := NewLongResponses(Authenticator{Tokens: verifier{reader}})
	g := from("192.0.2.1", reader.UserID)
	rest.SetCaller(g, reader)
	g.Request.Header.Set("Authorization", "Bearer token")
	if err := l.same(t.Context(), g); err != nil {
		t.Errorf("a read: %v", err)
	}
	g.Request.Method = "POST"
	if err := l.same(t.Context(), g); !apperr.Is(err, apperr.Forbidden) {
		t.Errorf("a write: %v", err)
	}
}
