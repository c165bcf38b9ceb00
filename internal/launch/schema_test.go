package launch_test

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"conclave/internal/launch"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the golden schema")

// The schema names the ten parameters and the agents there are.
//
// IM-02.1
func TestSchema(t *testing.T) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(launch.Schema(three)); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/schema.json"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("the schema has changed; if that is right, run with -update:\n%s", diff)
	}
	var s struct {
		Properties map[string]any
		Required   []string
	}
	if err := json.Unmarshal(launch.Schema(nil), &s); err != nil {
		t.Fatal(err)
	}
	ten := strings.Fields("task context agent_mode agents refinement planning_mode execute_after_planning context_paths agent_system_prompts coordination_overrides")
	for _, name := range ten {
		if s.Properties[name] == nil {
			t.Errorf("no %s", name)
		}
	}
	if len(s.Properties) != len(ten) || !slices.Equal(s.Required, []string{"task"}) {
		t.Errorf("%d parameters, required %v", len(s.Properties), s.Required)
	}
}

// What the schema takes is what Parse takes, as far as a schema can say it.
func TestSchemaAndParseAgree(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(launch.Schema(three))))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("launch_run.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("launch_run.json")
	if err != nil {
		t.Fatal(err)
	}
	inputs := []string{
		`{}`, `{"task":"x"}`, `{"task":1}`, `{"task":"x","y":1}`, `{"task":"x","agents":["ada","bob"]}`, `{"task":"x","agents":["dan"]}`,
		`{"task":"x","agents":["ada","ada"]}`, `{"task":"x","agent_mode":"some"}`, `{"task":"x","context_paths":[{"path":"/a","permission":"rw"}]}`,
		`{"task":"x","context_paths":[{"path":"/a","permission":"write"}]}`, `{"task":"x","agent_system_prompts":{"dan":"y"}}`,
		`{"task":"x","agent_system_prompts":{"ada":"y"}}`, `{"task":"x","coordination_overrides":{"z":1}}`,
		`{"task":"x","coordination_overrides":{"require_approval":true}}`, `{"task":"x","coordination_overrides":{"require_approval":false}}`,
	}
	for name, values := range samples {
		for _, v := range append(values, "-1", `"x"`, "{}") {
			inputs = append(inputs, `{"task":"x","coordination_overrides":{"`+name+`":`+v+`}}`)
		}
	}
	for _, in := range inputs {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		bySchema := schema.Validate(v)
		p, byParse := launch.Parse(json.RawMessage(in))
		if byParse == nil {
			_, byParse = p.Launch(three)
		}
		if (bySchema == nil) != (byParse == nil) {
			t.Errorf("%s: the schema says %v, the program %v", in, bySchema, byParse)
		}
	}
}

// A model is told of every mode and of every way a run can end.
//
// DZ-01
func TestDescription(t *testing.T) {
	got := launch.Description()
	for _, want := range strings.Fields("single multi refinement planning_mode execute_after_planning success timeout error cancelled final_answer workspace_path coordination_summary") {
		if !strings.Contains(got, want) {
			t.Errorf("nothing of %s", want)
		}
	}
}
