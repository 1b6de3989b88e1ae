// Package meter lets a part of the service offer what it counts by itself, without knowing who reads it.
package meter

// Metric is a number, or several that one label tells apart. It is read when somebody asks for it.
type Metric struct {
	Name    string // as Prometheus writes names: in full words, with the unit, a counter with _total
	Help    string
	Counter bool                      // it only grows; else it goes up and down
	Label   string                    // "" where there is one number
	Read    func() map[string]float64 // by the value of the label, which is "" where there is one number
}

// Metered is a part of the service that counts.
type Metered interface {
	// Metrics are always the same ones.
	Metrics() []Metric
}
