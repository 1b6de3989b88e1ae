package main

import (
	"fmt"
	"slices"
	"strings"
)

// context is how many equal lines a diff shows around what differs.
const context = 3

// diff is the change as a unified diff.
func (c change) diff() string {
	from, to := "a/"+c.Path, "b/"+c.Path
	if c.Old == nil {
		from = "/dev/null"
	}
	if c.New == nil {
		to = "/dev/null"
	}
	a, b := splitLines(c.Old), splitLines(c.New)
	script := compare(a, b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", from, to)
	for begin := 0; begin < len(script); {
		if script[begin].kind == ' ' {
			begin++
			continue
		}
		end, equal := begin, 0 // the hunk ends before more equal lines than two contexts
		for i := begin; i < len(script) && equal <= 2*context; i++ {
			if equal++; script[i].kind != ' ' {
				end, equal = i+1, 0
			}
		}
		hunk := script[max(0, begin-context):min(len(script), end+context)]
		var countA, countB int
		for _, line := range hunk {
			if line.kind != '+' {
				countA++
			}
			if line.kind != '-' {
				countB++
			}
		}
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", span(hunk[0].a, countA), span(hunk[0].b, countB))
		for _, line := range hunk {
			fmt.Fprintf(&out, "%c%s", line.kind, line.text)
			if !strings.HasSuffix(line.text, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
		begin = end
	}
	return out.String()
}

func span(before, count int) string {
	if count == 0 {
		return fmt.Sprintf("%d,0", before)
	}
	return fmt.Sprintf("%d,%d", before+1, count)
}

func splitLines(text []byte) []string {
	lines := strings.SplitAfter(string(text), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// scriptLine is a line of an edit script: kept, taken away or added; a and b are how many lines stand before it.
type scriptLine struct {
	kind byte
	text string
	a, b int
}

// compare is the shortest edit script from a to b (E. W. Myers, An O(ND) Difference Algorithm, 1986).
func compare(a, b []string) []scriptLine {
	offset := len(a) + len(b) + 1
	furthest := make([]int, 2*offset+1)
	var trace [][]int
	for d := 0; ; d++ {
		trace = append(trace, slices.Clone(furthest[offset-d:offset+d+1]))
		for k := -d; k <= d; k += 2 {
			x := furthest[offset+k-1] + 1
			if k == -d || k != d && furthest[offset+k-1] < furthest[offset+k+1] {
				x = furthest[offset+k+1]
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			furthest[offset+k] = x
			if x >= len(a) && x-k >= len(b) {
				return script(a, b, trace)
			}
		}
	}
}

// script walks the furthest points back.
func script(a, b []string, trace [][]int) []scriptLine {
	var out []scriptLine
	x, y := len(a), len(b)
	for d := len(trace) - 1; d >= 0; d-- {
		before := func(k int) int { // the furthest point of d-1 on the diagonal
			if d == 0 || k < -d || k > d {
				return 0
			}
			return trace[d][k+d]
		}
		k := x - y
		previous := k - 1
		if k == -d || k != d && before(k-1) < before(k+1) {
			previous = k + 1
		}
		toX := before(previous)
		toY := toX - previous
		if d == 0 {
			toX, toY = 0, 0
		}
		for x > toX && y > toY {
			x, y = x-1, y-1
			out = append(out, scriptLine{' ', a[x], x, y})
		}
		if d > 0 && x > toX {
			x--
			out = append(out, scriptLine{'-', a[x], x, y})
		} else if d > 0 {
			y--
			out = append(out, scriptLine{'+', b[y], x, y})
		}
	}
	slices.Reverse(out)
	return out
}
