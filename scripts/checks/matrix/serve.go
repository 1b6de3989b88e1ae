package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const (
	masterKey = "matrix-master-key-0123456789abcdefghij"
	secret    = "matrix-jwt-secret-0123456789abcdefghij"
	password  = "patience is a root"
	email     = "matrix@example.com"
)

var listening = regexp.MustCompile(`listening on http://[^:]*:(\d+)`)

// serve starts the service on a port that is free, and asks each list as somebody who may.
func (m matrix) serve() (err error) {
	command := exec.CommandContext(m.ctx, filepath.Join(m.bin, "service"))
	command.Dir = m.bin
	command.Env = append(os.Environ(), "PORT=0", "HOST=127.0.0.1", "MASTER_KEY="+masterKey, "JWT_SECRET="+secret,
		"DATABASE_URL=sqlite:"+filepath.Join(m.bin, "matrix.db"), "LOG_LEVEL=error")
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, command.Process.Signal(os.Interrupt), command.Wait())
	}()
	base := ""
	for lines := bufio.NewScanner(stdout); base == "" && lines.Scan(); {
		if found := listening.FindStringSubmatch(lines.Text()); found != nil {
			base = "http://127.0.0.1:" + found[1]
		}
	}
	if base == "" {
		return errors.New("the service does not listen")
	}
	c := client{base: base, http: http.Client{Timeout: 30 * time.Second}}
	form := url.Values{"email": {email}, "password": {password}, "role": {"admin"}, "access_token": {masterKey}}
	if _, err := c.call("POST", "/users", "", form, 201); err != nil {
		return err
	}
	session, err := c.call("POST", "/auth", "", url.Values{"access_token": {masterKey}}, 201)
	if err != nil {
		return err
	}
	tokens := map[caller]string{master: masterKey}
	tokens[admin], _ = session["token"].(string)
	asked := 0
	for _, r := range resources {
		if r.path == "" {
			continue
		}
		page, err := c.call("GET", r.path, tokens[r.as], nil, 200)
		if err != nil {
			return err
		}
		if rows, isList := page["rows"].([]any); !isList || len(rows) != 0 || page["count"] != 0.0 {
			return fmt.Errorf("GET %s: %v", r.path, page)
		}
		asked++
	}
	fmt.Printf("%8d lists answered\n", asked)
	return nil
}

type client struct {
	base string
	http http.Client
}

// call makes a request, which must be answered with the status.
func (c *client) call(method, path, token string, form url.Values, status int) (map[string]any, error) {
	request, err := http.NewRequest(method, c.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if path == "/auth" {
		request.SetBasicAuth(email, password)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var answer map[string]any
	if err := json.Unmarshal(body, &answer); err != nil || response.StatusCode != status {
		return nil, fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, body)
	}
	return answer, nil
}
