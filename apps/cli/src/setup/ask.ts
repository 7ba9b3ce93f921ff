import { cancel, intro, isCancel, note, select, text } from "@clack/prompts";
import { configSchema, TandemError } from "@tandem/protocol";
import type { Choices } from "./choices.ts";
import type { Discovery } from "./discover.ts";

type Found = Discovery["variables"];

const mark = (name: string, found: Found) => (found.includes(name) ? `${name} is set` : `${name} is not set`);

/** Asks for the values that no flag sets. */
export async function ask(folder: string, choices: Choices, discovery: Discovery): Promise<Choices> {
  const { login, variables } = discovery;
  intro(`Set up Tandem in ${folder}`);
  note(
    [
      login.detail,
      variables.length > 0 ? `Set: ${variables.join(", ")}.` : "No API keys are set in the environment.",
    ].join("\n"),
    "Found here",
  );
  const loggedIn = login.state === "logged_in" || login.state === "unreachable";
  const backend =
    choices.backend ??
    (await answered(
      select<NonNullable<Choices["backend"]>>({
        message: "Which model backend?",
        initialValue: loggedIn || !variables.includes("ANTHROPIC_API_KEY") ? "claude-code" : "anthropic",
        options: [
          { value: "claude-code", label: "Claude Code", hint: "your Claude login or a key; runs on this machine" },
          { value: "anthropic", label: "Anthropic's API", hint: mark("ANTHROPIC_API_KEY", variables) },
          { value: "vertex", label: "Google Vertex AI", hint: "a Google Cloud project" },
          { value: "gateway", label: "Vercel AI Gateway", hint: mark("AI_GATEWAY_API_KEY", variables) },
        ],
      }),
    ));
  const chosen = { ...choices, backend };
  const rest = backend === "claude-code" ? await askClaudeCode(chosen, discovery) : await askService(chosen);
  const model = choices.model ?? (await askText("Which default model?", "sonnet", "llm.models.default"));
  return { ...rest, model };
}

async function askClaudeCode(choices: Choices, { login, variables }: Discovery): Promise<Choices> {
  const auth =
    choices.auth ??
    (await answered(
      select<NonNullable<Choices["auth"]>>({
        message: "Which account is billed?",
        options: [
          { value: "login", label: "Your Claude login", hint: login.state.replace("_", " ") },
          { value: "api_key", label: "An Anthropic API key", hint: mark("ANTHROPIC_API_KEY", variables) },
          { value: "oauth_token", label: "A Claude OAuth token", hint: mark("CLAUDE_CODE_OAUTH_TOKEN", variables) },
        ],
      }),
    ));
  if (auth === "login") return { ...choices, auth };
  const [key, name] =
    auth === "api_key"
      ? (["llm.claudeCode.apiKey", "ANTHROPIC_API_KEY"] as const)
      : (["llm.claudeCode.oauthToken", "CLAUDE_CODE_OAUTH_TOKEN"] as const);
  return { ...choices, auth, apiKey: choices.apiKey ?? (await askSecret(key, name)) };
}

async function askService(choices: Choices): Promise<Choices> {
  switch (choices.backend) {
    case "anthropic":
      return {
        ...choices,
        apiKey: choices.apiKey ?? (await askSecret("llm.provider.anthropic.apiKey", "ANTHROPIC_API_KEY")),
      };
    case "gateway":
      return {
        ...choices,
        apiKey: choices.apiKey ?? (await askSecret("llm.provider.gateway.apiKey", "AI_GATEWAY_API_KEY")),
      };
    case "vertex":
      return {
        ...choices,
        vertexProject:
          choices.vertexProject ?? (await askText("Which Google Cloud project?", "", "llm.provider.vertex.project")),
        vertexLocation:
          choices.vertexLocation ?? (await askText("Which region?", "global", "llm.provider.vertex.location")),
      };
    case "claude-code":
    case undefined:
      return choices;
  }
}

const askSecret = (key: string, name: string) =>
  askText("Where is the key stored? (env:NAME, file:path or command:…)", `env:${name}`, key);

/** Asks for a text that is valid for `key`. */
async function askText(message: string, initialValue: string, key: string): Promise<string> {
  return answered(text({ message, initialValue, validate: (value) => problemWith(key, value ?? "") }));
}

/** Validates one value without the rest of the config. */
function problemWith(key: string, value: string): string | undefined {
  const config = key.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  return configSchema.safeParse(config).error?.issues[0]?.message;
}

async function answered<T>(question: Promise<T>): Promise<Exclude<T, symbol>> {
  const answer = await question;
  if (isCancel(answer)) {
    cancel("Nothing was written.");
    throw new TandemError("aborted", "Interrupted.");
  }
  return answer as Exclude<T, symbol>;
}
