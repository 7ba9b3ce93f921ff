import { createInterface } from "node:readline";
import { OAuthMcpServer } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import type { OpenCommand } from "../../testing/open-command.ts";
import { sessionMachine } from "../../testing/session-machine.ts";

/** The link that the command prints. */
const linkOf = ({ stderr, outcome }: OpenCommand): Promise<string> =>
  new Promise((resolve, reject) => {
    createInterface({ input: stderr }).on("line", (line) => line.startsWith("http") && resolve(line));
    void outcome.then((ended) => reject(new Error(`It ended: ${JSON.stringify(ended)}`)));
  });

test("tandem vaults login: the browser agrees, and the vault has a token that works", async () => {
  await using server = await OAuthMcpServer.start();
  await using machine = await sessionMachine([]);
  await using _ = await machine.up();
  await machine.run(["vaults", "create", "team"]);
  const login = machine.open(["vaults", "login", "team", server.url, "--no-browser"]);
  login.stdin.end();
  const link = await linkOf(login);

  const { headers } = await fetch(link, { redirect: "manual" });
  const back = new URL(headers.get("location") ?? "");
  // Another page cannot end the login.
  const forged = new URL(back);
  forged.searchParams.set("state", "made-up");
  expect((await fetch(forged)).status).toBe(404);
  expect(await (await fetch(back)).text()).toContain("The login is complete");
  const outcome = await login.outcome;
  expect(outcome).toMatchObject({ code: 0, stdout: expect.stringMatching(/^vcrd_.*encrypted/) });
  expect(outcome.stdout + outcome.stderr).not.toContain(server.accessToken);

  const check = await machine.run(["vaults", "check", "team", server.url]);
  expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining("valid") });
});

test("tandem vaults login: a refusal of the person is the error", async () => {
  await using server = await OAuthMcpServer.start();
  await using machine = await sessionMachine([]);
  await machine.run(["vaults", "create", "team"]);
  const login = machine.open(["vaults", "login", "team", server.url, "--no-browser", "--client-id", "mine"]);
  login.stdin.end();
  const link = await linkOf(login);
  const asked = new URL(link).searchParams;
  expect(asked.get("client_id")).toBe("mine");
  const query = new URLSearchParams({ error: "access_denied", state: asked.get("state")! });
  expect((await fetch(`${asked.get("redirect_uri")}?${query.toString()}`)).status).toBe(400);
  expect(await login.outcome).toMatchObject({ code: 1, stderr: expect.stringContaining("access_denied") });
  expect(server.grants).toEqual([]);
});
