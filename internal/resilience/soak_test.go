package resilience_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/engines"
)

var (
	soakTime     = flag.Duration("soak", 0, "run TestSoak for this `time`")
	soakDatabase = flag.String("database", "", "`DATABASE_URL` of TestSoak (default: a temporary embedded database)")
)

// Limits of TestSoak. What is measured in the first third of the time is the warm-up.
const (
	soakClients = 16
	moreMemory  = 10 // percent, from the second third to the last
	moreFiles   = 4  // open files and connections, likewise
)

// TestSoak loads the service for -soak with clients that check every response. It fails if memory or open files grow, if a
// request fails, or if acknowledged data is missing. It prints a row per interval, and a table at the end.
func TestSoak(t *testing.T) {
	if *soakTime == 0 {
		t.Skip("takes minutes: run make soak")
	}
	data := t.TempDir()
	database := cmp.Or(*soakDatabase, "sqlite:"+filepath.Join(data, "soak.db"))
	must(t, checkEmpty(t.Context(), database))
	p := start(t, settings(database, "GOMEMLIMIT=200MiB")) // as with a memory limit of 256 MiB
	load := clients(t, p.URL, soakClients)
	out := t.Output()
	fmt.Fprint(out, "| time ", soakHeader)
	var samples []sampled
	interval := min(10*time.Second, *soakTime/12)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for begun := time.Now(); time.Since(begun) < *soakTime; {
		<-ticker.C
		s := sampled{memory: p.Memory(), files: p.Files(), database: directorySize(data)}
		s.add(load.Take(), interval)
		samples = append(samples, s)
		fmt.Fprintf(out, "| %s %s\n", time.Since(begun).Round(time.Second), s)
	}
	load.Stop()
	verdict, err := load.Check(t.Context())
	must(t, err)
	if err := evaluate(samples, verdict, out); err != nil {
		t.Error(err)
	}
	fmt.Fprintf(out, "%d goroutines when idle\n", checkGoroutines(t, p))
}

// sampled is what was measured in one interval, or the mean of several.
type sampled struct {
	perSecond float64
	p99       time.Duration
	failed    int
	memory    int64
	files     int
	database  int64
}

const soakHeader = "| req/s | p99 ms | failed | memory MiB | open files | database MiB |\n"

func (s sampled) String() string {
	const mib = 1 << 20
	return fmt.Sprintf("| %.0f | %.1f | %d | %d | %d | %d |", s.perSecond, s.p99.Seconds()*1000, s.failed, s.memory/mib, s.files, s.database/mib)
}

// add adds the requests of an interval.
func (s *sampled) add(requests []Sample, interval time.Duration) {
	if len(requests) == 0 {
		return
	}
	s.failed = failures(requests)
	slices.SortFunc(requests, func(a, b Sample) int { return cmp.Compare(a.Took, b.Took) })
	s.perSecond = float64(len(requests)) / interval.Seconds()
	s.p99 = requests[len(requests)*99/100].Took
}

func directorySize(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // a file that was deleted meanwhile
		}
		if info, err := entry.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}

// evaluate prints a row for each third of the time and compares them.
func evaluate(samples []sampled, v Verdict, out io.Writer) (err error) {
	if len(samples) < 3 {
		return errors.New("too short: at least three intervals are needed")
	}
	fmt.Fprint(out, "\n| third ", soakHeader, "| :-- | --: | --: | --: | --: | --: | --: |\n")
	var thirds [3]sampled
	failed := 0
	for i, name := range []string{"first", "second", "last"} {
		thirds[i] = mean(samples[i*len(samples)/3 : (i+1)*len(samples)/3])
		fmt.Fprintln(out, "|", name, thirds[i])
		failed += thirds[i].failed
	}
	fmt.Fprintf(out, "\n%d records created; %d requests failed\n", v.Created, failed)
	second, last := thirds[1], thirds[2]
	if last.memory*100 > second.memory*(100+moreMemory) {
		err = fmt.Errorf("memory grows: %d bytes, then %d", second.memory, last.memory)
	}
	if last.files > second.files+moreFiles {
		err = errors.Join(err, fmt.Errorf("open files grow: %d, then %d", second.files, last.files))
	}
	if failed > 0 {
		err = errors.Join(err, fmt.Errorf("%d requests failed", failed))
	}
	if len(v.Wrong) > 0 {
		err = errors.Join(err, fmt.Errorf("wrong responses or data:\n%s", strings.Join(v.Wrong, "\n")))
	}
	return err
}

// mean is the mean of some samples, with the sum of their failures and the last size of the database.
func mean(samples []sampled) (m sampled) {
	n := len(samples)
	for _, s := range samples {
		m.perSecond += s.perSecond / float64(n)
		m.p99 += s.p99 / time.Duration(n)
		m.memory += s.memory / int64(n)
		m.files += s.files
		m.failed += s.failed
		m.database = s.database
	}
	m.files /= n
	return m
}

// checkEmpty fails if a database has collections: the load would be mixed with data of somebody else.
func checkEmpty(ctx context.Context, address string) (err error) {
	db, err := engines.Open(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	names, err := db.Names(ctx)
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("the database %s is not empty; name a new one", engines.Redact(address))
	}
	return err
}

func TestCheckEmpty(t *testing.T) {
	t.Parallel()
	address := "sqlite:" + filepath.Join(t.TempDir(), "test.db")
	must(t, checkEmpty(t.Context(), address))
	db, err := engines.Open(t.Context(), address)
	must(t, err)
	store.Open[struct {
		store.Meta `bson:",inline"`
	}](db, store.Spec{Name: "orders"})
	must(t, errors.Join(db.Prepare(t.Context()), db.Close()))
	if err := checkEmpty(t.Context(), address); err == nil {
		t.Error("a database with a collection is empty")
	}
}

// TestEvaluate checks that each failure of a soak is reported.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	flat := sampled{memory: 100 << 20, files: 20, perSecond: 1}
	for name, test := range map[string]struct {
		last    sampled
		verdict Verdict
		want    string // part of the error; "" for none
	}{
		"flat":       {flat, Verdict{}, ""},
		"memory":     {sampled{memory: 111 << 20, files: 20}, Verdict{}, "memory grows"},
		"files":      {sampled{memory: 100 << 20, files: 30}, Verdict{}, "open files grow"},
		"failures":   {sampled{memory: 100 << 20, files: 20, failed: 1}, Verdict{}, "1 requests failed"},
		"wrong data": {flat, Verdict{Wrong: []string{"lost"}}, "lost"},
	} {
		err := evaluate([]sampled{flat, flat, test.last}, test.verdict, io.Discard)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := evaluate([]sampled{flat, flat}, Verdict{}, io.Discard); err == nil {
		t.Error("two samples are accepted")
	}
}
