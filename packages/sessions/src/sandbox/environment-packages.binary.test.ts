import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text, toolUse } from "@tandem/rehearsal";
import { knownWall } from "@tandem/sandbox";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ALLOW_ALL, setEngineStage, the, type EngineStage, type RunningEngine } from "../testing/engine-stage.ts";
import { prunePackages } from "./environment-packages.ts";

const wall = knownWall(process.env);

let stage: EngineStage;
let registry: Server;
let running: RunningEngine;
let asked: string[];
beforeEach(async () => {
  stage = await setEngineStage();
  asked = [];
  const tarball = pack();
  registry = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (request.url?.endsWith(".tgz")) return void response.end(tarball);
    if (request.url !== "/made-up-tool") return void response.writeHead(404).end('{"error":"not found"}');
    const dist = { tarball: `${url}/tool.tgz` };
    const version = { name: "made-up-tool", version: "1.0.0", bin: "cli.js", hasInstallScript: true, dist };
    response.end(
      JSON.stringify({ name: "made-up-tool", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } }),
    );
  }).listen(0, "127.0.0.1");
  await once(registry, "listening");
  const { port } = registry.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  running = await stage.open({
    sandbox: { mode: "require", services: [{ port, to: port }] },
    hostVariables: { PATH: process.env["PATH"], HOME: join(stage.root, "home"), npm_config_registry: url },
  });
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  registry.close();
});

/** Its script tries to leave the sandbox. */
function pack(): Buffer {
  const folder = join(stage.root, "package");
  mkdirSync(folder);
  const scripts = { postinstall: `touch ${stage.root}/escaped; ls ${stage.root}/state >seen.txt; true` };
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "made-up-tool", version: "1.0.0", bin: "cli.js", main: "cli.js", scripts }),
  );
  writeFileSync(join(folder, "cli.js"), '#!/usr/bin/env node\nconsole.log("the tool ran");\n', { mode: 0o755 });
  execFileSync("tar", ["-czf", "tool.tgz", "package"], { cwd: stage.root });
  return readFileSync(join(stage.root, "tool.tgz"));
}

async function turn(npm: string[], command: string) {
  const config = { type: "cloud", packages: { npm } } as const;
  const { id } = await running.engine.environments.create({ name: `with ${npm.join()}`, config });
  stage.rehearsal.use([toolUse("Bash", { command }), text("done")]);
  return running.turn(await running.session({ environment_id: id }, ALLOW_ALL), "Go.");
}

test.skipIf(!wall.on || wall.socat === undefined)(
  "packages are installed once, in a sandbox, and are read-only",
  async () => {
    const command = "made-up-tool; node -e 'require(\"made-up-tool\")'; touch /opt/tandem-packages/node_modules/x";
    const events = await turn(["made-up-tool"], command);
    const said = JSON.stringify(the(events, "agent.tool_result").content);
    expect(said).toMatch(/the tool ran\\nthe tool ran\\n.*Read-only/);
    const requests = asked.length;
    expect(JSON.stringify(the(await turn(["made-up-tool"], "made-up-tool"), "agent.tool_result"))).toContain(
      "the tool ran",
    );
    expect(asked).toHaveLength(requests);
    expect(readdirSync(stage.root)).not.toContain("escaped");
    const parent = join(stage.root, "state", "packages");
    const [name = "", ...others] = readdirSync(parent);
    expect(others).toEqual([]);
    expect(readFileSync(join(parent, name, "node_modules", "made-up-tool", "seen.txt"), "utf8")).toBe("packages\n");
    await prunePackages(join(stage.root, "state"), Date.now());
    expect(readdirSync(parent)).toEqual([name]);
    const home = join(stage.root, "state", "sandboxes", "mcp", "unused");
    mkdirSync(home, { recursive: true });
    for (const path of [home, join(parent, name)]) utimesSync(path, 0, 0);
    await prunePackages(join(stage.root, "state"), Date.now());
    expect([...readdirSync(parent), ...readdirSync(join(home, ".."))]).toEqual([]);
  },
);

test.skipIf(!wall.on || wall.socat === undefined)(
  "a failed installation fails the start, with the reason",
  async () => {
    const events = await turn(["no-such-package"], "true");
    const { error } = the(events, "session.error");
    expect(error.message).toMatch(/packages of the environment were not installed.*404/);
    expect(error.tandem?.fix).toContain("no-such-package");
    expect(stage.rehearsal.modelRequests).toEqual([]);
  },
);
