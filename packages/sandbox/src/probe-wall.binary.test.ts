import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { probe, type Machine } from "./probe-wall.ts";
import type { Wall, WallProblem } from "./sandbox-plan.ts";

const LINUX: Machine = { platform: "linux", arch: "x64" };
const { PATH = "" } = process.env;

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "tandem-wall-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A bubblewrap that fails with this message, unless `unless` says otherwise. */
function fakeBwrap(message: string, unless = "false"): string {
  const file = join(folder, "bwrap");
  writeFileSync(file, `#!/bin/sh\ncat >/dev/null\nif ${unless}; then exit 0; fi\necho '${message}' >&2\nexit 1\n`);
  chmodSync(file, 0o755);
  return [folder, PATH].join(delimiter);
}

describe("each failure of bubblewrap has its cause and fix", () => {
  test.each<[WallProblem, string]>([
    [
      "namespaces_forbidden",
      "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.",
    ],
    [
      "namespaces_exhausted",
      "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
    ],
    ["apparmor_restricts", "bwrap: setting up uid map: Permission denied"],
    ["apparmor_restricts", "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"],
    ["setfcap_missing", "bwrap: setting up uid map: Operation not permitted"],
    ["proc_masked", "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"],
    ["bubblewrap_fails", "bwrap: something new"],
  ])("%s: %s", (code, message) => {
    const wall = probe(fakeBwrap(message.replaceAll("'", `'"'"'`)), undefined, LINUX);
    expect(wall).toMatchObject({ on: false, code });
    if (!wall.on) expect([wall.reason, wall.fix].every((text) => text.endsWith(".") && text.length > 20)).toBe(true);
  });

  test("gVisor: the flag that it lacks is left out", () => {
    const unless = 'case "$*" in *--disable-userns*) false;; *) true;; esac';
    const path = fakeBwrap("bwrap: cannot open /proc/sys/user/max_user_namespaces: No such file or directory", unless);
    expect(probe(path, undefined, LINUX)).toMatchObject({ on: true, disablesUserNamespaces: false });
  });

  test("another system or processor", () => {
    expect(probe(PATH, undefined, { platform: "darwin", arch: "arm64" })).toMatchObject({ code: "unsupported_system" });
    expect(probe(PATH, undefined, { platform: "linux", arch: "riscv64" })).toMatchObject({
      code: "unsupported_processor",
    });
  });
});

const wall = probe(PATH, undefined, process);
const isRoot = process.getuid?.() === 0;

/** Probes in a process that a wrapper restricts. */
function probeUnder(wrapper: readonly string[]): Wall {
  const module = JSON.stringify(new URL("probe-wall.ts", import.meta.url).href);
  const script = `import(${module}).then(({ probe }) => console.log(JSON.stringify(probe(process.env.PATH, undefined, process))))`;
  const [command, ...args] = [...wrapper, process.execPath, "--no-warnings", "-e", script];
  const run = spawnSync(command, args, { encoding: "utf8", env: { PATH }, timeout: 60_000 * inject("slowness") });
  return JSON.parse(run.stdout) as Wall;
}

describe.skipIf(!wall.on)("on this machine", () => {
  const view = ["--dev-bind", "/", "/"];

  test("without further namespaces", () => {
    const nested = ["bwrap", "--unshare-user", "--disable-userns", ...view, "--"];
    expect(probeUnder(nested)).toMatchObject({ on: false, code: "namespaces_exhausted" });
  });

  test.skipIf(!isRoot)("as root without the capability to map itself", () => {
    expect(probeUnder(["setpriv", "--bounding-set", "-setfcap"])).toMatchObject({ on: false, code: "setfcap_missing" });
  });

  test.skipIf(!isRoot)("with a masked /proc", () => {
    const mask = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc/irq && exec "$@"', "sh"];
    expect(probeUnder(mask)).toMatchObject({ on: false, code: "proc_masked" });
  });
});
