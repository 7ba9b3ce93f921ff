import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findExecutable, openConversation, ProcessLedger, type Credential } from "@tandem/claude-code";
import type {
  AgentCreateParams,
  LoggedEvent,
  Session,
  SessionCreateParams,
  SessionEventType,
  SessionId,
} from "@tandem/protocol";
import { startRehearsal, type Rehearsal, type RehearsalOptions, type Script } from "@tandem/rehearsal";
import { openStore, type Store } from "@tandem/storage";
import { createEngine } from "../create-engine.ts";
import type { EngineSettings } from "../engine-settings.ts";
import type { Engine } from "../engine.ts";

const MODELS = [
  { id: "claude-sonnet-5-5", name: "Sonnet 5.5", aliases: ["sonnet"] },
  { id: "claude-haiku-5-5", name: "Haiku 5.5", aliases: ["haiku"] },
];

const DEADLINE_MS = 300_000;
const LEASE_MS = 3_000;
/** Leases are longer on a slow machine, which renews them late. */
export const SLOWNESS = Number(process.env["TANDEM_TEST_SLOWNESS"] ?? 1);

/** Runs the sessions of all tests in a sandbox, where the test does not choose another mode. */
export const TEST_SANDBOX = process.env["TANDEM_TEST_SANDBOX"] === "require" ? "require" : undefined;

/** A store, the real Claude Code and the rehearsal; a test can open any number of engines on them. */
export interface EngineStage extends AsyncDisposable {
  rehearsal: Rehearsal;
  /** The folder of `env_local`. */
  folder: string;
  root: string;
  /** Pids of running Claude Code processes of this stage's engines. */
  processes(): Promise<number[]>;
  /** Kills them as a crash would. */
  killProcesses(): Promise<void>;
  /** The log up to the first matching event, read without an engine: another engine could take the session over. */
  until(session: Session, fits: (logged: LoggedEvent) => boolean): Promise<LoggedEvent[]>;
  /** `location`: another store than the stage's own. */
  open(overrides?: Overrides): Promise<RunningEngine>;
  /** Starts an engine in its own process, with a session of this agent and a first message. Resolves when its turn runs. */
  spawn(
    agent: Partial<AgentCreateParams>,
    words: string,
    more?: SpawnOptions,
  ): Promise<{ process: ChildProcess; session: Session }>;
}

type Overrides = Partial<EngineSettings> & { home?: string; location?: string };

/** Settings of an engine in another process, passed as JSON. */
export interface SpawnOptions {
  session?: Partial<SessionCreateParams>;
  settings?: Partial<Pick<EngineSettings, "quota" | "recovery" | "hostVariables" | "sandbox" | "lsp">>;
  /** All folders are trusted. */
  isTrusted?: boolean;
  credential?: Credential;
}

export interface RunningEngine {
  engine: Engine;
  store: Store;
  /** Creates a session of a new agent, by default in `env_local`. */
  session(params?: Partial<SessionCreateParams>, agent?: Partial<AgentCreateParams>): Promise<Session>;
  /**
   * A session of this agent that earlier tests left idle, with its process; a new one if there is none. It was used on this
   * engine, or on one that has stopped. Marked as read.
   */
  reuse(agent?: Partial<AgentCreateParams>): Promise<Session>;
  /** From now on, `until` ignores the events that this session's log has. */
  markRead(session: Session): Promise<void>;
  say(session: Session, text: string, delivery?: "queue" | "steer"): Promise<string>;
  /** The log up to the first matching event after `after`, by default after those marked as read. Fails on a timeout. */
  until(session: Session, fits: (logged: LoggedEvent) => boolean, after?: number): Promise<LoggedEvent[]>;
  /** Sends a message and returns the events of its turn. */
  turn(session: Session, text: string): Promise<LoggedEvent[]>;
  stop(): Promise<void>;
  /** Simulates a crash: at once it neither writes nor renews anything. */
  vanish(): Promise<void>;
}

export async function setEngineStage(script: Script = [], options?: RehearsalOptions): Promise<EngineStage> {
  const root = await mkdtemp(join(tmpdir(), "tandem-engine-"));
  const folder = join(root, "project");
  await mkdir(folder);
  const rehearsal = await startRehearsal(script, options);
  const running: RunningEngine[] = [];
  const spawned: ChildProcess[] = [];
  const shared: SharedSessions = { read: new Map(), reusable: new Map() };

  async function open({ home, location, leaseTtl = LEASE_MS, ...overrides }: Overrides = {}) {
    const store = await openStore(location ?? join(root, "tandem.db"));
    const settings = await stageSettings(root, rehearsal.url, home);
    let hasVanished = false;
    const engine = await createEngine(store, {
      ...settings,
      holder: `engine ${running.length + 1}`,
      openConversation: (...given) => {
        // A crashed server begins nothing, although this one still runs in the test's process.
        if (hasVanished) throw new Error("This engine has crashed.");
        return openConversation(...given);
      },
      ...overrides,
      leaseTtl: leaseTtl * SLOWNESS,
    });
    await engine.start();
    const handled = handle(engine, store, shared);
    const opened: RunningEngine = {
      ...handled,
      vanish() {
        hasVanished = true;
        return handled.vanish();
      },
    };
    running.push(opened);
    return opened;
  }

  async function spawnEngine(agent: Partial<AgentCreateParams>, words: string, more: SpawnOptions = {}) {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.resolve("./engine-process.ts")), root], {
      env: {
        PATH: process.env["PATH"],
        HOME: root,
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        TANDEM_TEST_SLOWNESS: String(SLOWNESS),
        TANDEM_TEST_SANDBOX: process.env["TANDEM_TEST_SANDBOX"],
      },
      stdio: ["pipe", "pipe", "inherit"],
    });
    spawned.push(child);
    child.stdin.end(JSON.stringify({ url: rehearsal.url, agent, words, ...more }));
    const died = once(child, "exit").then((): never => {
      throw new Error("The engine's process ended before it had begun a session.");
    });
    // Its later exit is not reported.
    died.catch(() => undefined);
    const [line] = (await Promise.race([once(child.stdout, "data"), died])) as [Buffer];
    return { process: child, session: JSON.parse(line.toString()) as Session };
  }

  const processes = async (): Promise<number[]> =>
    (await readdir(join(root, "state", "processes"))).map((name) => Number.parseInt(name, 10));
  const killProcesses = async (): Promise<void> => {
    for (const pid of await processes()) {
      try {
        process.kill(-pid, "SIGKILL");
      } catch (error) {
        // It has just ended, and is still in the ledger.
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
  };

  return {
    rehearsal,
    folder,
    root,
    processes,
    killProcesses,
    async until({ id }, fits) {
      await using store = await openStore(join(root, "tandem.db"));
      return await followUntil(store, id, fits, 0);
    },
    open,
    spawn: spawnEngine,
    async [Symbol.asyncDispose]() {
      for (const child of spawned) child.kill("SIGKILL");
      await Promise.all(running.map((opened) => opened.stop()));
      await rehearsal.close();
      await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
}

/** Settings of every engine of a stage, in any process. */
export async function stageSettings(root: string, url: string, home = join(root, "home")): Promise<EngineSettings> {
  const credential: Credential = { type: "api_key", key: "sk-ant-made-up-key", baseUrl: url };
  const stateFolder = join(root, "state");
  const ledger = new ProcessLedger(join(stateFolder, "processes"));
  await mkdir(home, { recursive: true });
  return {
    executable: findExecutable(undefined),
    credential: async () => credential,
    hostVariables: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: root, NO_PROXY: "127.0.0.1" },
    stateFolder,
    deadlines: { spawn: DEADLINE_MS, init: DEADLINE_MS, firstByte: DEADLINE_MS, idle: DEADLINE_MS, exit: 2_000 },
    idle: 60_000,
    recovery: "stop",
    leaseTtl: LEASE_MS * SLOWNESS,
    holder: `process ${process.pid}`,
    mcpTimeout: 10_000,
    roots: [join(root, "project")],
    models: async () => MODELS,
    openConversation,
    sweep: () => ledger.sweep(),
    log: { warn: () => undefined },
    ...(TEST_SANDBOX && { sandbox: { mode: TEST_SANDBOX } }),
  };
}

/** Sessions that several tests of a stage use. */
interface SharedSessions {
  /** Up to where each session's log is marked as read. */
  read: Map<string, number>;
  /** By agent. `isFree`: whether another engine may take the session. */
  reusable: Map<string, { session: Session; isFree: () => boolean; engine: Engine }>;
}

export function handle(
  engine: Engine,
  store: Store,
  { read, reusable }: SharedSessions = { read: new Map(), reusable: new Map() },
): RunningEngine {
  let stopping: Promise<void> | undefined;
  const opened: RunningEngine = {
    engine,
    store,
    async session(params = {}, agentParams = {}) {
      const agent = await engine.agents.create({
        name: "tester",
        model: "sonnet",
        tools: [{ type: "agent_toolset_20260401" }],
        ...agentParams,
      });
      return engine.sessions.create({ agent: agent.id, environment_id: "env_local", ...params });
    },
    async reuse(agentParams = {}) {
      const key = JSON.stringify(agentParams);
      const known = reusable.get(key);
      const isOurs = known?.engine === engine || known?.isFree();
      const row = isOurs ? await store.sessions.get(known!.session.id) : undefined;
      const isReady = row?.status === "idle" && row.waitingFor.length === 0;
      const session = isReady ? known!.session : await opened.session({}, agentParams);
      reusable.set(key, { session, engine, isFree: () => stopping !== undefined });
      await opened.markRead(session);
      return session;
    },
    async markRead({ id }) {
      read.set(id, await engine.sessions.head(id));
    },
    async say(session, text, delivery) {
      const [sent] = await engine.sessions.send(session.id, [
        { type: "user.message", content: [{ type: "text", text }], ...(delivery && { tandem: { delivery } }) },
      ]);
      return sent!.id;
    },
    until: ({ id }, fits, after = read.get(id) ?? 0) => followUntil(store, id, fits, after),
    async turn(session, text) {
      const after = await engine.sessions.head(session.id);
      await opened.say(session, text);
      return opened.until(session, isIdle, after);
    },
    stop() {
      stopping ??= engine.stop(0).then(() => store[Symbol.asyncDispose]());
      return stopping;
    },
    vanish() {
      stopping ??= Promise.resolve(store[Symbol.asyncDispose]());
      return stopping;
    },
  };
  return opened;
}

async function followUntil(
  store: Store,
  session: string,
  fits: (logged: LoggedEvent) => boolean,
  after: number,
): Promise<LoggedEvent[]> {
  const seen: LoggedEvent[] = [];
  const signal = AbortSignal.timeout(DEADLINE_MS);
  for await (const batch of store.events.follow(session as SessionId, after, signal)) {
    for (const logged of batch) {
      seen.push(logged);
      if (fits(logged)) return seen;
    }
  }
  throw new Error(`The awaited event did not come; there were: ${typesOf(seen).join(", ")}`);
}

/** Agent parameters under which no tool call asks. */
export const ALLOW_ALL: Partial<AgentCreateParams> = {
  tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
};

export const isIdle = ({ event }: LoggedEvent): boolean => event.type === "session.status_idle";

export const typesOf = (events: readonly LoggedEvent[]): SessionEventType[] => events.map(({ event }) => event.type);

/** The agent's messages. */
export const textsOf = (events: readonly LoggedEvent[]): string[] =>
  events.flatMap(({ event }) => (event.type === "agent.message" ? event.content.map((block) => block.text) : []));

/** The first event of a type; fails if there is none. */
export function the<T extends SessionEventType>(events: readonly LoggedEvent[], type: T) {
  const found = events.find(({ event }) => event.type === type)?.event;
  if (!found) throw new Error(`There is no ${type} among: ${typesOf(events).join(", ")}`);
  return found as Extract<LoggedEvent["event"], { type: T }>;
}
