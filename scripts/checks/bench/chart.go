package main

import (
	"fmt"
	"os"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const chartWidth = 26 * vg.Centimeter

// draw writes a chart with a point per row and server, on a logarithmic scale.
func (r *report) draw(file string) error {
	plotutil.DefaultColors, plotter.DefaultGlyphStyle.Radius = plotutil.DarkColors, vg.Points(4)
	p := plot.New()
	p.Title.Text = fmt.Sprintf("Requests per second, %d connections", connections)
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	lines := slices.Clone(r.Rows)
	slices.Reverse(lines) // the first row on top
	rows := make([]string, len(lines))
	var points []any // alternating names and points, for plotutil
	for n, name := range r.names() {
		var rates plotter.XYs
		for i, l := range lines {
			rows[i] = l.Name
			if f := l.Figures[n]; !f.Absent {
				rates = append(rates, plotter.XY{X: max(1, f.PerSecond), Y: float64(i)})
			}
		}
		if rates == nil {
			continue
		}
		points = append(points, name, rates)
	}
	p.Add(plotter.NewGrid())
	p.Legend.Top, p.Legend.Left = true, true
	if err := plotutil.AddScatters(p, points...); err != nil {
		return err
	}
	p.NominalY(rows...)
	p.X.Min, p.X.Max = p.X.Min/2, p.X.Max*2
	p.Y.Max += 4 // room for the legend
	const rowHeight, frame = 0.6 * vg.Centimeter, 2 * vg.Centimeter
	return p.Save(chartWidth, frame+rowHeight*vg.Length(len(lines)+4), file)
}

// attackChart has the curves of one attack: alternating names and points, for plotutil.
type attackChart struct {
	name            string
	memory, latency []any // curves of the memory in MiB and of the latency in ms
}

func (c *attackChart) add(version string, moments []moment) {
	var memory, latency plotter.XYs
	for _, m := range moments {
		x := m.at.Seconds()
		memory = append(memory, plotter.XY{X: x, Y: float64(m.memory) / (1 << 20)})
		latency = append(latency, plotter.XY{X: x, Y: max(0.1, m.took.Seconds()*1000)})
	}
	c.memory, c.latency = append(c.memory, version, memory), append(c.latency, version, latency)
}

// drawAttacks writes a row of two charts per attack: memory, and the latency of another client.
func drawAttacks(charts []attackChart, file string) error {
	plots := make([][]*plot.Plot, len(charts))
	for i, c := range charts {
		memory, latency := plot.New(), plot.New()
		memory.Title.Text, memory.Y.Label.Text = c.name, "MiB"
		latency.Title.Text, latency.Y.Label.Text = "another client", "ms"
		latency.Y.Scale, latency.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		plots[i] = []*plot.Plot{memory, latency}
		for j, curves := range [][]any{c.memory, c.latency} {
			p := plots[i][j]
			p.X.Label.Text, p.Legend.Top = "s; the attack is from 5 to 20", true
			p.Add(plotter.NewGrid())
			if err := plotutil.AddLines(p, curves...); err != nil {
				return err
			}
		}
	}
	const height = 6 * vg.Centimeter
	canvas := vgsvg.New(chartWidth, height*vg.Length(len(charts)))
	tiles := draw.Tiles{Rows: len(charts), Cols: 2, PadX: vg.Centimeter, PadY: vg.Centimeter / 2}
	for i, row := range plot.Align(plots, tiles, draw.New(canvas)) {
		for j, tile := range row {
			plots[i][j].Draw(tile)
		}
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := canvas.WriteTo(out); err != nil {
		_ = out.Close() // the first error counts
		return err
	}
	return out.Close()
}
