package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	mongooptions "go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	passwords "example.com/ginseng/kit/password"
)

// driverCommand is the argument that makes this program a server written by hand with MongoDB's driver, on the database of the
// service. The argument after it is the address of the database. The server has its own sessions. It checks the session and the
// password, but it validates nothing, limits nothing and keeps no log of changes.
const driverCommand = "serve-driver"

// driverModule is the module of the driver.
const driverModule = "go.mongodb.org/mongo-driver/v2"

type driverServer struct {
	client                    *mongo.Client
	articles, users, sessions *mongo.Collection
	hasher                    *passwords.Hasher
}

// stored is an article in the database, without its id in hex.
type stored struct {
	ID        bson.ObjectID `bson:"_id"`
	Title     string        `bson:"title"`
	Content   string        `bson:"content"`
	UserID    bson.ObjectID `bson:"userId"`
	CreatedAt time.Time     `bson:"createdAt"`
	UpdatedAt time.Time     `bson:"updatedAt"`
	Version   int64         `bson:"version"`
}

func (a stored) view() view {
	const format = "2006-01-02T15:04:05.000Z"
	return view{a.ID.Hex(), a.Title, a.Content, a.UserID.Hex(), a.CreatedAt.UTC().Format(format), a.UpdatedAt.UTC().Format(format)}
}

func serveDriver(address string) error {
	parsed, err := connstring.Parse(address)
	if err != nil {
		return err
	}
	client, err := mongo.Connect(mongooptions.Client().ApplyURI(address))
	if err != nil {
		return err
	}
	db := client.Database(parsed.Database)
	s := &driverServer{client, db.Collection("articles"), db.Collection("users"), db.Collection("driver-sessions"), passwords.NewHasher()}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /articles/{id}", answer(http.StatusOK, s.get))
	mux.HandleFunc("GET /articles", answer(http.StatusOK, s.list))
	mux.HandleFunc("POST /articles", answer(http.StatusCreated, s.create))
	mux.HandleFunc("PATCH /articles/{id}", answer(http.StatusOK, s.update))
	mux.HandleFunc("POST /batch", answer(http.StatusOK, s.batch))
	mux.HandleFunc("POST /auth", answer(http.StatusCreated, s.signIn))
	return http.Serve(listener, mux)
}

func answer(status int, f func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := f(r)
		body, encodeErr := json.Marshal(v)
		if err != nil || encodeErr != nil {
			http.Error(w, fmt.Sprint(err, encodeErr), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}
}

// caller returns the user of the session in the header Authorization.
func (s *driverServer) caller(r *http.Request) (bson.ObjectID, error) {
	const prefix = "Bearer "
	token := r.Header.Get("Authorization")
	var session struct {
		UserID bson.ObjectID `bson:"userId"`
	}
	err := s.sessions.FindOne(r.Context(), bson.D{{Key: "_id", Value: token[min(len(prefix), len(token)):]}}).Decode(&session)
	return session.UserID, err
}

func (s *driverServer) get(r *http.Request) (any, error) {
	id, err := bson.ObjectIDFromHex(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	var a stored
	err = s.articles.FindOne(r.Context(), bson.D{{Key: "_id", Value: id}}).Decode(&a)
	return a.view(), err
}

// list reads the newest articles, or those with a word that begins with q.
func (s *driverServer) list(r *http.Request) (any, error) {
	filter := bson.D{}
	if q := r.URL.Query().Get("q"); q != "" {
		begins := bson.D{{Key: "$regex", Value: "^" + regexp.QuoteMeta(q)}}
		filter = bson.D{{Key: "$or", Value: bson.A{bson.D{{Key: "_words.title", Value: begins}}, bson.D{{Key: "_words.content", Value: begins}}}}}
	}
	newest := mongooptions.Find().SetSort(bson.D{{Key: "createdAt", Value: -1}, {Key: "_id", Value: -1}}).SetLimit(pageSize + 1).
		SetProjection(bson.D{{Key: "_words", Value: 0}, {Key: "_changes", Value: 0}})
	cursor, err := s.articles.Find(r.Context(), filter, newest)
	if err != nil {
		return nil, err
	}
	var docs []stored
	if err := cursor.All(r.Context(), &docs); err != nil {
		return nil, err
	}
	page := struct {
		Count *int64 `json:"count,omitempty"`
		viewPage
	}{}
	for _, a := range docs[:min(len(docs), pageSize)] {
		page.Rows = append(page.Rows, a.view())
	}
	if len(docs) > pageSize {
		page.Next = docs[pageSize-1].ID.Hex()
	}
	if r.URL.Query().Get("count") != "false" {
		n, err := s.articles.CountDocuments(r.Context(), filter)
		page.Count = &n
		return page, err
	}
	return page, nil
}

func (s *driverServer) create(r *http.Request) (any, error) {
	user, err := s.caller(r)
	if err != nil {
		return nil, err
	}
	var in fields
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, err
	}
	return s.insert(r.Context(), user, in)
}

func (s *driverServer) insert(ctx context.Context, user bson.ObjectID, in fields) (v view, err error) {
	now := time.Now().UTC()
	a := stored{bson.NewObjectID(), in.Title, in.Content, user, now, now, 1}
	_, err = s.articles.InsertOne(ctx, a)
	return a.view(), err
}

// update changes an article of the caller.
func (s *driverServer) update(r *http.Request) (any, error) {
	user, err := s.caller(r)
	if err != nil {
		return nil, err
	}
	id, err := bson.ObjectIDFromHex(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	var in fields
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, err
	}
	var a stored
	err = s.articles.FindOneAndUpdate(r.Context(), bson.D{{Key: "_id", Value: id}, {Key: "userId", Value: user}}, bson.D{
		{Key: "$set", Value: bson.D{{Key: "title", Value: in.Title}, {Key: "updatedAt", Value: time.Now().UTC()}}},
		{Key: "$inc", Value: bson.D{{Key: "version", Value: 1}}},
	}, mongooptions.FindOneAndUpdate().SetReturnDocument(mongooptions.After)).Decode(&a)
	return a.view(), err
}

// batch creates articles in one transaction, each with one command.
func (s *driverServer) batch(r *http.Request) (any, error) {
	user, err := s.caller(r)
	if err != nil {
		return nil, err
	}
	var in struct {
		Operations []struct{ Body fields }
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, err
	}
	session, err := s.client.StartSession()
	if err != nil {
		return nil, err
	}
	defer session.EndSession(r.Context())
	return session.WithTransaction(r.Context(), func(ctx context.Context) (any, error) {
		var created []view
		for _, op := range in.Operations {
			v, err := s.insert(ctx, user, op.Body)
			if err != nil {
				return nil, err
			}
			created = append(created, v)
		}
		return created, nil
	})
}

func (s *driverServer) signIn(r *http.Request) (any, error) {
	email, given, _ := r.BasicAuth()
	var user struct {
		ID   bson.ObjectID `bson:"_id"`
		Hash string        `bson:"password"`
	}
	if err := s.users.FindOne(r.Context(), bson.D{{Key: "email", Value: email}}).Decode(&user); err != nil {
		return nil, err
	}
	if match, _, err := s.hasher.Verify(r.Context(), given, user.Hash); err != nil || !match {
		return nil, fmt.Errorf("wrong password: %w", err)
	}
	token := bson.NewObjectID().Hex()
	_, err := s.sessions.InsertOne(r.Context(), bson.D{{Key: "_id", Value: token}, {Key: "userId", Value: user.ID}})
	return map[string]string{"token": token}, err
}
