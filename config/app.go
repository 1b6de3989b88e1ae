package config

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Mode is what APP_ENV says.
type Mode string

// The modes.
const (
	Development Mode = "development"
	Production  Mode = "production"
	Test        Mode = "test"
)

// Address is where the service listens.
type Address struct {
	Host string `env:"HOST" default:"0.0.0.0"`
	Port int    `env:"PORT" default:"9000" min:"0" max:"65535"` // 0 takes a free one
}

// Database is where the data are.
type Database struct {
	DatabaseURL string `env:"DATABASE_URL" required:"production" example:"mongodb://localhost:27017/ginseng"`
}

// App is the application's own section.
type App struct {
	Address
	Database
	Env            Mode     `env:"APP_ENV" default:"development" oneof:"development production test"`
	APIRoot        string   `env:"API_ROOT" example:"/api/v1"`
	LogLevel       string   `env:"LOG_LEVEL" default:"info" oneof:"debug info warn error"`
	MasterKeys     []string `env:"MASTER_KEY" secret:"yes" example:"change-me-to-a-long-random-master-key"`
	MaxBodyBytes   int64    `env:"MAX_BODY_BYTES" default:"1048576" min:"1024" max:"104857600"`
	CORSOrigins    []string `env:"CORS_ORIGINS" example:"https://app.example.com"`
	TrustedProxies []string `env:"TRUSTED_PROXIES" example:"10.0.0.0/8"`
	QueryTokens    bool     `env:"QUERY_TOKENS" default:"true"`
	Docs           bool     `env:"DOCS" default:"true"`
	// DrainDelay is how long to go on taking requests after SIGTERM, with /readyz answering 503, so that a balancer
	// looks elsewhere first.
	DrainDelay time.Duration `env:"DRAIN_DELAY" default:"0s" min:"0s" max:"1m"`
	// MetricsAddr is where GET /metrics answers, on a listener of its own; "" has none.
	MetricsAddr string `env:"METRICS_ADDR" example:"127.0.0.1:9090"`
}

// EmbeddedURL is where development mode keeps its database when DATABASE_URL is not set.
const EmbeddedURL = "sqlite:data/ginseng.db"

// Production reports whether the service runs for real.
func (a App) Production() bool { return a.Env == Production }

// Check finds an address that no engine has.
func (d *Database) Check(_ bool, bad func(name, wrong string)) {
	if d.DatabaseURL == "" {
		d.DatabaseURL = EmbeddedURL
	}
	scheme, rest, _ := strings.Cut(d.DatabaseURL, ":")
	switch {
	case (scheme == "mongodb" || scheme == "mongodb+srv") && strings.HasPrefix(rest, "//"):
	case scheme == "sqlite" && strings.Trim(rest, "/") != "":
	default:
		bad("DATABASE_URL", "must begin with mongodb://, mongodb+srv:// or sqlite:")
	}
}

// Check finds what the tags cannot say.
func (a *App) Check(_ bool, bad func(name, wrong string)) {
	if a.APIRoot = strings.TrimRight(a.APIRoot, "/"); a.APIRoot != "" && !validRoot(a.APIRoot) {
		bad("API_ROOT", "must begin with / and hold only letters, digits and -._~ between slashes, for example API_ROOT=/api/v1")
	}
	for _, own := range []string{"/docs", "/openapi.json", "/livez", "/readyz"} {
		if a.APIRoot == own || strings.HasPrefix(a.APIRoot, own+"/") {
			bad("API_ROOT", "must not be or begin with "+own+", which is the service's own, for example API_ROOT=/api/v1")
		}
	}
	for _, origin := range a.CORSOrigins {
		if u, err := url.Parse(origin); origin != "*" && (err != nil || u.Host == "" || origin != u.Scheme+"://"+u.Host) {
			bad("CORS_ORIGINS", "must list origins, each a scheme and a host without a path, for example CORS_ORIGINS=https://app.example.com, or be *")
		}
	}
	if len(a.CORSOrigins) == 0 && a.Env == Development {
		a.CORSOrigins = []string{"*"}
	}
	if a.MetricsAddr != "" && !validHostPort(a.MetricsAddr) {
		bad("METRICS_ADDR", "must be HOST:PORT, or :PORT for all networks, for example METRICS_ADDR=127.0.0.1:9090")
	}
	for _, proxy := range a.TrustedProxies {
		if _, err := netip.ParsePrefix(proxy); err != nil {
			bad("TRUSTED_PROXIES", "must list networks in CIDR form, for example TRUSTED_PROXIES=10.0.0.0/8,192.168.0.0/16")
		}
	}
}

func validHostPort(address string) bool {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

func validRoot(path string) bool {
	if path[0] != '/' || strings.Contains(path, "//") {
		return false
	}
	for _, r := range path {
		alphanumeric := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !alphanumeric && !strings.ContainsRune("-._~/", r) {
			return false
		}
	}
	return true
}
