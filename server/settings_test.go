package server

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/ginseng/kit/settings"
)

const long = "0123456789abcdefghijklmnopqrstuvwxyz"

// load reads settings from only these variables.
func load(t *testing.T, set map[string]string) (s Settings, err error) {
	t.Helper()
	for _, name := range []string{"APP_ENV", "HOST", "PORT", "API_ROOT", "LOG_LEVEL", "DATABASE_URL", "MASTER_KEY", "MAX_BODY_BYTES",
		"CORS_ORIGINS", "PUBLIC_URL", "TRUSTED_PROXIES", "QUERY_TOKENS", "DOCS", "DRAIN_DELAY", "METRICS_ADDR",
		"FILES_URL", "FILES_SHARED", "FILES_TMP", "FILES_QUOTA", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"} {
		t.Setenv(name, set[name])
	}
	_, err = settings.Load(t.TempDir(), &s)
	return s, err
}

func TestSettingsDefaults(t *testing.T) {
	s, err := load(t, map[string]string{"MASTER_KEY": "k"})
	if err != nil || !s.Docs || s.DatabaseURL != EmbeddedURL || !slices.Equal(s.CORSOrigins, []string{"*"}) || s.PublicURL != "http://localhost:9000" {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = load(t, map[string]string{"APP_ENV": "production", "MASTER_KEY": long, "DATABASE_URL": "sqlite:/x", "API_ROOT": "/v1/"})
	if err != nil || len(s.CORSOrigins) != 0 || s.APIRoot != "/v1" || s.PublicURL != "" {
		t.Errorf("production: %+v, %v", s, err)
	}
	s, err = load(t, map[string]string{"MASTER_KEY": "k", "PUBLIC_URL": "https://api.example.com:8443/"})
	if err != nil || s.PublicURL != "https://api.example.com:8443" {
		t.Errorf("with PUBLIC_URL: %q, %v", s.PublicURL, err)
	}
}

func TestSettingsMistakes(t *testing.T) {
	for _, test := range []struct{ name, value string }{
		{"DATABASE_URL", "postgres://x"}, {"DATABASE_URL", "sqlite:"},
		{"API_ROOT", "/docs"}, {"API_ROOT", "/openapi.json"}, {"API_ROOT", "/livez/x"}, {"API_ROOT", "api"}, {"API_ROOT", "/a//b"}, {"API_ROOT", "/{a}"},
		{"PUBLIC_URL", "api.example.com"}, {"PUBLIC_URL", "ftp://api.example.com"}, {"PUBLIC_URL", "https://api.example.com/v1"}, {"PUBLIC_URL", "https://"},
		{"PUBLIC_URL", "https://*.example.com"}, {"PUBLIC_URL", "https://u@api.example.com"}, {"PUBLIC_URL", "https://api.example.com?a"}, {"PUBLIC_URL", "https://:80"},
		{"DRAIN_DELAY", "2m"}, {"METRICS_ADDR", "localhost:http"},
		{"FILES_URL", "data/files"}, {"FILES_URL", "file:"}, {"FILES_URL", "s3://bucket"},
		{"S3_ACCESS_KEY_ID", "two words"}, {"S3_SECRET_ACCESS_KEY", ""}, {"FILES_QUOTA", "1 apple"}, {"FILES_QUOTA", "-1"},
		{"FILES_QUOTA", "99999EB"}, {"FILES_SHARED", "maybe"},
	} {
		set := map[string]string{"APP_ENV": "production", "MASTER_KEY": long, "DATABASE_URL": "sqlite:/x"}
		maps.Copy(set, map[string]string{"FILES_URL": "s3://photos?region=auto", "S3_ACCESS_KEY_ID": "id", "S3_SECRET_ACCESS_KEY": "secret"})
		maps.Copy(set, map[string]string{test.name: test.value})
		_, err := load(t, set)
		invalid, ok := err.(*settings.Invalid)
		if !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Name != test.name {
			t.Errorf("%s=%s: %v", test.name, test.value, err)
		}
	}
}

// TestFileSettings checks where files are stored by default, and that a directory for MongoDB must be shared.
func TestFileSettings(t *testing.T) {
	const mongo = "mongodb://localhost/x"
	for _, test := range []struct {
		database, url, shared, want string
		quota                       string
		bytes                       int64
	}{
		{database: "sqlite:/var/lib/x.db", want: "file:/var/lib/files", bytes: 1_000_000_000},
		{database: "sqlite:x.db", want: "file:files", quota: "0", bytes: 0},
		{database: "sqlite:x.db", url: "file:///files", want: "file:///files", quota: "500MB", bytes: 500_000_000},
		{database: mongo, want: "", quota: "3 kB", bytes: 3000},
		{database: mongo, url: "file:files", shared: "true", want: "file:files", quota: "123", bytes: 123},
		{database: mongo, url: "s3://photos?region=auto", want: "s3://photos?region=auto", bytes: 1_000_000_000},
	} {
		s, err := load(t, map[string]string{
			"MASTER_KEY": "k", "DATABASE_URL": test.database, "FILES_URL": test.url, "FILES_SHARED": test.shared, "FILES_QUOTA": test.quota,
			"S3_ACCESS_KEY_ID": "id", "S3_SECRET_ACCESS_KEY": "secret",
		})
		if err != nil || s.Files.FilesURL != test.want || s.Files.Quota() != test.bytes {
			t.Errorf("%+v: %q, %d, %v", test, s.Files.FilesURL, s.Files.Quota(), err)
		}
	}
	_, err := load(t, map[string]string{"MASTER_KEY": "k", "DATABASE_URL": mongo, "FILES_URL": "file:files"})
	if err == nil || !strings.Contains(err.Error(), "FILES_SHARED=true") {
		t.Errorf("a directory with MongoDB: %v", err)
	}
}
