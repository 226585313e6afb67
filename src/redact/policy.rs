//! What the operator may say about places: how far scanning reaches, and what happens to content attributes.
//!
//! Plain types; `config` fills them in. What of a text is secret is not decided here: that is `rules` and `text`.

use super::canary;

/// Which places are scanned, and which attributes get a stronger action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// How far scanning reaches.
    pub scope: Scope,
    /// Attribute keys that carry content, at any depth: an exact key, or a prefix where it ends in `.`.
    pub content_attributes: Vec<String>,
    /// What happens to the values of those attributes.
    pub content_action: ContentAction,
}

/// Which texts are scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Every text of every signal.
    #[default]
    Everywhere,
    /// Only the values of `content_attributes`.
    Listed,
}

/// What happens to the value of a content attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContentAction {
    /// It is scanned, like everything else.
    #[default]
    Scrub,
    /// The whole value becomes `[REDACTED:masked]`.
    Mask,
    /// The attribute is removed (an entry of a profile's attribute table keeps its place and loses its value).
    Drop,
    /// It is scanned, then each text in it is cut to this many bytes, at a character boundary, never inside a marker.
    Truncate(usize),
}

impl Policy {
    /// Whether an attribute of this key carries content.
    ///
    /// The self-canary's key always does: it must be reached in any scope.
    pub fn is_content(&self, key: &[u8]) -> bool {
        let listed = self.content_attributes.iter().any(|listed| {
            let listed = listed.as_bytes();
            if listed.ends_with(b".") { key.starts_with(listed) } else { key == listed }
        });
        listed || key == canary::KEY.as_bytes()
    }

    /// Whether anything depends on [`Self::is_content`].
    pub(super) fn looks_at_keys(&self) -> bool {
        self.scope == Scope::Listed || self.content_action != ContentAction::Scrub
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            scope: Scope::default(),
            content_attributes: CONTENT_ATTRIBUTES.iter().map(|&key| key.to_owned()).collect(),
            content_action: ContentAction::default(),
        }
    }
}

/// Keys by which instrumentations carry prompts, completions, tool inputs and tool outputs, by convention.
pub const CONTENT_ATTRIBUTES: &[&str] = &[
    // OpenTelemetry GenAI conventions, OpenLLMetry, and the agent hooks that this began with.
    "gen_ai.",
    "tool.input",
    "tool.input.",
    "tool.output",
    "tool.output.",
    "tool.parameters",
    "mcp.request.argument",
    "mcp.response.value",
    "traceloop.entity.input",
    "traceloop.entity.output",
    "llm.prompts.",
    "llm.request.functions.",
    // OpenInference.
    "input.value",
    "output.value",
    "llm.input_messages.",
    "llm.output_messages.",
    "llm.choices.",
    "llm.content.completion.chunk",
    "llm.function_call",
    "llm.invocation_parameters",
    "llm.prompt_template.",
    "llm.tools.",
    "document.content",
    "reranker.",
    "retrieval.documents.",
    // Langfuse, LangSmith, MLflow, Braintrust.
    "langfuse.observation.input",
    "langfuse.observation.output",
    "langfuse.trace.input",
    "langfuse.trace.output",
    "mlflow.spanInputs",
    "mlflow.spanOutputs",
    "mlflow.traceInputs",
    "mlflow.traceOutputs",
    "braintrust.input",
    "braintrust.input_json",
    "braintrust.output",
    "braintrust.output_json",
    // Vercel AI SDK.
    "ai.prompt",
    "ai.prompt.",
    "ai.response.text",
    "ai.response.object",
    "ai.response.reasoning",
    "ai.response.toolCalls",
    "ai.toolCall.args",
    "ai.toolCall.result",
    // Pydantic AI and Logfire.
    "all_messages_events",
    "pydantic_ai.all_messages",
    "tool_arguments",
    "tool_response",
    // Command-line agents.
    "arguments",
    "bash_command",
    "body",
    "content",
    "diff",
    "full_command",
    "function_args",
    "new_context",
    "output",
    "prompt",
    "prompt_text",
    "request_text",
    "response",
    "response.model_output",
    "response_text",
    "system_prompt",
    "tool_input",
    "tool_parameters",
    "user_prompt",
    "user_system_prompt",
];
