package s3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/files/filestest"
	"example.com/ginseng/kit/store"
)

// everyByte has all printable characters of ASCII, and others.
var everyByte = func() string {
	text := "é 猫 🐈 "
	for b := byte(' '); b < 0x7f; b++ {
		text += string(rune(b))
	}
	return strings.Trim(text, " /")
}()

// TestFake runs the contract. The address has the bucket in the host, and in the path with a prefix.
func TestFake(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*fake) *Store{
		"host": func(f *fake) *Store { return f.open("", "") },
		"path": func(f *fake) *Store { return f.open(everyByte, "path-style=true") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			filestest.Run(t, func(t *testing.T) files.Store {
				f := newFake(t)
				s := open(f)
				if err := s.Enter(store.NewID().Hex(), true); err != nil {
					t.Fatal(err)
				}
				f.objects[s.dir+"notes.txt"], f.objects[s.dir+"old/"+store.NewID().Hex()] = object{}, object{}
				f.objects["of another database/"+store.NewID().Hex()] = object{}
				return s
			})
		})
	}
}

// TestServer runs the contract against the server at TEST_S3_URL, an address like FILES_URL, with the keys of S3_ACCESS_KEY_ID and
// S3_SECRET_ACCESS_KEY. scripts/checks/s3.sh starts a server.
func TestServer(t *testing.T) {
	t.Parallel()
	address := os.Getenv("TEST_S3_URL")
	if address == "" {
		t.Skip("TEST_S3_URL is not set")
	}
	config, err := Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	config.Prefix = strings.TrimPrefix(config.Prefix+"/", "/") + everyByte
	keys := Keys{ID: os.Getenv("S3_ACCESS_KEY_ID"), Secret: os.Getenv("S3_SECRET_ACCESS_KEY")}
	open := func(t *testing.T) files.Store {
		s := New(config, keys)
		if err := s.Enter(store.NewID().Hex(), true); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			for id, err := range s.List(context.WithoutCancel(t.Context())) {
				if err := errors.Join(err, s.Delete(context.WithoutCancel(t.Context()), id)); err != nil {
					t.Error(err)
				}
			}
			s.transport.CloseIdleConnections()
		})
		return s
	}
	filestest.Run(t, open)
	t.Run("copy", func(t *testing.T) {
		t.Parallel()
		own := config
		own.Prefix += "/copy " + store.NewID().Hex()
		filestest.RunCopy(t, func() files.Partitioned { return New(own, keys) })
	})
	t.Run("parts", func(t *testing.T) {
		t.Parallel()
		testParts(t, open(t))
	})
	t.Run("pages", func(t *testing.T) {
		t.Parallel()
		s := open(t).(*Store)
		for range 5 {
			if err := s.Put(t.Context(), store.NewID(), filestest.Spool(t, []byte("x")), 1); err != nil {
				t.Fatal(err)
			}
		}
		names, pages, token := map[string]bool{}, 0, ""
		for ; pages == 0 || token != ""; pages++ {
			p, err := s.page(t.Context(), "", token, 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range p.Contents {
				names[object.Key] = true
			}
			token = p.NextContinuationToken
		}
		if len(names) != 5 || pages != 3 {
			t.Errorf("%v in %d pages, want 5 in 3", names, pages)
		}
	})
	wrong := func(name string, c Config, k Keys, codes ...string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(c, k).Open(t.Context(), store.NewID())
			rejected := (*Error)(nil)
			if !apperr.Is(err, apperr.Unavailable) || !errors.As(err, &rejected) || !rejected.IsPermanent() || !strings.Contains(strings.Join(codes, " "), rejected.Code) {
				t.Errorf("%v, want one of %v", err, codes)
			}
		})
	}
	absent := config
	absent.Bucket += "-absent"
	wrong("no bucket", absent, keys, codeNoBucket)
	wrong("wrong secret", config, Keys{ID: keys.ID, Secret: keys.Secret + "x"}, "SignatureDoesNotMatch")
	wrong("wrong ID", config, Keys{ID: keys.ID + "x", Secret: keys.Secret}, "InvalidAccessKeyId", "XAdminUserNotFound")
	t.Run("clock", func(t *testing.T) {
		t.Parallel()
		s := New(config, keys)
		s.now = func() time.Time { return time.Now().Add(20 * time.Minute) }
		if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "ahead of the server's; synchronize it") {
			t.Error(err)
		}
	})
}

func testParts(t *testing.T, s files.Store) {
	data := make([]byte, 3*firstPart+17)
	for i := range data {
		data[i] = byte(i * i >> 3)
	}
	id := store.NewID()
	if err := s.Put(t.Context(), id, filestest.Spool(t, data), int64(len(data))); err != nil {
		t.Fatal(err)
	}
	file, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for _, start := range []int64{2 * firstPart, 5, firstPart - 1, 0, int64(len(data)) - 1, int64(len(data)), int64(len(data)) + 9} {
		if at, err := file.Seek(start, io.SeekStart); at != start || err != nil {
			t.Fatal(at, err)
		}
		got, err := io.ReadAll(file)
		if err != nil || !bytes.Equal(got, data[min(start, int64(len(data))):]) {
			t.Errorf("from %d: %d bytes, %v", start, len(got), err)
		}
	}
	if at, err := file.Seek(-1, io.SeekStart); err == nil {
		t.Errorf("Seek before the start: %d", at)
	}
}

// TestParts reads from many offsets.
func TestParts(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	s, id := f.open("", ""), store.NewID()
	testParts(t, s)
	if err := s.Put(t.Context(), id, filestest.Spool(t, make([]byte, firstPart)), firstPart); err != nil {
		t.Fatal(err)
	}
	f.fails(0, nil)
	file, err := s.Open(t.Context(), id)
	if err == nil {
		_, err = io.Copy(io.Discard, file)
		_ = file.Close()
	}
	if n := f.requests(); err != nil || n != 1 {
		t.Errorf("%d requests to read a file of %d bytes, %v", n, firstPart, err)
	}
}

// operations are the methods of a Store that send requests. The bucket has the file. Each returns its error.
var operations = map[string]func(ctx context.Context, t *testing.T, s *Store, id store.ID) error{
	"put": func(ctx context.Context, t *testing.T, s *Store, _ store.ID) error {
		return s.Put(ctx, store.NewID(), filestest.Spool(t, make([]byte, 2*continueSize)), 2*continueSize)
	},
	"read": func(ctx context.Context, _ *testing.T, s *Store, id store.ID) error {
		file, err := s.Open(ctx, id)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		data, err := io.ReadAll(file)
		if err == nil && !bytes.Equal(data, stored) {
			err = errors.New("other bytes")
		}
		return err
	},
	"delete": func(ctx context.Context, _ *testing.T, s *Store, id store.ID) error { return s.Delete(ctx, id) },
	"list": func(ctx context.Context, _ *testing.T, s *Store, _ store.ID) error {
		for _, err := range s.List(ctx) {
			if err != nil {
				return err
			}
		}
		return nil
	},
}

var stored = bytes.Repeat([]byte("0123456789"), 20_000)

func responds(status int, code string, header ...string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		reject(w, status, code)
		return true
	}
}

// cut closes the connection after n bytes of the request.
func cut(n int64) func(http.ResponseWriter, *http.Request) bool {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		_, _ = io.CopyN(io.Discard, r.Body, n)
		panic(http.ErrAbortHandler)
	}
}

// TestFaults checks how faults end, and how many requests are sent.
func TestFaults(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, test := range map[string]struct {
		fault    func(http.ResponseWriter, *http.Request) bool
		times    int
		want     string // part of the error; "": none
		requests int
		after    time.Duration
	}{
		"500 once":               {fault: responds(500, "InternalError"), times: 1},
		"503 twice":              {fault: responds(503, "SlowDown"), times: 2},
		"500":                    {fault: responds(500, "InternalError"), times: -1, want: "500 InternalError: A message", requests: 3},
		"503":                    {fault: responds(503, "SlowDown"), times: -1, want: "503 SlowDown", requests: 3},
		"Retry-After":            {fault: responds(503, "SlowDown", "Retry-After", "1"), times: 1},
		"late Retry-After":       {fault: responds(503, "SlowDown", "Retry-After", "60"), times: -1, want: "503 SlowDown", requests: 1, after: time.Minute},
		"403":                    {fault: responds(403, "AccessDenied"), times: -1, want: "s3:ListBucket", requests: 1},
		"404 without code":       {fault: func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(404); return true }, times: -1, want: "404", requests: 1},
		"no bucket":              {fault: responds(404, codeNoBucket), times: -1, want: "create the bucket", requests: 1},
		"409":                    {fault: responds(409, "OperationAborted"), times: -1, want: "409 OperationAborted", requests: 1},
		"full":                   {fault: responds(403, "QuotaExceeded"), times: -1, want: "the bucket is full", requests: 1},
		"507":                    {fault: responds(507, "Other"), times: -1, want: "the storage is full", requests: 1},
		"redirect":               {fault: responds(301, "PermanentRedirect", "Location", "/"), times: -1, want: "correct region and endpoint", requests: 1},
		"clock ahead":            {fault: responds(403, codeSkewed, "Date", now.Add(-20*time.Minute).UTC().Format(http.TimeFormat)), times: -1, want: "20m", requests: 1},
		"clock behind":           {fault: responds(403, codeSkewed, "Date", now.Add(time.Hour).UTC().Format(http.TimeFormat)), times: -1, want: "behind the server's; synchronize it", requests: 1},
		"request cut":            {fault: cut(1 << 20), times: 2},
		"connection cut":         {fault: cut(0), times: -1, want: ": ", requests: 3},
		"response header is cut": {fault: halfHeader, times: 1},
	} {
		for operation, run := range operations {
			t.Run(name+"/"+operation, func(t *testing.T) {
				t.Parallel()
				f, s, id := withFile(t)
				s.transport.CloseIdleConnections() // net/http repeats a request on a connection that the server has closed
				f.fails(test.times, test.fault)
				begun := time.Now()
				err := run(t.Context(), t, s, id)
				if test.want == "" {
					if err != nil {
						t.Error(err)
					}
					if name == "Retry-After" && time.Since(begun) < time.Second {
						t.Errorf("repeated after %v, want a second", time.Since(begun))
					}
					return
				}
				known := (*apperr.Error)(nil)
				if !errors.As(err, &known) || known.Code != apperr.Unavailable || known.RetryAfter != test.after || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want Unavailable with %q", err, test.want)
				}
				if strings.Contains(known.Message, test.want) {
					t.Errorf("the client receives %q", known.Message)
				}
				if n := f.requests(); n != test.requests {
					t.Errorf("%d requests, want %d", n, test.requests)
				}
			})
		}
	}
}

// withFile returns a Store with a file.
func withFile(t *testing.T) (*fake, *Store, store.ID) {
	f := newFake(t)
	s := f.open("prefix", "path-style=true")
	id := store.NewID()
	if err := s.Put(t.Context(), id, filestest.Spool(t, stored), int64(len(stored))); err != nil {
		t.Fatal(err)
	}
	return f, s, id
}

// halfHeader sends a part of the header of a response.
func halfHeader(w http.ResponseWriter, _ *http.Request) bool {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Le")
		_ = conn.Close()
	}
	return true
}

// partly sends the beginning of the response, and then calls then.
func partly(f *fake, size int, then func(r *http.Request)) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		recorded := httptest.NewRecorder()
		f.serve(recorded, r)
		for name, values := range recorded.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(recorded.Body.Bytes()[:size])
		_ = http.NewResponseController(w).Flush()
		then(r)
		panic(http.ErrAbortHandler)
	}
}

// TestDownloadCut reads the rest of a file again if the connection is cut, but not forever.
func TestDownloadCut(t *testing.T) {
	t.Parallel()
	f, s, id := withFile(t)
	for _, size := range []int{0, 1, 1000} {
		f.fails(2, partly(f, size, func(*http.Request) {}))
		if err := operations["read"](t.Context(), t, s, id); err != nil {
			t.Errorf("after %d bytes: %v", size, err)
		}
	}
	f.fails(-1, partly(f, 0, func(*http.Request) {}))
	if err := operations["read"](t.Context(), t, s, id); !apperr.Is(err, apperr.Unavailable) || f.requests() != attempts {
		t.Errorf("%v after %d requests", err, f.requests())
	}
	f.fails(1, partly(f, 10, func(*http.Request) {}))
	if err := operations["list"](t.Context(), t, s, id); !apperr.Is(err, apperr.Unavailable) {
		t.Errorf("a part of a list: %v", err)
	}
}

// TestSlow ends requests without progress, once, and those whose context ends.
func TestSlow(t *testing.T) {
	t.Parallel()
	stall := func(r *http.Request) { <-r.Context().Done() }
	silent := func(_ http.ResponseWriter, r *http.Request) bool { stall(r); return true }
	for operation, run := range operations {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			f, s, id := withFile(t)
			s.transport.ResponseHeaderTimeout = 50 * time.Millisecond
			f.fails(-1, func(w http.ResponseWriter, r *http.Request) bool {
				_, _ = io.Copy(io.Discard, r.Body) // without it, the server does not notice that the client has gone
				return silent(w, r)
			})
			if err := run(t.Context(), t, s, id); !apperr.Is(err, apperr.Unavailable) || f.requests() != 1 {
				t.Errorf("%v after %d requests", err, f.requests())
			}
			s.transport.ResponseHeaderTimeout = time.Minute
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if err := run(ctx, t, s, id); !errors.Is(err, context.DeadlineExceeded) || !apperr.Is(err, apperr.Unavailable) {
				t.Errorf("with a deadline: %v", err)
			}
		})
	}
	t.Run("response", func(t *testing.T) {
		t.Parallel()
		f, s, id := withFile(t)
		s.idle = 50 * time.Millisecond
		f.fails(-1, partly(f, 1000, stall))
		if err := operations["read"](t.Context(), t, s, id); !errors.Is(err, errIdle) || f.requests() != 1 {
			t.Errorf("%v after %d requests", err, f.requests())
		}
	})
	t.Run("request", func(t *testing.T) {
		t.Parallel()
		f, s, id := withFile(t)
		s.idle, s.transport.ExpectContinueTimeout = 50*time.Millisecond, time.Millisecond
		ended := make(chan struct{})
		f.fails(-1, func(http.ResponseWriter, *http.Request) bool { <-ended; return true })
		const size = 64 << 20 // more than the buffers of a connection
		large := filestest.Spool(t, nil)
		if err := os.Truncate(large.Name(), size); err != nil {
			t.Fatal(err)
		}
		err := s.Put(t.Context(), id, large, size)
		close(ended)
		if !errors.Is(err, errIdle) || f.requests() != 1 {
			t.Errorf("%v after %d requests", err, f.requests())
		}
	})
}

// TestChanged reads a file whose bytes are not those that were stored.
func TestChanged(t *testing.T) {
	t.Parallel()
	f, s, id := withFile(t)
	f.objects[s.key(id)].data[150_000]++
	file, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for range 2 {
		data, err := io.ReadAll(file)
		if err == nil || !strings.Contains(err.Error(), "SHA-256") || len(data) == len(stored) {
			t.Errorf("%d bytes, %v", len(data), err)
		}
	}
	f.objects[s.key(id)] = object{data: stored} // without a sum
	if err := operations["read"](t.Context(), t, s, id); err != nil {
		t.Error(err)
	}
}

// TestOtherRange rejects responses with other bytes than those of the request.
func TestOtherRange(t *testing.T) {
	t.Parallel()
	f, s, id := withFile(t)
	for _, got := range []string{"", "bytes 5-99/200000", "bytes 0-99/50", "bytes 9-0/200000"} {
		f.fails(-1, func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Range", got)
			return true
		})
		if err := operations["read"](t.Context(), t, s, id); !apperr.Is(err, apperr.Unavailable) || !strings.Contains(err.Error(), "Content-Range") {
			t.Errorf("%q: %v", got, err)
		}
	}
}

// TestSign compares signatures with those of AWS's documentation, and so verifies the fake too:
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
func TestSign(t *testing.T) {
	t.Parallel()
	config, err := Parse("s3://examplebucket?region=us-east-1&endpoint=https://s3.amazonaws.com")
	if err != nil {
		t.Fatal(err)
	}
	s := New(config, awsKeys)
	for _, test := range []struct {
		method, key, payload, want string
		header, query              map[string]string
	}{
		{
			method: "GET", key: "test.txt", payload: emptySum, header: map[string]string{"Range": "bytes=0-9"},
			want: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
		},
		{
			method: "PUT", key: "test$file.text", payload: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
			header: map[string]string{"Date": "Fri, 24 May 2013 00:00:00 GMT", "X-Amz-Storage-Class": "REDUCED_REDUNDANCY"},
			want:   "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
		},
		{
			method: "GET", payload: emptySum, query: map[string]string{"lifecycle": ""},
			want: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
		},
		{
			method: "GET", payload: emptySum, query: map[string]string{"prefix": "J", "max-keys": "2"},
			want: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
		},
	} {
		r := httptest.NewRequest(test.method, s.url(test.key, test.query).String(), nil)
		for name, value := range test.header {
			r.Header.Set(name, value)
		}
		sign(r, awsKeys, "us-east-1", test.payload, time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
		if got := r.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+test.want) {
			t.Errorf("%s %s: %s, want %s", test.method, r.URL, got, test.want)
		}
		if why := verify(r, awsKeys, "us-east-1"); why != "" {
			t.Errorf("the fake: %s %s: %s", test.method, r.URL, why)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"s3://photos?region=eu-central-1":                                                       "https://photos.s3.eu-central-1.amazonaws.com/key",
		"s3://photos/a%20b/c/?region=eu-central-1&path-style=false":                             "https://photos.s3.eu-central-1.amazonaws.com/a%20b/c/key",
		"s3://photos/%2Fa%2F?region=auto&endpoint=https://x.r2.cloudflarestorage.com/":          "https://photos.x.r2.cloudflarestorage.com/a/key",
		"s3://photos/a?region=us-east-1&endpoint=http%3A%2F%2F127.0.0.1%3A9000&path-style=true": "http://127.0.0.1:9000/photos/a/key",
	} {
		config, err := Parse(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		s := New(config, awsKeys)
		if got := s.url(s.dir+"key", nil).String(); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	for address, want := range map[string]string{
		"s3:photos?region=a":                                    "bucket",
		"s3://?region=a":                                        "bucket",
		"s3://a:b@photos?region=a":                              "S3_ACCESS_KEY_ID",
		"s3://photos:9000?region=a":                             "bucket",
		"s3://photos":                                           "region=us-east-1",
		"s3://photos?region=EU%20West":                          "region=us-east-1",
		"s3://photos?region=a&Endpoint=b":                       "path-style",
		"s3://photos?region=a&region=b":                         "one region",
		"s3://photos?region=%zz":                                "query",
		"s3://photos?region=a&path-style=yes":                   "path-style=true",
		"s3://photos?region=a&endpoint=x.org":                   "scheme",
		"s3://photos?region=a&endpoint=ftp://x":                 "scheme",
		"s3://photos?region=a&endpoint=https://x/photos":        "without the bucket",
		"s3://photos?region=a&endpoint=http://127.0.0.1":        "path-style=true",
		"s3://photos/../x?region=a":                             "prefix",
		"s3://photos/a//b?region=a":                             "prefix",
		"s3://photos/%00?region=a":                              "prefix",
		"s3://photos/%ff?region=a":                              "prefix",
		"s3://photos/" + strings.Repeat("x", 901) + "?region=a": "prefix",
	} {
		if config, err := Parse(address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %+v, %v, want %s", address, config, err, want)
		}
	}
}

// TestCopy copies between directories and a bucket, one of whose files is damaged, and to a bucket that is full.
func TestCopy(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	open := func() files.Partitioned { return f.open(everyByte, "path-style=true") }
	filestest.RunCopy(t, open)
	var damaged string
	for key, o := range f.objects {
		damaged = key
		f.objects[key] = object{append([]byte("x"), o.data...), o.sum}
		break
	}
	back, o := filestest.Local(t), filestest.CopyOptions(t)
	o.Report = func(found files.Finding) error {
		if !found.Damaged || !strings.HasSuffix(damaged, found.ID.Hex()) {
			t.Errorf("reported %+v, want %s", found, damaged)
		}
		return nil
	}
	copied, err := files.Copy(t.Context(), filestest.Opener(open), filestest.Opener(back), o)
	if want := (files.Copied{Copied: 150, Damaged: 1}); err != nil || copied != want {
		t.Errorf("%+v, %v, want %+v", copied, err, want)
	}
	delete(f.objects, damaged)
	for key, o := range f.objects { // the target is damaged
		f.objects[key] = object{append([]byte("x"), o.data...), o.sum}
		break
	}
	copied, err = files.Copy(t.Context(), filestest.Opener(back), filestest.Opener(open), filestest.CopyOptions(t))
	if want := (files.Copied{Copied: 1, Present: 149}); err != nil || copied != want {
		t.Errorf("%+v, %v, want %+v", copied, err, want)
	}
	clear(f.objects)
	f.fails(-1, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			reject(w, http.StatusForbidden, "AccessDenied")
		}
		return r.Method == http.MethodPut
	})
	_, err = files.Copy(t.Context(), filestest.Opener(back), filestest.Opener(open), filestest.CopyOptions(t))
	if err == nil || !strings.HasPrefix(err.Error(), "the file ") || !strings.Contains(err.Error(), "s3:PutObject") || strings.Contains(err.Error(), "Try again") {
		t.Errorf("a target that rejects files: %v", err)
	}
}
