import type { ChildProcess } from "node:child_process";
import { AcpLines } from "../../apps/cli/src/testing/acp-lines.ts";
import { pipesOf } from "../../apps/cli/src/testing/open-command.ts";
import { treeCpuSeconds, pssMb } from "../runtime/process-tree.ts";

/** Measurements of one agent from start to end, in milliseconds; memory in MB. */
export interface Figures {
  initialize: number;
  "session/new": number;
  "cold start to session/new": number;
  /** Says more than the clock where others use the machine too. */
  "CPU up to session/new": number;
  "first prompt": number;
  "cold start to the first answer": number;
  "warm prompt": number;
  "second session/new": number;
  "cancel to response": number;
  "memory, two sessions (MB PSS)": number;
}

/** The model answers this prompt slowly. */
export const SLOW = "Take your time.";

/** One editor's visit: the agent is started, spoken with, cancelled once, and ended. */
export async function acpTalk(start: () => ChildProcess, cwd: string): Promise<Figures> {
  const begun = performance.now();
  const cpu = treeCpuSeconds();
  await using editor = new AcpLines(pipesOf(start()), () => "allow");
  const timed = async (work: Promise<unknown>): Promise<number> => {
    const from = performance.now();
    await work;
    return performance.now() - from;
  };
  const begin = async (): Promise<string> =>
    ((await editor.ask("session/new", { cwd, mcpServers: [] })) as { sessionId: string }).sessionId;
  const say = (sessionId: string, text: string): Promise<unknown> =>
    editor.ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });

  const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
  await editor.ask("initialize", { protocolVersion: 1, clientCapabilities });
  const initialized = performance.now();
  const session = await begin();
  const ready = performance.now();
  const spent = (treeCpuSeconds() - cpu) * 1_000;
  const first = await timed(say(session, "Hello."));
  const answered = performance.now();
  const warm = await timed(say(session, "And again."));
  let other = "";
  const second = await timed(begin().then((id) => (other = id)));
  await say(other, "Hello, you too.");
  const memory = pssMb();
  const slow = say(session, SLOW);
  await editor.next(({ params }) => params?.update?.sessionUpdate === "agent_message_chunk");
  editor.notify("session/cancel", { sessionId: session });
  const cancelled = await timed(slow);
  return {
    initialize: initialized - begun,
    "session/new": ready - initialized,
    "cold start to session/new": ready - begun,
    "CPU up to session/new": spent,
    "first prompt": first,
    "cold start to the first answer": answered - begun,
    "warm prompt": warm,
    "second session/new": second,
    "cancel to response": cancelled,
    "memory, two sessions (MB PSS)": memory,
  };
}
