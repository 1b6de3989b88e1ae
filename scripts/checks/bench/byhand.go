package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// queryFunc runs a statement and calls row with the only column of each row. row must not keep the slice.
type queryFunc func(ctx context.Context, statement string, args []any, row func(doc []byte) error) error

// The statements of the service for an article and for the first page, and a simple statement for the page after an article.
const (
	selectOne   = `SELECT CAST(doc AS BLOB) FROM "articles" WHERE id=?`
	selectFirst = `SELECT CAST(doc AS BLOB) FROM "articles" ORDER BY json_extract(doc,'$.createdAt') DESC,id DESC LIMIT ?`
	selectAfter = `SELECT CAST(doc AS BLOB) FROM "articles" WHERE json_extract(doc,'$.createdAt')<=?
		AND (json_extract(doc,'$.createdAt')<? OR id<?) ORDER BY json_extract(doc,'$.createdAt') DESC,id DESC LIMIT ?`
)

// recordConnections and pageConnections are the numbers of connections of the service for records and for lists.
func recordConnections() int { return max(2, runtime.GOMAXPROCS(0)) }
func pageConnections() int   { return min(max(4, runtime.GOMAXPROCS(0)), 16) }

// view is an article, as stored and as in responses.
type view struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Content   string `json:"content"`
	UserID    string `json:"userId"`
	CreatedAt string `json:"createdAt"`
	UpdatedAt string `json:"updatedAt"`
}

type viewPage struct {
	Rows []view `json:"rows"`
	Next string `json:"next,omitempty"`
}

// serveByHand serves articles, pages of articles and the picture beside the database with net/http and encoding/json, like a program
// written by hand. It prints its address.
func serveByHand(database string, records, pages queryFunc) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /articles/{id}", func(w http.ResponseWriter, r *http.Request) {
		var found *view
		err := records(r.Context(), selectOne, []any{r.PathValue("id")}, func(doc []byte) error {
			found = new(view)
			return json.Unmarshal(doc, found)
		})
		if err == nil && found == nil {
			http.Error(w, "not found", http.StatusNotFound)
			return
		}
		respond(w, found, err)
	})
	mux.HandleFunc("GET /articles", func(w http.ResponseWriter, r *http.Request) {
		page, err := readPage(r.Context(), pages, r.URL.Query().Get("after"))
		respond(w, page, err)
	})
	mux.HandleFunc("GET /users/{id}/picture", func(w http.ResponseWriter, r *http.Request) {
		file, err := os.Open(filepath.Join(filepath.Dir(database), pictureName))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer file.Close()
		http.ServeContent(w, r, pictureName, time.Time{}, file)
	})
	return http.Serve(listener, mux)
}

// readPage returns the articles after the position "CREATED,ID", or the newest articles if after is "".
func readPage(ctx context.Context, query queryFunc, after string) (*viewPage, error) {
	statement, args := selectFirst, []any{pageSize + 1}
	if created, id, ok := strings.Cut(after, ","); ok {
		statement, args = selectAfter, []any{created, created, id, pageSize + 1}
	}
	page := &viewPage{Rows: make([]view, 0, pageSize+1)}
	err := query(ctx, statement, args, func(doc []byte) error {
		var v view
		err := json.Unmarshal(doc, &v)
		page.Rows = append(page.Rows, v)
		return err
	})
	if len(page.Rows) > pageSize {
		page.Rows = page.Rows[:pageSize]
		last := page.Rows[pageSize-1]
		page.Next = last.CreatedAt + "," + last.ID
	}
	return page, err
}

func respond(w http.ResponseWriter, v any, err error) {
	var body []byte
	if err == nil {
		body, err = json.Marshal(v)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}
