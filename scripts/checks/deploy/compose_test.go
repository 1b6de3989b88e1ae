package deploy

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// loadCompose reads a file of deploy/compose as Docker Compose does.
func loadCompose(t *testing.T, file string, env ...string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{"../../../deploy/compose/" + file}, cli.WithEnv(env), cli.WithoutEnvironmentResolution)
	if err != nil {
		t.Fatal(err)
	}
	return options.LoadProject(t.Context())
}

// TestComposeFiles checks that the files are valid and that containers have no unnecessary privileges.
func TestComposeFiles(t *testing.T) {
	t.Parallel()
	for file, names := range map[string][]string{"embedded.yaml": {"service"}, "mongodb.yaml": {"mongodb", "service"}} {
		project, err := loadCompose(t, file, "MONGO_PASSWORD=secret")
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if project.Name != "ginseng" || !slices.Equal(slices.Sorted(maps.Keys(project.Services)), names) {
			t.Errorf("%s: project %s with %v", file, project.Name, project.ServiceNames())
		}
		for name, s := range project.Services {
			if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") || s.Privileged {
				t.Errorf("%s: %s has unnecessary privileges: %+v", file, name, s)
			}
			if s.Restart != "unless-stopped" || s.MemLimit == 0 || s.StopGracePeriod == nil || time.Duration(*s.StopGracePeriod) < time.Minute {
				t.Errorf("%s: %s: restart %q, memory %d, grace %v", file, name, s.Restart, s.MemLimit, s.StopGracePeriod)
			}
			for _, port := range s.Ports {
				if name != "service" || port.HostIP != "127.0.0.1" || port.Target != 9000 {
					t.Errorf("%s: %s publishes %+v", file, name, port)
				}
			}
			for setting, value := range s.Environment {
				secret := strings.Contains(setting, "KEY") || strings.Contains(setting, "SECRET") || strings.Contains(setting, "PASSWORD")
				if secret && (value == nil || *value != "secret") {
					t.Errorf("%s: %s sets a fixed %s", file, name, setting)
				}
			}
		}
		if files := project.Services["service"].EnvFiles; len(files) != 1 || !files[0].Required {
			t.Errorf("%s: the settings are in %+v", file, files)
		}
	}
}

// TestComposeMongoDB checks that MongoDB requires a password, is reachable only by the service, and starts before it.
func TestComposeMongoDB(t *testing.T) {
	t.Parallel()
	if _, err := loadCompose(t, "mongodb.yaml"); err == nil || !strings.Contains(err.Error(), "MONGO_PASSWORD is missing a value: is not in production.env") {
		t.Errorf("without a password: %v", err)
	}
	project, err := loadCompose(t, "mongodb.yaml", "MONGO_PASSWORD=secret")
	if err != nil {
		t.Fatal(err)
	}
	service, mongodb := project.Services["service"], project.Services["mongodb"]
	if address := service.Environment["DATABASE_URL"]; address == nil || *address != "mongodb://root:secret@mongodb:27017/ginseng?authSource=admin&replicaSet=rs0" {
		t.Errorf("the service's database is %v", address)
	}
	if service.DependsOn["mongodb"].Condition != types.ServiceConditionHealthy || mongodb.HealthCheck == nil {
		t.Errorf("the service starts when %+v", service.DependsOn)
	}
	if len(mongodb.Networks) != 1 || !project.Networks["database"].Internal || len(mongodb.Ports) != 0 {
		t.Errorf("MongoDB is in %v, published at %v", mongodb.Networks, mongodb.Ports)
	}
	if user := mongodb.User; user == "" || strings.HasPrefix(user, "0") || strings.HasPrefix(user, "root") {
		t.Errorf("MongoDB runs as %q", user)
	}
}
