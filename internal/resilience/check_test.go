package resilience_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Verdict compares the stored records with the responses that the clients received.
type Verdict struct {
	Created int      // creations with a 201
	Unknown int      // creations with an unknown outcome
	Applied int      // how many of these created a record
	Wrong   []string // violations; empty if the service kept all guarantees

	Recovery time.Duration // from the mark to the end of the last failed request
}

// Check reads all records after Stop. Each creation with a 201 must be stored exactly once, with the content of the last
// confirmed update or of one with an unknown outcome. Confirmed deletions must have taken effect, and there must be no
// other records.
func (l *Load) Check(ctx context.Context) (Verdict, error) {
	v := Verdict{Recovery: l.Recovery()}
	for _, c := range l.clients {
		if err := c.check(ctx, &v); err != nil {
			return v, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	v.Wrong = append(v.Wrong, l.wrong...)
	return v, nil
}

type row struct{ ID, Title, Content string }

// check adds the client's articles to the verdict.
func (c *client) check(ctx context.Context, v *Verdict) error {
	v.Created += c.created
	v.Unknown += len(c.unconfirmed)
	rows, err := c.readAll(ctx)
	if err != nil {
		return err
	}
	seen := make(map[string]int)
	for _, row := range rows {
		seen[row.Title]++
		a := c.articles[row.Title]
		switch {
		case a == nil && c.unconfirmed[row.Title]:
			v.Applied++
		case a == nil:
			v.Wrong = append(v.Wrong, row.Title+" exists, but was not requested or was deleted")
		case a.id != row.ID:
			v.Wrong = append(v.Wrong, row.Title+" has another id than in the response")
		case !a.mayHave(row.Content):
			v.Wrong = append(v.Wrong, fmt.Sprintf("%s does not have the last confirmed content, but %q", row.Title, row.Content))
		}
		if seen[row.Title] == 2 {
			v.Wrong = append(v.Wrong, row.Title+" exists twice")
		}
	}
	for title, a := range c.articles {
		if seen[title] == 0 && !a.maybeDeleted {
			v.Wrong = append(v.Wrong, title+" was created with a 201 and is lost")
		}
	}
	return nil
}

// readAll returns the client's articles.
func (c *client) readAll(ctx context.Context) (all []row, err error) {
	path := fmt.Sprintf("/articles?sort=createdAt&limit=%d&fields=title,content&userId=%s", pageLimit, c.id)
	for after := "&count=true"; ; {
		got := c.call(request{op: "check", method: "GET", path: path + after})
		var page struct {
			Rows []row
			Next string
		}
		if err := json.Unmarshal(got.body, &page); got.status != http.StatusOK || err != nil {
			return nil, fmt.Errorf("read the records: %d %s: %w", got.status, got.body, errors.Join(err, ctx.Err()))
		}
		all = append(all, page.Rows...)
		if page.Next == "" {
			return all, nil
		}
		after = "&count=false&after=" + page.Next
	}
}
