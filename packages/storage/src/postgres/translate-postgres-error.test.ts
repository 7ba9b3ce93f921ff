import { expect, test } from "vitest";
import { translate } from "./translate-postgres-error.ts";

const failure = (code?: string): Error => Object.assign(new Error("It failed."), code !== undefined && { code });

test.each([
  ["a lock that was not available in time", "55P03", "busy"],
  ["a deadlock", "40P01", "busy"],
  ["a full disk", "53100", "disk_full"],
  ["a restart", "57P01", undefined],
  ["a lost connection", undefined, undefined],
])("%s is unavailable, with its detail", (_, code, detail) => {
  expect(translate(failure(code))).toMatchObject({ code: "unavailable", detail });
});
