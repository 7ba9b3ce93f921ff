import type { LlmConfig } from "@tandem/protocol";
import { defaultConfig } from "@tandem/protocol";

export interface IgnoredSetting {
  /** The key in tandem.yaml. */
  key: string;
  why: string;
}

/** Settings that someone has changed and that the chosen backend does not heed: shown, so that nobody relies on them. */
export function ignoredSettings(config: LlmConfig): IgnoredSetting[] {
  const { backend } = config.provider;
  if (backend === "none") return [];
  const changed = (
    section: "promptCaching" | "claudeCode" | "pool" | "limits",
    why: string,
    only?: readonly string[],
  ) => {
    const defaults: Record<string, unknown> = defaultConfig().llm[section];
    return Object.entries(config[section])
      .filter(([key, value]) => value !== defaults[key] && (only?.includes(key) ?? true))
      .map(([key]) => ({ key: `llm.${section}.${key}`, why }));
  };
  if (backend === "claude-code") return changed("promptCaching", "Claude Code manages its prompt cache by itself.");
  const onlyClaudeCode = "Only the claude-code backend uses it.";
  return [
    ...changed("claudeCode", onlyClaudeCode),
    ...changed("pool", onlyClaudeCode),
    ...changed("limits", onlyClaudeCode, ["spawn", "init", "exit"]),
    ...(backend === "vertex"
      ? []
      : changed("promptCaching", "Only the vertex backend uses it.", ["vertexFallbackTo5m"])),
  ];
}
