package service_test

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	driverevent "go.mongodb.org/mongo-driver/v2/event"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"example.com/ginseng/docs"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/mongo"
	"example.com/ginseng/kit/store/mongo/mongotest"
	"example.com/ginseng/modules/apitest"
	"example.com/ginseng/testkit"
)

// wire records the commands that requests send to MongoDB.
type wire struct {
	address  *url.URL
	mu       sync.Mutex
	commands []bson.Raw
}

// startMongo starts a service on a new database of the server at TEST_MONGODB_URI. Without one, it skips the test.
func startMongo(t *testing.T) (*testkit.API, *wire) {
	t.Helper()
	w := &wire{address: mongotest.New(t, "timeoutMS=120000", "serverSelectionTimeoutMS=60000", "connectTimeoutMS=60000")}
	db, err := mongo.Open(w.address.String(), &driverevent.CommandMonitor{Started: w.record})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	api := apitest.Start(t, func(c *testkit.Config) { c.DB = marking{db} })
	if err := db.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return api, w
}

// record records a command, unless the log of changes sends it in the background.
func (w *wire) record(ctx context.Context, e *driverevent.CommandStartedEvent) {
	if ctx.Value(mark{}) == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commands = append(w.commands, slices.Clone(e.Command))
}

// take returns the commands since the last call.
func (w *wire) take() []bson.Raw {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.commands
	w.commands = nil
	return taken
}

// mark is the key of a value in the contexts of all operations on collections.
type mark struct{}

type marking struct{ store.DB }

func (m marking) Open(spec store.Spec) store.Engine { return markingEngine{m.DB.Open(spec)} }

type markingEngine struct{ store.Engine }

func marked(ctx context.Context) context.Context { return context.WithValue(ctx, mark{}, true) }

func (e markingEngine) Insert(ctx context.Context, id store.ID, doc any) error {
	return e.Engine.Insert(marked(ctx), id, doc)
}

func (e markingEngine) First(ctx context.Context, f store.Filter, into any) error {
	return e.Engine.First(marked(ctx), f, into)
}

func (e markingEngine) List(ctx context.Context, q store.Query, next func() any) (int64, error) {
	return e.Engine.List(marked(ctx), q, next)
}

func (e markingEngine) Update(ctx context.Context, f store.Filter, changes []store.Change, into any) error {
	return e.Engine.Update(marked(ctx), f, changes, into)
}

func (e markingEngine) Delete(ctx context.Context, f store.Filter) (int64, error) {
	return e.Engine.Delete(marked(ctx), f)
}

// TestMongoCommands checks the commands of typical requests: each is one round trip. docs/performance.md explains them.
func TestMongoCommands(t *testing.T) {
	t.Parallel()
	api, w := startMongo(t)
	ada := api.SignUp("user")
	article := api.Do(testkit.Request{Method: "POST", Path: "/articles", As: ada.Token, JSON: `{"title":"T"}`}).Header.Get("Location")
	// What a server lacks shows at the first update.
	api.Do(testkit.Request{Method: "PATCH", Path: article, As: ada.Token, JSON: `{"title":"U"}`})
	const token = "find sessions, find users, "
	for _, test := range []struct {
		testkit.Request
		want string
	}{
		{testkit.Request{Method: "GET", Path: article}, "find articles"},
		{testkit.Request{Method: "GET", Path: "/articles?count=false"}, "find articles"},
		{testkit.Request{Method: "GET", Path: "/articles"}, "aggregate articles, find articles"},
		{testkit.Request{Method: "POST", Path: "/articles", As: ada.Token, JSON: `{"title":"T"}`}, token + "insert articles"},
		{testkit.Request{Method: "PATCH", Path: article, As: ada.Token, JSON: `{"title":"V"}`}, token + "findAndModify articles"},
		{testkit.Request{Method: "DELETE", Path: article, As: ada.Token}, token + "find articles, update articles"},
		{testkit.SignInRequest(ada.Email, testkit.Password),
			"find limits, find users, insert sessions, find users, find factors, find networks, find sessions"},
	} {
		w.take()
		if response := api.Do(test.Request); response.Status >= 300 {
			t.Errorf("%s %s: %d %s", test.Method, test.Path, response.Status, response.Body)
		}
		var got []string
		for _, command := range w.take() {
			first, _ := command.IndexErr(0)
			got = append(got, first.Key()+" "+first.Value().StringValue())
		}
		// MongoDB looks for deleted articles that are still stored, and then knows the number; other servers count.
		text := strings.Replace(strings.Join(got, ", "), "aggregate articles, count articles", "aggregate articles", 1)
		if text != test.want {
			t.Errorf("%s %s: commands\n%s, want\n%s", test.Method, test.Path, text, test.want)
		}
	}
}

// TestMongoListsUseIndexes sends each list with each of its sorts and filters, lets MongoDB explain the commands, and checks
// that none of them reads the whole collection.
func TestMongoListsUseIndexes(t *testing.T) {
	t.Parallel()
	api, w := startMongo(t)
	client, err := driver.Connect(options.Client().ApplyURI(w.address.String()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	db := client.Database(strings.TrimPrefix(w.address.Path, "/"))

	admin := api.SignUp("admin")
	for range 2 { // so that lists have a second page
		api.Do(testkit.Request{Method: "POST", Path: "/articles", As: admin.Token, JSON: `{"title":"A title"}`}).JSON(201)
		api.SignIn(admin.Email, testkit.Password)
	}
	webhook := api.Do(testkit.Request{Method: "POST", Path: "/webhooks", As: admin.Token, JSON: `{"url":"https://example.com/","events":["*"]}`})
	if webhook.Status != 201 {
		t.Fatalf("POST /webhooks: %d %s", webhook.Status, webhook.Body)
	}
	deliveries := webhook.Header.Get("Location") + "/deliveries"
	explains := false
	for list, queries := range lists(t) {
		list = strings.NewReplacer("/webhooks/{id}/deliveries", deliveries, "/users/{id}", "/users/"+admin.ID).Replace(list)
		for _, query := range queries {
			path := list + "?count=false&limit=1" + strings.ReplaceAll(query, "{userId}", admin.ID)
			w.take()
			response := api.Do(testkit.Request{Method: "GET", Path: path, As: admin.Token})
			var page struct{ Next string }
			if err := json.Unmarshal(response.Body, &page); err != nil || response.Status != 200 {
				t.Fatalf("%s: %d %s, %v", path, response.Status, response.Body, err)
			}
			if page.Next != "" {
				api.Do(testkit.Request{Method: "GET", Path: path + "&after=" + page.Next, As: admin.Token})
			}
			for _, command := range w.take() {
				explained, err := explain(t.Context(), db, command)
				if err != nil {
					t.Fatalf("%s: explain: %v", path, err)
				}
				stages := winningStages(explained, false)
				explains = explains || len(stages) > 0
				if slices.Contains(stages, "COLLSCAN") {
					t.Errorf("%s reads the whole collection: %s", path, explained)
				}
			}
		}
	}
	if !explains {
		t.Skip("NOT TESTED: explain of this server reports no stages, as FerretDB's; set TEST_MONGODB_URI to a MongoDB")
	}
}

// lists returns the query parameters of each list of the OpenAPI document by its path: one of each sort and of each filter.
func lists(t *testing.T) map[string][]string {
	t.Helper()
	type schema struct {
		Type, Format string
		Enum         []string
		Items        *schema
	}
	var document struct {
		Paths map[string]struct {
			Get struct {
				Parameters []struct {
					Name, In string
					Schema   schema
				}
			}
		}
	}
	if err := json.Unmarshal(docs.OpenAPI, &document); err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for path, operations := range document.Paths {
		var queries []string
		sorted := false
		for _, p := range operations.Get.Parameters {
			value := p.Schema
			if value.Items != nil {
				value = *value.Items
			}
			switch field, _, _ := strings.Cut(p.Name, "["); {
			case p.In != "query", slices.Contains([]string{"page", "limit", "after", "fields", "expand", "count", "etags", "format", "bom"}, p.Name):
			case p.Name == "sort":
				sorted = true
				for _, order := range value.Enum {
					queries = append(queries, "&sort="+order)
				}
			case len(value.Enum) > 0:
				queries = append(queries, "&"+p.Name+"="+value.Enum[0])
			case value.Format == "date-time":
				queries = append(queries, "&"+p.Name+"=2026-01-02T03:04:05Z")
			case value.Format == "email":
				queries = append(queries, "&"+p.Name+"=a@example.com")
			case value.Type == "boolean":
				queries = append(queries, "&"+p.Name+"=true")
			case field == "userId":
				queries = append(queries, "&"+p.Name+"={userId}")
			default:
				queries = append(queries, "&"+p.Name+"=title")
			}
		}
		if sorted { // the log of changes is no list
			found[path] = queries
		}
	}
	if len(found) < 5 {
		t.Fatalf("the document has only %d lists", len(found))
	}
	return found
}

// explain returns MongoDB's plan of a command.
func explain(ctx context.Context, db *driver.Database, command bson.Raw) (bson.Raw, error) {
	var plain bson.D
	if err := bson.Unmarshal(command, &plain); err != nil {
		return nil, err
	}
	ofDriver := []string{"lsid", "$db", "$clusterTime", "$readPreference", "readConcern", "maxTimeMS"}
	plain = slices.DeleteFunc(plain, func(e bson.E) bool { return slices.Contains(ofDriver, e.Key) })
	return db.RunCommand(ctx, bson.D{{Key: "explain", Value: plain}, {Key: "verbosity", Value: "queryPlanner"}}).Raw()
}

// winningStages returns the stages of the winning plans below a document or array, in any of the forms that the manual's
// "Explain Results" describes: of the classic engine, of the slot-based one, and of each shard. winning: the document is a part
// of a winning plan.
func winningStages(in bson.Raw, winning bool) (stages []string) {
	elements, _ := in.Elements()
	for _, e := range elements {
		value := e.Value()
		below, isDocument := value.DocumentOK()
		if array, ok := value.ArrayOK(); ok {
			below, isDocument = bson.Raw(array), true
		}
		stage, isString := value.StringValueOK()
		switch {
		case e.Key() == "rejectedPlans":
		case isDocument:
			stages = append(stages, winningStages(below, winning || e.Key() == "winningPlan")...)
		case winning && isString && e.Key() == "stage":
			stages = append(stages, stage)
		}
	}
	return stages
}

func TestWinningStages(t *testing.T) {
	t.Parallel()
	plan := bson.D{{Key: "stage", Value: "FETCH"}, {Key: "inputStage", Value: bson.D{{Key: "stage", Value: "IXSCAN"}}}}
	planner := func(winning bson.D) bson.D {
		rejected := bson.A{bson.D{{Key: "stage", Value: "COLLSCAN"}}}
		return bson.D{{Key: "winningPlan", Value: winning}, {Key: "rejectedPlans", Value: rejected}}
	}
	for name, test := range map[string]struct {
		planner bson.D
		want    []string
	}{
		"classic":    {planner(plan), []string{"FETCH", "IXSCAN"}},
		"slot-based": {planner(bson.D{{Key: "queryPlan", Value: plan}, {Key: "slotBasedPlan", Value: bson.D{{Key: "stages", Value: "ixseek"}}}}), []string{"FETCH", "IXSCAN"}},
		"sharded": {planner(bson.D{{Key: "stage", Value: "SHARD_MERGE"}, {Key: "shards", Value: bson.A{planner(plan), planner(bson.D{{Key: "stage", Value: "COLLSCAN"}})}}}),
			[]string{"SHARD_MERGE", "FETCH", "IXSCAN", "COLLSCAN"}},
		"no plan": {bson.D{{Key: "pushdown", Value: true}}, nil},
	} {
		raw, err := bson.Marshal(bson.D{{Key: "queryPlanner", Value: test.planner}})
		if err != nil {
			t.Fatal(err)
		}
		if got := winningStages(raw, false); !slices.Equal(got, test.want) {
			t.Errorf("%s: stages %v, want %v", name, got, test.want)
		}
	}
}
