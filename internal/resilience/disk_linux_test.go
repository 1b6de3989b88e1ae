package resilience_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/testkit/process"
	"example.com/ginseng/testkit/testdb"
)

// TestFullDisk fills the disk under load. Writes fail with 503, reads work, and writes work again when there is free space.
func TestFullDisk(t *testing.T) {
	long(t)
	testdb.SQLiteOnly(t)
	r := newSmallDisk(t)
	p := begin(t, r.inside(command(t, settings("sqlite:"+filepath.Join(r.dir, "data", "test.db")))))
	load := clients(t, p.URL, 8)
	await(t, load, 500)
	before := measureIdle(load, p)
	load.Start()
	r.fill(t)
	samples := full(t, load)
	load.Mark()
	r.free(t)
	await(t, load, 500)
	v := verify(t, load)
	report(t, "the disk is full", append(samples, load.Take()...), v)
	checkIdle(t, load, p, before)
}

// TestKillOnFullDisk kills the service on a full disk. It starts again there, with all confirmed writes.
func TestKillOnFullDisk(t *testing.T) {
	long(t)
	testdb.SQLiteOnly(t)
	r := newSmallDisk(t)
	env := settings("sqlite:" + filepath.Join(r.dir, "data", "test.db"))
	p := begin(t, r.inside(command(t, env)))
	load := clients(t, p.URL, 8)
	await(t, load, 200)
	r.fill(t)
	samples := full(t, load)
	p.Stop(os.Kill)
	p = begin(t, r.inside(command(t, env)))
	load.SetURL(p.URL)
	await(t, load, 50) // reads
	r.free(t)
	load.Mark()
	await(t, load, 500)
	v := verify(t, load)
	report(t, "the disk is full, then kill -9 and a new start", append(samples, load.Take()...), v)
	stop(t, p)
}

// full waits until writes fail because the disk is full, and then for some reads.
func full(t *testing.T, load *Load) (samples []Sample) {
	t.Helper()
	noticed := func() bool {
		samples = append(samples, load.Take()...)
		return failures(samples) > 50
	}
	within(t, func(ctx context.Context) error { return until(ctx, noticed) }, "no write fails although the disk is full")
	before := load.Succeeded()
	await(t, load, 50)
	if load.Succeeded() == before {
		t.Error("nothing is read from a full disk")
	}
	return samples
}

// TestReadOnly makes the directory of the database read-only while the service runs, and before it starts.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	testdb.SQLiteOnly(t)
	r := newSmallDisk(t)
	data := filepath.Join(r.dir, "data")
	env := settings("sqlite:" + filepath.Join(data, "test.db"))
	p := begin(t, r.inside(command(t, env)))
	load := clients(t, p.URL, 8)
	r.do(t, "mount", "--bind", data, data)
	r.do(t, "mount", "-o", "remount,bind,ro", data)
	await(t, load, 300)
	samples := load.Take()
	load.Mark()
	r.do(t, "umount", "--lazy", data)
	await(t, load, 300)
	v := verify(t, load)
	report(t, "the directory becomes read-only", samples, v)
	stop(t, p)

	r.do(t, "mount", "--bind", data, data)
	r.do(t, "mount", "-o", "remount,bind,ro", data)
	begun := time.Now()
	_, err := process.Start(r.inside(command(t, env)))
	if err == nil || !strings.Contains(err.Error(), "exit code 1") || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("started on a read-only directory: %v", err)
	}
	t.Logf("started on a read-only directory, it ends within %v: %v", time.Since(begun), err)
}
