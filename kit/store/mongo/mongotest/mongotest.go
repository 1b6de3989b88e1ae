// Package mongotest provides MongoDB databases for tests.
package mongotest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"
)

// variable is the environment variable with the address of the server, mongodb:// or mongodb+srv://.
const variable = "TEST_MONGODB_URI"

// Available reports whether the environment variable TEST_MONGODB_URI names a server.
func Available() bool { return os.Getenv(variable) != "" }

// New returns the address of a new database on the server at TEST_MONGODB_URI, and drops the database when the test ends. It
// skips the test if the variable is not set. The address keeps the query options of TEST_MONGODB_URI; opts overrides individual
// options, each in the form NAME=VALUE. To connect through a proxy, change the Host of the URL before calling String.
func New(t testing.TB, opts ...string) *url.URL {
	t.Helper()
	if !Available() {
		t.Skip("NOT TESTED against MongoDB: set " + variable + ", or run the tests with scripts/mongod")
	}
	name := "test_" + bson.NewObjectID().Hex()
	address, err := withDatabase(os.Getenv(variable), name, opts...)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	uri := address.String()
	t.Cleanup(func() {
		if err := drop(uri, name); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return address
}

// withDatabase replaces the name of the database and some options in an address. It fails if the driver would use another
// database at the new address.
func withDatabase(uri, name string, opts ...string) (*url.URL, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return nil, errors.New("is not a URL; special characters in the password must be escaped") // err contains the password
	}
	u.Path = "/" + name
	query := u.Query()
	for _, option := range opts {
		key, value, _ := strings.Cut(option, "=")
		query.Set(key, value)
	}
	u.RawQuery = query.Encode()
	parsed, err := connstring.Parse(u.String())
	if err != nil {
		return nil, err
	}
	if parsed.Database != name {
		return nil, fmt.Errorf("names the database %q, but tests only use new databases", parsed.Database)
	}
	return u, nil
}

// drop drops the database with the name on the server at uri.
func drop(uri, name string) error {
	ctx := context.Background()
	client, err := driver.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		return err
	}
	return errors.Join(client.Database(name).Drop(ctx), client.Disconnect(ctx))
}
