// Command mutants shows that each attack in the tests would succeed if its defence were not there: for each it builds
// the service with the defence taken out, and the test must fail.
//
//	go run ./scripts/mutants              # every attack
//	go run ./scripts/mutants -run token   # those whose name matches
//
// It runs in the root of the module and changes no file: the source without the defence is an overlay of the build in a
// temporary folder. The exit code is 1 if an attack was not shown.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"time"
)

func main() {
	pattern := flag.String("run", "", "show only the attacks whose name matches this regular expression")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *pattern, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		stop()
		os.Exit(1)
	}
}

// run shows the attacks that the pattern selects, some at once, and prints a line for each.
func run(ctx context.Context, pattern string, out io.Writer) error {
	names, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	lab := laboratory{root: root, dir: dir, once: make(map[string]func() error)}
	begun, failed, total := time.Now(), 0, 0
	var (
		workers sync.WaitGroup
		mu      sync.Mutex // of what follows
		slots   = make(chan struct{}, runtime.GOMAXPROCS(0))
	)
	for _, a := range attacks() {
		if !names.MatchString(a.name) {
			continue
		}
		total++
		slots <- struct{}{}
		workers.Go(func() {
			defer func() { <-slots }()
			start := time.Now()
			said, err := lab.show(ctx, a)
			mu.Lock()
			defer mu.Unlock()
			verdict := "shown"
			if err != nil {
				failed++
				verdict, said = "NOT SHOWN", err.Error()
			}
			_, _ = fmt.Fprintf(out, "%-9s %5.1fs  %s; without %s: %s\n", verdict, time.Since(start).Seconds(), a.name, a.defence, said)
		})
	}
	workers.Wait()
	_, _ = fmt.Fprintf(out, "%d of %d attacks shown in %.0fs\n", total-failed, total, time.Since(begun).Seconds())
	switch {
	case total == 0:
		return errors.New("no attack has such a name")
	case failed > 0:
		return fmt.Errorf("%d attacks were not shown", failed)
	}
	return ctx.Err()
}
