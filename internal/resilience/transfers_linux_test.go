package resilience_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sync/errgroup"

	"example.com/ginseng/testkit/testdb"
)

// blob returns zeros, so that the client needs no memory.
type blob struct{}

func (blob) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestTransferMemory uploads and downloads large files at the same time, and measures the memory of the service and the time of
// another client.
func TestTransferMemory(t *testing.T) {
	long(t)
	testdb.SQLiteOnly(t)
	const (
		each    = 32 // uploads, and as many downloads
		most    = 40 // MiB more than before
		samples = 30 // requests of the other client before the transfers
	)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], serveShelves)
	cmd.Dir = t.TempDir()
	cmd.Env = append(settings("sqlite:"+cmd.Dir+"/test.db", "TRUSTED_PROXIES=127.0.0.0/8"), "GOMEMLIMIT=200MiB", "TMPDIR="+cmd.Dir)
	p := begin(t, cmd)
	transfer := func(ctx context.Context, method, name string, network int) error {
		r, err := http.NewRequestWithContext(ctx, method, p.URL+"/blobs/"+name, nil)
		if err != nil {
			return err
		}
		r.Header.Set("X-Forwarded-For", fmt.Sprintf("192.0.%d.1", network))
		if method == http.MethodPut {
			r.Body, r.ContentLength = io.NopCloser(io.LimitReader(blob{}, blobBytes)), blobBytes
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		n, err := io.Copy(io.Discard, response.Body)
		if method == http.MethodPut && response.StatusCode != http.StatusNoContent || method == http.MethodGet && (response.StatusCode != http.StatusOK || n != blobBytes) {
			return fmt.Errorf("%s %s: status %d, %d bytes", method, name, response.StatusCode, n)
		}
		return err
	}
	must(t, transfer(t.Context(), http.MethodPut, "first", 0))
	other := startOther(p.URL)
	other.await(samples)
	before, usual := resetPeak(t, p), other.percentile(99)
	group, ctx := errgroup.WithContext(t.Context())
	for i := range each {
		group.Go(func() error { return transfer(ctx, http.MethodPut, fmt.Sprint(i), i) })
		group.Go(func() error { return transfer(ctx, http.MethodGet, "first", i) })
	}
	must(t, group.Wait())
	after, meanwhile := peak(t, p), other.percentile(99)
	other.stop()
	t.Logf("%d MiB before, at most %d MiB; p99 of another client %.1f ms before, %.1f ms meanwhile; %d failed", before>>20, after>>20, usual, meanwhile, other.failed)
	if more := (after - before) >> 20; more > most {
		t.Errorf("%d MiB more", more)
	}
	if other.failed > 0 {
		t.Errorf("%d requests of another client failed", other.failed)
	}
	stop(t, p)
}
