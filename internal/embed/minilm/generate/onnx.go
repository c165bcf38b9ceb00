package main

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// An onnx is what is needed of a model in that format: its constants, and which
// of them every multiplication of matrices multiplies with.
type onnx struct {
	consts  map[string][]float32
	factors map[string]string // output of the multiplication → constant
}

func (o *onnx) vector(name string) []float32 { return o.consts[name] }

// factor is the constant that a node of the graph multiplies with.
func (o *onnx) factor(node string) []float32 { return o.consts[o.factors[node+"/MatMul_output_0"]] }

// The numbers of fields in the format.
const (
	modelGraph                                     = 7
	graphNode, graphInitializer                    = 1, 5
	nodeInput, nodeOutput, nodeOp                  = 1, 2, 4
	tensorType, tensorName, tensorRaw, typeFloat32 = 2, 8, 9, 1
)

func parse(model []byte) (*onnx, error) {
	o := &onnx{consts: map[string][]float32{}, factors: map[string]string{}}
	err := fields(model, func(n protowire.Number, v []byte, _ uint64) error {
		if n != modelGraph {
			return nil
		}
		return fields(v, func(n protowire.Number, v []byte, _ uint64) error {
			switch n {
			case graphNode:
				return o.node(v)
			case graphInitializer:
				return o.tensor(v)
			}
			return nil
		})
	})
	return o, err
}

func (o *onnx) node(b []byte) error {
	var in, out []string
	var op string
	err := fields(b, func(n protowire.Number, v []byte, _ uint64) error {
		switch n {
		case nodeInput:
			in = append(in, string(v))
		case nodeOutput:
			out = append(out, string(v))
		case nodeOp:
			op = string(v)
		}
		return nil
	})
	if op == "MatMul" && len(in) == 2 && len(out) == 1 {
		o.factors[out[0]] = in[1]
	}
	return err
}

func (o *onnx) tensor(b []byte) error {
	var name string
	var raw []byte
	var kind uint64
	err := fields(b, func(n protowire.Number, v []byte, x uint64) error {
		switch n {
		case tensorType:
			kind = x
		case tensorName:
			name = string(v)
		case tensorRaw:
			raw = v
		}
		return nil
	})
	if kind != typeFloat32 {
		return err
	}
	out := make([]float32, len(raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	o.consts[name] = out
	return err
}

// fields calls each with every field of a message: bytes or a number.
func fields(b []byte, each func(n protowire.Number, v []byte, x uint64) error) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var v []byte
		var x uint64
		switch kind {
		case protowire.BytesType:
			v, n = protowire.ConsumeBytes(b)
		case protowire.VarintType:
			x, n = protowire.ConsumeVarint(b)
		default:
			n = protowire.ConsumeFieldValue(num, kind, b)
		}
		if n < 0 {
			return fmt.Errorf("field %d: %w", num, protowire.ParseError(n))
		}
		b = b[n:]
		if err := each(num, v, x); err != nil {
			return err
		}
	}
	return nil
}
