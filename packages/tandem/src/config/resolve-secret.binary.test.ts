import { TandemError } from "@tandem/protocol";
import { readFile } from "node:fs/promises";
import { describe, expect, inject, test } from "vitest";
import { isRunning } from "../testing/is-running.ts";
import { testFolder } from "../testing/test-folder.ts";
import { resolveSecret } from "./resolve-secret.ts";

const env = { PATH: process.env["PATH"] };
const node = (code: string) => `command:${process.execPath} -e '${code}'`;

async function failure(promise: Promise<unknown>): Promise<TandemError> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (error instanceof TandemError) return error;
  throw new Error("expected a TandemError", { cause: error });
}

describe("a secret from a program", () => {
  test("is the program's output, and the program runs without a shell", async () => {
    await using folder = await testFolder();
    const place = { env, folder: folder.path };
    expect(await resolveSecret(node('console.log(" a " + process.cwd())'), place)).toBe(`a ${folder.path}`);
    expect((await failure(resolveSecret("command:echo $(touch marker)", place))).message).toContain("without a shell");
  });

  test.each([
    ["command:tandem-no-such-program", "was not found"],
    [node('console.error("s3cret"); console.log("s3cret"); process.exit(3)'), "exit code 3"],
    [node("0"), "is empty"],
    [node('process.stdout.write("s3cret".repeat(99999))'), "printed more than a secret"],
  ])("%s: %s", async (reference, text) => {
    const error = await failure(resolveSecret(reference, { env, folder: "/" }));
    expect(error).toMatchObject({ code: "secret_unavailable" });
    expect(error.message).toContain(text);
    expect(error.fix).not.toBe("");
    expect(JSON.stringify(error)).not.toContain("s3cret");
  });

  test("a program that times out is killed with its children", async () => {
    await using folder = await testFolder();
    const reference = "command:sh -c 'sleep 600 & echo $! > child; wait'";
    // By then the shell has written the number.
    const deadlineMs = 2_000 * inject("slowness");
    const error = await failure(resolveSecret(reference, { env, folder: folder.path, deadlineMs }));
    expect(error.message).toContain(`did not answer within ${deadlineMs / 1_000} s`);
    const pid = Number(await readFile(folder.join("child"), "utf8"));
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  test("a program that is interrupted is killed at once", async () => {
    const controller = new AbortController();
    const pending = failure(resolveSecret("command:sleep 600", { env, folder: "/", signal: controller.signal }));
    controller.abort();
    expect(await pending).toMatchObject({ code: "aborted" });
  });
});
