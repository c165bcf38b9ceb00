package config

// What MassGen's configuration has besides. A file that uses it loads, and each
// use is named in a warning. When a key becomes supported its row is written in
// schema.go and its name leaves this list.

const laterTop = `
	memory session_id hooks filesystem_memory checkpoint nlip display timeout task`

const laterAgent = `
	voting_sensitivity subtask main_agent subagent_agents memory enable_nlip nlip append_system_prompt`

const laterBackend = `
	context_write_access_enabled enforce_read_before_delete
	max_mcp_message_history custom_tools
	auto_discover_custom_tools custom_tools_path exclude_custom_tools enable_code_based_tools
	direct_mcp_servers shared_tools_directory exclude_file_operation_mcps
	enable_multimodal_tools multimodal_config image_generation_* video_generation_*
	audio_generation_* enable_image_generation enable_audio_generation enable_video_generation
	enable_file_generation upload_files media_max_file_size_mb hooks llm_circuit_breaker_* gemini_backoff_*
	max_incomplete_response_retries use_two_tier_workspace write_mode instance_id filesystem_session_id
	session_storage_base agent_temporary_workspace debug_delay_seconds debug_delay_after_n_tools
	system_prompt append_system_prompt
	enable_tool_search tool_search_variant enable_programmatic_flow enable_strict_tool_use output_schema
	permission_mode disallowed_tools max_thinking_tokens use_default_prompt setting_sources
	model_reasoning_effort approval_mode interrupt_poll_seconds max_interrupts_per_turn
	disable_auto_update skip_health_check
	copilot_system_message_mode copilot_permission_policy session_send_timeout_seconds
	websocket_mode previous_response_id
	include_thoughts function_calling_mode
	enable_computer_use computer_environment display_width display_height
	agent_config group_config`

const laterOrchestrator = `
	coordination_mode presenter_agent voting_sensitivity
	voting_threshold max_midstream_injections_per_round defer_peer_updates_until_restart
	allow_midstream_peer_updates_before_checklist_submit max_checklist_calls_per_round
	checklist_first_answer checklist_require_gap_report gap_report_mode skip_coordination_rounds
	debug_final_answer enable_multimodal_tools multimodal_config image_generation_* video_generation_*
	audio_generation_* dspy enable_nlip nlip_config nlip docker skills_directory timeout
	max_orchestration_restarts max_turns type session_storage`

const laterCoordination = `
	planning_mode_instruction plan_depth plan_target_steps plan_target_chunks plan_thoroughness
	max_orchestration_restarts
	broadcast broadcast_sensitivity response_depth broadcast_timeout broadcast_wait_by_default
	max_broadcasts_per_agent learning_capture_mode
	disable_final_only_round_capture_fallback compression_target_ratio massgen_skills
	load_previous_session_skills persona_generator evaluation_criteria_generator
	prompt_improver task_decomposer pre_collab_voting_threshold enable_subagents subagent_*
	background_subagents async_subagents write_mode drift_conflict_policy use_two_tier_workspace
	enable_changedoc round_evaluator_* orchestrator_managed_round_evaluator
	enable_quality_rethink_on_iteration enable_novelty_on_iteration enable_execution_trace_analyzer
	auto_trace_analysis evolving_criteria* enable_evaluator_personas novelty_injection improvements
	checklist_criteria_preset checklist_criteria_inline criteria_mode bootstrap_max_per_agent_per_round
	bootstrap_max_total resume_from_log checkpoint_* standalone_checkpoint web_review fast_iteration_mode
	max_verifications_per_round max_internal_fix_loops skip_redundant_scaffolding`

const laterUI = `
	display_kwargs automation_mode skip_agent_selector debug use_orchestrator_for_single_agent`

// laterBackends are the backend types that are known and not supported yet.
const laterBackends = `
	gemini_cli antigravity_cli copilot ag2 autogen uitars operator`

// insteadOf are the APIs behind command-line agents.
var insteadOf = map[string]string{
	"gemini_cli": "gemini", "antigravity_cli": "gemini", "operator": "openai",
}

// advice is what to do in place of a key that is not supported.
var advice = map[string]string{
	"task":                            "the key for a default task is prompt",
	"display":                         "the key is ui, with display_type in it",
	"timeout":                         "the key is timeout_settings",
	"session_id":                      "conclave resume takes a session up",
	"hooks":                           "permissions.rules decide what an agent may do",
	"custom_tools":                    "offer the functions by an MCP server under mcp_servers",
	"system_prompt":                   "write system_message beside backend",
	"append_system_prompt":            "write system_message",
	"write_mode":                      "agents write in workspaces of their own, and the presenter alone in context paths",
	"use_two_tier_workspace":          "agents write in workspaces of their own",
	"max_thinking_tokens":             "the key is thinking, with budget_tokens in it",
	"model_reasoning_effort":          "the key is reasoning, with effort in it",
	"permission_mode":                 "permissions.rules decide what an agent may do, and its sandbox what it can",
	"approval_mode":                   "permissions.rules decide what an agent may do, and its sandbox what it can",
	"disallowed_tools":                "permissions.rules.deny keeps an agent from what it is not to do",
	"setting_sources":                 "the program is started without your own settings",
	"use_default_prompt":              "the program keeps its own prompt, and ours is added to it",
	"audit":                           "every action is in the log: conclave log",
	"persist_approvals":               "answers count for the run in which they are given",
	"security":                        "a server gets the variables under env and nothing else of yours; permissions.rules decide about its tools",
	"mount":                           "name files and folders under shell.mounts or context_paths",
	"additional_mounts":               "name files and folders under shell.mounts or context_paths",
	"env_file":                        "export the variables and name them under env_vars",
	"env_vars_from_file":              "export the variables and name them under env_vars",
	"pass_all_env":                    "name the variables under env_vars",
	"include_thoughts":                "thoughts are always asked for",
	"command_line_docker_enable_sudo": "build what commands need into an image and name it in command_line_docker_image",
	"command_line_docker_packages":    "build them into an image and name it in command_line_docker_image",
	"command_line_srt_network_allowed_domains": "commands have no network; command_line_docker_network_mode: bridge gives them all of it",
	"exclude_file_operation_mcps":              "files: false leaves the tools for files out",
}
