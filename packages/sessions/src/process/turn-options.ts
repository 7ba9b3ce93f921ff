import type { TurnOptions } from "@tandem/claude-code";
import {
  EFFORTS,
  nearest,
  RequestError,
  SESSION_METADATA,
  type EventOf,
  type ModelDetails,
  type PermissionMode,
  type SessionEventBody,
} from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";

export interface Model extends ModelDetails {
  id: string;
  name: string;
  aliases: readonly string[];
}

export interface ModelSettings {
  models: () => Promise<Model[]>;
  /** Default for sessions without a mode of their own. */
  permissionMode?: PermissionMode;
}

/** The metadata keys that require a new process. All others apply to the next turn or call. */
const FIXED = [
  SESSION_METADATA.outputSchema,
  SESSION_METADATA.maxTurns,
  SESSION_METADATA.system,
  SESSION_METADATA.questions,
];

export const needsNewProcess = (before: Record<string, string>, after: Record<string, string>): boolean =>
  FIXED.some((key) => before[key] !== after[key]) || isPlanning(before) !== isPlanning(after);

/** The tool that submits a plan is offered only in plan mode. */
const isPlanning = (metadata: Record<string, string>): boolean => metadata[SESSION_METADATA.permissionMode] === "plan";

/** The model and effort of the next turn: from its message, else the session, else its agent. */
export function turnOptions(
  { agent, metadata }: Pick<SessionRow, "agent" | "metadata">,
  settings: Pick<ModelSettings, "permissionMode">,
  message?: Pick<EventOf<"user.message">, "tandem">,
): TurnOptions {
  const mode = metadata[SESSION_METADATA.permissionMode] ?? settings.permissionMode;
  return {
    model: message?.tandem?.model ?? metadata[SESSION_METADATA.model] ?? agent.model.id,
    effort: message?.tandem?.effort ?? metadata[SESSION_METADATA.effort] ?? agent.model.effort?.type,
    planning: mode === "plan",
  };
}

/** The event that logs the options, with those that the model ignores. */
export function modelEvent({ model, effort }: TurnOptions, models: readonly Model[]): SessionEventBody {
  const known = findModel(models, model);
  const efforts = known?.efforts;
  const ignored: string[] = [];
  if (effort !== undefined && efforts?.length === 0) ignored.push(`effort: ${known?.id} has none to choose`);
  else if (effort !== undefined && efforts && !efforts.includes(effort)) {
    ignored.push(`effort: ${known?.id} knows ${efforts.join(", ")}, and takes ${effort} for the nearest`);
  }
  return { type: "tandem.model", model: known?.id ?? model, effort: effort ?? null, ignored };
}

/** An id in Anthropic's format, also in the spelling of Vertex. */
const MODEL_ID = /^claude-[a-z0-9]+(?:[.-][a-z0-9]+)*(?:@[a-z0-9]+)?(?:\[1m\])?$/;

/**
 * Resolves a model's name to its id. An unknown id in Anthropic's format passes: the account's list may be stale or empty. A
 * model that cannot be served fails in the first turn.
 */
export function resolveModel(name: string, models: readonly Model[], place: string): string {
  const known = findModel(models, name);
  if (known) return known.id;
  if (name.length <= 100 && MODEL_ID.test(name)) return name;
  const names = models.flatMap(({ id, aliases }) => [id, ...aliases]);
  const near = nearest(name, names);
  throw new RequestError(
    "invalid_request",
    `${place}: "${name}" is not known. Known models: ${models.map(({ id }) => id).join(", ")}.`,
    { ...(near !== undefined && { fix: `Did you mean ${near}?` }) },
  );
}

const findModel = (models: readonly Model[], name: string): Model | undefined =>
  models.find(({ id, aliases }) => id === name || aliases.includes(name));

/** Checks model and effort in a session's metadata, and replaces an alias by the model's id. */
export async function checkTurnOptions(
  metadata: Record<string, string>,
  models: () => Promise<Model[]>,
): Promise<Record<string, string>> {
  const { model: modelKey, effort: effortKey } = SESSION_METADATA;
  const effort = metadata[effortKey];
  if (effort !== undefined && !(EFFORTS as readonly string[]).includes(effort)) {
    throw new RequestError("invalid_request", `metadata.${effortKey}: expected ${EFFORTS.join(", ")}.`);
  }
  const model = metadata[modelKey];
  if (model === undefined) return metadata;
  return { ...metadata, [modelKey]: resolveModel(model, await models(), `metadata.${modelKey}`) };
}
