import { EFFORTS, SESSION_METADATA, type PermissionMode, type Session } from "@tandem/protocol";
import type { Model } from "@tandem/sessions";

/** The settings that a person may choose for a session, and the current choice. */
export interface SessionSettings {
  mode: Choice;
  model: Choice;
  effort: Choice;
}

interface Choice {
  current: string;
  options: { id: string; name: string; description?: string }[];
}

/** The value for the model's own default. */
const USUAL_EFFORT = "default";

export const MODE_NAMES: Readonly<Record<PermissionMode, { name: string; description: string }>> = {
  default: { name: "Ask", description: "Asks before it changes files or runs commands" },
  acceptEdits: { name: "Accept edits", description: "Changes files of the folder without asking" },
  plan: { name: "Plan", description: "Looks around and writes a plan; changes nothing" },
  dontAsk: { name: "Don't ask", description: "Denies calls that would need approval" },
  bypassPermissions: { name: "Bypass permissions", description: "Asks nothing; only deny rules apply" },
};

export function settingsOf(
  session: Pick<Session, "agent" | "metadata">,
  {
    models,
    modes,
    usualMode,
  }: { models: readonly Model[]; modes: readonly PermissionMode[]; usualMode: PermissionMode },
): SessionSettings {
  const { agent, metadata } = session;
  const wanted = metadata[SESSION_METADATA.model] ?? agent.model.id;
  const known = models.find(({ id, aliases }) => id === wanted || aliases.includes(wanted));
  const model = known?.id ?? wanted;
  const efforts = known?.efforts ?? EFFORTS;
  const effort = metadata[SESSION_METADATA.effort] ?? agent.model.effort?.type ?? USUAL_EFFORT;
  return {
    mode: {
      current: metadata[SESSION_METADATA.permissionMode] ?? usualMode,
      options: modes.map((id) => ({ id, ...MODE_NAMES[id] })),
    },
    model: {
      current: model,
      options: [...(known ? [] : [{ id: model, name: model }]), ...models.map(({ id, name }) => ({ id, name }))],
    },
    effort: {
      current: effort,
      options: [...new Set([USUAL_EFFORT, ...efforts, effort])].map((id) => ({
        id,
        name:
          id === USUAL_EFFORT ? "Default" : id === "xhigh" ? "Extra high" : id.charAt(0).toUpperCase() + id.slice(1),
      })),
    },
  };
}

/** The update for a choice; undefined if the choice does not exist. */
export function settingChange(
  settings: SessionSettings,
  name: string,
  value: string,
): Record<string, string | null> | undefined {
  if (name !== "mode" && name !== "model" && name !== "effort") return undefined;
  if (!settings[name].options.some(({ id }) => id === value)) return undefined;
  const key = { mode: SESSION_METADATA.permissionMode, model: SESSION_METADATA.model, effort: SESSION_METADATA.effort };
  return { [key[name]]: name === "effort" && value === USUAL_EFFORT ? null : value };
}
