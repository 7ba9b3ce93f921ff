/** Id kinds and their prefixes: Anthropic's where there is one. */
const ID_PREFIXES = {
  agent: "agent",
  environment: "env",
  work: "work",
  session: "sesn",
  thread: "sthr",
  event: "sevt",
  file: "file",
  resource: "sesrsc",
  token: "tok",
  context: "ctx",
  job: "job",
  proposal: "prop",
  memory: "mem",
  memoryStore: "memstore",
  memoryVersion: "memver",
  rule: "rule",
  checkpoint: "ckpt",
  outcome: "outc",
  worker: "wrk",
  webhookEndpoint: "whep",
  webhookEvent: "whe",
  skill: "skill",
  skillVersion: "skillver",
  deployment: "depl",
  deploymentRun: "drun",
  trigger: "trig",
  vault: "vlt",
  vaultCredential: "vcrd",
  workflowRun: "wrun",
  workflowRunPhase: "wrph",
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

declare const kind: unique symbol;
type Id<K extends IdKind> = string & { readonly [kind]: K };

export type AgentId = Id<"agent">;
export type EnvironmentId = Id<"environment">;
export type SessionId = Id<"session">;
export type ThreadId = Id<"thread">;
export type EventId = Id<"event">;
export type FileId = Id<"file">;
export type TokenId = Id<"token">;
export type ContextId = Id<"context">;
export type JobId = Id<"job">;
export type MemoryId = Id<"memory">;
export type SkillId = Id<"skill">;
export type SkillVersionId = Id<"skillVersion">;
export type WorkerId = Id<"worker">;
export type DeploymentId = Id<"deployment">;
export type DeploymentRunId = Id<"deploymentRun">;
export type WorkflowRunId = Id<"workflowRun">;
export type WorkflowRunPhaseId = Id<"workflowRunPhase">;

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;

/** Creates an id. Ids of one kind sort by creation time, to the millisecond; the rest comes from 16 random bytes. */
export function newId<K extends IdKind>(
  of: K,
  now = Date.now(),
  bytes: Uint8Array = crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH)),
): Id<K> {
  let time = "";
  for (let rest = now, i = 0; i < TIME_LENGTH; i += 1) {
    time = ALPHABET[rest % 32]! + time;
    rest = Math.floor(rest / 32);
  }
  const random = Array.from(bytes.subarray(0, RANDOM_LENGTH), (byte) => ALPHABET[byte % 32]!);
  return `${ID_PREFIXES[of]}_${time}${random.join("")}` as Id<K>;
}

/** Whether external text has the form of an id of that kind. Ids created elsewhere may be shorter. */
export function isId<K extends IdKind>(of: K, text: string): text is Id<K> {
  return new RegExp(`^${ID_PREFIXES[of]}_[0-9A-Za-z_-]{1,64}$`).test(text);
}
