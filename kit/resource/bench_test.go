package resource

import (
	"syscall"
	"testing"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/testkit/testdb"
)

// BenchmarkOwners lists the newest 30 of 10,000 records of an owner among 1,000,000: of a user, of the one organization of a user, and
// of the 20 organizations of a user. Then it reads records that everyone sees: without an organization, and of organizations, some of
// which may be deleted.
func BenchmarkOwners(b *testing.B) {
	const owners, each = 100, 10_000
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	d := kit.Deps{DB: testdb.Open(b), Now: time.Now, Resources: &kit.Resources{}}
	groups := Open(d, store.Spec{Name: "groups"}, node.view, Public, Admins)
	removals := NewRemovals(d, groups)
	members := &teams{of: map[store.ID][]access.Membership{}}
	index := func(fields ...string) store.Index { return store.Index{Fields: fields} }
	spec := store.Spec{Name: "records", Indexes: []store.Index{index("createdAt"), index("userId", "createdAt"), index("to", "createdAt")}}
	own := Open(d, spec, node.view, Own, Own)
	public := Open(d, spec, node.view, Public, Own)
	inGroup := Open(d, spec, node.view, Member("to"), Member("to"), Group("to", groups, members, Cascade))
	shown := Open(d, spec, node.view, Public, Member("to"), Group("to", groups, members, Cascade))
	must(d.DB.Prepare(b.Context()))
	must(removals.Job().Run(b.Context()))

	var ids [owners]store.ID
	for i := range ids {
		ids[i] = store.NewID()
	}
	one, twenty := access.Principal{UserID: ids[0], Role: access.RoleUser}, access.Principal{UserID: ids[1], Role: access.RoleUser}
	members.add(one, ids[0], "member")
	for _, id := range ids[:20] {
		members.add(twenty, id, "member")
	}
	docs := make([]store.Document, each)
	for i := range owners {
		for j := range docs {
			at := store.At(time.Unix(int64(i*each+j), 0))
			docs[j] = node{Meta: store.NewMeta(store.NewID(), at), Name: "A record of the size of a small event.", UserID: ids[j%owners], To: ids[j%owners]}
		}
		must(own.Engine().Load(b.Context(), docs))
	}

	cpu := func() time.Duration {
		var usage syscall.Rusage
		must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	run := func(name string, do func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			before := cpu()
			for b.Loop() {
				must(do())
			}
			b.ReportMetric(float64(cpu()-before)/1000/float64(b.N), "cpu-µs/op")
		})
	}
	lister := listing.NewLister(listing.Spec{Name: "records", View: view{}}, listing.NewCursors("secret"))
	for _, count := range []string{"count=false", "count=true"} {
		list := func(name string, c *Collection[node], caller access.Principal) {
			run("list/"+count+"/"+name, func() error {
				q, err := lister.Parse(map[string][]string{"count": {count[len("count="):]}}, caller.UserID)
				if err == nil {
					_, err = List(b.Context(), c, caller, q, node.view)
				}
				return err
			})
		}
		list("own", own, one)
		list("1-organization", inGroup, one)
		list("20-organizations", inGroup, twenty)
		list("public", public, nobody)
		list("public-of-organizations", shown, nobody)
	}
	get := func(name string, c *Collection[node]) {
		run("get/"+name, func() error {
			_, err := c.Get(b.Context(), nobody, store.IDOf(docs[0]))
			return err
		})
	}
	get("public", public)
	get("public-of-organizations", shown)
}
