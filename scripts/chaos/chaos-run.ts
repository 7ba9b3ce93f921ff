import Anthropic from "@anthropic-ai/sdk";
import type { SessionId } from "@tandem/protocol";
import { openStore } from "@tandem/storage";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chaosModel, KINDS, type Kind } from "./chaos-model.ts";
import { ChaosSession } from "./chaos-session.ts";
import { createChaosFleet, type ChaosFleet, type MemberPlan } from "./chaos-fleet.ts";
import { judgeChaos, type SessionReport } from "./judge-chaos.ts";
import { ClaudeWatch } from "./claude-watch.ts";

export interface ChaosPlan {
  members: readonly MemberPlan[];
  settings: string;
  sessions: number;
  /** Per session. */
  messages: number;
  /** Sessions with active clients at one time. */
  atOnce: number;
  killEveryMs: number;
  /** The number of kills; the database restarts after half of them. */
  kills: number;
  /** Instead of kills: stops these members one after another and starts a build (undefined: this one) in the place of each. */
  replacements?: readonly { member: string; tandem: string | undefined }[];
  deadlineMs: number;
}

export interface ChaosReport {
  problems: string[];
  seconds: number;
  sessions: number;
  messages: number;
  answered: number;
  endedHonestly: number;
  recovered: number;
  handedOver: number;
  unknownEffects: number;
  events: number;
  streamsOpened: number;
  kills: Record<string, number>;
  postgresRestarts: number;
  mostProcesses: number;
  longestOrphanMs: number;
  restMs: number;
  /** Logs of sessions with problems, and the last output of each process. */
  logs: string[];
}

/** The deadline for everything to become idle after the last client has finished. */
const REST_MS = 60_000;
/** For some turns on each mixture of builds. */
const BETWEEN_REPLACEMENTS_MS = 4_000;
const POSTGRES_AWAY_MS = 1_000;
const START_MS = 180_000;
/** Sessions whose calls wait for an answer during all replacements. */
const HELD = 8;
/** Between a server's death and the next start there may be no server at all. */
const NOBODY_MS = 60_000;

/** Runs a fleet under clients and kills, then verifies it. `progress` receives status lines. */
export async function runChaos(plan: ChaosPlan, progress: (line: string) => void = () => {}): Promise<ChaosReport> {
  await using stage = await createChaosFleet(plan.members, { settings: plan.settings, script: chaosModel });
  await mkdir(join(stage.project, "effects"));
  const [first, ...others] = stage.members;
  // The first process creates the schema; the others start together.
  const { token } = await within(START_MS, first!.supervise());
  await within(START_MS, Promise.all(others.map((member) => member.supervise())));
  const begun = Date.now();
  const deadline = begun + plan.deadlineMs;
  const anyServer = serverPicker(stage, token);
  const replaced = Promise.withResolvers<void>();
  let isReplacing = plan.replacements !== undefined;
  const mayAnswer = (number: number) => (isReplacing && number < HELD ? replaced.promise : undefined);
  const settings = { ...(await prepare(await anyServer())), anyServer, deadline, mayAnswer };
  const newSession = (index: number) => new ChaosSession(index, KINDS[index % KINDS.length]!, settings);
  const sessions = Array.from({ length: plan.sessions }, (_, index) => newSession(index));

  const watch = new ClaudeWatch(stage.folder, () => stage.members.flatMap(({ pid }) => pid ?? []));
  const over = new AbortController();
  let done = 0;
  const looking = look(watch, over.signal);
  const beat = (): void => progress(`${done} of ${plan.sessions} sessions`);
  const wreaking = plan.replacements
    ? replaceMembers(stage, plan.replacements, progress).finally(() => {
        isReplacing = false;
        replaced.resolve();
      })
    : wreak(stage, plan, deadline, beat);
  const waiting = [...sessions];
  const next = (): ChaosSession | undefined => {
    const session = waiting.shift();
    if (session || !isReplacing) return session;
    const more = newSession(sessions.length);
    sessions.push(more);
    return more;
  };
  const clients = Array.from({ length: plan.atOnce }, async () => {
    for (let session = next(); session; session = next()) {
      await session.run(plan.messages);
      done += 1;
    }
  });
  const [harm] = await Promise.all([wreaking, ...clients]);
  over.abort();
  await looking;

  const atRest = await rest(stage, sessions);
  watch.look();
  const verdicts: SessionReport[] = [];
  {
    await using store = await openStore(stage.database);
    await Promise.all(sessions.map(async ({ follower }) => follower?.stop()));
    for (const session of sessions) verdicts.push(await judgeChaos(store, session, stage.project));
  }
  await within(START_MS, Promise.all(stage.members.map((member) => member.retire())));
  const left = watch.left();
  const sum = (of: (verdict: SessionReport) => number): number =>
    verdicts.reduce((total, verdict) => total + of(verdict), 0);
  return {
    problems: [
      ...sessions.flatMap(({ problems }) => problems),
      ...verdicts.flatMap(({ problems }) => problems),
      ...watch.problems,
      ...stage.members.flatMap(({ crashes }) => crashes),
      ...atRest.problems,
      ...(left.length > 0 ? [`processes are left: ${left.join()}`] : []),
      ...stage.rehearsal.misses.map(({ message }) => message),
    ],
    seconds: Math.round((Date.now() - begun) / 1_000),
    sessions: sessions.length,
    messages: sessions.reduce((total, { orders }) => total + orders.length, 0),
    answered: sum(({ answered }) => answered),
    endedHonestly: sum(({ endedHonestly }) => endedHonestly),
    recovered: sum(({ recovered }) => recovered),
    handedOver: sum(({ handedOver }) => handedOver),
    unknownEffects: sum(({ unknown }) => unknown),
    events: sum(({ events }) => events),
    streamsOpened: sessions.reduce((total, { follower }) => total + (follower?.opened ?? 0), 0),
    ...harm,
    mostProcesses: watch.mostProcesses,
    longestOrphanMs: watch.longestOrphanMs,
    restMs: atRest.ms,
    logs: [...verdicts.flatMap(({ log }) => log), ...stage.members.map(({ name, words }) => `${name}: ${words}`)],
  };
}

function serverPicker({ members }: ChaosFleet, token: string): () => Promise<Anthropic> {
  return async () => {
    const until = Date.now() + NOBODY_MS;
    for (;;) {
      const up = members.flatMap((member) => (member.isServer && member.up ? [member.up] : []));
      const server = up[Math.floor(Math.random() * up.length)];
      if (server) return new Anthropic({ baseURL: server.url, apiKey: token, maxRetries: 0, timeout: 30_000 });
      if (Date.now() > until) throw new Error("There is no server.");
      await sleep(50);
    }
  };
}

async function prepare(client: Anthropic): Promise<{ agents: Record<Kind, string>; environment: string }> {
  const model = "claude-sonnet-5-5";
  const toolset = (type: "always_allow" | "always_ask") => ({
    type: "agent_toolset_20260401" as const,
    default_config: { permission_policy: { type } },
  });
  const lookup = {
    type: "custom" as const,
    name: "lookup",
    description: "Looks a key up.",
    input_schema: { type: "object" as const, properties: {} },
  };
  const make = async (name: string, tools: Anthropic.Beta.Agents.AgentCreateParams["tools"]): Promise<string> =>
    (await client.beta.agents.create({ name, model, tools })).id;
  const allowing = await make("allowing", [toolset("always_allow")]);
  const asking = await make("asking", [toolset("always_ask")]);
  const custom = await make("custom", [toolset("always_allow"), lookup]);
  return { agents: { talk: allowing, command: allowing, approval: asking, custom }, environment: "env_local" };
}

/** Kills a random running process at every interval and restarts the database once, halfway. */
async function wreak(
  { members, postgres }: ChaosFleet,
  { killEveryMs, kills: wanted }: ChaosPlan,
  deadline: number,
  beat: () => void,
): Promise<{ kills: Record<string, number>; postgresRestarts: number }> {
  const kills: Record<string, number> = Object.fromEntries(members.map(({ name }) => [name, 0]));
  let [total, postgresRestarts] = [0, 0];
  while (Date.now() < deadline && total < wanted) {
    await sleep(killEveryMs);
    const ready = members.filter(({ up }) => up !== undefined);
    // If kills outpace starts, no process would be busy when it is killed: the last two workers are spared until another has
    // started.
    const workers = ready.filter(({ isServer }) => !isServer);
    const candidates = workers.length > 1 ? ready : ready.filter(({ isServer }) => isServer);
    const victim = candidates[Math.floor(Math.random() * candidates.length)];
    if (victim?.kill()) {
      kills[victim.name]! += 1;
      total += 1;
      if (total % 15 === 0) beat();
    }
    if (total < wanted / 2 || postgresRestarts > 0) continue;
    postgresRestarts += 1;
    await postgres.kill();
    await sleep(POSTGRES_AWAY_MS);
    await postgres.start();
  }
  return { kills, postgresRestarts };
}

async function replaceMembers(
  { members }: ChaosFleet,
  replacements: NonNullable<ChaosPlan["replacements"]>,
  progress: (line: string) => void,
): Promise<{ kills: Record<string, number>; postgresRestarts: number }> {
  for (const { member: name, tandem } of replacements) {
    await sleep(BETWEEN_REPLACEMENTS_MS);
    await within(START_MS, members.find((member) => member.name === name)!.replace(tandem));
    progress(`replaced ${name} by ${tandem ?? "this build"}`);
  }
  await sleep(BETWEEN_REPLACEMENTS_MS);
  return { kills: {}, postgresRestarts: 0 };
}

async function look(watch: ClaudeWatch, signal: AbortSignal): Promise<void> {
  do {
    watch.look();
    await sleep(500);
  } while (!signal.aborted);
}

/** Every session is idle, no input is queued, and streams have delivered the last event. */
async function rest(stage: ChaosFleet, sessions: readonly ChaosSession[]): Promise<{ ms: number; problems: string[] }> {
  const begun = Date.now();
  await using store = await openStore(stage.database);
  for (;;) {
    const restless = await store.inbox.sessions();
    const behind: string[] = [];
    for (const { id, follower } of sessions) {
      if (id === undefined) continue;
      const recent = await store.events.read(id as SessionId, { order: "desc", limit: 20 });
      const last = recent.find(({ event }) => !event.type.startsWith("tandem."));
      const status = (await store.sessions.get(id))?.status;
      if (status !== "idle") behind.push(`${id} is ${status}`);
      else if (last && follower?.seen.at(-1)?.id !== last.event.id) {
        behind.push(`the stream of ${id} is behind: ${last.event.type} is the last in the log`);
      }
    }
    if (restless.length + behind.length === 0) return { ms: Date.now() - begun, problems: [] };
    if (Date.now() - begun > REST_MS) {
      return {
        ms: Date.now() - begun,
        problems: [...restless.map((id) => `${id} has something in its inbox`), ...behind],
      };
    }
    await sleep(250);
  }
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const late = sleep(ms, undefined, { ref: false }).then((): never => {
    throw new Error(`It took longer than ${ms} ms.`);
  });
  return Promise.race([promise, late]);
}
