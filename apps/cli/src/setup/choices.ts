import type { Backend, ClaudeCodeAuth } from "@tandem/protocol";
import { TandemError } from "@tandem/protocol";
import type { Edit } from "@tandem/tandem/config";

/** The choices of `tandem setup`, from flags and questions. */
export interface Choices {
  backend?: Exclude<Backend, "none">;
  auth?: ClaudeCodeAuth;
  /** The reference of the key, or of the token with `auth: oauth_token`. */
  apiKey?: string;
  baseUrl?: string;
  vertexProject?: string;
  vertexLocation?: string;
  vertexCredentials?: string;
  model?: string;
}

const FLAGS: Record<keyof Choices, string> = {
  backend: "--backend",
  auth: "--auth",
  apiKey: "--api-key",
  baseUrl: "--base-url",
  vertexProject: "--vertex-project",
  vertexLocation: "--vertex-location",
  vertexCredentials: "--vertex-credentials",
  model: "--model",
};

/** The config key of each choice. A missing one does not apply to the backend. */
function keysFor({ backend, auth = "login" }: Choices): Partial<Record<keyof Choices, string>> {
  const always = { backend: "llm.provider.backend", model: "llm.models.default" };
  switch (backend) {
    case undefined:
      return always;
    case "anthropic":
    case "gateway":
      return { ...always, apiKey: `llm.provider.${backend}.apiKey`, baseUrl: `llm.provider.${backend}.baseUrl` };
    case "vertex":
      return {
        ...always,
        baseUrl: "llm.provider.vertex.baseUrl",
        vertexProject: "llm.provider.vertex.project",
        vertexLocation: "llm.provider.vertex.location",
        vertexCredentials: "llm.provider.vertex.credentials",
      };
    case "claude-code": {
      const claudeCode = { ...always, auth: "llm.claudeCode.auth" };
      if (auth === "login") return claudeCode;
      if (auth === "oauth_token") return { ...claudeCode, apiKey: "llm.claudeCode.oauthToken" };
      return { ...claudeCode, apiKey: "llm.claudeCode.apiKey", baseUrl: "llm.claudeCode.baseUrl" };
    }
  }
}

/** Converts choices to config edits. Throws on a choice that the backend would ignore. */
export function toEdits(choices: Choices): Edit[] {
  const keys = keysFor(choices);
  return (Object.keys(FLAGS) as (keyof Choices)[]).flatMap((choice) => {
    const value = choices[choice];
    if (value === undefined) return [];
    const path = keys[choice];
    if (path) return [{ path, value }];
    const auth = choices.backend === "claude-code" ? ` with --auth ${choices.auth ?? "login"}` : "";
    throw new TandemError("usage", `${FLAGS[choice]} has no effect with the backend ${choices.backend}${auth}.`, {
      fix: `Omit it, or choose a matching backend; see \`tandem setup --help\`.`,
    });
  });
}
