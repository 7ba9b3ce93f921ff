import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { testFolder } from "../testing/test-folder.ts";
import { findServer, writeServerFile } from "./server-file.ts";

const INFO = {
  url: "http://127.0.0.1:1",
  token_file: "/t",
  database: "/d",
  roots: ["/r"],
  payer: "claude_login",
  demo: false,
};

test("finds a running server, and removes the file when it stops", async () => {
  await using home = await testFolder();
  const env = { TANDEM_HOME: home.path };
  const file = home.join("server.json");
  {
    await using _ = await writeServerFile(env, INFO);
    expect(await findServer(env)).toMatchObject({ ...INFO, pid: process.pid });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  }
  expect(await findServer(env)).toBeUndefined();
  await expect(stat(file)).rejects.toThrow("ENOENT");
});

test("ignores the file of a dead server, even if its pid is reused", async () => {
  await using home = await testFolder();
  const env = { TANDEM_HOME: home.path };
  const file = home.join("server.json");
  await using _ = await writeServerFile(env, INFO);
  const written = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;
  for (const left of [{ pid: 2 ** 22 - 1 }, { process_start: "an earlier one" }, { process_start: "" }]) {
    await writeFile(file, JSON.stringify({ ...written, ...left }));
    expect(await findServer(env)).toBeUndefined();
  }
});

test("ignores a file that others can write or that is malformed", async () => {
  await using home = await testFolder();
  const env = { TANDEM_HOME: home.path };
  const file = home.join("server.json");
  await using _ = await writeServerFile(env, INFO);
  await chmod(file, 0o622);
  expect(await findServer(env)).toBeUndefined();
  await chmod(file, 0o600);
  expect(await findServer(env)).toBeDefined();
  await writeFile(file, "{");
  expect(await findServer(env)).toBeUndefined();
});
