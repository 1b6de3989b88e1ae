// Package s3 stores files in a bucket of Amazon S3 or of a service with the same API.
package s3

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store"
)

// Store is a files.Store in a bucket. A file has the key PREFIX/DATABASE/DD/ID, where DD are the last two digits of the ID, as in a
// directory of files.Local. The SHA-256 of a file is part of the signature of its upload, so that the server stores no other bytes. It
// is also stored with the file, and compared when the whole file is read.
type Store struct {
	config    Config
	keys      Keys
	dir       string // the prefix of all keys
	transport *http.Transport
	now       func() time.Time
	idle      time.Duration // how long a body can make no progress
	backoff   time.Duration // after the first attempt
}

const (
	connectTimeout  = 5 * time.Second  // also of the TLS handshake
	responseTimeout = 30 * time.Second // from the end of the request to the header of the response
	idleTimeout     = 30 * time.Second // as of transfers between the service and its clients
	firstBackoff    = 100 * time.Millisecond
)

// New returns the Store in a bucket. It does not connect.
func New(c Config, keys Keys) *Store {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: connectTimeout}).DialContext
	transport.TLSHandshakeTimeout, transport.ResponseHeaderTimeout = connectTimeout, responseTimeout
	transport.DisableCompression = true // the bytes of a file are those that were stored
	transport.MaxIdleConnsPerHost = transport.MaxIdleConns
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP1(true) // a connection per transfer: a slow one delays no other
	s := &Store{config: c, keys: keys, transport: transport, now: time.Now, idle: idleTimeout, backoff: firstBackoff}
	if c.Prefix != "" {
		s.dir = c.Prefix + "/"
	}
	return s
}

// Enter makes DATABASE part of all keys, so that several databases can use the same bucket and prefix.
func (s *Store) Enter(database string, _ bool) error {
	s.dir += database + "/"
	return nil
}

// Databases returns the databases that have keys.
func (s *Store) Databases(ctx context.Context) (databases []string, err error) {
	for found, err := range s.pages(ctx, "/") {
		if err != nil {
			return nil, fail(ctx, err)
		}
		for _, common := range found.CommonPrefixes {
			name := strings.TrimSuffix(strings.TrimPrefix(common.Prefix, s.dir), "/")
			if id, ok := store.ParseID(name); ok && name == id.Hex() {
				databases = append(databases, name)
			}
		}
	}
	return databases, nil
}

// Check lists a file. It returns an *Error if the server rejects the request.
func (s *Store) Check(ctx context.Context) error {
	_, err := s.page(ctx, "", "", 1)
	return err
}

// key returns the key of a file.
func (s *Store) key(id store.ID) string {
	name := id.Hex()
	return s.dir + name[len(name)-2:] + "/" + name
}

// fail returns the error of a method for the error of a request.
func fail(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	failed := files.Unavailable(err)
	if response := (*Error)(nil); errors.As(err, &response) && response.retryAfter > 0 {
		failed = failed.WithRetryAfter(response.retryAfter)
	}
	return failed
}

// Put implements files.Store. It reads the file twice.
func (s *Store) Put(ctx context.Context, id store.ID, from *os.File, size int64) error {
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(from, 0, size+1))
	if err == nil && n != size {
		err = fmt.Errorf("the file has another size than %d", size)
	}
	if err != nil {
		return files.Unavailable(err)
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	response, err := s.send(ctx, request{
		method: http.MethodPut, key: s.key(id), from: from, size: size, payload: digest, header: map[string]string{headerSum: digest},
	})
	if err != nil {
		return fail(ctx, err)
	}
	return response.Body.Close()
}

// Delete implements files.Store.
func (s *Store) Delete(ctx context.Context, id store.ID) error {
	response, err := s.send(ctx, request{method: http.MethodDelete, key: s.key(id)})
	if isNoKey(err) {
		return nil
	}
	if err != nil {
		return fail(ctx, err)
	}
	return response.Body.Close()
}

// List implements files.Store. It ignores files with other names than Put gives.
func (s *Store) List(ctx context.Context) iter.Seq2[store.ID, error] {
	return func(yield func(store.ID, error) bool) {
		for found, err := range s.pages(ctx, "") {
			if err != nil {
				yield(store.ID{}, fail(ctx, err))
				return
			}
			for _, object := range found.Contents {
				id, ok := store.ParseID(object.Key[max(0, len(object.Key)-len(store.ID{}.Hex())):])
				if ok && object.Key == s.key(id) && !yield(id, nil) {
					return
				}
			}
		}
	}
}

// Clean implements files.Store. An interrupted Put leaves nothing.
func (s *Store) Clean(context.Context, time.Time) error { return nil }

const (
	namesAtOnce = 1000
	maxPage     = 8 << 20 // bytes of a response with namesAtOnce keys
)

// page is the response to ListObjectsV2.
type page struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	NextContinuationToken string
	Contents              []struct{ Key string }
	CommonPrefixes        []struct{ Prefix string }
}

// pages lists all keys. If delimiter is not "", it lists the prefixes of keys up to the next delimiter.
func (s *Store) pages(ctx context.Context, delimiter string) iter.Seq2[page, error] {
	return func(yield func(page, error) bool) {
		token := ""
		for {
			found, err := s.page(ctx, delimiter, token, namesAtOnce)
			if !yield(found, err) || err != nil {
				return
			}
			if token = found.NextContinuationToken; token == "" {
				return
			}
		}
	}
}

func (s *Store) page(ctx context.Context, delimiter, token string, limit int) (p page, err error) {
	query := map[string]string{"list-type": "2", "max-keys": strconv.Itoa(limit), "prefix": s.dir}
	if delimiter != "" {
		query["delimiter"] = delimiter
	}
	if token != "" {
		query["continuation-token"] = token
	}
	response, err := s.send(ctx, request{method: http.MethodGet, query: query})
	if err != nil {
		return p, err
	}
	defer func() { _ = response.Body.Close() }()
	if err := xml.NewDecoder(io.LimitReader(response.Body, maxPage)).Decode(&p); err != nil {
		return p, fmt.Errorf("the list of the bucket is invalid: %w", err)
	}
	return p, nil
}
