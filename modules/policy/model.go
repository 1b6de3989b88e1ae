package policy

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"example.com/ginseng/kit/listing"
	"example.com/ginseng/kit/selector/v1beta1"
	"example.com/ginseng/kit/store"
)

// Policy is a stored policy.
type Policy struct {
	store.Meta `bson:",inline"`
	Namespace  string    `json:"namespace"`
	Name       string    `json:"name"`     // unique in the namespace
	Selector   *Selector `json:"selector"` // nil: every workload of the namespace
}

// stamp marks the version of a namespace. Its value is random, and changes with every write to the namespace; see cache.
type stamp struct {
	store.Meta `bson:",inline"`
	Namespace  string `json:"namespace"`
	Value      string `json:"value"`
}

// snapshot has the policies of a namespace. It is immutable.
type snapshot struct {
	namespace string
	stamp     string // read before the policies
	expires   time.Time
	policies  []Policy // oldest first, then by name
	index     v1beta1.Index[*Policy]
	bytes     int // approximate size in memory
}

// Selector states which workloads a policy applies to: those that have all of the labels. It is the JSON form of
// v1beta1.WorkloadSelector.
type Selector struct {
	MatchLabels map[string]string `json:"matchLabels" example:"app:reviews,version:v2"`
} //	@name	WorkloadSelector

// Input has the parameters of a policy.
type Input struct {
	Namespace string    `json:"namespace" validate:"required,max=63,dnslabel" example:"shop" maxLength:"63"`
	Name      string    `json:"name" validate:"required,max=63,dnslabel" example:"reviews-v2" maxLength:"63"`
	Selector  *Selector `json:"selector" swaggertype:"string" extensions:"x-json=WorkloadSelector" example:"{\"matchLabels\": {\"app\": \"reviews\", \"version\": \"v2\"}}"`
} //	@name	PolicyInput

// EvaluateInput describes a proxy; see v1beta1.Proxy.
type EvaluateInput struct {
	Namespace string `json:"namespace" validate:"required,max=63,dnslabel" example:"shop" maxLength:"63"`
	Metadata  Source `json:"metadata" swaggertype:"string" extensions:"x-json=object" example:"{\"labels\": {\"app\": \"reviews\", \"version\": \"v1\"}}"`
	Instance  Source `json:"instance" swaggertype:"string" extensions:"x-json=object" example:"{\"labels\": {\"version\": \"v2\"}}"`
	Handshake Source `json:"handshake" swaggertype:"string" extensions:"x-json=object" example:"{\"labels\": {\"zone\": \"eu-1\"}}"`
	Limit     int64  `json:"limit" default:"30" validate:"min=1,max=100" minimum:"1" maximum:"100"` // maximum number of policies per page
	After     string `json:"after" validate:"max=1000" maxLength:"1000"`                            // the value of next in the previous page, for the same proxy
	Count     bool   `json:"count" default:"true"`                                                  // false omits count from the response
	Explain   bool   `json:"explain" example:"true"`                                                // whether the response has explain: why policies apply or not
} //	@name	PolicyEvaluate

// scope returns the namespace and the labels of the proxy as a string. Cursors of an evaluation are valid only for this string.
func (in EvaluateInput) scope() string {
	labels, _ := json.Marshal(in.proxy().EffectiveLabels()) // never fails, and sorts the keys
	return "policies/evaluate?" + in.Namespace + "&" + string(labels)
}

// Source has the labels of a proxy from one source, such as its metadata.
type Source struct{ Labels map[string]string }

// View is a policy in a response.
type View struct {
	ID        store.ID   `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f903"`
	Namespace string     `json:"namespace" example:"shop"`
	Name      string     `json:"name" example:"reviews-v2"`
	Selector  *Selector  `json:"selector,omitempty" extensions:"x-omitempty"` // absent if the policy applies to every workload of the namespace
	CreatedAt store.Time `json:"createdAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
	UpdatedAt store.Time `json:"updatedAt" swaggertype:"string" format:"date-time" example:"2026-01-02T15:04:05.678Z"`
} //	@name	Policy

// Evaluation is a page of the result for a proxy.
type Evaluation struct {
	Count   *int          `json:"count,omitempty" extensions:"x-omitempty" example:"1"` // number of all policies that apply
	Rows    []View        `json:"rows"`                                                 // the policies that apply, oldest first, then by name
	Next    string        `json:"next,omitempty" extensions:"x-omitempty"`              // the value of the after parameter of the next request; absent on the last page
	Explain []Explanation `json:"explain,omitzero" extensions:"x-omitempty"`            // present only if explain is true: the policies of this page, and up to 100 policies in the same range that do not apply, in the same order
} //	@name	PolicyEvaluation

// Explanation states whether a policy applies to a proxy, and why.
type Explanation struct {
	Policy  Reference         `json:"policy"`
	Applies bool              `json:"applies" example:"true"`
	Labels  map[string]string `json:"labels" example:"app:ok,version:different"` // result for each label of the selector: ok, missing or different
} //	@name	PolicyExplanation

// Reference identifies a policy.
type Reference struct {
	ID        store.ID `json:"id" swaggertype:"string" example:"65f0c1d2e3a4b5c6d7e8f903"`
	Namespace string   `json:"namespace" example:"shop"`
	Name      string   `json:"name" example:"reviews-v2"`
} //	@name	PolicyReference

// View returns the policy for a response.
func (p Policy) View() View {
	return View{
		ID: p.ID, Namespace: p.Namespace, Name: p.Name, Selector: p.Selector,
		CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
}

func (s *Selector) message() *v1beta1.WorkloadSelector {
	if s == nil {
		return nil
	}
	return &v1beta1.WorkloadSelector{MatchLabels: s.MatchLabels}
}

// compareAge orders policies as an evaluation does: the oldest first, then by name.
func compareAge(a, b Policy) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt.Time), strings.Compare(a.Name, b.Name))
}

// entry returns the policy in the form that package v1beta1 indexes.
func (p *Policy) entry() v1beta1.Entry[*Policy] {
	return v1beta1.Entry[*Policy]{
		ID:        p, // so that Select returns the policies of the snapshot
		Namespace: p.Namespace, Name: p.Name, CreatedAt: p.CreatedAt.Time, Selector: p.Selector.message(),
	}
}

// size returns the approximate number of bytes of memory that the policy and its index entry use.
func (p *Policy) size() int {
	size := 512 // an estimate, as 192 for each label
	if p.Selector != nil {
		for key, value := range p.Selector.MatchLabels {
			size += 192 + len(key) + len(value)
		}
	}
	return size
}

// encoded returns the approximate number of bytes of the policy in a response.
func (p *Policy) encoded() int {
	bytes := 256 // an estimate of the other fields
	if p.Selector != nil {
		for key, value := range p.Selector.MatchLabels {
			bytes += len(key) + len(value) + len(`"":"",`) + len(v1beta1.Different) // an explanation has a verdict instead of the value
		}
	}
	return bytes
}

// explain compares the policy's selector with the labels of a workload.
func (p *Policy) explain(labels map[string]string) (Explanation, error) {
	e := Explanation{Policy: Reference{p.ID, p.Namespace, p.Name}, Applies: true, Labels: map[string]string{}}
	if p.Selector == nil {
		return e, nil
	}
	matcher, err := v1beta1.Compile(p.Selector.message())
	if err != nil {
		return e, err
	}
	for _, condition := range matcher.Explain(labels) {
		e.Labels[condition.Key] = condition.Verdict
		e.Applies = e.Applies && condition.Verdict == v1beta1.OK
	}
	return e, nil
}

func (in EvaluateInput) proxy() v1beta1.Proxy {
	return v1beta1.Proxy{
		Namespace: in.Namespace, Metadata: in.Metadata.Labels, Handshake: in.Handshake.Labels, Instance: in.Instance.Labels,
	}
}

func spec() listing.Spec {
	return listing.Spec{
		Name:   "policies",
		Sort:   []string{"name", "createdAt"},
		Filter: []listing.Filter{{Field: "namespace", Type: listing.Text}, {Field: "name", Type: listing.Text}},
		View:   View{},
	}
}

func storeSpec() store.Spec {
	return spec().Store(
		store.Index{Fields: []string{"namespace", "name"}, Unique: true},
		store.Index{Fields: []string{"namespace", "name"}}) // lists the policies of a namespace by name; a unique index does not sort, see store.Index
}
