import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { SessionEventBody, SessionEventType, ThreadId } from "@tandem/protocol";
import { findExecutable } from "../../executable.ts";
import { PATIENT, type Stage } from "../../testing/claude-stage.ts";
import type {
  Conversation,
  ConversationHost,
  ConversationOutput,
  ConversationSetup,
  TranscriptStore,
  TurnEnd,
} from "../conversation.ts";
import { openConversation } from "../open-conversation.ts";
import type { Recording } from "../translate/translator-input.ts";

/** A transcript store in memory with failures on request. */
export class MemoryTranscripts implements TranscriptStore {
  readonly lines = new Map<string, Record<string, unknown>[]>();
  broken = false;

  async append(subpath: string, lines: readonly Record<string, unknown>[]): Promise<void> {
    if (this.broken) throw new Error("the database is gone");
    const seen = new Set(this.lines.get(subpath)?.map(({ uuid }) => uuid));
    const added = lines.filter(({ uuid }) => uuid === undefined || !seen.has(uuid));
    // Cloned, like in a database: the caller's objects may change later.
    this.lines.set(subpath, [...(this.lines.get(subpath) ?? []), ...structuredClone(added)]);
  }

  async load(subpath: string): Promise<Record<string, unknown>[]> {
    return structuredClone(this.lines.get(subpath) ?? []);
  }

  async subpaths(): Promise<string[]> {
    return [...this.lines.keys()];
  }
}

export type Overrides = Partial<Omit<ConversationSetup, "deadlines">> & {
  deadlines?: Partial<ConversationSetup["deadlines"]>;
  host?: Partial<ConversationHost>;
  transcripts?: TranscriptStore;
  recording?: Recording;
};

/** A conversation for tests that collects its output. Allows every tool unless overridden. */
export interface OpenSession extends AsyncDisposable {
  setup: ConversationSetup;
  conversation: Conversation;
  transcripts: TranscriptStore;
  outputs: ConversationOutput[];
  events<T extends SessionEventType>(...types: T[]): (Extract<SessionEventBody, { type: T }> & { id: string })[];
  /** Sends a message and waits for the end of its turn. */
  turn(text: string): Promise<TurnEnd>;
  say(text: string): string;
  /** Drops the outputs so far: for the next test on this session. */
  forget(): void;
  /** The next matching output since the last call. */
  until(fits: (output: ConversationOutput) => boolean): Promise<ConversationOutput>;
  ended(): Promise<TurnEnd>;
  closed(): Promise<Extract<ConversationOutput, { type: "closed" }>>;
}

const TIMEOUT_MS = 300_000;

export function openSession(stage: Stage, overrides: Overrides = {}): OpenSession {
  const { host: hostOverrides, transcripts = new MemoryTranscripts(), deadlines, recording, ...rest } = overrides;
  const folder = join(stage.home, "project");
  mkdirSync(folder, { recursive: true });
  const setup: ConversationSetup = {
    executable: findExecutable(),
    credential: stage.login,
    hostVariables: stage.hostVariables,
    stateFolder: stage.stateFolder,
    folder,
    model: "sonnet",
    replaceSystem: false,
    tools: ["Bash", "Read", "Write", "Edit"],
    customTools: [],
    mcpServers: [],
    subagents: [],
    resume: false,
    id: randomUUID(),
    primaryThread: "sthr_primary" as ThreadId,
    ...rest,
    deadlines: { ...PATIENT, ...deadlines },
  };
  const outputs: ConversationOutput[] = [];
  let read = 0;
  let wake = (): void => {};
  const host: ConversationHost = {
    decide: () => ({ permission: "allow" }),
    confirm: async () => ({ allow: false, message: "Nobody is here." }),
    callCustomTool: async () => ({ content: [], isError: true }),
    ...hostOverrides,
    onOutput: (output) => {
      outputs.push(output);
      hostOverrides?.onOutput?.(output);
      wake();
    },
  };
  const conversation = openConversation(setup, host, transcripts, recording);
  const until = async (fits: (output: ConversationOutput) => boolean): Promise<ConversationOutput> => {
    const deadline = Date.now() + TIMEOUT_MS;
    while (true) {
      for (; read < outputs.length; read += 1) {
        if (fits(outputs[read]!)) return outputs[read++]!;
      }
      const rest = deadline - Date.now();
      if (rest <= 0) throw new Error(`Awaited in vain; last heard: ${JSON.stringify(outputs.slice(-5), undefined, 1)}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, rest).unref();
      });
    }
  };
  const session: OpenSession = {
    setup,
    conversation,
    transcripts,
    outputs,
    until,
    events: (...types) =>
      outputs.flatMap((output) =>
        output.type === "event" && types.includes(output.event.type as never)
          ? [{ ...output.event, id: output.id } as never]
          : [],
      ),
    say(text) {
      const uuid = randomUUID();
      conversation.send({ uuid, content: [{ type: "text", text }] });
      return uuid;
    },
    forget() {
      outputs.length = 0;
      read = 0;
    },
    async turn(text) {
      session.say(text);
      return session.ended();
    },
    async ended() {
      const output = await until(({ type }) => type === "turn_ended");
      return (output as Extract<ConversationOutput, { type: "turn_ended" }>).outcome;
    },
    async closed() {
      return (await until(({ type }) => type === "closed")) as Extract<ConversationOutput, { type: "closed" }>;
    },
    [Symbol.asyncDispose]: () => conversation.close(),
  };
  return session;
}
