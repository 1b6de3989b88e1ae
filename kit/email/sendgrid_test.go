package email_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"example.com/ginseng/kit/email"
)

const key = "SG.hunter2-hunter2"

// sendGridSender returns a Sender for a fake of the API.
func sendGridSender(t *testing.T, api http.HandlerFunc) email.Sender {
	t.Helper()
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	s, err := email.New(email.Settings{SendGridKey: key, SendGridURL: server.URL + "/", From: "Ginseng <no-reply@example.org>"}, email.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSendGrid compares the request with Twilio's "SendGrid API reference: Mail Send" (POST /v3/mail/send) and with its
// OpenAPI description, tsg_mail_v3.yaml in twilio/sendgrid-oai: a bearer token; personalizations and from are required;
// text/plain comes before text/html; no value is empty; 202 without a body is success.
func TestSendGrid(t *testing.T) {
	t.Parallel()
	bodies := make(chan map[string]any, 1)
	s := sendGridSender(t, func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		raw, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(raw, &body) != nil || r.Method != "POST" || r.URL.String() != "/v3/mail/send" ||
			r.Header.Get("Authorization") != "Bearer "+key || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %v %s", r.Method, r.URL, r.Header, raw)
		}
		w.WriteHeader(http.StatusAccepted)
		bodies <- body
	})
	if err := s.Send(t.Context(), letter); err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	off := object{"enable": false}
	want := object{
		"personalizations": []any{object{"to": []any{object{"email": letter.To}}}},
		"from":             object{"email": "no-reply@example.org", "name": "Ginseng"},
		"subject":          letter.Subject,
		"content":          []any{object{"type": "text/plain", "value": letter.Text}, object{"type": "text/html", "value": letter.HTML}},
		"headers":          object{"Auto-Submitted": "auto-generated"},
		"tracking_settings": object{
			"click_tracking": object{"enable": false, "enable_text": false}, "open_tracking": off,
		},
	}
	if got := <-bodies; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	plain := letter
	plain.HTML = ""
	if err := s.Send(t.Context(), plain); err != nil {
		t.Fatal(err)
	}
	if got := <-bodies; len(got["content"].([]any)) != 1 {
		t.Errorf("content %v", got["content"])
	}
}

func TestSendGridErrors(t *testing.T) {
	t.Parallel()
	for status, permanent := range map[int]bool{400: true, 401: true, 403: true, 413: true, 429: false, 500: false, 503: false, 302: false, 307: false} {
		s := sendGridSender(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				t.Errorf("%d: the email was sent to another host", status)
			}
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"errors":[{"message":"`+address+` `+link+`","field":"personalizations.0.to"},{"field":"ada <b>"},{"field":null}]}`)
		})
		err := s.Send(t.Context(), letter)
		fails(t, err, permanent)
		if !strings.Contains(err.Error(), `personalizations.0.to"]`) {
			t.Error(err)
		}
	}
}

// TestSendGridBroken: after a broken or endless response, the error is not permanent.
func TestSendGridBroken(t *testing.T) {
	t.Parallel()
	fails(t, sendGridSender(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }).Send(t.Context(), letter), false)
	fails(t, sendGridSender(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, err = io.WriteString(conn, "HTTP/1.1 ada\r\n\r\n")
		}
		if err = errors.Join(err, conn.Close()); err != nil {
			t.Error(err)
		}
	}).Send(t.Context(), letter), false)
	fails(t, sendGridSender(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html>")
	}).Send(t.Context(), letter), false)
	endless := sendGridSender(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, `{"errors":[{"message":"`)
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, strings.Repeat("x", 1024))
		}
	})
	fails(t, endless.Send(t.Context(), letter), false)
	for _, m := range []email.Message{{To: "ada@example.com\r\nX: y", Text: "x"}, {To: address, Subject: "a\nb", Text: "x"}} {
		s := sendGridSender(t, func(http.ResponseWriter, *http.Request) { t.Error("was sent") })
		if err := s.Send(t.Context(), m); !email.Permanent(err) {
			t.Error(err)
		}
	}
}
