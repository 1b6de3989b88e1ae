package s3

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"

	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/store"
)

const (
	firstPart = 1 << 20  // bytes of a file that Open requests: most files take one request
	dropped   = 64 << 10 // bytes that are read and dropped to use the connection again; of more, it is closed
)

// Open implements files.Store. The file is read in parts, each with a request: the first part, and the rest from where the caller reads.
// ctx is the context of all of them. An interrupted part is read again.
func (s *Store) Open(ctx context.Context, id store.ID) (io.ReadSeekCloser, error) {
	r := &reader{store: s, ctx: ctx, key: s.key(id), hash: sha256.New()}
	err := r.request(fmt.Sprintf("bytes=0-%d", firstPart-1))
	if isNoKey(err) {
		return nil, files.ErrNotFound
	}
	if err != nil {
		return nil, fail(ctx, err)
	}
	return r, nil
}

// reader is an open file.
type reader struct {
	store  *Store
	ctx    context.Context
	key    string
	size   int64
	sum    string // SHA-256 in hexadecimal; "" if it is unknown, because another program stored the file
	at     int64
	body   io.ReadCloser // of the part at the offset; nil: none
	left   int64         // bytes of the body
	hash   hash.Hash     // of the bytes before hashed
	hashed int64
	failed error // of an earlier Read
}

// request begins to read the part of the file at the offset.
func (r *reader) request(part string) error {
	response, err := r.store.send(r.ctx, request{method: http.MethodGet, key: r.key, header: map[string]string{"Range": part}})
	if err != nil {
		return err
	}
	var start, end, size int64
	_, err = fmt.Sscanf(response.Header.Get("Content-Range"), "bytes %d-%d/%d", &start, &end, &size)
	if err != nil || start != r.at || end < start || end >= size || r.size != 0 && size != r.size {
		_ = response.Body.Close()
		return fmt.Errorf("the response to a request for %s has the status %d and the Content-Range %q", part, response.StatusCode, response.Header.Get("Content-Range"))
	}
	r.body, r.left, r.size, r.sum = response.Body, end-start+1, size, response.Header.Get(headerSum)
	return nil
}

func (r *reader) Read(p []byte) (n int, err error) {
	if r.failed != nil {
		return 0, r.failed
	}
	if len(p) == 0 {
		return 0, nil
	}
	if r.at >= r.size {
		return 0, io.EOF
	}
	if n, err = r.receive(p); err == nil && r.hashed == r.at {
		r.hash.Write(p[:n]) // never fails
		r.hashed += int64(n)
		if r.hashed == r.size && r.sum != "" && r.sum != hex.EncodeToString(r.hash.Sum(nil)) {
			err = fmt.Errorf("%w: the SHA-256 of %s is not the one that was stored with it", files.ErrDamaged, r.key)
		}
	}
	if err != nil {
		r.failed = fail(r.ctx, err)
		return 0, r.failed
	}
	r.at += int64(n)
	return n, nil
}

// receive reads at least one byte at the offset.
func (r *reader) receive(p []byte) (n int, err error) {
	for attempt := 1; ; {
		if r.body == nil {
			if err := r.request(fmt.Sprintf("bytes=%d-", r.at)); err != nil {
				return 0, err
			}
		}
		n, err := r.body.Read(p[:min(int64(len(p)), r.left)])
		r.left -= int64(n)
		if r.left == 0 || err != nil && n == 0 {
			r.drop()
		}
		switch {
		case n > 0:
			return n, nil
		case err == nil:
		case attempt == attempts || !isTemporary(err):
			return 0, err
		default:
			attempt++
		}
	}
}

// drop ends the part. It reads the rest of a short one, so that the connection can be used again.
func (r *reader) drop() {
	if r.body != nil {
		if r.left <= dropped {
			_, _ = io.CopyN(io.Discard, r.body, r.left+1) // to the end
		}
		_ = r.body.Close()
		r.body = nil
	}
}

func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return r.at, errors.New("s3: the offset is negative")
	}
	if offset != r.at {
		r.drop()
		r.at = offset
	}
	return offset, nil
}

func (r *reader) Close() error {
	r.drop()
	return nil
}
