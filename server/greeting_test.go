package server

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ginseng/kit/settings"
)

func TestGreeting(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile(".env", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	addr := &net.TCPAddr{IP: net.IPv4zero, Port: 1234}
	s := Settings{Env: settings.Development, Docs: true, APIRoot: "/api"}
	s.Host, s.DatabaseURL = "0.0.0.0", "sqlite:data/x.db"
	want := `Server listening on http://0.0.0.0:1234, in development mode
  admin page   http://localhost:1234/admin/
  Swagger UI   http://localhost:1234/docs/
  settings     ` + filepath.Join(dir, ".env") + `
  data         ` + filepath.Join(dir, "data", "x.db") + `
  first admin  . ./.env; curl http://localhost:1234/api/users -d access_token="$MASTER_KEY" -d role=admin -d email=YOU@example.com -d password=…
`
	if got := greeting(s, addr, []string{"GET /admin/", "POST /api/users"}, false); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := greeting(s, addr, []string{"POST /api/users"}, true); strings.Contains(got, "first admin") {
		t.Errorf("with an admin: %s", got)
	}
	s.Env = settings.Production
	if got, want := greeting(s, addr, nil, false), "Server listening on http://0.0.0.0:1234, in production mode\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	s.PublicURL = "https://api.example.com"
	if got := greeting(s, addr, []string{"GET /admin/"}, false); !strings.HasSuffix(got, "\n  admin page   https://api.example.com/admin/\n") {
		t.Error(got)
	}
}
