package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// section has fields of every type, in nested and embedded structs.
type section struct {
	App    app
	Nested struct {
		Secret  string        `mapstructure:"API_SECRET" validate:"secret" example:"change-me-to-another-long-random-secret"`
		TTL     time.Duration `mapstructure:"API_TTL" default:"1h" validate:"min=1m,max=720h"`
		Refresh time.Duration `mapstructure:"API_REFRESH" default:"720h" validate:"gtefield=TTL"`
	}
	ID struct {
		ID     string `mapstructure:"CLIENT_ID"`
		Secret string `mapstructure:"CLIENT_SECRET" validate:"required_with=ID" example:"s"`
	}
}

type Address struct {
	Host string `mapstructure:"HOST" default:"0.0.0.0"`
	Port int    `mapstructure:"PORT" default:"9000" validate:"min=0,max=65535"`
}

type app struct {
	Address
	DatabaseURL    string   `mapstructure:"DATABASE_URL" validate:"production" example:"mongodb://localhost/x"`
	Env            Mode     `mapstructure:"APP_ENV" default:"development" validate:"oneof=development production test"`
	APIRoot        string   `mapstructure:"API_ROOT" example:"/api/v1"`
	LogLevel       string   `mapstructure:"LOG_LEVEL" default:"info" validate:"oneof=debug info warn error"`
	MasterKeys     []string `mapstructure:"MASTER_KEY" validate:"secret" example:"change-me-to-a-long-random-master-key"`
	MaxBodyBytes   int64    `mapstructure:"MAX_BODY_BYTES" default:"1048576" validate:"min=1024,max=104857600"`
	CORSOrigins    []string `mapstructure:"CORS_ORIGINS" validate:"dive,eq=*|origin" example:"https://app.example.com"`
	LinkOrigins    []string `mapstructure:"LINK_ORIGINS" validate:"dive,web_page" example:"https://app.example.com"`
	TrustedProxies []string `mapstructure:"TRUSTED_PROXIES" validate:"dive,cidr" example:"10.0.0.0/8"`
	QueryTokens    bool     `mapstructure:"QUERY_TOKENS" default:"true"`
	MetricsAddr    string   `mapstructure:"METRICS_ADDR" validate:"omitempty,host_port" example:"127.0.0.1:9090"`
}

// Check implements Checker.
func (a *app) Check(report func(name, reason string)) {
	if a.APIRoot != "" && a.APIRoot[0] != '/' {
		report("API_ROOT", "must begin with /")
	}
}

const long = "0123456789abcdefghijklmnopqrstuvwxyz"

// isolate unsets every setting of the environment until the test ends, except those in set.
func isolate(t *testing.T, set map[string]string) {
	t.Helper()
	for _, name := range []string{"APP_ENV", "HOST", "PORT", "API_ROOT", "LOG_LEVEL", "DATABASE_URL", "MASTER_KEY", "MAX_BODY_BYTES",
		"CORS_ORIGINS", "LINK_ORIGINS", "TRUSTED_PROXIES", "QUERY_TOKENS", "METRICS_ADDR", "API_SECRET", "API_TTL", "API_REFRESH",
		"CLIENT_ID", "CLIENT_SECRET"} {
		t.Setenv(name, set[name]) // an empty variable counts as unset
	}
}

func write(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoadDefaults(t *testing.T) {
	isolate(t, map[string]string{"MASTER_KEY": "a, b ,", "API_SECRET": "s"})
	dir := t.TempDir()
	var s section
	loaded, err := Load(dir, &s)
	if err != nil {
		t.Fatal(err)
	}
	if s.App.Port != 9000 || s.App.Host != "0.0.0.0" || s.App.Env != Development || s.App.LogLevel != "info" ||
		s.App.MaxBodyBytes != 1<<20 || !s.App.QueryTokens || s.Nested.TTL != time.Hour {
		t.Errorf("defaults: %+v", s)
	}
	if !slices.Equal(s.App.MasterKeys, []string{"a", "b"}) || len(s.App.CORSOrigins) != 0 {
		t.Errorf("lists: %+v", s.App)
	}
	if _, err := os.Stat(filepath.Join(dir, ".env")); err == nil || loaded.Created != "" {
		t.Error("a .env was written although the environment has the secrets")
	}
}

func TestLoadWritesSecretsOnce(t *testing.T) {
	isolate(t, nil)
	dir := t.TempDir()
	var first, second section
	loaded, err := Load(dir, &first)
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Created == "" || len(first.App.MasterKeys) != 1 || len(first.App.MasterKeys[0]) < minSecret || len(first.Nested.Secret) < minSecret {
		t.Fatalf("no fresh secrets: %+v %+v", loaded, first)
	}
	info, err := os.Stat(loaded.Created)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if loaded, err := Load(dir, &second); err != nil || loaded.Created != "" {
		t.Fatalf("second start: %+v, %v", loaded, err)
	}
	if first.Nested.Secret != second.Nested.Secret || first.App.MasterKeys[0] != second.App.MasterKeys[0] {
		t.Error("the second start has other secrets")
	}
	var third section
	if _, err := Load(t.TempDir(), &third); err != nil || third.Nested.Secret == first.Nested.Secret {
		t.Errorf("two projects share a secret (%v)", err)
	}
}

// TestLoadAtStartAddsSecrets adds a secret that a new module needs to the .env of a developer. Only a start adds it.
func TestLoadAtStartAddsSecrets(t *testing.T) {
	isolate(t, nil)
	dir := t.TempDir()
	const before = "MASTER_KEY=k # mine\nPORT=9001"
	write(t, dir, before)
	var first, second section
	_, err := Load(dir, &first)
	if err == nil || !strings.Contains(err.Error(), "API_SECRET: is missing; set it and APP_ENV as the service has them; in development, a start of the service adds it to .env") {
		t.Errorf("a command without the secret: %v", err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, ".env")); err != nil || string(after) != before {
		t.Fatalf("%v, a command has changed .env:\n%s", err, after)
	}
	source, err := LoadAtStart(dir, &first)
	if err != nil || source.Created != "" || !slices.Equal(source.Added, []string{"API_SECRET"}) || len(first.Nested.Secret) < minSecret {
		t.Fatalf("%+v, %v, %+v", source, err, first)
	}
	if after, err := os.ReadFile(filepath.Join(dir, ".env")); err != nil || !strings.HasPrefix(string(after), before+"\n") {
		t.Errorf("%v, .env is\n%s", err, after)
	}
	source, err = LoadAtStart(dir, &second)
	if err != nil || source.Added != nil || second.Nested.Secret != first.Nested.Secret || second.App.Port != 9001 || !slices.Equal(second.App.MasterKeys, []string{"k"}) {
		t.Errorf("second start: %+v, %v, %+v", source, err, second)
	}
}

// TestAddSecretsConcurrently checks that instances that start at the same time have the same secrets.
func TestAddSecretsConcurrently(t *testing.T) {
	isolate(t, nil)
	for name, file := range map[string]string{"no file": "", "a file": "PORT=9001\n"} {
		dir := t.TempDir()
		if file != "" {
			write(t, dir, file)
		}
		var loaders [2]*loader
		for i := range loaders { // all read the file before one adds the secrets
			l, err := open(dir, new(section))
			if err != nil {
				t.Fatal(err)
			}
			l.atStart, loaders[i] = true, l
		}
		for i, l := range loaders {
			if source, err := l.addSecrets(); err != nil || (source.Added != nil) != (i == 0) || (source.Created != "") != (i == 0 && file == "") {
				t.Errorf("%s: instance %d: %+v, %v", name, i, source, err)
			}
		}
		first, second := loaders[0].value("API_SECRET"), loaders[1].value("API_SECRET")
		if first == "" || first != second {
			t.Errorf("%s: the instances have different secrets", name)
		}
	}
}

func TestLoadPrefersEnvironment(t *testing.T) {
	isolate(t, map[string]string{"PORT": "1234"})
	dir := t.TempDir()
	write(t, dir, "PORT=9001\nHOST=127.0.0.1\nMASTER_KEY=k\nAPI_SECRET=a,b\nPROT=1\n")
	var s section
	loaded, err := Load(dir, &s)
	if err != nil {
		t.Fatal(err)
	}
	if s.App.Port != 1234 || s.App.Host != "127.0.0.1" || s.Nested.Secret != "a,b" {
		t.Errorf("%+v", s)
	}
	if !slices.Equal(loaded.Unknown, []string{"PROT"}) {
		t.Errorf("unknown names: %v", loaded.Unknown)
	}
}

// TestSpacesAsSecret: a secret of spaces is invalid. It does not count as missing, so Load does not create a file.
func TestSpacesAsSecret(t *testing.T) {
	isolate(t, map[string]string{"MASTER_KEY": " "})
	dir := t.TempDir()
	var s section
	var invalid *Invalid
	if _, err := Load(dir, &s); !errors.As(err, &invalid) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".env")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("created .env: %v", err)
	}
}

// TestLoadExports exports the variables of OpenTelemetry, unless the environment has them.
func TestLoadExports(t *testing.T) {
	isolate(t, map[string]string{"MASTER_KEY": "k"})
	t.Setenv("OTEL_SERVICE_NAME", "from-environment")
	t.Setenv("OTEL_TEST_ONLY", "")
	dir := t.TempDir()
	write(t, dir, "API_SECRET=s\nOTEL_SERVICE_NAME=x\nOTEL_TEST_ONLY=y\nOTEL_SERVCE_NAME=z\n")
	var s struct {
		Section section
		Name    string `mapstructure:"OTEL_SERVICE_NAME"`
	}
	source, err := Load(dir, &s)
	if err != nil || !slices.Equal(source.Unknown, []string{"OTEL_SERVCE_NAME"}) {
		t.Errorf("%+v, %v", source, err)
	}
	if os.Getenv("OTEL_SERVICE_NAME") != "from-environment" || os.Getenv("OTEL_TEST_ONLY") != "y" {
		t.Errorf("%q, %q", os.Getenv("OTEL_SERVICE_NAME"), os.Getenv("OTEL_TEST_ONLY"))
	}
}

func TestLoadReportsEveryMistake(t *testing.T) {
	isolate(t, nil)
	dir := t.TempDir()
	write(t, dir, "APP_ENV=production\nPORT=http\nLOG_LEVEL=loud\nAPI_TTL=1s\nMASTER_KEY=short-secret-value\nAPI_ROOT=api\n"+
		"QUERY_TOKENS=maybe\nCORS_ORIGINS=app.example.com\nTRUSTED_PROXIES=10.0.0.1\nMAX_BODY_BYTES=1\n"+
		"LINK_ORIGINS=https://a.example,https://a.example/?x\nMETRICS_ADDR=9090\nAPI_REFRESH=500ms\nCLIENT_ID=x\n")
	var s section
	_, err := Load(dir, &s)
	var invalid *Invalid
	if !errors.As(err, &invalid) {
		t.Fatalf("error %v", err)
	}
	lines := strings.Split(err.Error(), "\n")
	want := []string{"PORT", "API_ROOT", "LOG_LEVEL", "MASTER_KEY", "MAX_BODY_BYTES", "QUERY_TOKENS", "API_SECRET", "API_TTL", "DATABASE_URL", "CORS_ORIGINS", "TRUSTED_PROXIES",
		"LINK_ORIGINS", "METRICS_ADDR", "API_REFRESH", "CLIENT_SECRET"}
	for _, name := range want {
		if n := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+": ") }); n < 0 {
			t.Errorf("no line for %s in\n%s", name, err)
		}
	}
	if len(lines) != len(want) {
		t.Errorf("%d lines for %d mistakes:\n%s", len(lines), len(want), err)
	}
	for _, value := range []string{"short-secret-value", "loud", "maybe"} {
		if strings.Contains(err.Error(), value) {
			t.Errorf("the error quotes the value %q", value)
		}
	}
}

func TestLoadReportsUnknownNames(t *testing.T) {
	isolate(t, nil)
	dir := t.TempDir()
	write(t, dir, "MASTER_KEYS=one\nAPI_SECRET=x\n")
	var s section
	_, err := LoadAtStart(dir, &s)
	if err == nil || !strings.Contains(err.Error(), "MASTER_KEY: is missing") || !strings.Contains(err.Error(), "MASTER_KEYS: is in .env but is not a setting") {
		t.Errorf("error %v", err)
	}
}

func TestProduction(t *testing.T) {
	good := map[string]string{"APP_ENV": "production", "DATABASE_URL": "sqlite:/data/x.db", "MASTER_KEY": long, "API_SECRET": "x" + long}
	for _, test := range []struct {
		name string
		set  map[string]string
		want string // name of the invalid setting; "" for none
	}{
		{"good", nil, ""},
		{"two keys", map[string]string{"MASTER_KEY": long + "," + long}, ""},
		{"no master key", map[string]string{"MASTER_KEY": ""}, "MASTER_KEY"},
		{"no secret", map[string]string{"API_SECRET": ""}, "API_SECRET"},
		{"no database", map[string]string{"DATABASE_URL": ""}, "DATABASE_URL"},
		{"equal secrets", map[string]string{"API_SECRET": long}, "API_SECRET"},
		{"a secret that is one of the keys", map[string]string{"MASTER_KEY": long + "y, x" + long}, "API_SECRET"},
		{"equal secrets in a test", map[string]string{"APP_ENV": "test", "API_SECRET": long}, ""},
		{"short secret", map[string]string{"API_SECRET": long[:31]}, "API_SECRET"},
		{"one short key of two", map[string]string{"MASTER_KEY": long + ",short"}, "MASTER_KEY"},
		{"key of .env.example", map[string]string{"MASTER_KEY": "change-me-to-a-long-random-master-key"}, "MASTER_KEY"},
		{"secret of .env.example", map[string]string{"API_SECRET": "change-me-to-another-long-random-secret"}, "API_SECRET"},
		{"unknown mode", map[string]string{"APP_ENV": "prod"}, "APP_ENV"},
		{"a space after the mode", map[string]string{"APP_ENV": "production ", "API_SECRET": "short"}, "API_SECRET"},
		{"a carriage return after the mode", map[string]string{"APP_ENV": "production\r", "DATABASE_URL": ""}, "DATABASE_URL"},
		{"origins below a host", map[string]string{"CORS_ORIGINS": "https://*.example.com,https://app.example.com"}, ""},
		{"origins that end in a host", map[string]string{"CORS_ORIGINS": "https://*example.com"}, "CORS_ORIGINS"},
		{"origins that begin with a host", map[string]string{"CORS_ORIGINS": "https://app.*"}, "CORS_ORIGINS"},
		{"origins in Unicode", map[string]string{"CORS_ORIGINS": "https://müller.example"}, "CORS_ORIGINS"},
		{"links below a host", map[string]string{"LINK_ORIGINS": "https://*.example.com"}, "LINK_ORIGINS"},
		{"port", map[string]string{"PORT": "70000"}, "PORT"},
		{"hexadecimal port", map[string]string{"PORT": "0x2329"}, "PORT"},
		{"leading zeros", map[string]string{"MAX_BODY_BYTES": "01048576"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := map[string]string{}
			for _, from := range []map[string]string{good, test.set} {
				for k, v := range from {
					set[k] = v
				}
			}
			isolate(t, set)
			dir := t.TempDir()
			var s section
			_, err := Load(dir, &s)
			if test.want == "" {
				if err != nil {
					t.Errorf("rejected: %v", err)
				}
				return
			}
			var invalid *Invalid
			if !errors.As(err, &invalid) || len(invalid.Problems) != 1 || invalid.Problems[0].Name != test.want {
				t.Errorf("error %v, want one of %s", err, test.want)
			}
			if _, err := os.Stat(filepath.Join(dir, ".env")); err == nil {
				t.Error("production wrote a .env")
			}
		})
	}
}

func TestLoadBrokenFile(t *testing.T) {
	isolate(t, nil)
	dir := t.TempDir()
	write(t, dir, "MASTER_KEY=\"secret-that-never-ends\nAPI_SECRET=x\n")
	var s section
	_, err := Load(dir, &s)
	if err == nil || !strings.HasPrefix(err.Error(), ".env: ") || strings.Contains(err.Error(), "never-ends") {
		t.Errorf("error %v", err)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for origin, valid := range map[string]bool{
		"https://app.example.com": true, "http://localhost:5173": true, "https://[::1]:8443": true, "https://App.example.com": true, "https://*": false,
		"https://app.example.com/": true, "https://app.example.com/de/reset/": true, "https://app.example.com//reset": false,
		"https://app.example.com/a/../reset": false, "https://app.example.com/%72eset": false, "https://app.example.com/{token}": false,
		"https://app.example.com/reset?a": false, "https://app.example.com/reset#a": false, "app.example.com": false, "*": false,
		"https://ada@app.example.com": false, "ftp://app.example.com": false, "https://": false, "https://:443": false, "javascript:x": false, "https://a?b": false,
		"https://xn--mller-kva.example/reset": true, "https://müller.example/reset": false, `https://a"b.example`: false, "https://a<b>.example": false,
	} {
		s := struct {
			Origins []string `mapstructure:"ORIGINS" validate:"dive,web_page"`
		}{[]string{"https://x.example", origin}}
		if err := Validate(&s); (err == nil) != valid {
			t.Errorf("%q: %v", origin, err)
		}
	}
}

type shop struct {
	URL      string        `mapstructure:"STORE_%s_URL" validate:"required" example:"https://shop.example.com"`
	Password string        `mapstructure:"STORE_%s_PASSWORD" validate:"required_with=User"`
	User     string        `mapstructure:"STORE_%s_USER"`
	Brands   []string      `mapstructure:"STORE_%s_BRANDS" default:"a, b"`
	Wait     time.Duration `mapstructure:"STORE_%s_WAIT" default:"1s" validate:"min=1s"`
}

// Check implements Checker.
func (s *shop) Check(report func(name, reason string)) {
	s.URL = strings.TrimSuffix(s.URL, "/")
	if s.URL == "x" {
		report("STORE_%s_URL", "must be a URL, for example STORE_%s_URL=https://example.com")
	}
}

type shops struct {
	Shops map[string]shop `mapstructure:"STORES"`
}

// TestMap reads settings whose names depend on a list.
func TestMap(t *testing.T) {
	for _, test := range []struct {
		name, file, want string
		invalid          []string
		unknown          []string
	}{
		{name: "none", want: "map[]"},
		{name: "two", file: "STORES=main, paris,\nSTORE_MAIN_URL=https://m/\nSTORE_MAIN_BRANDS=c\nSTORE_PARIS_URL=p\nSTORE_PARIS_WAIT=2s\n",
			want: "map[main:{https://m   [c] 1s} paris:{p   [a b] 2s}]"},
		{name: "mistakes", file: "STORES=main,paris\nSTORE_MAIN_USER=u\nSTORE_MAIN_WAIT=soon\nSTORE_PARIS_URL=x\nSTORE_PARIS_WAIT=0s\n", invalid: []string{
			"STORE_MAIN_WAIT: must be a duration of at least 1s, for example STORE_MAIN_WAIT=1s",
			"STORE_MAIN_URL: is missing, for example STORE_MAIN_URL=https://shop.example.com",
			"STORE_MAIN_PASSWORD: is missing; STORE_MAIN_USER requires it",
			"STORE_PARIS_WAIT: must be a duration of at least 1s, for example STORE_PARIS_WAIT=1s",
			"STORE_PARIS_URL: must be a URL, for example STORE_PARIS_URL=https://example.com",
		}},
		{name: "another name", file: "STORES=main\nSTORE_MAIN_URL=m\nSTORE_PARIS_URL=p\n", want: "map[main:{m   [a b] 1s}]", unknown: []string{"STORE_PARIS_URL"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, test.file)
			var s struct{ Nested shops }
			source, err := Load(dir, &s)
			if test.invalid != nil {
				if err == nil || err.Error() != strings.Join(test.invalid, "\n") {
					t.Errorf("error\n%v\nwant\n%s", err, strings.Join(test.invalid, "\n"))
				}
				return
			}
			if got := fmt.Sprint(s.Nested.Shops); err != nil || got != test.want || !slices.Equal(source.Unknown, test.unknown) {
				t.Errorf("%s, %v, %v", got, source.Unknown, err)
			}
		})
	}
}
