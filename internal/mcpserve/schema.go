package mcpserve

import "encoding/json"

// What clients are told of the tools besides launch_run's own description.
const (
	launchAbout = "\n\nThe call waits until the run is over and returns its result. Where that takes too long it returns status \"running\" and the run_id: then call get_run with wait. Calling launch_run again with the same arguments while the run goes on waits for that run; it is never launched twice. Status \"awaiting_approval\" means that a person has to approve the run first."
	listAbout   = "List the runs of this project, newest first, with their state."
	getAbout    = "Tell how a run stands, and with wait also wait for its end. Once it is over this returns its whole result: status, final_answer, workspace_path, answers of all agents, votes, files_written, cost."
	cancelAbout = "End a run now with what it has. Returns its result, with the answers that were there."
	answerAbout = "Read one answer of a run in full: its final answer, or with agent (and revision) that of one agent."
)

var (
	listIn = json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
		"limit":{"type":"integer","minimum":1,"maximum":200,"description":"How many at most; 20 if left out"},
		"before":{"type":"string","description":"The id of a run: list those that began before it"}}}`)
	getIn = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["run_id"],"properties":{
		"run_id":{"type":"string","description":"The id of a run, the part of one that only one run has, or the want of a run that waits for approval"},
		"wait":{"type":"integer","minimum":0,"description":"Wait so many seconds at most for the run to end; 0 or left out: do not wait"}}}`)
	cancelIn = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["run_id"],"properties":{
		"run_id":{"type":"string","description":"The id of a run, or the want of a run that waits for approval"}}}`)
	answerIn = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["run_id"],"properties":{
		"run_id":{"type":"string","description":"The id of a run"},
		"agent":{"type":"string","description":"The id of an agent; left out: the final answer of the run"},
		"revision":{"type":"integer","minimum":1,"description":"Which of that agent's answers; left out: its newest"}}}`)

	listOut = json.RawMessage(`{"type":"object","required":["runs","more"],"properties":{
		"more":{"type":"boolean","description":"There are older runs; call again with the last run_id as before"},"runs":{"type":"array","items":{"type":"object",
		"required":["run_id","task","state","mode","started_at"],"properties":{
		"run_id":{"type":"string"},"task":{"type":"string"},
		"state":{"type":"string","description":"running, waiting for you, unfinished (nobody drives it), success, timeout, error or cancelled"},
		"mode":{"type":"string"},"agents":{"type":["array","null"],"items":{"type":"string"}},"session":{"type":"string"},
		"started_at":{"type":"string","format":"date-time"},"ended_at":{"type":"string","format":"date-time"}}}}}}`)
	answerOut = json.RawMessage(`{"type":"object","required":["run_id","content","final"],"properties":{
		"run_id":{"type":"string"},"agent":{"type":"string"},"label":{"type":"string"},"revision":{"type":"integer"},
		"final":{"type":"boolean"},"content":{"type":"string"},"workspace":{"type":"string"}}}`)
	// launchOut is a RunResult, or how a run stands that is not over.
	launchOut = json.RawMessage(`{"type":"object","required":["status"],"properties":{
		"status":{"type":"string","enum":["success","timeout","error","cancelled","running","awaiting_approval"],
			"description":"The first four are of a run that is over, each with whatever answers and files there are; cancelled is also one that was not approved"},
		"run_id":{"type":"string"},
		"want":{"type":"string","description":"Names a run that is not launched yet"},
		"session":{"type":"string"},
		"progress":{"type":"string","description":"How a run that goes on stands"},
		"note":{"type":"string","description":"What the person who refused it said"},
		"how":{"type":"string","description":"What to do next"},
		"stopped_by":{"type":"string","description":"votes, answer_limit, budget, deadline, user or failure"},
		"final_answer":{"type":"string"},
		"workspace_path":{"type":"string","description":"The directory with the files that belong to the answer"},
		"coordination_summary":{"type":"object","properties":{
			"votes":{"type":["array","null"],"items":{"type":"object"}},"winner":{"type":"string"},"presenter":{"type":"string"},
			"how":{"type":"string"},"rounds":{"type":"integer"},"margin":{"type":"integer"},"tally":{"type":["object","null"]}}},
		"answers":{"type":["array","null"],"items":{"type":"object","properties":{
			"agent":{"type":"string"},"label":{"type":"string"},"revision":{"type":"integer"},"content":{"type":"string"},"workspace":{"type":"string"}}}},
		"files_written":{"type":["array","null"],"items":{"type":"object","properties":{"path":{"type":"string"},"change":{"type":"string"}}}},
		"files_written_total":{"type":"integer"},
		"files_written_list":{"type":"string"},
		"error":{"type":"string"},
		"usage":{"type":"object"},
		"started_at":{"type":"string","format":"date-time"},
		"ended_at":{"type":"string","format":"date-time"},
		"duration":{"type":"string"},
		"down":{"type":"string"},
		"resumed":{"type":"integer"}}}`)
)
