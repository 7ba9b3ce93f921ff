import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { hasProcessTable } from "./process-table.ts";
import { ProcessWatch } from "./process-watch.ts";

test.skipIf(!hasProcessTable)(
  "an agent's process that outlives its server for too long is found, and ended",
  async () => {
    const server = spawn("sh", ["-c", "sleep 301 & sleep 302 & wait"], { stdio: "ignore" });
    const isThere = () => server.exitCode === null && server.signalCode === null;
    const roots = () => (isThere() ? [server.pid!] : []);
    using watch = new ProcessWatch("no such mark", roots, { pattern: /sleep 301/, ms: 300 });
    const agents = async () => (await watch.leftAfter(0)).map(({ command }) => command).toSorted();
    await expect.poll(agents).toEqual(["sleep 301", "sleep 302"]);
    expect(watch.orphans).toEqual([]);
    server.kill("SIGKILL");
    await once(server, "exit");
    await expect.poll(() => watch.orphans.map(({ command }) => command)).toEqual(["sleep 301"]);
    watch.endAll();
    await expect.poll(agents).toEqual([]);
  },
);
