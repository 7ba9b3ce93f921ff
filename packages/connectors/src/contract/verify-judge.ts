import { expect, inject } from "vitest";
import { ConnectionError } from "../connection-error.ts";
import { only, type Behaviours } from "./connector-stage.ts";

/** Long enough for any of them to do damage, if it could. */
const OPTIONS = { timeoutMs: 20_000 * inject("slowness") };

export const verifyJudge: Behaviours = {
  "Rejects every attempt to write or to reach outside, and changes nothing": async ({ connection, fixture }) => {
    const { attempts, failures } = fixture.samples;
    expect(attempts.length).toBeGreaterThanOrEqual(60);
    const before = await fixture.fingerprint();
    const outcome = async (sql: string): Promise<string> => {
      try {
        return `answered: ${JSON.stringify(await connection.query(sql, OPTIONS))}`;
      } catch (error) {
        return error instanceof ConnectionError ? error.code : String(error);
      }
    };
    const wrong: Record<string, string> = {};
    for (const sql of attempts) {
      const code = await outcome(sql);
      if (code !== "query_refused") wrong[sql] = code;
    }
    for (const sql of failures) {
      const code = await outcome(sql);
      if (!/^(query_refused|query_failed|not_there)$/.test(code)) wrong[sql] = code;
    }
    expect(wrong).toEqual({});
    expect(await fixture.fingerprint()).toBe(before);
    expect(only(await connection.query("select count(*) from customers"))).toBe(3);
  },

  "Without the query check, the session or the file still rejects writes": async ({ fixture }) => {
    const before = await fixture.fingerprint();
    const answered: string[] = [];
    for (const sql of fixture.samples.writes) {
      await fixture.bypass(sql).then(
        () => answered.push(sql),
        () => {},
      );
    }
    expect(answered).toEqual([]);
    // Control: a read-only query succeeds this way.
    await fixture.bypass("select count(*) from customers");
    expect(await fixture.fingerprint()).toBe(before);
  },

  "Accepts every read-only query": async ({ connection, fixture }) => {
    expect(fixture.samples.queries.length).toBeGreaterThanOrEqual(30);
    const wrong: Record<string, string> = {};
    for (const sql of fixture.samples.queries) {
      await connection.query(sql, OPTIONS).catch((error: unknown) => (wrong[sql] = String(error)));
    }
    expect(wrong).toEqual({});
  },

  "Reports a missing table or column": async ({ connection }) => {
    for (const sql of ["select * from nowhere", "select absent from customers"]) {
      await expect(connection.query(sql)).rejects.toMatchObject({ name: "ConnectionError", code: "not_there" });
    }
  },

  "Explains an invalid query in one sentence, with a fix": async ({ connection }) => {
    for (const sql of ["select from where", "select nofunction(1) +", "selec 1"]) {
      const error: unknown = await connection.query(sql).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({
        code: expect.stringMatching(/^query_(failed|refused)$/),
        fix: expect.stringMatching(/\.$/),
      });
      expect((error as Error).message).toMatch(/^[^\n]+\.$/);
    }
  },

  "Reports that a connection was closed": async ({ fixture }) => {
    const connection = await fixture.open();
    await connection[Symbol.asyncDispose]();
    const closed = { name: "ConnectionError", code: "connection_failed" };
    await expect(connection.query("select 1")).rejects.toMatchObject(closed);
    const other = await fixture.open();
    const asked = other.query(fixture.samples.slow);
    // Handle the rejection now, because it happens while we await the close.
    const outcome = expect(asked).rejects.toMatchObject({ name: "ConnectionError" });
    await other[Symbol.asyncDispose]();
    await outcome;
  },
};
