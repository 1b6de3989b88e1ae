package mongotest

import (
	"strings"
	"testing"
)

func TestWithDatabase(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"mongodb://h":                                   "mongodb://h/test_1?a=1",
		"mongodb://h/":                                  "mongodb://h/test_1?a=1",
		"mongodb://h:27017/shop":                        "mongodb://h:27017/test_1?a=1",
		"mongodb://h/?authSource=admin":                 "mongodb://h/test_1?a=1&authSource=admin",
		"mongodb://h?authSource=admin":                  "mongodb://h/test_1?a=1&authSource=admin",
		"mongodb://u:p%2Fq@h/shop?a=2&authSource=admin": "mongodb://u:p%2Fq@h/test_1?a=1&authSource=admin",
		"mongodb://u:p@h:1,i:2/?replicaSet=r":           "mongodb://u:p@h:1,i:2/test_1?a=1&replicaSet=r",
		"mongodb://h/?authSource=admin/shop":            "mongodb://h/test_1?a=1&authSource=admin%2Fshop",
	} {
		got, err := withDatabase(uri, "test_1", "a=1")
		if err != nil || got.String() != want {
			t.Errorf("%s: %v, %v; want %s", uri, got, err, want)
		}
	}
}

func TestWithDatabaseRefuses(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{
		"mongodb://h/#shop", // the driver reads the fragment as a part of the name
		"mongodb://u:secret?@h/shop", "mongodb://u:sec/ret@h/shop", "mongodb:h/shop", "http://h/shop", "h/shop",
	} {
		if got, err := withDatabase(uri, "test_1"); err == nil {
			t.Errorf("%s became %s", uri, got)
		} else if strings.Contains(err.Error(), "sec") {
			t.Errorf("%s: the error %q has the password", uri, err)
		}
	}
}
