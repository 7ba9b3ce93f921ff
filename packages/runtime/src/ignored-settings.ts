import type { LlmConfig } from "@tandem/protocol";
import { defaultSection } from "@tandem/protocol";

export interface IgnoredSetting {
  /** The key in tandem.yaml. */
  key: string;
  why: string;
}

/** Changed settings that the chosen backend ignores; shown, so that users do not rely on them. */
export function ignoredSettings(config: LlmConfig): IgnoredSetting[] {
  if (config.provider.backend === "none") return [];
  const defaults = new Map(settingsIn(defaultSection("llm")));
  return settingsIn(config)
    .filter(([path, value]) => value !== defaults.get(path))
    .flatMap(([path]) => {
      const why = whyIgnored(path, config);
      return why ? [{ key: `llm.${path}`, why }] : [];
    });
}

/** Path and value of each setting. */
function settingsIn(section: object, prefix = ""): [path: string, value: unknown][] {
  return Object.entries(section).flatMap(([name, value]): [string, unknown][] =>
    typeof value === "object" ? settingsIn(value, `${prefix}${name}.`) : [[`${prefix}${name}`, value]],
  );
}

const CREDENTIALS: Readonly<Record<string, string>> = {
  apiKey: "api_key",
  baseUrl: "api_key",
  oauthToken: "oauth_token",
};
const FOR_REUSE = new Set(["maxCalls", "maxMemoryMb"]);
const FOR_CLAUDE_CODE = "Only the claude-code backend uses it.";

/** Whether it is the TTL of a section that is not cached. */
function isUncached(name: string, { promptCaching }: LlmConfig): boolean {
  if (name === "systemTtl") return !promptCaching.cacheSystem;
  if (name === "toolsTtl") return !promptCaching.cacheTools;
  return name === "historyTtl" && !promptCaching.cacheHistory;
}

function whyIgnored(path: string, config: LlmConfig): string | undefined {
  const { backend } = config.provider;
  const [section, name = ""] = path.split(".");
  switch (section) {
    case "provider":
      return name === "backend" || name === backend ? undefined : `Only the ${name} backend uses it.`;
    case "claudeCode": {
      if (backend !== "claude-code") return FOR_CLAUDE_CODE;
      const auth = CREDENTIALS[name] ?? config.claudeCode.auth;
      return auth === config.claudeCode.auth ? undefined : `Only \`auth: ${auth}\` uses it.`;
    }
    case "promptCaching":
      if (backend === "claude-code") return "Claude Code manages its prompt cache by itself.";
      if (name === "enabled") return undefined;
      if (!config.promptCaching.enabled) return "Prompt caching is turned off.";
      if (isUncached(name, config)) return "This section is not cached.";
      return name === "vertexFallbackTo5m" && backend !== "vertex" ? "Only the vertex backend uses it." : undefined;
    case "limits":
      return backend !== "claude-code" && ["spawn", "init", "exit"].includes(name) ? FOR_CLAUDE_CODE : undefined;
    case "pool": {
      const { mode } = config.pool;
      if (backend !== "claude-code") return FOR_CLAUDE_CODE;
      if (name === "mode" || mode === "reuse") return undefined;
      if (mode === "off") return "The pool is turned off.";
      return FOR_REUSE.has(name) ? "Only `mode: reuse` uses it." : undefined;
    }
    default:
      return undefined;
  }
}
