import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { expect, test } from "vitest";
import { sessionHosts } from "./session-hosts.ts";

const folder = await scratchFolder();
await mkdir(join(folder, ".git"));
const remotes = ["git@github.com:a/b.git", "https://evil.example.com/a.git"];
const text = remotes.map((url, index) => `[remote "r${index}"]\n\turl = ${url}\n`).join("");
await writeFile(join(folder, ".git", "config"), text);

const settings = {
  hostVariables: { PATH: process.env["PATH"] },
  sandbox: { mode: "auto", hosts: ["*.corp.example"] },
} as const;
const HOSTS = ["registry.npmjs.org", "github.com", "evil.example.com", "git.corp.example", "example.org"];

test.each([
  [{ type: "default" } as const, ["registry.npmjs.org", "github.com", "git.corp.example"]],
  [{ type: "limited", hosts: ["example.org"], packageManagers: false } as const, ["example.org"]],
  [{ type: "limited", hosts: [], packageManagers: true } as const, ["registry.npmjs.org"]],
  [{ type: "unrestricted" } as const, HOSTS],
])(
  "networking %j allows its hosts; a remote that an agent may have planted is not among them",
  async (networking, allowed) => {
    const isAllowed = await sessionHosts({ folder }, settings, networking);
    expect(HOSTS.filter((host) => isAllowed({ host, port: 443 }))).toEqual(allowed);
  },
);
