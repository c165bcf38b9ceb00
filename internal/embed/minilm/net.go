package minilm

import (
	"math"

	"github.com/viterin/vek/vek32"

	"conclave/internal/embed"
	"conclave/internal/embed/minilm/weights"
)

const (
	hidden = weights.Hidden
	heads  = weights.Heads
	width  = hidden / heads // of a head
)

// A net is the model ready for work. The matrices of layers are numbers again;
// the vectors of words stay packed, a text needs only some of them.
type net struct {
	vocab
	words               weights.Matrix
	places              []float32
	normScale, normBias []float32
	layers              [weights.Layers]layer
	gelu                []float32
}

type layer struct {
	query, key, value, out, up, down         dense
	normScale, normBias, lastScale, lastBias []float32
}

// A dense multiplies with a matrix and adds a bias.
type dense struct {
	w    []float32 // one row per output
	bias []float32
}

func unpack(f *weights.File) *net {
	n := &net{vocab: newVocab(f.Vocab), words: f.Words, places: f.Places, normScale: f.NormScale, normBias: f.NormBias, gelu: geluTable()}
	for i := range f.Layers {
		l := &f.Layers[i]
		n.layers[i] = layer{
			query: newDense(&l.Query, l.QueryB), key: newDense(&l.Key, l.KeyB), value: newDense(&l.Value, l.ValueB),
			out: newDense(&l.Out, l.OutB), up: newDense(&l.Up, l.UpB), down: newDense(&l.Down, l.DownB),
			normScale: l.NormScale, normBias: l.NormBias, lastScale: l.LastScale, lastBias: l.LastBias,
		}
	}
	return n
}

func newDense(m *weights.Matrix, bias []float32) dense {
	d := dense{w: make([]float32, m.Rows*m.Cols), bias: bias}
	for r := range m.Rows {
		m.Row(r, d.w[r*m.Cols:(r+1)*m.Cols])
	}
	return d
}

// apply gives as many outputs for each of n inputs as there are rows.
func (d *dense) apply(x []float32, n int) []float32 {
	in, out := len(x)/n, len(d.bias)
	y := make([]float32, n*out)
	for o := range out {
		row, b := d.w[o*in:(o+1)*in], d.bias[o]
		for t := range n {
			y[t*out+o] = vek32.Dot(row, x[t*in:(t+1)*in]) + b
		}
	}
	return y
}

// vector is the mean of what the last layer gives for every piece, at length one.
func (n *net) vector(ids []int32) []float32 {
	x := make([]float32, len(ids)*hidden)
	for t, id := range ids {
		row := x[t*hidden : (t+1)*hidden]
		n.words.Row(int(id), row)
		vek32.Add_Inplace(row, n.places[t*hidden:(t+1)*hidden])
	}
	normalize(x, n.normScale, n.normBias)
	for i := range n.layers {
		x = n.layer(&n.layers[i], x, len(ids))
	}
	mean := make([]float32, hidden)
	for t := range ids {
		vek32.Add_Inplace(mean, x[t*hidden:(t+1)*hidden])
	}
	embed.Unit(mean)
	return mean
}

func (n *net) layer(l *layer, x []float32, count int) []float32 {
	a := attend(l.query.apply(x, count), l.key.apply(x, count), l.value.apply(x, count), count)
	a = l.out.apply(a, count)
	vek32.Add_Inplace(a, x)
	normalize(a, l.normScale, l.normBias)
	up := l.up.apply(a, count)
	for i, v := range up {
		up[i] = n.bend(v)
	}
	y := l.down.apply(up, count)
	vek32.Add_Inplace(y, a)
	normalize(y, l.lastScale, l.lastBias)
	return y
}

// attend mixes the values of all pieces for each piece, head by head.
func attend(q, k, v []float32, n int) []float32 {
	out := make([]float32, n*hidden)
	share := make([]float32, n)
	across := make([]float32, width*n) // the values of a head, piece beside piece
	scale := float32(1 / math.Sqrt(width))
	for h := range heads {
		off := h * width
		for t := range n {
			for i, x := range v[t*hidden+off : t*hidden+off+width] {
				across[i*n+t] = x
			}
		}
		for t := range n {
			mine := q[t*hidden+off : t*hidden+off+width]
			for u := range n {
				share[u] = vek32.Dot(mine, k[u*hidden+off:u*hidden+off+width]) * scale
			}
			softmax(share)
			to := out[t*hidden+off : t*hidden+off+width]
			for i := range to {
				to[i] = vek32.Dot(share, across[i*n:(i+1)*n])
			}
		}
	}
	return out
}

func softmax(x []float32) {
	top := vek32.Max(x)
	sum := float32(0)
	for i, v := range x {
		x[i] = float32(math.Exp(float64(v - top)))
		sum += x[i]
	}
	vek32.MulNumber_Inplace(x, 1/sum)
}

// normalize gives every row a mean of zero and a variance of one, then the scale
// and the bias that were learned.
func normalize(x, scale, bias []float32) {
	for ; len(x) > 0; x = x[hidden:] {
		row := x[:hidden]
		mean := vek32.Sum(row) / hidden
		vek32.SubNumber_Inplace(row, mean)
		f := float32(1 / math.Sqrt(float64(vek32.Dot(row, row)/hidden)+1e-12))
		vek32.MulNumber_Inplace(row, f)
		vek32.Mul_Inplace(row, scale)
		vek32.Add_Inplace(row, bias)
	}
}

// The activation between the two matrices of a layer is looked up: the error
// function would cost a third of the whole. Beyond the table it is 0 or x.
const (
	geluEnd   = 6
	geluSteps = 512 // for each unit
)

func geluTable() []float32 {
	t := make([]float32, 2*geluEnd*geluSteps+2)
	for i := range t {
		x := float64(i)/geluSteps - geluEnd
		t[i] = float32(x / 2 * (1 + math.Erf(x/math.Sqrt2)))
	}
	return t
}

func (n *net) bend(x float32) float32 {
	switch {
	case x <= -geluEnd:
		return 0
	case x >= geluEnd:
		return x
	}
	p := (x + geluEnd) * geluSteps
	i := int(p)
	return n.gelu[i] + (p-float32(i))*(n.gelu[i+1]-n.gelu[i])
}
