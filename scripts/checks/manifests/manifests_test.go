package manifests

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const folder = "../../../deploy/kubernetes/"

// variants are the files that are applied together.
var variants = map[string][]string{
	"mongodb":  {"common.yaml", "secret.example.yaml", "mongodb.yaml"},
	"embedded": {"common.yaml", "secret.example.yaml", "embedded.yaml"},
}

// variant is what the files of one declare.
type variant struct {
	deployment *apps.Deployment
	service    *core.Service
	config     *core.ConfigMap
	secret     *core.Secret
	account    *core.ServiceAccount
	network    *networking.NetworkPolicy
	scaler     *autoscaling.HorizontalPodAutoscaler // of mongodb alone
	budget     *policy.PodDisruptionBudget          // likewise
	claim      *core.PersistentVolumeClaim          // of embedded alone
}

// load decodes a variant. An unknown field, a field twice, and an object of another kind fail.
func load(t *testing.T, files []string) (v variant) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		apps.AddToScheme, autoscaling.AddToScheme, core.AddToScheme, networking.AddToScheme, policy.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
	for _, file := range files {
		f, err := os.Open(folder + file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		documents := yaml.NewYAMLReader(bufio.NewReader(f))
		for {
			text, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			object, kind, err := strict.Decode(text, nil, nil)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			switch object := object.(type) {
			case *apps.Deployment:
				v.deployment = object
			case *core.Service:
				v.service = object
			case *core.ConfigMap:
				v.config = object
			case *core.Secret:
				v.secret = object
			case *core.ServiceAccount:
				v.account = object
			case *networking.NetworkPolicy:
				v.network = object
			case *autoscaling.HorizontalPodAutoscaler:
				v.scaler = object
			case *policy.PodDisruptionBudget:
				v.budget = object
			case *core.PersistentVolumeClaim:
				v.claim = object
			default:
				t.Fatalf("%s has a %s, which no test looks at", file, kind)
			}
		}
	}
	if v.deployment == nil || v.service == nil || v.config == nil || v.secret == nil || v.account == nil || v.network == nil {
		t.Fatal("an object is missing")
	}
	return v
}

func each(t *testing.T, test func(*testing.T, variant)) {
	t.Helper()
	for name, files := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, load(t, files))
		})
	}
}

func (v variant) pod() core.PodSpec         { return v.deployment.Spec.Template.Spec }
func (v variant) container() core.Container { return v.pod().Containers[0] }

// environment is what the container gets: the Secret and the ConfigMap, and what it sets itself, which goes before.
func (v variant) environment() map[string]string {
	env := map[string]string{}
	for name, value := range v.config.Data {
		env[name] = value
	}
	for name, value := range v.secret.StringData {
		env[name] = value
	}
	for _, e := range v.container().Env {
		env[e.Name] = e.Value
	}
	return env
}

// TestNames holds what refers to something to what is there.
func TestNames(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, v variant) {
		same := func(what, got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("%s is %q, want %q", what, got, want)
			}
		}
		pod, from := labels.Set(v.deployment.Spec.Template.Labels), v.container().EnvFrom
		selectors := map[string]*meta.LabelSelector{
			"Deployment": v.deployment.Spec.Selector, "Service": {MatchLabels: v.service.Spec.Selector}, "NetworkPolicy": &v.network.Spec.PodSelector,
		}
		same("the ConfigMap's name", from[0].ConfigMapRef.Name, v.config.Name)
		same("the Secret's name", from[1].SecretRef.Name, v.secret.Name)
		same("the ServiceAccount's name", v.pod().ServiceAccountName, v.account.Name)
		same("the Service's port", v.service.Spec.Ports[0].TargetPort.StrVal, v.container().Ports[0].Name)
		same("the NetworkPolicy's port", v.network.Spec.Ingress[0].Ports[0].Port.StrVal, v.container().Ports[0].Name)
		if v.scaler != nil {
			same("what is scaled", v.scaler.Spec.ScaleTargetRef.Name, v.deployment.Name)
			selectors["PodDisruptionBudget"] = v.budget.Spec.Selector
		}
		if v.claim != nil {
			same("the volume's claim", v.pod().Volumes[0].PersistentVolumeClaim.ClaimName, v.claim.Name)
			same("the mounted volume", v.container().VolumeMounts[0].Name, v.pod().Volumes[0].Name)
		}
		for what, selector := range selectors {
			if s, err := meta.LabelSelectorAsSelector(selector); err != nil || s.Empty() || !s.Matches(pod) {
				t.Errorf("the %s selects %v, and the pods have %v: %v", what, selector, pod, err)
			}
		}
	})
}

// TestUpdates holds the two ways of replacing a copy: on MongoDB the new one comes first, on the embedded database there are
// never two.
func TestUpdates(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, v variant) {
		strategy := v.deployment.Spec.Strategy
		if v.claim == nil {
			if strategy.Type != apps.RollingUpdateDeploymentStrategyType || strategy.RollingUpdate.MaxUnavailable.String() != "0" || *v.scaler.Spec.MinReplicas < 2 || v.budget == nil {
				t.Errorf("%+v", strategy)
			}
			return
		}
		if strategy.Type != apps.RecreateDeploymentStrategyType || *v.deployment.Spec.Replicas != 1 || !slices.Equal(v.claim.Spec.AccessModes, []core.PersistentVolumeAccessMode{core.ReadWriteOncePod}) {
			t.Errorf("%+v, %d replicas, %v", strategy, *v.deployment.Spec.Replicas, v.claim.Spec.AccessModes)
		}
	})
}

// TestTimes holds the times to those of main.go.
func TestTimes(t *testing.T) {
	t.Parallel()
	seconds := func(name string) time.Duration {
		found := regexp.MustCompile(`\b` + name + `\s+= (\d+) \* time\.Second\b`).FindSubmatch(read(t, "main.go"))
		if found == nil {
			t.Fatalf("main.go does not say %s in seconds", name)
		}
		n, _ := strconv.Atoi(string(found[1]))
		return time.Duration(n) * time.Second
	}
	stop, wait := seconds("drainTime")+seconds("finishTime")+seconds("flushTime"), seconds("databaseWait")
	each(t, func(t *testing.T, v variant) {
		delay, err := time.ParseDuration(v.environment()["DRAIN_DELAY"])
		if err != nil {
			t.Fatal(err)
		}
		if grace := time.Duration(*v.pod().TerminationGracePeriodSeconds) * time.Second; grace <= delay+stop {
			t.Errorf("it is killed after %s, and may take %s to stop", grace, delay+stop)
		}
		ready, start := v.container().ReadinessProbe, v.container().StartupProbe
		if noticed := time.Duration(ready.PeriodSeconds*ready.FailureThreshold) * time.Second; delay < 2*noticed {
			t.Errorf("it stops taking requests after %s, and that is noticed after %s", delay, noticed)
		}
		if started := time.Duration(start.PeriodSeconds*start.FailureThreshold) * time.Second; started <= wait {
			t.Errorf("it is killed after %s, and waits %s for the database", started, wait)
		}
	})
}

// TestImage holds user, volume and port to the Dockerfile's and the settings', and the rights to none.
// TestMemory leaves the kernel no reason to end the process: Go collects garbage before the limit of memory.
func TestMemory(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, v variant) {
		most, err := resource.ParseQuantity(strings.TrimSuffix(v.environment()["GOMEMLIMIT"], "B"))
		limits := v.container().Resources.Limits
		if limit := limits.Memory(); err != nil || most.Cmp(*limit) >= 0 || 2*most.Value() < limit.Value() {
			t.Errorf("Go takes %s of %s (%v)", most.String(), limit, err)
		}
	})
}

func TestImage(t *testing.T) {
	t.Parallel()
	dockerfile := string(read(t, "Dockerfile"))
	each(t, func(t *testing.T, v variant) {
		pod, c := v.pod().SecurityContext, v.container()
		user := strconv.FormatInt(*pod.RunAsUser, 10) + ":" + strconv.FormatInt(*pod.RunAsGroup, 10)
		if !strings.Contains(dockerfile, "\nUSER "+user+"\n") || !*pod.RunAsNonRoot || *pod.FSGroup != *pod.RunAsGroup {
			t.Errorf("it runs as %s", user)
		}
		if s := c.SecurityContext; *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) || s.Capabilities.Add != nil {
			t.Errorf("its rights are %+v", s)
		}
		if port := strconv.Itoa(int(c.Ports[0].ContainerPort)); !strings.Contains(dockerfile, "\nEXPOSE "+port+"\n") || !bytes.Contains(read(t, ".env.example"), []byte("\n#PORT="+port+"\n")) {
			t.Errorf("it listens at another port than %s", port)
		}
		if v.claim != nil {
			mount := c.VolumeMounts[0].MountPath
			file, _ := strings.CutPrefix(v.environment()["DATABASE_URL"], "sqlite:")
			if !strings.Contains(dockerfile, "\nVOLUME "+mount+"\n") || path.Dir(file) != mount {
				t.Errorf("the database is %s, and the volume %s", file, mount)
			}
		}
	})
}

// TestService starts the service with a variant's settings: with the Secret of the example it refuses, and with one that was
// filled in it answers the probes.
func TestService(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "service")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", binary, ".")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	example := string(read(t, ".env.example"))
	each(t, func(t *testing.T, v variant) {
		env := v.environment()
		delete(env, "GOMEMLIMIT") // Go's own
		env["METRICS_ADDR"] = "127.0.0.1:0"
		for name := range env {
			if !regexp.MustCompile(`(?m)^#?` + name + `=`).MatchString(example) {
				t.Errorf("%s is no setting", name)
			}
		}
		dir := t.TempDir()
		env["DATABASE_URL"] = "sqlite:" + filepath.Join(dir, "test.db")
		env["HOST"], env["PORT"], env["DRAIN_DELAY"] = "127.0.0.1", "0", "0s"
		cmd, _ := start(t, binary, dir, env)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 78 {
			t.Errorf("with the secrets of the example it ends with %d", code)
		}
		for name, value := range v.secret.StringData {
			if strings.Contains(example, "\n"+name+"="+value+"\n") { // and not "#NAME=": it has no default
				env[name] = rand.Text() + rand.Text()
			}
		}
		cmd, line := start(t, binary, dir, env)
		base := regexp.MustCompile(`http://[^,\s]+`).FindString(line)
		for what, probe := range map[string]*core.Probe{"startup": v.container().StartupProbe, "liveness": v.container().LivenessProbe, "readiness": v.container().ReadinessProbe} {
			answer, err := http.Get(base + probe.HTTPGet.Path)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusOK || probe.HTTPGet.Port.StrVal != v.container().Ports[0].Name {
				t.Errorf("%s: %s answers %s", what, probe.HTTPGet.Path, answer.Status)
			}
		}
		if err := errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()); err != nil {
			t.Error(err)
		}
	})
}

// start starts the service and returns its first line.
func start(t *testing.T, binary, dir string, env map[string]string) (*exec.Cmd, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	return cmd, line
}

// TestScore asks kube-score, which is pinned in scripts/tools.
func TestScore(t *testing.T) {
	t.Parallel()
	for name, files := range variants {
		args := []string{"tool", "-modfile=../../tools/go.mod", "kube-score", "score", "--exit-one-on-warning", "--output-format", "ci"}
		for _, file := range files {
			args = append(args, folder+file)
		}
		if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
