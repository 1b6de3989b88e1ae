package testkit

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/email/emailtest"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/password"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/server"
)

// Deps returns dependencies for the test of a module without HTTP. Password hashes are weak, emails are discarded.
func Deps(t testing.TB, db store.DB, now func() time.Time) kit.Deps {
	d := server.NewDeps(server.DepsOptions{
		Name: "test", DB: db, MasterKeys: []string{MasterKey}, Now: now, Log: slog.New(slog.DiscardHandler), Sender: emailtest.NewOutbox(), Hasher: password.NewWeakHasher(),
		PublicURL: PublicURL,
	})
	t.Cleanup(func() { d.Email.Close(context.Background()) })
	return d
}

// Storage returns a storage of files in a new directory, without a quota.
func Storage(t testing.TB) files.Options {
	t.Helper()
	local, err := files.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return files.Options{Store: local, TempDir: t.TempDir()}
}
