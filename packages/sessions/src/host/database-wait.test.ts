import { RequestError, systemClock } from "@tandem/protocol";
import { expect, test } from "vitest";
import { DatabaseWait } from "./database-wait.ts";

const away = () => new RequestError("unavailable", "The database cannot be used: the disk is full.");

/** Work that fails `times` times. */
const failing = (times: number) => {
  let tries = 0;
  return async (): Promise<string> => {
    tries += 1;
    if (tries <= times) throw away();
    return `try ${tries}`;
  };
};

test("work is repeated until the database is back", async () => {
  expect(await new DatabaseWait(systemClock, 60_000).run(failing(2))).toBe("try 3");
});

test("after the bound, or once stopped, the work fails with the database's own error", async () => {
  await expect(new DatabaseWait(systemClock, 100).run(failing(Infinity))).rejects.toThrow("the disk is full");
  const wait = new DatabaseWait(systemClock, 60_000);
  const stopped = expect(wait.run(failing(Infinity))).rejects.toThrow("the disk is full");
  wait.stop();
  await stopped;
});

test("another error is not waited for", async () => {
  const work = () => Promise.reject(new RequestError("not_found", "There is no session."));
  await expect(new DatabaseWait(systemClock, 60_000).run(work)).rejects.toThrow("There is no session.");
});
