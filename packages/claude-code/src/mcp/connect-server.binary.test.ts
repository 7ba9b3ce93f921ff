import { listenOnLoopback } from "@tandem/rehearsal";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { ProcessLedger } from "../processes/process-ledger.ts";
import { startMcpServer } from "../session/testing/mcp-server.ts";
import { connectServer, type McpEndpoint } from "./connect-server.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "tandem-mcp-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const connect = (place: McpEndpoint) =>
  connectServer(place, {
    ledger: new ProcessLedger(join(root, "processes")),
    hostVariables: { PATH: process.env["PATH"] ?? "" },
    connectMs: 10_000 * inject("slowness"),
    callMs: 10_000 * inject("slowness"),
    onToolsChanged: () => {},
  });

async function listen(status: number, headers: Record<string, string> = {}) {
  const asked: IncomingMessage["headers"][] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers);
    request.resume().on("end", () => response.writeHead(status, headers).end());
  });
  const { url, ...listening } = await listenOnLoopback(server);
  return { ...listening, url: `${url}/mcp`, asked };
}

test("lists and calls tools over HTTP", async () => {
  await using server = await startMcpServer();
  await using connection = await connect({ type: "http", url: server.url, headers: {}, publicOnly: false });
  expect((await connection.tools()).map(({ name }) => name)).toEqual(["look", "stumble"]);
  const signal = new AbortController().signal;
  expect(await connection.call("look", { at: 1 }, signal)).toMatchObject({ content: [{ text: 'look: {"at":1}' }] });
  expect(await connection.call("stumble", {}, signal)).toMatchObject({ isError: true });
});

test("sends headers only to the configured server, not to a redirect target", async () => {
  await using elsewhere = await listen(200);
  await using server = await listen(307, { location: elsewhere.url });
  const headers = { authorization: "Bearer made-up" };
  await expect(connect({ type: "http", url: server.url, headers, publicOnly: false })).rejects.toThrow("not followed");
  expect(server.asked[0]).toMatchObject(headers);
  expect(elsewhere.asked).toEqual([]);
});

test.each(["http", "sse"] as const)("refuses a private address over %s, without a request", async (type) => {
  await using server = await listen(200);
  const place = { type, url: server.url, headers: {}, publicOnly: true };
  await expect(connect(place)).rejects.toMatchObject({ code: "forbidden", fix: expect.any(String) });
  expect(server.asked).toEqual([]);
});

test("kills a local program that does not speak MCP, and reports its last output", async () => {
  const place: McpEndpoint = { type: "stdio", command: "/bin/sh", args: [], variables: {}, folder: root };
  await expect(connect({ ...place, args: ["-c", "echo no licence >&2; exit 1"] })).rejects.toThrow("no licence");
  await expect(connect({ ...place, command: join(root, "nowhere") })).rejects.toThrow("ENOENT");
  expect(await readdir(join(root, "processes"))).toEqual([]);
});

test("does not wait for a detached child that holds the output of a local program", async () => {
  const escape = `require("child_process").spawn("sleep", ["30"], { detached: true, stdio: "inherit" }).unref()`;
  const place: McpEndpoint = {
    type: "stdio",
    command: process.execPath,
    args: ["-e", escape],
    variables: {},
    folder: root,
  };
  const begun = Date.now();
  await expect(connect({ ...place, variables: { PATH: process.env["PATH"] ?? "" } })).rejects.toThrow(/./);
  expect(Date.now() - begun).toBeLessThan(15_000 * inject("slowness"));
  expect(await readdir(join(root, "processes"))).toEqual([]);
});
