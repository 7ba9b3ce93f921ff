import Anthropic from "@anthropic-ai/sdk";
import { always, text } from "@tandem/rehearsal";
import { queryPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { setFleetStage, type FleetStage } from "../testing/fleet-stage.ts";

const without = whyNoPostgres();
const WAIT_MS = 60_000 * inject("slowness");
const TURNS = 8;
/** Of a turn of one response: a message sent at one server and streamed by another. The bench counts the queue's, too. */
const MOST_STATEMENTS = 60;

describe.skipIf(without !== undefined)(`statements${without ? ` (${without})` : ""}`, () => {
  let stage: FleetStage;
  beforeAll(async () => {
    stage = await setFleetStage(["shared_preload_libraries=pg_stat_statements"]);
    await queryPostgres(stage.database, "create extension pg_stat_statements schema public");
  }, 3 * WAIT_MS);
  afterAll(() => stage?.[Symbol.asyncDispose]());

  const counted = async (): Promise<{ statements: number; at: number }> => {
    const [row] = await queryPostgres(
      stage.database,
      "select sum(calls) as calls from public.pg_stat_statements where toplevel",
    );
    return { statements: Number(row?.["calls"]), at: performance.now() };
  };

  test(
    `a turn takes at most ${MOST_STATEMENTS} statements`,
    async () => {
      const [mouth, ears] = [await stage.join("server"), await stage.join("server")];
      await stage.join("worker");
      stage.rehearsal.use([always(text("One word follows another."))]);
      const client = new Anthropic({ apiKey: mouth.server.secret, baseURL: mouth.server.url, maxRetries: 0 });
      const listener = new Anthropic({ apiKey: mouth.server.secret, baseURL: ears.server.url, maxRetries: 0 });
      const agent = await client.beta.agents.create({ name: "a", model: "claude-sonnet-5-5" });
      const session = await client.beta.sessions.create({ agent: agent.id, environment_id: "env_local" });
      const stream = await listener.beta.sessions.events.stream(session.id);
      const events = stream[Symbol.asyncIterator]();
      const turn = async (): Promise<void> => {
        const content = [{ type: "text" as const, text: "Go on." }];
        await client.beta.sessions.events.send(session.id, { events: [{ type: "user.message", content }] });
        for (;;) {
          const { value, done } = await events.next();
          if (done) throw new Error("The stream ended.");
          if (value.type === "session.status_idle") return;
        }
      };
      await turn();
      const before = await counted();
      for (let number = 0; number < TURNS; number += 1) await turn();
      const after = await counted();
      // Polls and heartbeats go by the clock; as many of them are taken off as this fleet makes at rest in the same time.
      await delay(after.at - before.at);
      const later = await counted();
      const atRest = ((later.statements - after.statements) / (later.at - after.at)) * (after.at - before.at);
      const perTurn = (after.statements - before.statements - atRest) / TURNS;
      console.info(`${perTurn.toFixed(1)} statements per turn`);
      expect(perTurn).toBeGreaterThan(10);
      expect(perTurn).toBeLessThanOrEqual(MOST_STATEMENTS);
      stream.controller.abort();
    },
    3 * WAIT_MS,
  );
});
