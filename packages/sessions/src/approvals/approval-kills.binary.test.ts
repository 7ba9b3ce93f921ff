import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EventId, LoggedEvent, Session, SessionId, ToolCallState } from "@tandem/protocol";
import { always, text, toolUse } from "@tandem/rehearsal";
import { openStore, type Store } from "@tandem/storage";
import { expect, inject, test } from "vitest";
import { CommandedEngine } from "../testing/commanded-engine.ts";
import { setEngineStage, type EngineStage } from "../testing/engine-stage.ts";
import { allow, deny } from "../testing/until-asked.ts";
import { ApprovalReader } from "./approval-reader.ts";

const KILLS = 200;
const SESSIONS = 4;
/** Longer than it takes to take an answer and to start the call. */
const PACE_MS = 2_000;

interface Call {
  name: string;
  answer: "allow" | "deny";
  states: ToolCallState[];
  /** A person was asked for the outcome. */
  isReported: boolean;
}

/** Drives sessions whose calls ask, in an engine that can be replaced at any moment. The model never repeats a call. */
class Drill {
  readonly calls: Call[] = [];
  readonly stage: EngineStage;
  readonly store: Store;
  readonly #reader: ApprovalReader;
  engine: CommandedEngine;
  isOver = false;
  /** Counts requests and answers. */
  steps = 0;
  /** Sentences of refused commands, other than those of a killed engine. */
  readonly refusals: string[] = [];

  constructor(stage: EngineStage, store: Store, engine: CommandedEngine) {
    this.stage = stage;
    this.store = store;
    this.#reader = new ApprovalReader(store);
    this.engine = engine;
  }

  /** Repeats a command until an engine has taken it. */
  async #command<T>(command: Parameters<CommandedEngine["send"]>[0]): Promise<T | undefined> {
    for (;;) {
      try {
        return await this.engine.send<T>(command);
      } catch (error) {
        if (!String(error).includes("was killed")) {
          this.refusals.push(String(error));
          return undefined;
        }
        await sleep(50);
      }
    }
  }

  async #events({ id }: Session, after = 0): Promise<LoggedEvent[]> {
    return this.store.events.read(id as SessionId, { after, limit: 10_000 });
  }

  async drive(session: Session, name: string): Promise<void> {
    for (let count = 1; !this.isOver; count += 1) await this.#call(session, `${name}-${count}`);
  }

  async begin(): Promise<Session> {
    for (;;) {
      const session = await this.#command<Session>({ type: "create" });
      if (session) return session;
    }
  }

  async #call(session: Session, name: string): Promise<void> {
    const after = await this.store.events.head(session.id as SessionId);
    const answer = Math.random() < 0.2 ? "deny" : "allow";
    const call: Call = { name, answer, states: [], isReported: false };
    this.calls.push(call);
    await this.#command({ type: "say", session, text: `Run ${name}.` });
    const answered = new Set<string>();
    for (;;) {
      // In this order: a row that was read before the message was taken shows the idle session of the last turn.
      const events = await this.#events(session, after);
      const row = await this.store.sessions.get(session.id);
      const wasTaken = events.some(({ event }) => event.type === "user.message");
      if (wasTaken && row?.status === "idle" && row.waitingFor.length === 0) break;
      for (const { approval } of await this.#reader.pending(session.id)) {
        if (answered.has(approval.id)) continue;
        answered.add(approval.id);
        this.steps += 1;
        await sleep((Math.random() * PACE_MS) / 2);
        if (approval.kind === "question") call.isReported = true;
        const outcome = Math.random() < 0.5 ? "It worked" : "It failed";
        await this.#command({
          type: "answer",
          approval: approval.id,
          answer:
            approval.kind === "question"
              ? { ...allow, input: { answers: { [questionOf(approval.input)]: outcome } } }
              : answer === "allow"
                ? allow
                : deny,
        });
        this.steps += 1;
      }
      await sleep(100);
    }
    const events = await this.#events(session, after);
    const use = events.find(({ event }) => event.type === "agent.tool_use")?.event.id;
    call.states = statesOf(events, use);
  }
}

const questionOf = (input: Record<string, unknown>): string =>
  (input["questions"] as { question: string }[])[0]?.question ?? "";

const statesOf = (events: readonly LoggedEvent[], use: EventId | undefined): ToolCallState[] =>
  events.flatMap(({ event }) => (event.type === "tandem.tool_state" && event.event_id === use ? [event.state] : []));

// `npm test` kills at chosen moments: see `approvals-killed.extended.test.ts` and `late-approval.binary.test.ts`.
test.runIf(inject("soak"))(
  `calls that ask survive ${KILLS} kills of server and child: none runs twice, and none is done without its effect`,
  async () => {
    await using stage = await setEngineStage([
      always(({ lastUserText }) => {
        const name = /^Run (\S+)\.$/.exec(lastUserText)?.[1];
        return name === undefined
          ? text("Done.")
          : toolUse("Bash", { command: `echo ${name} >> effects.txt; sleep 0.${Math.floor(Math.random() * 10)}` });
      }),
    ]);
    await using store = await openStore(join(stage.root, "tandem.db"));
    const drill = new Drill(stage, store, await CommandedEngine.start(stage));
    const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => drill.begin()));
    const driving = Promise.all(sessions.map((session, index) => drill.drive(session, `s${index}`)));
    const kills = { server: 0, child: 0 };
    while (kills.server + kills.child < KILLS) {
      // Most kills would otherwise come before a call is asked about.
      const { steps } = drill;
      await expect.poll(() => drill.steps).toBeGreaterThan(steps);
      await sleep(Math.random() * PACE_MS);
      const children = await stage.processes();
      const child = children[Math.floor(Math.random() * children.length)];
      if (child !== undefined && Math.random() < 0.6) {
        try {
          process.kill(child, "SIGKILL");
          kills.child += 1;
        } catch {
          // It has exited by itself.
        }
      } else {
        await drill.engine.kill();
        drill.engine = await CommandedEngine.start(stage);
        kills.server += 1;
      }
    }
    drill.isOver = true;
    await driving;
    await drill.engine.kill();

    const file = join(stage.folder, "effects.txt");
    const effects = existsSync(file) ? (await readFile(file, "utf8")).trim().split("\n") : [];
    const judged = drill.calls.map((call) => ({
      ...call,
      state: call.states.at(-1),
      effects: effects.filter((name) => name === call.name).length,
    }));
    const tally = Object.groupBy(
      judged,
      ({ state, isReported }) => `${state ?? "not asked"}${isReported ? " (reported)" : ""}`,
    );
    const counts = Object.entries(tally).map(([state, of]) => `${state}: ${of.length}`);
    console.log(
      `${KILLS} kills (${kills.server} server, ${kills.child} child), ${judged.length} calls: ${counts.join(", ")}`,
    );
    const isWrong = ({ state, isReported, effects: count }: (typeof judged)[number]): boolean =>
      count > 1 ||
      (state === "done" && !isReported && count !== 1) ||
      (count > 0 && ["denied", "expired", "interrupted", "allowed", "waiting", undefined].includes(state));
    expect(judged.filter(isWrong)).toEqual([]);
    expect(drill.refusals.filter((sentence) => !sentence.includes("conflict"))).toEqual([]);
    expect(judged.length).toBeGreaterThan(0);
  },
);
