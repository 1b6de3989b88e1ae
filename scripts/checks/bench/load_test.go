package main

import (
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestLoad counts responses, also those with an unexpected status, and sends the requests in turn.
func TestLoad(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	requests := [][]byte{request("GET", "/", "", ""), request("POST", "/missing", "Bearer x", "{}")}
	f, err := load(t.Context(), server.Listener.Addr().String(), 0, requests, http.StatusOK, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if f.PerSecond <= 0 || f.P50 <= 0 || f.P99 < f.P50 || f.Failed == 0 {
		t.Errorf("%+v", f)
	}
}

// TestMedians checks that one slow round has no effect.
func TestMedians(t *testing.T) {
	t.Parallel()
	got := medians([]figures{{PerSecond: 10, CPU: 3, Peak: 1}, {PerSecond: 1, CPU: 90, Peak: 9, Failed: 2}, {PerSecond: 9, CPU: 4, Failed: 1}})
	if want := (figures{PerSecond: 9, CPU: 4, Peak: 9, Failed: 3, Spread: 0.5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestNewFields checks what the search rows rely on: size, repeatability, and frequency of words.
func TestNewFields(t *testing.T) {
	t.Parallel()
	const many = 10_000
	found := map[string]int{}
	for i := range many {
		f := newFields(i, many)
		if n := len(f.Title) + len(f.Content); n < 370 || n > 430 {
			t.Fatalf("an article of %d bytes: %+v", n, f)
		}
		if f != newFields(i, many) {
			t.Fatal("the same article differs the second time")
		}
		for _, word := range []string{commonWord, secondWord, rareWord} {
			if strings.Contains(f.Content, word) {
				found[word]++
			}
		}
	}
	if found[commonWord] != many/2 || found[secondWord] != many/3+1 || found[rareWord] != rareHits {
		t.Errorf("frequency of words: %v", found)
	}
}

// TestPicture checks that the picture is an image of 1 MB.
func TestPicture(t *testing.T) {
	t.Parallel()
	if _, err := png.Decode(strings.NewReader(picture())); err != nil {
		t.Error(err)
	}
	if n := len(picture()); n < 1_000_000 || n > 1_010_000 {
		t.Errorf("%d bytes", n)
	}
}
