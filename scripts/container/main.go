// Command container builds the image and tries it as README says it is run in production: root file system read-only,
// no capability, no new privileges, data in a volume. It runs in the root of the module, and removes the containers,
// the volume and the image that it made:
//
//	go run ./scripts/container
//
// DOCKER names another client than docker. Where no Docker engine answers, it says so and exits with code 0.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	maxImage    = 40e6 // bytes
	healthyTime = 60 * time.Second
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
	name := "ginseng-trial-" + strings.ToLower(rand.Text()[:8])
	t := &trial{docker: "docker", name: name, image: name + ":trial", stdout: stdout, masterKey: rand.Text() + rand.Text()}
	if client := os.Getenv("DOCKER"); client != "" {
		t.docker = client
	}
	if _, err := t.run(ctx, "version"); err != nil {
		_, _ = fmt.Fprintf(stdout, "\n*** THE CONTAINER WAS NOT TESTED: no Docker engine answers. ***\n%v\n\n", err)
		return nil
	}
	defer func() { err = errors.Join(err, t.clean(context.WithoutCancel(ctx))) }()
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"the image builds", t.build},
		{"its labels, user and size are as promised", t.inspect},
		{"it refuses to start without settings", t.refuse},
		{"it starts and says that it is healthy", t.start},
		{"it signs up, signs in, creates and lists", t.use},
		{"it stops in time, with code 0", t.stop},
		{"its data are there after a restart", t.restart},
	} {
		begun := time.Now()
		if err := step.do(ctx); err != nil {
			return errors.Join(fmt.Errorf("not so: %s: %w", step.name, err), t.logs(context.WithoutCancel(ctx)))
		}
		_, _ = fmt.Fprintf(stdout, "%s (%.1fs)\n", step.name, time.Since(begun).Seconds())
	}
	return nil
}

// trial is one image and its container.
type trial struct {
	docker      string // the client
	name, image string // of the container and its volume; of the image
	masterKey   string
	stdout      io.Writer
	built       bool
	base        string // address of the running service
	token       string
}

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

func (t *trial) build(ctx context.Context) error {
	_, err := t.run(ctx, "build", "--tag", t.image,
		"--build-arg", "VERSION="+version, "--build-arg", "REVISION="+revision, ".")
	t.built = err == nil
	return err
}

func (t *trial) inspect(ctx context.Context) error {
	out, err := t.run(ctx, "image", "inspect", t.image)
	if err != nil {
		return err
	}
	var images []struct {
		Size   int64
		Config struct {
			User         string
			Env          []string
			Labels       map[string]string
			Volumes      map[string]struct{}
			ExposedPorts map[string]struct{}
		}
	}
	if err := json.Unmarshal([]byte(out), &images); err != nil {
		return err
	}
	if len(images) != 1 {
		return fmt.Errorf("docker image inspect shows %d images", len(images))
	}
	image := images[0]
	_, _ = fmt.Fprintf(t.stdout, "the image has %.1f MB\n", float64(image.Size)/1e6)
	_, volume := image.Config.Volumes["/data"]
	_, port := image.Config.ExposedPorts["9000/tcp"]
	labels := image.Config.Labels
	switch {
	case image.Size > maxImage:
		return fmt.Errorf("that is more than %.0f MB", maxImage/1e6)
	case image.Config.User != "65532:65532", !volume, !port, !slices.Contains(image.Config.Env, "APP_ENV=production"):
		return fmt.Errorf("its configuration is %+v", image.Config)
	case labels["org.opencontainers.image.version"] != version, labels["org.opencontainers.image.revision"] != revision:
		return fmt.Errorf("its labels are %v", labels)
	}
	out, err = t.run(ctx, "run", "--rm", t.image, "version")
	if err == nil && out != "ginseng "+version {
		err = fmt.Errorf("its version is %q", out)
	}
	return err
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
	return t.awaitHealth(ctx)
}

// awaitHealth waits until the image's own health check says that the container is healthy, and finds its address.
func (t *trial) awaitHealth(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthyTime)
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
	email    = "ada@example.com"
	password = "analytical engine"
	title    = "On ginseng"
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
	return t.list(ctx)
}

// list wants the list to hold the one article.
func (t *trial) list(ctx context.Context) error {
	var page struct {
		Count int
		Rows  []struct{ Title string }
	}
	if err := t.call(ctx, http.MethodGet, "/articles?q=ginseng", nil, http.StatusOK, &page); err != nil {
		return err
	}
	if page.Count != 1 || len(page.Rows) != 1 || page.Rows[0].Title != title {
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
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != status {
		return fmt.Errorf("%s %s answers %s: %s", method, path, answer.Status, body)
	}
	return json.Unmarshal(body, into)
}

func (t *trial) stop(ctx context.Context) error {
	begun := time.Now()
	if _, err := t.run(ctx, "stop", t.name); err != nil {
		return err
	}
	took := time.Since(begun)
	code, err := t.run(ctx, "inspect", "--format", "{{.State.ExitCode}}", t.name)
	if err == nil && (code != "0" || took >= stopTime) {
		err = fmt.Errorf("it exited with code %s after %s", code, took)
	}
	return err
}

func (t *trial) restart(ctx context.Context) error {
	if _, err := t.run(ctx, "start", t.name); err != nil {
		return err
	}
	if err := t.awaitHealth(ctx); err != nil {
		return err
	}
	if err := t.list(ctx); err != nil {
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
	if t.built {
		_, imageErr := t.run(ctx, "image", "rm", "--force", t.image)
		err = errors.Join(err, imageErr)
	}
	return err
}
