import { TandemError } from "@tandem/protocol";
import { expect, test } from "vitest";
import type { Host } from "../config/host.ts";
import { type Check, ok, type CheckInput, runChecks } from "./check.ts";

const input = (signal = new AbortController().signal) => ({ host: { signal } as Host }) as CheckInput;
const check = (name: string, run: Check["run"]): Check => ({ name, run });
const never = () => new Promise<never>(() => {});

test("a check that hangs or throws fails alone", async () => {
  const findings = await runChecks(
    [
      check("hangs", never),
      check("errs", async () => {
        throw new TandemError("x", "It broke.", { fix: "Fix it." });
      }),
      check("works", async () => ok("Fine.")),
      check("does not apply", async () => undefined),
    ],
    input(),
    100,
  );
  expect(findings).toEqual([
    { name: "hangs", result: "failure", detail: expect.stringContaining("0.1 s"), fix: expect.any(String) },
    { name: "errs", result: "failure", detail: "It broke.", fix: "Fix it." },
    { name: "works", result: "ok", detail: "Fine." },
  ]);
});

test("checks run in parallel", async () => {
  const gate = Promise.withResolvers<void>();
  const first = check("first", async () => {
    await gate.promise;
    return ok("");
  });
  const second = check("second", async () => {
    gate.resolve();
    return ok("");
  });
  expect(await runChecks([first, second], input(), 5_000)).toHaveLength(2);
});

test("Ctrl-C aborts all checks", async () => {
  const controller = new AbortController();
  const running = runChecks([check("hangs", never)], input(controller.signal), 60_000);
  controller.abort();
  await expect(running).rejects.toMatchObject({ name: "AbortError" });
});
