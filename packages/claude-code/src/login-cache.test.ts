import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keepLoginStatus } from "./login-cache.ts";

type Status = { user: string };
const isStatus = (value: unknown): value is Status => typeof value === "object" && value !== null && "user" in value;

async function stage() {
  const folder = await mkdtemp(join(tmpdir(), "tandem-login-"));
  const variables: Record<string, string> = { HOME: folder, CLAUDE_CONFIG_DIR: join(folder, "claude") };
  await mkdir(variables["CLAUDE_CONFIG_DIR"]!);
  const executable = join(folder, "claude-binary");
  await writeFile(executable, "1");
  const file = join(folder, "login.json");
  let asked = 0;
  return {
    variables,
    executable,
    file,
    credentials: join(variables["CLAUDE_CONFIG_DIR"]!, ".credentials.json"),
    account: join(variables["CLAUDE_CONFIG_DIR"]!, ".claude.json"),
    status: (answer: Status | string = { user: "ada" }, during?: () => Promise<void>) =>
      keepLoginStatus<Status>(
        file,
        { executable, variables },
        async () => {
          asked += 1;
          await during?.();
          return answer;
        },
        isStatus,
      ),
    get asked() {
      return asked;
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

test.skipIf(process.platform !== "linux")("an answer is kept, in a private file", async () => {
  await using it = await stage();
  expect(await it.status()).toEqual({ user: "ada" });
  expect(await it.status({ user: "bob" })).toEqual({ user: "ada" });
  expect(it.asked).toBe(1);
  expect((await stat(it.file)).mode & 0o777).toBe(0o600);
});

test("a login, a logout, another account, binary or variable is noticed", async () => {
  await using it = await stage();
  const changes = [
    () => writeFile(it.credentials, "in"),
    () => writeFile(it.credentials, "as"),
    () => rm(it.credentials),
    () => writeFile(it.account, "{}"),
    () => writeFile(it.executable, "2"),
    async () => void (it.variables["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:1"),
  ];
  await it.status();
  for (const [index, change] of changes.entries()) {
    await change();
    expect(await it.status({ user: String(index) })).toEqual({ user: String(index) });
  }
});

test("a failure is not kept, nor an answer during a login, nor a broken file read", async () => {
  await using it = await stage();
  expect(await it.status("could not be asked")).toBe("could not be asked");
  await it.status({ user: "before" }, () => writeFile(it.credentials, "in"));
  expect(await it.status({ user: "after" })).toEqual({ user: "after" });
  await writeFile(it.file, "{");
  expect(await it.status({ user: "again" })).toEqual({ user: "again" });
});
