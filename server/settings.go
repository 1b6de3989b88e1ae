package server

import (
	"cmp"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"example.com/ginseng/kit/email"
	"example.com/ginseng/kit/settings"
	"example.com/ginseng/kit/telemetry"
)

// Address is where the service listens.
type Address struct {
	Host string `mapstructure:"HOST" default:"0.0.0.0"`
	Port int    `mapstructure:"PORT" default:"9000" validate:"min=0,max=65535"` // 0 selects a free port
}

// Database is the address of the database.
type Database struct {
	DatabaseURL string `mapstructure:"DATABASE_URL" validate:"production" example:"mongodb://localhost:27017/ginseng"`
}

// Settings are the settings of the server.
type Settings struct {
	Address
	Database
	Env          settings.Mode `mapstructure:"APP_ENV" default:"development" validate:"oneof=development production test"`
	APIRoot      string        `mapstructure:"API_ROOT" example:"/api/v1"`
	LogLevel     string        `mapstructure:"LOG_LEVEL" default:"info" validate:"oneof=debug info warn error"`
	MasterKeys   []string      `mapstructure:"MASTER_KEY" validate:"secret" example:"change-me-to-a-long-random-master-key"`
	MaxBodyBytes int64         `mapstructure:"MAX_BODY_BYTES" default:"1048576" validate:"min=1024,max=104857600"`
	CORSOrigins  []string      `mapstructure:"CORS_ORIGINS" validate:"dive,eq=*|origin" example:"https://app.example.com"`
	// PublicURL is the scheme, host and port at which clients reach the service. Absolute links begin with it.
	PublicURL      string   `mapstructure:"PUBLIC_URL" example:"https://api.example.com"`
	TrustedProxies []string `mapstructure:"TRUSTED_PROXIES" validate:"dive,cidr" example:"10.0.0.0/8"`
	QueryTokens    bool     `mapstructure:"QUERY_TOKENS" default:"true"`
	Docs           bool     `mapstructure:"DOCS" default:"true"`
	// DrainDelay is how long the server accepts requests after SIGTERM. In this time, /readyz responds 503, so that load
	// balancers stop sending requests.
	DrainDelay time.Duration `mapstructure:"DRAIN_DELAY" default:"0s" validate:"min=0s,max=1m"`
	// MetricsAddr is the address of the listener for GET /metrics; "" disables metrics.
	MetricsAddr string `mapstructure:"METRICS_ADDR" validate:"omitempty,host_port" example:"127.0.0.1:9090"`
	// ChangesRetention is how long the log of changes keeps an entry.
	ChangesRetention time.Duration `mapstructure:"CHANGES_RETENTION" default:"168h" validate:"min=1m,max=8760h"`
	// ChangesStreams limits the open streams of changes on an instance. ChangesUserStreams limits the streams of one user or,
	// without a user, of one network.
	ChangesStreams     int `mapstructure:"CHANGES_STREAMS" default:"1000" validate:"min=0,max=100000"`
	ChangesUserStreams int `mapstructure:"CHANGES_USER_STREAMS" default:"10" validate:"min=0,max=100000"`
	Files              FileSettings
	Traces             telemetry.Settings
	Email              email.Settings
}

// EmbeddedURL is the default of DATABASE_URL. In production, there is no default.
const EmbeddedURL = "sqlite:data/ginseng.db"

// Check implements settings.Checker.
func (d *Database) Check(report func(name, reason string)) {
	if d.DatabaseURL == "" {
		d.DatabaseURL = EmbeddedURL
	}
	scheme, rest, _ := strings.Cut(d.DatabaseURL, ":")
	switch {
	case (scheme == "mongodb" || scheme == "mongodb+srv") && strings.HasPrefix(rest, "//"):
	case scheme == "sqlite" && strings.Trim(rest, "/") != "":
	default:
		report("DATABASE_URL", "must begin with mongodb://, mongodb+srv:// or sqlite:")
	}
}

var rootForm = regexp.MustCompile(`^(/[-._~A-Za-z0-9]+)+$`)

// Check implements settings.Checker.
func (s *Settings) Check(report func(name, reason string)) {
	if len(s.CORSOrigins) == 0 && s.Env == settings.Development {
		s.CORSOrigins = []string{"*"}
	}
	s.checkPublicURL(report)
	s.Files.check(cmp.Or(s.DatabaseURL, EmbeddedURL), report)
	s.APIRoot = strings.TrimRight(s.APIRoot, "/")
	if s.APIRoot != "" && !rootForm.MatchString(s.APIRoot) {
		report("API_ROOT", "must begin with / and contain only letters, digits and -._~ between slashes")
	}
	for _, reserved := range []string{"/admin", "/dev/emails", "/docs", "/openapi.json", "/livez", "/readyz"} {
		if s.APIRoot == reserved || strings.HasPrefix(s.APIRoot, reserved+"/") {
			report("API_ROOT", "must not be or begin with "+reserved+", which the server uses")
		}
	}
}

// checkPublicURL sets the default of PublicURL in development, unless PORT is 0, because the port is not known yet.
func (s *Settings) checkPublicURL(report func(name, reason string)) {
	if s.PublicURL == "" {
		if s.Env == settings.Development && s.Port != 0 {
			s.PublicURL = "http://localhost:" + strconv.Itoa(s.Port)
		}
		return
	}
	u, err := url.Parse(s.PublicURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Contains(u.Host, "*") ||
		strings.TrimSuffix(s.PublicURL, "/") != u.Scheme+"://"+u.Host {
		report("PUBLIC_URL", "must be http:// or https://, a host and possibly a port, without a path, such as https://api.example.com")
		return
	}
	s.PublicURL = u.Scheme + "://" + u.Host
}
