//! What the operator may say about places: how far scanning reaches, and what happens to listed attributes.
//!
//! Plain types; `config` fills them in. What of a text is secret is not decided here: that is `rules` and `text`.

use super::action::Action;
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
    /// Further lists of keys, each with an action of its own. Where an attribute is in several, the strongest counts.
    pub attribute_actions: Vec<AttributeAction>,
}

/// A list of attribute keys and what happens to their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeAction {
    /// As [`Policy::content_attributes`].
    pub keys: Vec<String>,
    /// What happens to the values.
    pub action: ContentAction,
}

/// Which texts are scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Every text of every signal.
    #[default]
    Everywhere,
    /// Only the values of listed attributes.
    Listed,
}

/// What happens to the value of a listed attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContentAction {
    /// It is scanned, like everything else.
    #[default]
    Scrub,
    /// The whole value becomes `[REDACTED:masked]`.
    Mask,
    /// The whole value becomes `[REDACTED:masked:<digits>]`, the same digits for the same value.
    Hmac,
    /// The whole value becomes `[REDACTED:masked:...<last 4>]` where it is long enough.
    KeepLast4,
    /// The attribute is removed (an entry of a profile's attribute table keeps its place and loses its value).
    Drop,
    /// It is scanned, then each text in it is cut to this many bytes, at a character boundary, never inside a marker.
    Truncate(usize),
}

impl ContentAction {
    /// The greater one hides more.
    fn strength(self) -> (u8, std::cmp::Reverse<usize>) {
        let (strength, left) = match self {
            Self::Scrub => (0, usize::MAX),
            Self::Truncate(limit) => (1, limit),
            Self::KeepLast4 => (2, 0),
            Self::Hmac => (3, 0),
            Self::Mask => (4, 0),
            Self::Drop => (5, 0),
        };
        (strength, std::cmp::Reverse(left))
    }

    /// Whether nothing of the value stays to be scanned.
    pub(super) fn hides(self) -> bool {
        self.mark().is_some()
    }

    /// How the marker of a value that is hidden as a whole is written.
    pub(super) fn mark(self) -> Option<Action> {
        match self {
            Self::Scrub | Self::Truncate(_) => None,
            Self::Mask | Self::Drop => Some(Action::Mask),
            Self::Hmac => Some(Action::Hmac),
            Self::KeepLast4 => Some(Action::KeepLast4),
        }
    }
}

/// The stronger of two actions.
pub(super) fn stronger(one: Option<ContentAction>, other: Option<ContentAction>) -> Option<ContentAction> {
    one.into_iter().chain(other).max_by_key(|action| action.strength())
}

impl Policy {
    /// Whether an attribute of this key carries content, and what is to happen to it.
    ///
    /// The self-canary's key always does: it must be reached in any scope.
    pub fn content(&self, key: &[u8]) -> Option<ContentAction> {
        let listed = |keys: &[String]| {
            keys.iter().any(|listed| {
                let listed = listed.as_bytes();
                if listed.ends_with(b".") { key.starts_with(listed) } else { key == listed }
            })
        };
        let content = listed(&self.content_attributes) || key == canary::KEY.as_bytes();
        let further = self.attribute_actions.iter().filter(|list| listed(&list.keys)).map(|list| list.action);
        further.map(Some).fold(content.then_some(self.content_action), stronger)
    }

    /// Whether anything depends on [`Self::content`].
    pub(super) fn looks_at_keys(&self) -> bool {
        let lists = self.attribute_actions.iter().map(|list| list.action);
        self.scope == Scope::Listed
            || lists.chain([self.content_action]).any(|action| action != ContentAction::Scrub)
    }

    /// Whether tags are wanted, which take a key.
    pub fn wants_tags(&self) -> bool {
        let lists = self.attribute_actions.iter().map(|list| list.action);
        lists.chain([self.content_action]).any(|action| action == ContentAction::Hmac)
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            scope: Scope::default(),
            content_attributes: CONTENT_ATTRIBUTES.iter().map(|&key| key.to_owned()).collect(),
            content_action: ContentAction::default(),
            attribute_actions: Vec::new(),
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
