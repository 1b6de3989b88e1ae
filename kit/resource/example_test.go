package resource_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"example.com/ginseng/kit"
	"example.com/ginseng/kit/access"
	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/resource"
	"example.com/ginseng/kit/store"
	"example.com/ginseng/kit/store/sqlite"
)

// Shelf is a stored record. Everyone may see a shelf, and admins may change it.
type Shelf struct {
	store.Meta `bson:",inline"`
	Name       string `json:"name"`
}

// ShelfView is the representation of a shelf.
type ShelfView struct {
	Name string `json:"name"`
}

func (s Shelf) View() ShelfView { return ShelfView{s.Name} }

// Book is a stored record. The owner and admins may see and change a book.
type Book struct {
	store.Meta `bson:",inline"`
	Title      string   `json:"title"`
	Shelf      store.ID `json:"shelf"`
	UserID     store.ID `json:"userId"`
}

func (b Book) View() Book { return b }

// Books are on shelves, and belong to users. The collection enforces both rules.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(ctx, filepath.Join(dir, "library.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	d := kit.Deps{DB: db, Now: time.Now, Resources: &kit.Resources{}} // a module receives its Deps from the server

	shelves := resource.Open(d, store.Spec{Name: "shelves"}, Shelf.View, resource.Public, resource.Admins)
	books := resource.Open(d, store.Spec{Name: "books"}, Book.View, resource.Own, resource.Own,
		resource.To("shelf", shelves, resource.Restrict))
	if err := db.Prepare(ctx); err != nil {
		log.Fatal(err)
	}

	now := store.At(d.Now())
	admin := access.Principal{UserID: store.NewID(), Role: access.RoleAdmin}
	ada := access.Principal{UserID: store.NewID(), Role: access.RoleUser}
	eve := access.Principal{UserID: store.NewID(), Role: access.RoleUser}
	shelf := Shelf{Meta: store.NewMeta(store.NewID(), now), Name: "Botany"}
	book := Book{Meta: store.NewMeta(store.NewID(), now), Title: "On ginseng", Shelf: shelf.ID, UserID: ada.UserID}

	fmt.Println("a book on a shelf that does not exist:", code(books.Create(ctx, ada, book)))
	fmt.Println("the shelf:", code(shelves.Create(ctx, admin, shelf)))
	fmt.Println("a book on it:", code(books.Create(ctx, ada, book)))
	_, err = books.Get(ctx, eve, book.ID)
	fmt.Println("another user reads the book:", code(err))
	err = shelves.Delete(ctx, admin, shelf.ID, nil)
	fmt.Println("an admin deletes a shelf with a book:", code(err))
	// Output:
	// a book on a shelf that does not exist: validation_failed
	// the shelf: ok
	// a book on it: ok
	// another user reads the book: not_found
	// an admin deletes a shelf with a book: conflict
}

// Team is a group of users of the project's own making.
type Team struct {
	store.Meta `bson:",inline"`
	Name       string     `json:"name"`
	Members    []store.ID `json:"members"`
}

func (t Team) View() Team { return t }

// TeamMembers reads the teams of a user.
type TeamMembers struct{ teams *store.Collection[Team] }

// MembershipsOf implements access.MembershipReader.
func (m *TeamMembers) MembershipsOf(ctx context.Context, userID store.ID) (list []access.Membership, err error) {
	teams, err := m.teams.List(ctx, store.Query{Filter: store.Contains("members", userID), Fields: []string{"id"}})
	for _, team := range teams {
		list = append(list, access.Membership{Group: team.ID, Role: "member"})
	}
	return list, err
}

// Task is a record of a team.
type Task struct {
	store.Meta `bson:",inline"`
	Title      string   `json:"title"`
	TeamID     store.ID `json:"teamId"`
}

func (t Task) View() Task { return t }

// A record belongs to a team, and the members of the team see and change it. A request reads the teams of its caller once.
func ExampleMember() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(ctx, filepath.Join(dir, "teams.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	d := kit.Deps{DB: db, Now: time.Now, Resources: &kit.Resources{}}

	teams := resource.Open(d, store.Spec{Name: "teams"}, Team.View, resource.Users, resource.Admins)
	tasks := resource.Open(d, store.Spec{Name: "tasks", Indexes: []store.Index{{Fields: []string{"teamId", "createdAt"}}}}, Task.View,
		resource.Member("teamId"), resource.Member("teamId"),
		resource.Group("teamId", teams, &TeamMembers{teams.Unrestricted()}, resource.Cascade))
	if err := db.Prepare(ctx); err != nil {
		log.Fatal(err)
	}

	now := store.At(d.Now())
	ada := access.Principal{UserID: store.NewID(), Role: access.RoleUser}
	eve := access.Principal{UserID: store.NewID(), Role: access.RoleUser}
	team := Team{Meta: store.NewMeta(store.NewID(), now), Name: "Botany", Members: []store.ID{ada.UserID}}
	task := Task{Meta: store.NewMeta(store.NewID(), now), Title: "Water the ginseng", TeamID: team.ID}

	fmt.Println("an admin creates a team:", code(teams.Create(ctx, access.Principal{UserID: store.NewID(), Role: access.RoleAdmin}, team)))
	fmt.Println("a member creates a task:", code(tasks.Create(ctx, ada, task)))
	_, err = tasks.Get(ctx, eve, task.ID)
	fmt.Println("another user reads the task:", code(err))
	_, err = teams.Unrestricted().Update(ctx, store.Eq("id", team.ID), store.Set("members", []store.ID{eve.UserID}))
	fmt.Println("the members change:", code(err))
	_, err = tasks.Get(ctx, eve, task.ID)
	fmt.Println("the new member reads the task:", code(err))
	_, err = tasks.Get(ctx, ada, task.ID)
	fmt.Println("the former member reads the task:", code(err))
	// Output:
	// an admin creates a team: ok
	// a member creates a task: ok
	// another user reads the task: not_found
	// the members change: ok
	// the new member reads the task: ok
	// the former member reads the task: not_found
}

// code returns the code of an error, or ok.
func code(err error) string {
	if err == nil {
		return "ok"
	}
	return string(apperr.CodeOf(err))
}
