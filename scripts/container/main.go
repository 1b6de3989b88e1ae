// Command container builds the image and tries it as README says it is run in production: root file system read-only,
// no capability, no new privileges, data in a volume. It removes the containers, volumes and images that it made. From the
// project's root:
//
//	go -C scripts/container run .
//
// DOCKER names another client than docker. Where no Docker engine answers, it says so and exits with code 0. The files of
// deploy/compose are checked by its tests; the one that needs no other image is tried here, where Docker Compose is.
//
// It is a module of its own, so that what reads those files is no dependency of the service.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	patience    = 60 * time.Second // with a container that does not become healthy
	healthyTime = 5 * time.Second
	stopTime    = 10 * time.Second // what docker stop waits by default
	badConfig   = 78               // EX_CONFIG of sysexits.h
	version     = "v0.0.0-trial"
	revision    = "0123456789abcdef"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "container:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stdout io.Writer) (err error) {
	work, err := os.MkdirTemp("", "ginseng-container-")
	if err != nil {
		return err
	}
	name := "ginseng-trial-" + strings.ToLower(rand.Text()[:8])
	t := &trial{
		docker: "docker", name: name, image: name + ":trial", root: "../..", work: work, stdout: stdout,
		masterKey: rand.Text() + rand.Text(), canary: rand.Text(),
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if client := os.Getenv("DOCKER"); client != "" {
		t.docker = client
	}
	if _, err := t.run(ctx, "version"); err != nil {
		t.say("\n*** THE CONTAINER WAS NOT TESTED: no Docker engine answers. ***\n%v\n", err)
		return nil
	}
	defer func() { err = errors.Join(err, t.clean(context.WithoutCancel(ctx))) }()
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"there is a folder with secrets in it, and another", t.prepare},
		{"the image builds", t.build},
		{"its labels, user and size are as promised", t.inspect},
		{"it has the service and certificates, and no secret", t.search},
		{"every build gives the same binary", t.rebuild},
		{"it builds for arm64", t.cross},
		{"it refuses to start without settings", t.refuse},
		{"it starts and says that it is healthy", t.start},
		{"it signs up, signs in, creates and lists", t.use},
		{"it answers a slow request while it stops, with code 0", t.stop},
		{"its data are there after a restart", t.restart},
		{"Docker Compose runs it", t.compose},
	} {
		begun := time.Now()
		if err := step.do(ctx); err != nil {
			return errors.Join(fmt.Errorf("not so: %s: %w", step.name, err), t.logs(context.WithoutCancel(ctx)))
		}
		t.say("%s (%.1fs)", step.name, time.Since(begun).Seconds())
	}
	return nil
}

// trial is one image and its container.
type trial struct {
	docker      string // the client
	name, image string // of the container and its volume; of the image
	root, work  string // the project, and a folder for copies of it
	masterKey   string
	canary      string // a secret that is in no image
	stdout      io.Writer
	images      []string // that were built
	base        string   // address of the running service
	token       string
}

func (t *trial) say(format string, args ...any) { _, _ = fmt.Fprintf(t.stdout, format+"\n", args...) }

// run runs the Docker client and returns what it prints, without blanks around it. The error quotes standard error.
func (t *trial) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, t.docker, args...)
	cmd.Env = append(os.Environ(), "DOCKER_BUILDKIT=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w\n%s", t.docker, args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

func (t *trial) refuse(ctx context.Context) error {
	_, err := t.run(ctx, "run", "--rm", t.image)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != badConfig {
		return fmt.Errorf("want exit code %d, got: %w", badConfig, err)
	}
	for _, name := range []string{"MASTER_KEY", "JWT_SECRET", "DATABASE_URL"} {
		if !strings.Contains(err.Error(), name) {
			return fmt.Errorf("it does not name %s: %w", name, err)
		}
	}
	return nil
}

func (t *trial) start(ctx context.Context) error {
	_, err := t.run(ctx, "run", "--detach", "--name", t.name,
		"--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--volume", t.name+":/data", "--publish", "127.0.0.1::9000",
		"--env", "MASTER_KEY="+t.masterKey, "--env", "JWT_SECRET="+rand.Text()+rand.Text(),
		"--env", "DATABASE_URL=sqlite:/data/ginseng.db", t.image)
	if err != nil {
		return err
	}
	if err := t.awaitHealth(ctx); err != nil {
		return err
	}
	return t.figures(ctx)
}

// figures says how long the container took to begin and to be healthy, and what it takes of memory.
func (t *trial) figures(ctx context.Context) error {
	out, err := t.run(ctx, "inspect", "--format", `{{json .State.StartedAt}} {{range .State.Health.Log}}{{if eq .ExitCode 0}}{{json .End}} {{end}}{{end}}`, t.name)
	if err != nil {
		return err
	}
	var started, healthy time.Time
	times := strings.Fields(out)
	if len(times) < 2 || json.Unmarshal([]byte(times[0]), &started) != nil || json.Unmarshal([]byte(times[1]), &healthy) != nil {
		return fmt.Errorf("its times are %q", out)
	}
	took := healthy.Sub(started)
	memory, err := t.run(ctx, "stats", "--no-stream", "--format", "{{.MemUsage}}", t.name)
	if err != nil {
		return err
	}
	t.say("it was healthy after %.1f s, and takes %s", took.Seconds(), memory)
	if took > healthyTime {
		return fmt.Errorf("it took longer than %s to be healthy", healthyTime)
	}
	return nil
}

// awaitHealth waits until the image's own health check says that the container is healthy, and finds its address.
func (t *trial) awaitHealth(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	for {
		state, err := t.run(ctx, "inspect", "--format", "{{.State.Status}} {{.State.Health.Status}}", t.name)
		switch {
		case err != nil:
			return err
		case state == "running healthy":
			address, err := t.run(ctx, "port", t.name, "9000/tcp")
			t.base = "http://" + address
			return err
		case state != "running starting":
			return fmt.Errorf("it is %s", state)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("it is still %s: %w", state, ctx.Err())
		}
	}
}

const (
	email     = "ada@example.com"
	password  = "analytical engine"
	title     = "On ginseng"
	lateTitle = "On ginseng, late"
)

func (t *trial) use(ctx context.Context) error {
	var user, article struct{ ID string }
	var signedIn struct{ Token string }
	key := []string{t.masterKey}
	err := t.post(ctx, "/users", url.Values{"access_token": key, "email": {email}, "password": {password}}, &user)
	if err == nil {
		err = t.post(ctx, "/auth", url.Values{"access_token": key}, &signedIn)
	}
	t.token = signedIn.Token
	if err == nil {
		err = t.post(ctx, "/articles", url.Values{"access_token": {t.token}, "title": {title}}, &article)
	}
	if err == nil && (user.ID == "" || t.token == "" || article.ID == "") {
		err = errors.New("an answer lacks its id or token")
	}
	if err != nil {
		return err
	}
	return t.list(ctx, title)
}

// list wants the list to hold these articles.
func (t *trial) list(ctx context.Context, titles ...string) error {
	var page struct {
		Count int
		Rows  []struct{ Title string }
	}
	if err := t.call(ctx, http.MethodGet, "/articles?q=ginseng&sort=-createdAt", nil, http.StatusOK, &page); err != nil {
		return err
	}
	var got []string
	for _, row := range page.Rows {
		got = append(got, row.Title)
	}
	if page.Count != len(titles) || !slices.Equal(got, titles) {
		return fmt.Errorf("the list is %+v", page)
	}
	return nil
}

func (t *trial) post(ctx context.Context, path string, form url.Values, into any) error {
	return t.call(ctx, http.MethodPost, path, form, http.StatusCreated, into)
}

// call makes a request, with e-mail and password as HTTP Basic where there is a form, and decodes the answer.
func (t *trial) call(ctx context.Context, method, path string, form url.Values, status int, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, t.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.SetBasicAuth(email, password)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if err := decode(answer, status, into); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

func decode(answer *http.Response, status int, into any) error {
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != status {
		return fmt.Errorf("the answer is %s: %s", answer.Status, body)
	}
	return json.Unmarshal(body, into)
}

// stop stops the container while it waits for the rest of a request, and finishes that: it is answered whole.
func (t *trial) stop(ctx context.Context) error {
	body := url.Values{"access_token": {t.token}, "title": {lateTitle}}.Encode()
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(t.base, "http://"))
	if err != nil {
		return err
	}
	defer connection.Close()
	_, err = fmt.Fprintf(connection, "POST /articles HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s",
		len(body), body[:10])
	if err != nil {
		return err
	}
	begun, stopped := time.Now(), make(chan error, 1)
	go func() {
		_, err := t.run(ctx, "stop", t.name)
		stopped <- err
	}()
	if err := t.awaitRefusal(ctx); err != nil {
		return errors.Join(err, <-stopped)
	}
	var created struct{ Title string }
	if _, err := io.WriteString(connection, body[10:]); err != nil {
		return errors.Join(err, <-stopped)
	}
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err == nil {
		err = decode(answer, http.StatusCreated, &created)
	}
	if err == nil && created.Title != lateTitle {
		err = fmt.Errorf("the late answer is %+v", created)
	}
	if err := errors.Join(err, <-stopped); err != nil {
		return err
	}
	took := time.Since(begun)
	code, err := t.run(ctx, "inspect", "--format", "{{.State.ExitCode}}", t.name)
	if err == nil && (code != "0" || took >= stopTime) {
		err = fmt.Errorf("it exited with code %s after %s", code, took)
	}
	return err
}

// awaitRefusal waits until the service takes no new request.
func (t *trial) awaitRefusal(ctx context.Context) error {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.base+"/livez", nil)
		if err != nil {
			return err
		}
		answer, err := client.Do(request)
		if ctx.Err() != nil {
			return fmt.Errorf("it still takes requests: %w", ctx.Err())
		}
		if err != nil {
			return nil
		}
		_ = answer.Body.Close()
	}
}

func (t *trial) restart(ctx context.Context) error {
	if _, err := t.run(ctx, "start", t.name); err != nil {
		return err
	}
	if err := t.awaitHealth(ctx); err != nil {
		return err
	}
	if err := t.list(ctx, lateTitle, title); err != nil {
		return err
	}
	var me struct{ Email string }
	err := t.call(ctx, http.MethodGet, "/users/me?access_token="+t.token, nil, http.StatusOK, &me)
	if err == nil && me.Email != email {
		err = fmt.Errorf("the token is now that of %q", me.Email)
	}
	return err
}

// logs quotes what the container printed, if there is one.
func (t *trial) logs(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, t.docker, "logs", t.name)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil // it was not made
	}
	return fmt.Errorf("the container printed:\n%s", out)
}

// clean removes what the trial made.
func (t *trial) clean(ctx context.Context) error {
	_, err := t.run(ctx, "rm", "--force", "--volumes", t.name)
	if volumes, _ := t.run(ctx, "volume", "ls", "--quiet", "--filter", "name="+t.name); volumes != "" {
		_, volumeErr := t.run(ctx, "volume", "rm", t.name)
		err = errors.Join(err, volumeErr)
	}
	for _, image := range t.images {
		if id, _ := t.run(ctx, "image", "ls", "--quiet", image); id != "" {
			_, imageErr := t.run(ctx, "image", "rm", "--force", image)
			err = errors.Join(err, imageErr)
		}
	}
	return err
}
