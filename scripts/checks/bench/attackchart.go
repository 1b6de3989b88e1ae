package main

import (
	"image/color"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// attackChart has the curves of one attack, by version.
type attackChart struct {
	name            string
	versions        []string
	memory, latency []plotter.XYs // MiB, ms
}

func (c *attackChart) add(version string, moments []moment) {
	var memory, latency plotter.XYs
	for _, m := range moments {
		x := m.at.Seconds()
		memory = append(memory, plotter.XY{X: x, Y: float64(m.memory) / (1 << 20)})
		latency = append(latency, plotter.XY{X: x, Y: max(0.1, m.took.Seconds()*1000)})
	}
	c.versions, c.memory, c.latency = append(c.versions, version), append(c.memory, memory), append(c.latency, latency)
}

// drawAttacks writes a row of two charts per attack: memory, and the latency of another client.
func drawAttacks(charts []attackChart, file string) error {
	plots := make([][]*plot.Plot, len(charts))
	for i, c := range charts {
		memory, err := c.plot(c.name, "MiB", c.memory)
		if err != nil {
			return err
		}
		latency, err := c.plot("another client", "ms", c.latency)
		if err != nil {
			return err
		}
		latency.Y.Scale, latency.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		plots[i] = []*plot.Plot{memory, latency}
	}
	const width, height = 26 * vg.Centimeter, 6 * vg.Centimeter
	canvas := vgsvg.New(width, height*vg.Length(len(charts)))
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

func (c *attackChart) plot(title, unit string, curves []plotter.XYs) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, "s; the attack is from 5 to 20", unit
	p.Add(plotter.NewGrid())
	p.Legend.Top = true
	for i, curve := range curves {
		line, err := plotter.NewLine(curve)
		if err != nil {
			return nil, err
		}
		line.Color = color.RGBA{R: 190, G: 80, B: 20, A: 255}
		if c.versions[i] == "after" {
			line.Color = color.RGBA{R: 27, G: 120, B: 55, A: 255}
		}
		p.Add(line)
		p.Legend.Add(c.versions[i], line)
	}
	return p, nil
}
