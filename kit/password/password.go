// Package password hashes and verifies passwords, and recognizes common passwords.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/text/unicode/norm"

	"example.com/ginseng/kit/apperr"
)

// The parameters of argon2id. The OWASP Password Storage Cheat Sheet lists several settings that provide an "equal level of
// defense". "m=7168 (7 MiB), t=5, p=1" needs the least memory and is the fastest in BenchmarkHash. For an attacker with GPUs,
// memory traffic determines the cost of a guess. The memory traffic is m × (3t-1) KiB
// (https://tobtu.com/minimum-password-settings/): 98 MiB for these parameters, and 95 MiB for m=19456, t=2, the parameters of
// older hashes.
const (
	memoryKiB = 7 * 1024
	passes    = 5
	lanes     = 1
	saltBytes = 16
	hashBytes = 32
)

// Limits for the parameters of a stored hash. Verifying a hash with larger parameters would take too much time and memory.
const (
	maxMemoryKiB = 256 * 1024
	maxPasses    = 16
)

// waitingPerHash is the number of callers that can wait per concurrent hash. The last caller waits for about half a second.
const waitingPerHash = 32

// Hasher hashes and verifies passwords with argon2id. A hash is expensive by design, so many concurrent sign-ins could use all
// cores and memory. Up to GOMAXPROCS-1 hashes run concurrently (one if GOMAXPROCS is 1), which leaves a core for other routes.
// A limited number of callers can wait; further callers receive Unavailable.
type Hasher struct {
	memory, passes uint32
	slots          chan struct{} // has an element for each running hash
	waiting        atomic.Int64  // number of callers that are waiting or whose hash is running
	rejected       atomic.Int64  // number of rejected callers since the start
	limit          int64         // maximum number of waiting callers
	dummy          string        // verified instead of an empty hash, so that the verification takes as long as for another hash
}

// NewHasher returns a Hasher for this machine.
func NewHasher() *Hasher { return newHasher(memoryKiB, passes) }

// NewWeakHasher returns a Hasher with cheap hashes, for tests of other packages.
func NewWeakHasher() *Hasher { return newHasher(8, 1) }

func newHasher(memory, passes uint32) *Hasher {
	parallel := max(1, runtime.GOMAXPROCS(0)-1)
	return &Hasher{
		memory: memory, passes: passes,
		slots: make(chan struct{}, parallel),
		limit: int64(parallel * waitingPerHash),
		dummy: format(memory, passes, lanes, make([]byte, saltBytes), make([]byte, hashBytes)),
	}
}

// Hash returns the argon2id hash of a password in Unicode normalization form C, in the PHC string format: keyboards and systems
// encode the same letter differently (RFC 8265 section 4.2). Unavailable: too many callers are waiting, or the
// context has ended.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	release, err := h.acquire(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	salt := make([]byte, saltBytes)
	rand.Read(salt) // never fails: crypto/rand
	return format(h.memory, h.passes, lanes, salt, argon2.IDKey(norm.NFC.Bytes([]byte(password)), salt, h.passes, h.memory, lanes, hashBytes)), nil
}

// Verify reports whether the password matches the hash (argon2id or bcrypt), and whether the hash is outdated: Hash would use
// another algorithm, other parameters or normalization form C. If the password is not in form C and does not match in form C, Verify
// also tries the unchanged password, of which earlier versions made the hash, and takes twice as long. An empty hash matches no
// password, but takes as long to verify as a hash from Hash. Verify fails if the hash has neither format, or has parameters of
// argon2id outside the limits.
// Unavailable: too many callers are waiting, or the context has ended.
func (h *Hasher) Verify(ctx context.Context, password, hash string) (match, outdated bool, err error) {
	release, err := h.acquire(ctx)
	if err != nil {
		return false, false, err
	}
	defer release()
	normal := norm.NFC.String(password)
	match, outdated, err = h.verify(normal, hash)
	if err != nil || match || normal == password {
		return match, outdated, err
	}
	match, _, err = h.verify(password, hash)
	return match, outdated || match, err
}

// verify is Verify for exactly this encoding of the password.
func (h *Hasher) verify(password, hash string) (match, outdated bool, err error) {
	if strings.HasPrefix(hash, "$2a$") || strings.HasPrefix(hash, "$2b$") || strings.HasPrefix(hash, "$2y$") {
		return bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil, true, nil
	}
	known := hash != ""
	if !known {
		hash = h.dummy
	}
	p, err := parse(hash)
	if err != nil {
		return false, false, err
	}
	sum := argon2.IDKey([]byte(password), p.salt, p.passes, p.memory, p.lanes, uint32(len(p.sum)))
	match = subtle.ConstantTimeCompare(sum, p.sum) == 1 && known
	return match, p.memory != h.memory || p.passes != h.passes || p.lanes != lanes, nil
}

// acquire waits until a hash can run. The caller must call release after the hash. Unavailable: too many callers are waiting,
// or the context has ended.
func (h *Hasher) acquire(ctx context.Context) (release func(), err error) {
	if h.waiting.Add(1) > h.limit+int64(cap(h.slots)) {
		h.waiting.Add(-1)
		h.rejected.Add(1)
		return nil, apperr.New(apperr.Unavailable, "Too many users are signing in at the moment. Try again in a few seconds.").WithRetryAfter(2 * time.Second).AsOverload()
	}
	select {
	case h.slots <- struct{}{}:
		return func() { <-h.slots; h.waiting.Add(-1) }, nil
	case <-ctx.Done():
		h.waiting.Add(-1)
		return nil, apperr.New(apperr.Unavailable, "The request took too long. Try again in a few seconds.").WithCause(ctx.Err()).AsOverload()
	}
}

// Collectors implements kit.Metered.
func (h *Hasher) Collectors() []prometheus.Collector {
	state := func(name string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "password_hashes", Help: "Password hashes in progress (running), and callers that are waiting to hash a password (waiting).", ConstLabels: prometheus.Labels{"state": name},
		}, read)
	}
	running := func() float64 { return float64(len(h.slots)) }
	return []prometheus.Collector{
		state("running", running),
		state("waiting", func() float64 { return max(0, float64(h.waiting.Load())-running()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "password_hashes_rejected_total", Help: "Callers that were rejected because too many callers were waiting to hash a password.",
		}, func() float64 { return float64(h.rejected.Load()) }),
	}
}

type parsed struct {
	memory, passes uint32
	lanes          uint8
	salt, sum      []byte
}

var encoding = base64.RawStdEncoding

// format returns the PHC string format: $argon2id$v=19$m=…,t=…,p=…$salt$hash.
func format(memory, passes uint32, lanes uint8, salt, sum []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, memory, passes, lanes, encoding.EncodeToString(salt), encoding.EncodeToString(sum))
}

func parse(hash string) (p parsed, err error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, fmt.Errorf("password: a stored hash is neither argon2id nor bcrypt")
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.passes, &p.lanes); err != nil {
		return p, fmt.Errorf("password: a stored hash has invalid parameters: %w", err)
	}
	if p.memory > maxMemoryKiB || p.passes < 1 || p.passes > maxPasses || p.lanes < 1 {
		return p, fmt.Errorf("password: a stored hash has parameters outside the limits")
	}
	p.salt, err = encoding.DecodeString(parts[4])
	if err != nil {
		return p, fmt.Errorf("password: a stored hash has an invalid salt: %w", err)
	}
	p.sum, err = encoding.DecodeString(parts[5])
	if err != nil || len(p.sum) == 0 {
		return p, fmt.Errorf("password: a stored hash has an invalid sum")
	}
	return p, nil
}

//go:embed common.txt
var commonText string

var common = sync.OnceValue(func() map[string]bool {
	set := make(map[string]bool)
	for line := range strings.Lines(commonText) {
		if word := strings.TrimSpace(line); word != "" && word[0] != '#' {
			set[word] = true
		}
	}
	return set
})

// IsCommon reports whether the password is in the embedded list of common passwords, regardless of case (OWASP Authentication
// Cheat Sheet, NIST SP 800-63B section 5.1.1.2).
func IsCommon(password string) bool { return common()[strings.ToLower(password)] }
