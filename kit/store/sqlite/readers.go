package sqlite

import (
	"context"
	"errors"

	"example.com/ginseng/kit/store"
)

// readers is the pool of connections for reads. They are opened when first needed, and never wait for the writer.
type readers struct {
	dsn    string
	idle   chan *conn    // one element per connection; nil if it is not open yet
	closed chan struct{} // closed by close
}

func newReaders(n int, dsn string) *readers {
	r := &readers{dsn: dsn, idle: make(chan *conn, n), closed: make(chan struct{})}
	for range n {
		r.idle <- nil
	}
	return r
}

// use calls read with a connection.
func (r *readers) use(ctx context.Context, read func(*conn) error) error {
	var c *conn
	select {
	case c = <-r.idle:
	case <-r.closed:
		return store.Unavailable(errClosed)
	case <-ctx.Done():
		return store.Unavailable(ctx.Err())
	}
	defer func() { r.idle <- c }()
	err := ctx.Err() // both cases above may have been ready
	if err != nil {
		return store.Unavailable(err)
	}
	if c == nil {
		if c, err = r.open(ctx); err != nil {
			return translate(err)
		}
	}
	return translate(read(c))
}

func (r *readers) open(ctx context.Context) (*conn, error) {
	c, err := connect(ctx, r.dsn, readerCache)
	if err != nil {
		return nil, err
	}
	if err := c.run(ctx, "PRAGMA query_only=ON"); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// close waits for active reads.
func (r *readers) close() (err error) {
	close(r.closed)
	for range cap(r.idle) {
		if c := <-r.idle; c != nil {
			err = errors.Join(err, c.close())
		}
	}
	return err
}
