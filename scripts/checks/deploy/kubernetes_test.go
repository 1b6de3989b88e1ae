package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

const root = "../../../"

// TestKubernetes decodes the manifests, rejecting unknown and duplicate fields, checks that their settings exist, and runs
// kube-score.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		apps.AddToScheme, autoscaling.AddToScheme, core.AddToScheme, networking.AddToScheme, policy.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
	example, err := os.ReadFile(root + ".env.example")
	if err != nil {
		t.Fatal(err)
	}
	checkSetting := func(file, name string) {
		if !regexp.MustCompile(`(?m)^#?` + name + `=`).Match(example) {
			t.Errorf("%s: %s is not a setting", file, name)
		}
	}
	for variant, files := range map[string][]string{
		"mongodb":  {"common.yaml", "secret.example.yaml", "mongodb.yaml"},
		"embedded": {"common.yaml", "secret.example.yaml", "embedded.yaml"},
	} {
		score := []string{"tool", "-modfile=" + root + "scripts/tools/go.mod", "kube-score", "score", "--exit-one-on-warning", "--output-format", "ci"}
		for _, file := range files {
			name := root + "deploy/kubernetes/" + file
			score = append(score, name)
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
				object, _, err := strict.Decode(document, nil, nil)
				if err != nil {
					t.Errorf("%s: %v", file, err)
				}
				switch object := object.(type) {
				case *core.ConfigMap:
					for name := range object.Data {
						checkSetting(file, name)
					}
				case *core.Secret:
					for name := range object.StringData {
						checkSetting(file, name)
					}
				case *apps.Deployment:
					for _, variable := range object.Spec.Template.Spec.Containers[0].Env {
						checkSetting(file, variable.Name)
					}
				}
			}
		}
		if out, err := exec.CommandContext(t.Context(), "go", score...).CombinedOutput(); err != nil {
			t.Errorf("kube-score, %s: %v\n%s", variant, err, strings.TrimSpace(string(out)))
		}
	}
}
