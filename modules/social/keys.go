package social

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// refetchKeys is the time in which the keys of an issuer are requested at most twice: an issuer can replace its keys soon after the
// first request. go-oidc requests the keys for each ID token with an invalid signature, because the issuer may have new keys. After
// a failure, retryDiscovery is the minimum time between two requests.
const refetchKeys = time.Minute

// keySets is the transport for the key set of an issuer. It repeats its last response if a request would come too early; see
// refetchKeys. It also removes keys of unknown types and malformed keys (RFC 7517 section 5), because a single key of these kinds
// can make go-oidc reject the whole key set.
type keySets struct {
	base http.RoundTripper
	now  func() time.Time

	mu         sync.Mutex
	before, at time.Time // times of the last two requests
	status     int
	body       []byte
	err        error
}

// RoundTrip implements http.RoundTripper.
func (t *keySets) RoundTrip(r *http.Request) (*http.Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := t.before.Add(refetchKeys)
	if t.err != nil || t.status != http.StatusOK {
		next = t.at.Add(retryDiscovery)
	}
	if !t.now().Before(next) {
		t.status, t.body, t.err = t.fetch(r)
		t.before, t.at = t.at, t.now()
	}
	if t.err != nil {
		return nil, t.err
	}
	return &http.Response{StatusCode: t.status, Body: io.NopCloser(bytes.NewReader(t.body)), ContentLength: int64(len(t.body)), Request: r}, nil
}

// fetch requests the key set.
func (t *keySets) fetch(r *http.Request) (status int, body []byte, err error) {
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return 0, nil, err
	}
	body, err = io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return 0, nil, err
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(body, &set) == nil && set.Keys != nil {
		set.Keys = slices.DeleteFunc(set.Keys, func(raw json.RawMessage) bool { return json.Unmarshal(raw, new(jose.JSONWebKey)) != nil })
		body, err = json.Marshal(set)
	}
	return response.StatusCode, body, err
}
