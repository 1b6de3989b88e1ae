package middleware

import (
	"context"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/store"
)

const (
	maxStored    = 16 << 20 // bytes of the stored responses of one owner
	rowBytes     = 512      // bytes that a stored response takes besides its body
	recountAfter = 1 << 20  // bytes that this instance stores for an owner before it counts the stored responses again
	maxRooms     = 10_000   // owners of whom an instance remembers the room
)

// room is what an owner may still store. It is counted in the database and then kept in memory, so that most requests need no
// query. With several instances, an owner can exceed maxStored by what the other instances have stored since the count.
type room struct {
	left   int64     // bytes
	added  int64     // bytes that this instance has stored since the count
	oldest time.Time // when the owner's oldest stored response expires
}

// rooms has the rooms of the owners.
type rooms struct {
	mu      sync.Mutex
	byOwner map[string]room
}

// ownerOf returns the owner of the responses to a caller's requests: a user, with all API keys of the user, or the network of an
// anonymous caller. It returns "" for the master key, which has no limit: its callers are the operator's own servers.
func ownerOf(g *gin.Context) string {
	p := rest.Caller(g)
	switch {
	case p.Master:
		return ""
	case p.IsUser():
		return p.UserID.Hex()
	}
	return digest("", rest.Sharer(g))
}

// checkRoom fails with TooManyRequests if the stored responses of the owner take maxStored bytes or more.
func (i *Idempotency) checkRoom(ctx context.Context, owner string) error {
	if owner == "" {
		return nil
	}
	r, known := i.rooms.get(owner)
	if now := i.now(); !known || r.added >= recountAfter || r.left <= 0 && !now.Before(r.oldest) {
		var err error
		if r, err = i.count(ctx, owner, now); err != nil {
			return err
		}
		i.rooms.put(owner, r)
	}
	if r.left <= 0 {
		return i.noRoom(r)
	}
	return nil
}

// take counts a response with a body of size bytes that is about to be stored. If size is larger than the room of the owner, take
// counts nothing and fails with TooManyRequests.
func (i *Idempotency) take(owner string, size int64) error {
	if r := i.rooms.add(owner, size+rowBytes); r.left < 0 {
		i.rooms.add(owner, -size-rowBytes)
		return i.noRoom(r)
	}
	return nil
}

func (i *Idempotency) noRoom(r room) error {
	return apperr.New(apperr.TooManyRequests,
		"The responses stored for your requests with an Idempotency-Key take %d MiB, which is the limit. Wait for the time in Retry-After, or send the request without Idempotency-Key.",
		maxStored>>20).WithRetryAfter(max(time.Second, r.oldest.Sub(i.now())))
}

// count counts the stored responses of an owner.
func (i *Idempotency) count(ctx context.Context, owner string, now time.Time) (room, error) {
	found, err := i.responses.List(ctx, store.Query{
		Filter: store.And(store.Eq("owner", owner), store.Gt("expiresAt", store.At(now))), Sort: []store.Order{{Field: "expiresAt"}},
		Fields: []string{"size", "expiresAt"}, Limit: maxStored/rowBytes + 1,
	})
	r := room{left: maxStored, oldest: now.Add(responseTTL)}
	for _, response := range found {
		r.left -= response.Size + rowBytes
	}
	if len(found) > 0 {
		r.oldest = found[0].ExpiresAt.Time
	}
	return r, err
}

func (s *rooms) get(owner string) (r room, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, known = s.byOwner[owner]
	return r, known
}

func (s *rooms) put(owner string, r room) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byOwner == nil || len(s.byOwner) >= maxRooms {
		s.byOwner = make(map[string]room)
	}
	s.byOwner[owner] = r
}

// add counts size bytes as stored, and returns the new room. The room of the master key is never used up.
func (s *rooms) add(owner string, size int64) room {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, known := s.byOwner[owner]
	if known {
		r.left -= size
		r.added += size
		s.byOwner[owner] = r
	}
	return r
}
