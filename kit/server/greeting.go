package server

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ginseng/kit/settings"
	"example.com/ginseng/kit/store/engines"
)

// greeting returns the address of the service and, in development, where its documentation, settings and data are, and how
// to create an admin.
func greeting(s Settings, addr net.Addr, routes []string) string {
	var b strings.Builder
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil { // not TCP
		port = addr.String()
	}
	fmt.Fprintf(&b, "Server listening on http://%s, in %s mode\n", net.JoinHostPort(s.Host, port), s.Env)
	if s.Env != settings.Development {
		return b.String()
	}
	base := "http://" + net.JoinHostPort(reachable(s.Host), port)
	if s.Docs {
		fmt.Fprintf(&b, "  Swagger UI   %s/docs/\n", base)
	}
	source := ""
	if file, err := filepath.Abs(".env"); err == nil {
		if _, err := os.Stat(file); err == nil {
			fmt.Fprintf(&b, "  settings     %s\n", file)
			source = ". ./.env; "
		}
	}
	data := engines.Redact(s.DatabaseURL)
	if path := engines.Path(s.DatabaseURL); path != "" {
		if data, err = filepath.Abs(path); err != nil {
			data = path
		}
	}
	fmt.Fprintf(&b, "  data         %s\n", data)
	if slices.Contains(routes, "POST "+s.APIRoot+"/users") {
		fmt.Fprintf(&b, "  first admin  %scurl %s%s/users -d access_token=\"$MASTER_KEY\" -d role=admin -d email=YOU@example.com -d password=…\n",
			source, base, s.APIRoot)
	}
	return b.String()
}

// reachable returns a host with which this machine can connect to a listener on host.
func reachable(host string) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return "localhost"
	}
	return host
}
