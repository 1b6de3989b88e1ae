package records_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/exchange"
	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/records"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/rest"
	"example.com/ginseng/kit/route"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/server"
	"example.com/ginseng/testkit"
	"example.com/ginseng/testkit/testdb"
)

// thing is a record with a field of every type that the generator supports.
type thing struct {
	store.Meta `bson:",inline"`
	Fields     `bson:",inline"`
	UserID     store.ID `json:"userId"`
	State      string   `json:"state" validate:"max=100"` // not a parameter
	Rank       *int64   `json:"rank"`                     // not a parameter
}

// Fields are the parameters of things.
type Fields struct {
	Title    string         `json:"title" validate:"required,max=50"`
	Code     *string        `json:"code" validate:"max=20"`
	Count    *int64         `json:"count" validate:"min=-10,max=1000000000"`
	Ratio    float64        `json:"ratio"`
	Open     *bool          `json:"open"`
	At       *store.Time    `json:"at"`
	On       *store.Date    `json:"on"`
	Price    *store.Decimal `json:"price"`
	UUID     *store.UUID    `json:"uuid"`
	Kind     string         `json:"kind" default:"small" validate:"oneof=small large"`
	Object   store.Object   `json:"object"`
	Tags     []string       `json:"tags" validate:"max=10"`
	Numbers  []int64        `json:"numbers"`
	Friend   *store.ID      `json:"friend"`
	Related  []store.ID     `json:"related"`
	Password string         `json:"-"`
}

type createFields struct {
	Fields
	UserID *store.ID `json:"userId"`
}

type view struct {
	ID store.ID `json:"id"`
	Fields
	UserID    store.ID   `json:"userId"`
	State     string     `json:"state"`
	Rank      *int64     `json:"rank"`
	CreatedAt store.Time `json:"createdAt"`
	UpdatedAt store.Time `json:"updatedAt"`
	resource.Expanded
}

func (t thing) view() view {
	return view{ID: t.ID, Fields: t.Fields, UserID: t.UserID, State: t.State, Rank: t.Rank, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt}
}

// part is a record under a thing.
type part struct {
	store.Meta `bson:",inline"`
	PartFields `bson:",inline"`
	ThingID    store.ID `json:"thingId"`
}

// PartFields are the parameters of parts.
type PartFields struct {
	Name string `json:"name" validate:"required"`
}

type partView struct {
	ID store.ID `json:"id"`
	PartFields
	ThingID   store.ID   `json:"thingId"`
	CreatedAt store.Time `json:"createdAt"`
	UpdatedAt store.Time `json:"updatedAt"`
}

func (p part) view() partView {
	return partView{ID: p.ID, PartFields: p.PartFields, ThingID: p.ThingID, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt}
}

type person struct {
	store.Meta `bson:",inline"`
}

// world is a service with things and parts.
type world struct {
	testing.TB
	*records.Service
	DB     store.DB
	people *store.Collection[person]
	things *resource.Collection[thing]
	parts  *resource.Collection[part]
	owner  store.ID
}

var thingList = listing.Spec{Name: "things", Search: []string{"title"}, Sort: []string{"title", "createdAt"}, View: view{}, Changes: true}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	return worldOf(tb, testdb.Open(tb), nil)
}

// worldOf returns a world. more, if it is not nil, is called after a thing was created.
func worldOf(tb testing.TB, db store.DB, more func(context.Context, *world, thing) error) *world {
	tb.Helper()
	w := &world{TB: tb, DB: db}
	d := testkit.Deps(tb, w.DB, time.Now)
	people := resource.Open(d, store.Spec{Name: "people"}, func(p person) person { return p }, resource.Public, resource.Public)
	w.people = people.Unrestricted()
	w.things = resource.Open(d, thingList.Store(store.Index{Fields: []string{"code"}, Unique: true}, store.Index{Fields: []string{"count"}, Unique: true}), thing.view, resource.Own, resource.Own,
		resource.Owner(people, resource.Keep), resource.ToSelf("friend", resource.Clear), resource.To("related", people, resource.Clear))
	w.parts = resource.Open(d, listing.Spec{Name: "parts", View: partView{}}.Store(), part.view, nil, nil, resource.Under("thingId", w.things))
	w.creators(d, more)
	s := server.Settings{APIRoot: "/api", MasterKeys: []string{testkit.MasterKey}}
	_, err := server.NewHandler(server.HandlerOptions{Settings: s, Deps: d, Modules: []kit.Module{module{w, d}}})
	w.must(err)
	w.Service = records.NewService(d)
	w.must(w.DB.Prepare(tb.Context()))
	w.owner = w.person()
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) person() store.ID {
	p := person{store.NewMeta(store.NewID(), store.At(time.Now()))}
	w.must(w.people.Insert(w.Context(), p))
	return p.ID
}

// creators declares how things and parts are made.
func (w *world) creators(d kit.Deps, more func(context.Context, *world, thing) error) {
	build := func(caller access.Principal, in createFields) (t thing, err error) {
		t = thing{Meta: store.NewMeta(store.NewID(), store.At(d.Now())), Fields: in.Fields, UserID: caller.OwnerOf(in.UserID), State: "new"}
		if t.Title == "forbidden" {
			err = apperr.New(apperr.Forbidden, "The service forbids this title.")
		}
		return t, err
	}
	var create func(context.Context, access.Principal, thing) (thing, error)
	if more != nil {
		create = func(ctx context.Context, caller access.Principal, t thing) (thing, error) {
			return t, w.DB.Together(ctx, func(ctx context.Context) error {
				if err := w.things.Create(ctx, caller, t); err != nil {
					return err
				}
				return more(ctx, w, t)
			})
		}
	}
	resource.NewCreator(w.things, build, create)
	resource.NewCreator(w.parts, func(_ access.Principal, in PartFields) (part, error) {
		return part{Meta: store.NewMeta(store.NewID(), store.At(d.Now())), PartFields: in}, nil
	}, nil)
}

type module struct {
	*world
	kit.Deps
}

// Parts implements kit.Module.
func (module) Parts() kit.Parts { return kit.Parts{} }

// Routes adds routes as the generator writes them.
func (w module) Routes(r *route.Router) {
	d := w.Deps
	list, parts := listing.NewLister(thingList, d.Cursors), listing.NewLister(listing.Spec{Name: "parts", View: partView{}}, d.Cursors)
	things := r.Resource(listing.Spec{Name: "things"})
	things.POST("/things", route.User, rest.NoContent) // imports do not call it
	things.GET("/things", route.StepUpAdmin, func(g *gin.Context) error {
		q, err := list.Parse(rest.Query(g))
		if err != nil {
			return err
		}
		page, err := resource.List(g.Request.Context(), w.things, rest.Caller(g), q, thing.view)
		if err != nil {
			return err
		}
		return rest.Page(g, page)
	}, route.AnyQuery)
	things.PATCH("/things/:id", route.StepUpAdmin, func(g *gin.Context) error {
		in, err := rest.BindPatch[Fields](g, view{})
		if err != nil {
			return err
		}
		id, err := rest.ID(g)
		if err != nil {
			return err
		}
		t, err := w.things.Update(g.Request.Context(), rest.Caller(g), id, nil, in.Changes()...)
		if err != nil {
			return err
		}
		return rest.Record(g, t.Meta, t.view())
	})
	r.Resource(listing.Spec{Name: "parts"}).POST("/things/:id/parts", route.User, rest.NoContent)
	r.Resource(listing.Spec{Name: "parts"}).GET("/things/:id/parts", route.User, func(g *gin.Context) error {
		id, err := rest.ID(g)
		if err != nil {
			return err
		}
		q, err := parts.Parse(rest.Query(g), id)
		if err != nil {
			return err
		}
		page, err := resource.List(g.Request.Context(), w.parts.Under(id), rest.Caller(g), q, part.view)
		if err != nil {
			return err
		}
		return rest.Page(g, page)
	}, route.AnyQuery)
}

// run imports a file, and returns the rejected lines.
func (w *world) run(file string, o records.ImportOptions) (r records.Result, rejected []string) {
	w.Helper()
	if o.Resource == "" {
		o.Resource = "things"
	}
	if o.Format == "" {
		o.Format = exchange.NDJSON
	}
	o.Reject = func(line int, err error) {
		var e *apperr.Error
		text := err.Error()
		if errors.As(err, &e) && e.Fields != nil {
			text = e.Fields[0].Param + " " + string(e.Fields[0].Code)
		}
		rejected = append(rejected, fmt.Sprintf("%d: %s", line, text))
	}
	r, err := w.Import(w.Context(), strings.NewReader(file), o)
	w.must(err)
	return r, rejected
}

func (w *world) wants(got, want records.Result) {
	w.Helper()
	if got != want {
		w.Errorf("%+v, want %+v", got, want)
	}
}

func (w *world) export(resource string, format exchange.Format) string {
	w.Helper()
	var out bytes.Buffer
	w.must(w.Export(w.Context(), &out, records.ExportOptions{Resource: resource, Format: format}))
	return out.String()
}

// file returns the lines of n things with consecutive IDs. first is the first ID.
func (w *world) file(first, n int) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, `{"id":"%024x","title":"Thing %d","code":"c%d","count":%d,"tags":["a","b"],"userId":"%s","createdAt":"2026-01-02T03:04:05.678Z"}`+"\n", i, i, i, i, w.owner.Hex())
	}
	return b.String()
}

// hard returns a file with values that a format or an engine could change by mistake.
func (w *world) hard() string {
	var b strings.Builder
	add := func(object map[string]any) {
		object["userId"] = w.owner.Hex()
		data, err := json.Marshal(object)
		w.must(err)
		b.Write(append(data, '\n'))
	}
	for i, text := range []string{"plain", "'", "=1+1", "-5", "@x", "a\r\nb", "a\nb", `"quoted", `, "null", "true", "[1]", "{}", "日本語", "0012"} {
		add(map[string]any{"title": text, "code": fmt.Sprint("=", i), "object": map[string]any{text: text, "list": []any{text, nil, 1.5}}, "tags": []string{text, "x,y"}, "state": "changed " + text})
	}
	friend := "00000000000000000000aaaa"
	add(map[string]any{"id": friend, "title": "all", "count": -5, "ratio": -0.125, "open": true, "at": "2026-01-02T03:04:05.006Z", "on": "2026-02-28", "price": "-12.5",
		"uuid": "11111111-0000-4000-8000-000000000001", "kind": "large", "object": map[string]any{}, "tags": []string{}, "numbers": []int{-1, 1<<53 - 1},
		"related": []string{w.person().Hex(), w.owner.Hex()}, "createdAt": "2020-01-01T00:00:00.000Z", "updatedAt": "2021-01-01T00:00:00.001Z"})
	add(map[string]any{"title": "friend", "friend": friend, "open": false, "count": 0, "price": "0", "rank": json.RawMessage("2.0")})
	return b.String()
}

// TestRoundTrip imports, exports, deletes, and imports what was exported, in both formats.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	testdb.Each(t, testRoundTrip)
}

func testRoundTrip(t *testing.T, db store.DB) {
	w := worldOf(t, db, nil)
	r, rejected := w.run(w.hard(), records.ImportOptions{})
	w.wants(r, records.Result{Created: 16})
	if rejected != nil {
		t.Fatal(rejected)
	}
	var things []string
	for line := range strings.Lines(w.export("things", exchange.NDJSON)) {
		var v view
		w.must(json.Unmarshal([]byte(line), &v))
		things = append(things, v.ID.Hex())
	}
	var parts strings.Builder
	many := testdb.Size(1200, 60)
	for i := range many {
		fmt.Fprintf(&parts, `{"name":"part %d","thingId":"%s"}`+"\n", i, things[i%2])
	}
	r, rejected = w.run(parts.String(), records.ImportOptions{Resource: "parts"})
	w.wants(r, records.Result{Created: many})
	if rejected != nil {
		t.Fatal(rejected)
	}
	for _, format := range []exchange.Format{exchange.NDJSON, exchange.CSV} {
		exported, exportedParts := w.export("things", format), w.export("parts", format)
		if format == exchange.CSV && strings.Count(exportedParts, "thingId") != 1 {
			t.Error("the parts have several headers, or none")
		}
		for _, c := range []interface {
			Delete(context.Context, store.Filter) (int64, error)
		}{w.things.Unrestricted(), w.parts.Unrestricted()} {
			_, err := c.Delete(t.Context(), nil)
			w.must(err)
		}
		_, rejected := w.run(exported, records.ImportOptions{Format: format})
		_, rejectedParts := w.run(exportedParts, records.ImportOptions{Format: format, Resource: "parts"})
		if rejected != nil || rejectedParts != nil {
			t.Errorf("%s: %v %v", format, rejected, rejectedParts)
		}
		if got := w.export("things", format); got != exported {
			t.Errorf("%s: the things are\n%s\nwant\n%s", format, got, exported)
		}
		if got := w.export("parts", format); got != exportedParts {
			t.Errorf("%s: the parts differ", format)
		}
		if r, _ := w.run(exported, records.ImportOptions{Format: format, UpdateBy: "id"}); r != (records.Result{Updated: 16}) {
			t.Errorf("%s: %+v", format, r)
		}
	}
}

// TestErrors imports lines with errors, into an empty collection and into a collection with records.
func TestErrors(t *testing.T) {
	t.Parallel()
	testdb.Each(t, testErrors)
}

func testErrors(t *testing.T, db store.DB) {
	w := worldOf(t, db, nil)
	owner := `","userId":"` + w.owner.Hex() + `"`
	bad := strings.Join([]string{
		`{"title":"one` + owner + `,"code":"one"}`,
		`nonsense`,
		`{"title":"` + strings.Repeat("x", 51) + owner + `}`,
		`{"title":"no owner"}`,
		`{"title":"unknown owner","userId":"00000000000000000000ffff"}`,
		`{"title":"two` + owner + `,"code":"one"}`,
		`{"title":"forbidden` + owner + `}`,
		`{"title":"three` + owner + `,"related":["00000000000000000000ffff"]}`,
		`{"title":"three` + owner + `,"createdAt":"yesterday"}`,
		`{"title":"three` + owner + `,"id":"x"}`,
		`{"title":"three` + owner + `,"unknown":1}`,
		`{"title":"three` + owner + `,"state":"` + strings.Repeat("x", 101) + `"}`,
		`{"title":"four` + owner + `,"id":"0000000000000000000000ab"}`,
		`{"title":"again` + owner + `,"id":"0000000000000000000000ab"}`,
		`{"title":"five` + owner + `}`,
		`{"title":"six","title":"seven` + owner + `}`,
	}, "\n")
	want := []string{
		"2: the line is not a JSON object", "3: title max_length", "4: userId required", "5: userId unknown_reference", "6: code conflict",
		"7: The service forbids this title.", "8: related[0] unknown_reference", "9: createdAt type", "10: id format", "11: unknown unknown", "12: state max_length",
	}
	for i, kept := range []int{1, 4} { // the collection is empty before the first import
		r, rejected := w.run(bad, records.ImportOptions{})
		for j := range rejected {
			rejected[j] = strings.Replace(rejected[j], "forbidden: ", "", 1)
		}
		if i == 0 {
			w.wants(r, records.Result{Created: 3, Kept: kept, Rejected: 12})
		} else {
			w.wants(r, records.Result{Kept: kept, Rejected: 12})
		}
		if !slices.Equal(rejected[:11], want) || !strings.HasPrefix(rejected[11], "16: ") {
			t.Errorf("%q, want %q", rejected, want)
		}
	}
	many := testdb.Size(700, 20)
	r, rejected := w.run(w.file(1000, many)+bad+"\n"+w.file(2000, many), records.ImportOptions{})
	if r.Created != 2*many+1 || len(rejected) != 13 { // the record with the unique code exists, and the others without an ID are new
		t.Errorf("%+v, %q", r, rejected)
	}
	parts := `{"name":"a","thingId":"00000000000000000000ffff"}` + "\n" + `{"name":"b"}` + "\n" + `{"name":"c","thingId":"0000000000000000000000ab"}`
	for i, imported := range []records.Result{{Created: 1, Rejected: 2}, {Kept: 1, Rejected: 2}} { // the collection is empty before the first import
		r, rejected := w.run(parts, records.ImportOptions{Resource: "parts"})
		w.wants(r, imported)
		if want := []string{"1: thingId unknown_reference", "2: thingId required"}; !slices.Equal(rejected, want) {
			t.Errorf("import %d: %q, want %q", i, rejected, want)
		}
	}
}

// TestInterrupt checks that an import reads no more of a line after its context has ended.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, format := range []exchange.Format{exchange.NDJSON, exchange.CSV} {
		ctx, cancel := context.WithCancel(t.Context())
		in := readFunc(func(p []byte) (int, error) {
			if ctx.Err() != nil {
				t.Errorf("%s: the import still reads the file", format)
				return 0, io.EOF
			}
			cancel()
			return copy(p, `"title`), nil
		})
		if _, err := w.Import(ctx, in, records.ImportOptions{Resource: "things", Format: format}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// TestDryRun checks lines without storing anything.
func TestDryRun(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]func(context.Context, *world, thing) error{
		"plain": nil,
		"more": func(ctx context.Context, w *world, t thing) error {
			_, err := w.people.Update(ctx, store.Eq("id", w.owner), store.Set("createdAt", store.At(time.Unix(1, 0))))
			return errors.Join(err, w.people.Insert(ctx, person{store.NewMeta(t.ID, t.CreatedAt)}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testdb.Each(t, func(t *testing.T, db store.DB) { testDryRun(t, db, more) })
		})
	}
}

func testDryRun(t *testing.T, db store.DB, more func(context.Context, *world, thing) error) {
	w := worldOf(t, db, more)
	w.run(w.file(1, 1), records.ImportOptions{})
	before, people := w.export("things", exchange.NDJSON), w.count("people")
	if noTransactions := db.Atomic(t.Context(), func(context.Context) error { return nil }); noTransactions != nil {
		_, err := w.Import(t.Context(), strings.NewReader(""), records.ImportOptions{Resource: "things", Format: exchange.NDJSON, DryRun: true, UpdateBy: "code"})
		if !errors.Is(err, store.ErrNoTransactions) {
			t.Errorf("--update-by: %v", err)
		}
		if more != nil {
			return
		}
	}
	dup := strings.ReplaceAll(w.file(7, 1), `"c7"`, `"c1"`)
	r, rejected := w.run(w.file(1, 5)+dup+"{}", records.ImportOptions{DryRun: true})
	w.wants(r, records.Result{Created: 4, Kept: 1, Rejected: 2})
	if !slices.Equal(rejected, []string{"6: code conflict", "7: title required"}) {
		t.Error(rejected)
	}
	if db.Serializable() {
		r, _ = w.run(w.file(1, 5), records.ImportOptions{DryRun: true, UpdateBy: "code"})
		w.wants(r, records.Result{Created: 4, Updated: 1})
	}
	if after := w.export("things", exchange.NDJSON); after != before || w.count("people") != people {
		t.Errorf("a dry run has changed\n%s\nto\n%s", before, after)
	}
}

func (w *world) count(collection string) int {
	n, err := w.Count(w.Context(), collection)
	if collection == "people" {
		n, err = w.people.Count(w.Context(), nil)
	}
	w.must(err)
	return int(n)
}

// TestUpdateBy updates records by a unique field. Fields that the file lacks must not change.
func TestUpdateBy(t *testing.T) {
	t.Parallel()
	testdb.Each(t, testUpdateBy)
}

func testUpdateBy(t *testing.T, db store.DB) {
	w := worldOf(t, db, nil)
	w.run(w.file(1, testdb.Size(600, 20)), records.ImportOptions{})
	csv := "code,title,count,userId\r\nc1,changed,,\r\nc2,,7000,\r\nc9999,new,,'" + w.owner.Hex() + "\r\n,no code,,\r\nc2,again,,\r\n"
	r, rejected := w.run(csv, records.ImportOptions{Format: exchange.CSV, UpdateBy: "code"})
	w.wants(r, records.Result{Created: 1, Updated: 3, Rejected: 1})
	if !slices.Equal(rejected, []string{"5: code required"}) {
		t.Error(rejected)
	}
	got := map[string]string{}
	for line := range strings.Lines(w.export("things", exchange.NDJSON)) {
		var v view
		w.must(json.Unmarshal([]byte(line), &v))
		if code := *v.Code; code == "c1" || code == "c2" || code == "c9999" {
			count := int64(-1)
			if v.Count != nil {
				count = *v.Count
			}
			got[code] = fmt.Sprint(v.Title, " ", count, " ", v.Tags, " ", v.State)
		}
	}
	want := map[string]string{"c1": "changed 1 [a b] new", "c2": "again 7000 [a b] new", "c9999": "new -1 [] new"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	r, _ = w.run(`{"code":"c1","count":null}`, records.ImportOptions{UpdateBy: "code"})
	w.wants(r, records.Result{Updated: 1})
	r, _ = w.run(`{"count":3.0,"title":"three"}`, records.ImportOptions{UpdateBy: "count"})
	w.wants(r, records.Result{Updated: 1})
	for by, hint := range map[string]string{"title": "use id or code or count", "cod": `did you mean "code"?`} {
		_, err := w.Import(t.Context(), strings.NewReader(""), records.ImportOptions{Resource: "things", Format: exchange.NDJSON, UpdateBy: by})
		if err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v", by, err)
		}
	}
}

// TestServiceWritesMore imports records of a module that writes more than the record, in a transaction: all of it or nothing is stored,
// also in an empty collection.
func TestServiceWritesMore(t *testing.T) {
	testdb.SQLiteOnly(t)
	t.Parallel()
	for name, conditional := range map[string]bool{"each record": false, "a late record": true} {
		test := func(t *testing.T, db store.DB) {
			fail := apperr.New(apperr.Conflict, "The service fails after it has written.")
			w := worldOf(t, db, func(ctx context.Context, w *world, t thing) error {
				if conditional && *t.Count < 700 {
					return nil
				}
				if err := w.people.Insert(ctx, person{store.NewMeta(t.ID, t.CreatedAt)}); err != nil {
					return err
				}
				if *t.Count == 900 {
					return fail
				}
				return nil
			})
			people := w.count("people")
			r, rejected := w.run(w.file(1, 1200), records.ImportOptions{})
			w.wants(r, records.Result{Created: 1199, Rejected: 1})
			if len(rejected) != 1 || !strings.HasPrefix(rejected[0], "900: ") {
				t.Error(rejected)
			}
			want := 1199
			if conditional {
				want = 500
			}
			if got := w.count("people") - people; w.DB.Serializable() && got != want || w.DB.Serializable() && w.count("things") != 1199 {
				t.Errorf("%d people, want %d; %d things", got, want, w.count("things"))
			}
			r, _ = w.run(w.file(1, 1200), records.ImportOptions{})
			if w.DB.Serializable() {
				w.wants(r, records.Result{Kept: 1199, Rejected: 1})
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testdb.Each(t, test)
		})
	}
}

// TestUnknownResource checks the errors of wrong names.
func TestUnknownResource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.Import(t.Context(), strings.NewReader(""), records.ImportOptions{Resource: "thing"})
	if err == nil || !strings.Contains(err.Error(), `did you mean "things"?`) {
		t.Error(err)
	}
	err = w.Export(t.Context(), &bytes.Buffer{}, records.ExportOptions{Resource: "people"})
	if err == nil || !strings.Contains(err.Error(), "the resources are things, parts") {
		t.Error(err)
	}
}

// TestSearchAfterImport checks that a search finds imported records, and that the log has one Reset for the import.
func TestSearchAfterImport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := testdb.Size(600, 20)
	w.run(w.file(1, first), records.ImportOptions{})
	w.run(w.file(first+1, 10), records.ImportOptions{})
	n, err := w.things.Unrestricted().Count(t.Context(), store.Search(fmt.Sprint(first+5)))
	if err != nil || n != 1 {
		t.Errorf("%d found, %v", n, err)
	}
	types := map[store.ChangeType]int{}
	for deadline := time.Now().Add(30 * time.Second); types[store.Created] < 10 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		entries, err := w.DB.Log().Newest(t.Context(), store.LogFilter{Collection: "things", Limit: 100})
		w.must(err)
		clear(types)
		for _, e := range entries {
			types[e.Type]++
			if e.By != nil {
				t.Errorf("a change is by %v", e.By)
			}
		}
	}
	if types[store.Created] != 10 || types[store.Reset] == 0 {
		t.Error(types)
	}
}

func BenchmarkImport(b *testing.B) {
	for name, stored := range map[string]int{"empty": 0, "stored": 1} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b)
			w.run(w.file(1, stored), records.ImportOptions{})
			file := w.file(2, b.N)
			b.ResetTimer()
			if r, _ := w.run(file, records.ImportOptions{}); r.Created != b.N {
				b.Errorf("%+v", r)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

func BenchmarkExport(b *testing.B) {
	w := newWorld(b)
	w.run(w.file(1, b.N), records.ImportOptions{})
	b.ResetTimer()
	w.export("things", exchange.NDJSON)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
