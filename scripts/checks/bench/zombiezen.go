package main

import (
	"context"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// zombiezenCommand is the argument that makes this program a server written by hand with zombiezen.com/go/sqlite.
const zombiezenCommand = "serve-zombiezen"

func serveZombiezen(file string) error {
	records, err := openZombiezen(file, recordConnections())
	if err != nil {
		return err
	}
	pages, err := openZombiezen(file, pageConnections())
	if err != nil {
		return err
	}
	return serveByHand(file, records, pages)
}

// zombiezenSetup configures a connection as the service does.
const zombiezenSetup = "PRAGMA busy_timeout=5000; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-512; PRAGMA query_only=ON"

// openZombiezen opens a pool of connections to a database.
func openZombiezen(file string, connections int) (queryFunc, error) {
	pool, err := sqlitex.NewPool(file, sqlitex.PoolOptions{
		Flags: sqlite.OpenReadWrite, PoolSize: connections,
		PrepareConn: func(conn *sqlite.Conn) error { return sqlitex.ExecuteScript(conn, zombiezenSetup, nil) },
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, statement string, args []any, row func(doc []byte) error) error {
		conn, err := pool.Take(ctx)
		if err != nil {
			return err
		}
		defer pool.Put(conn)
		var buffer []byte
		return sqlitex.Execute(conn, statement, &sqlitex.ExecOptions{Args: args, ResultFunc: func(stmt *sqlite.Stmt) error {
			if n := stmt.ColumnLen(0); cap(buffer) < n {
				buffer = make([]byte, 2*n)
			}
			return row(buffer[:stmt.ColumnBytes(0, buffer[:cap(buffer)])])
		}})
	}, nil
}
