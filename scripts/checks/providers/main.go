// Command providers starts fake versions of GitHub, Google and Facebook, and a page that signs in with them, to try social
// sign-in in a browser without an account:
//
//	go -C scripts/checks run ./providers [-port 9100] [-api http://localhost:9000]
//
// It prints settings for the service. Put them in its environment or its .env, start it, and open the address that is printed
// last. The page is an example of a frontend's client: demo/app.js. The fake providers let you choose an account, enter a new
// account with a verified, an unverified or no email address, or deny access.
//
// The flags:
//
//	-port  the port of the providers and the page, on the loopback interface; 0 selects a free port.
//	-api   the address of the service for the browser, with API_ROOT if it is set. Outside development, CORS_ORIGINS must
//	       include the page's origin.
//
// The providers require no password, so they listen only on the loopback interface. New accounts are lost when the command
// exits (Ctrl-C).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// The exit codes.
const (
	failed   = 1
	badUsage = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run serves until the context ends, and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("providers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	port := flags.Uint("port", 9100, "the `port` of the providers and the page; 0 selects a free one")
	api := flags.String("api", "http://localhost:9000", "the `address` of the service for the browser")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return badUsage
	}
	address, err := url.Parse(strings.TrimSuffix(*api, "/"))
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("unknown argument %q", flags.Arg(0))
	case *port > 65535:
		err = errors.New("-port is a number from 0 to 65535")
	case err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https":
		err = errors.New("-api is the service's address, as in http://localhost:9000")
	}
	if err != nil {
		fmt.Fprintln(stderr, "providers:", err)
		return badUsage
	}
	if err := serve(ctx, *port, address, stdout); err != nil {
		fmt.Fprintln(stderr, "providers:", err)
		return failed
	}
	return 0
}

// serve listens, prints its settings, and serves until the context ends.
func serve(ctx context.Context, port uint, api *url.URL, stdout io.Writer) error {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("listening failed; choose another port with -port: %w", err)
	}
	s := newSite("http://"+listener.Addr().String(), api)
	server := &http.Server{Handler: s.handler()}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	fmt.Fprintf(stdout, "The fakes are up. Start the service with these settings:\n\n%s\nand open %s/ in a browser. Ctrl-C ends the fakes.\n",
		s.settings(), s.base)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
