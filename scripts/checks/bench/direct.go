package main

import (
	"context"
	"database/sql"
	"net/url"

	_ "modernc.org/sqlite" // the driver
)

// directCommand is the argument that makes this program a server written by hand with database/sql and the driver of the service.
const directCommand = "serve-direct"

func serveDirect(file string) error {
	records, err := openDirect(file, recordConnections(), selectOne)
	if err != nil {
		return err
	}
	pages, err := openDirect(file, pageConnections(), selectFirst, selectAfter)
	if err != nil {
		return err
	}
	return serveByHand(file, records, pages)
}

// openDirect opens a pool of connections to a database and prepares the statements.
func openDirect(file string, connections int, statements ...string) (queryFunc, error) {
	dsn := url.URL{Scheme: "file", Path: file, RawQuery: url.Values{
		"_pragma": {"busy_timeout(5000)", "temp_store(memory)", "cache_size(-512)", "query_only(1)"},
	}.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	prepared := make(map[string]*sql.Stmt)
	for _, statement := range statements {
		if prepared[statement], err = db.Prepare(statement); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, statement string, args []any, row func(doc []byte) error) error {
		rows, err := prepared[statement].QueryContext(ctx, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var doc sql.RawBytes
			if err := rows.Scan(&doc); err != nil {
				return err
			}
			if err := row(doc); err != nil {
				return err
			}
		}
		return rows.Err()
	}, nil
}
