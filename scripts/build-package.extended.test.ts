import { spawn } from "node:child_process";
import { existsSync, globSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { outcomeOf } from "../apps/cli/src/testing/open-command.ts";
import { scratchMachine } from "../apps/cli/src/testing/run-tandem.ts";
import { startUp } from "../apps/cli/src/testing/session-machine.ts";
import { describeApi } from "../packages/server/src/http/openapi.ts";
import { describedRoutes } from "../packages/server/src/http/route-table.ts";
import { buildDeclarations } from "./build-declarations.ts";
import { buildPackage } from "./build-package.ts";
import { LIBRARY_PACKAGES, type PublishedPackage, SERVER_PACKAGE } from "./published-packages.ts";

const root = join(import.meta.dirname, "..");
const cache = join(root, "node_modules", ".cache", "tandem");
// `npm test` has built the package already.
const built = process.env["TANDEM_TEST_COMMAND"];
const REHEARSAL = LIBRARY_PACKAGES.find(({ name }) => name.endsWith("rehearsal"))!;
// The declarations of the client's API take ten seconds to emit and check. The soak does that.
const packages = process.env["TANDEM_SOAK"] ? [SERVER_PACKAGE, ...LIBRARY_PACKAGES] : [SERVER_PACKAGE, REHEARSAL];
const folderOf = ({ name }: PublishedPackage): string =>
  built && name === SERVER_PACKAGE.name ? join(dirname(built), "..") : join(cache, "packed", name);

/** An empty project with the tarballs installed. Other libraries are linked from the clone. */
let project: string;
let tandem: string;
beforeAll(async () => {
  for (const each of packages) {
    if (!built || each !== SERVER_PACKAGE) await buildPackage(folderOf(each), each);
  }
  buildDeclarations(packages, packages.map(folderOf));
  project = await mkdtemp(join(tmpdir(), "tandem-installed-"));
  const modules = join(project, "node_modules");
  tandem = join(modules, SERVER_PACKAGE.name, "bin", "tandem.mjs");
  const own = new Set(packages.map(({ name }) => name));
  for (const name of await readdir(join(root, "node_modules"))) {
    // The package must not depend on the Node of the clone, or on the workspaces.
    if (name.startsWith(".") || name === "node" || name.startsWith("@tandem") || own.has(name)) continue;
    await mkdir(modules, { recursive: true });
    await symlink(join(root, "node_modules", name), join(modules, name));
  }
  for (const each of packages) {
    const tarball = (await run("npm", ["pack", "--silent", "--pack-destination", project], folderOf(each))).trim();
    await mkdir(join(modules, each.name), { recursive: true });
    await run("tar", ["-xzf", join(project, tarball), "--strip-components=1", "-C", join(modules, each.name)], project);
  }
});
afterAll(() => rm(project, { recursive: true, force: true }));

async function run(program: string, args: string[], cwd: string): Promise<string> {
  const child = spawn(program, args, { cwd, env: { PATH: process.env["PATH"], HOME: project } });
  const { code, stdout, stderr } = await outcomeOf(child);
  expect({ code, stderr: code === 0 ? "" : stderr + stdout }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

const manifest = z.object({
  version: z.string(),
  bin: z.record(z.string(), z.string()).default({}),
  dependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean() })).default({}),
});
const readManifest = async (folder: string) =>
  manifest.parse(JSON.parse(await readFile(join(folder, "package.json"), "utf8")));

test("the package declares its dependencies, and none of the workspace", async () => {
  const { bin, dependencies } = await readManifest(folderOf(SERVER_PACKAGE));
  expect(bin).toEqual({ tandem: "bin/tandem", "tandem-agent-server": "bin/tandem" });
  expect(Object.keys(dependencies).sort()).toEqual([
    "@anthropic-ai/claude-agent-sdk",
    "@polyglot-sql/sdk",
    "libpg-query",
    "zod",
  ]);
  const notices = await readFile(join(folderOf(SERVER_PACKAGE), "THIRD-PARTY-NOTICES.md"), "utf8");
  for (const name of ["hono", "pg", "react", "mysql2"]) expect(notices).toMatch(new RegExp(`^## ${name} `, "m"));
  expect(notices).toContain("Claude Code, which the server installs as a dependency, is not among them");
});

test("an install takes at most 480 MB, and 100 without Claude Code", async () => {
  const sizes = new Map<string, number>();
  const waiting = Object.keys((await readManifest(folderOf(SERVER_PACKAGE))).dependencies);
  for (const name of waiting) {
    const folder = join(root, "node_modules", name);
    if (sizes.has(name) || !existsSync(folder)) continue;
    sizes.set(name, megabytes(folder));
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = await readManifest(folder);
    const peers = Object.keys(peerDependencies).filter((each) => !peerDependenciesMeta[each]?.optional);
    waiting.push(...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers);
  }
  const all = [...sizes.values()].reduce((sum, each) => sum + each, megabytes(folderOf(SERVER_PACKAGE)));
  const claude = [...sizes].filter(([name]) => name.startsWith("@anthropic-ai/")).reduce((sum, [, mb]) => sum + mb, 0);
  expect(all).toBeLessThan(480);
  expect(all - claude).toBeLessThan(100);
});

const megabytes = (folder: string): number =>
  globSync("**/*", { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) / 1e6;

test("the installed command prints its version", async () => {
  const { version } = await readManifest(SERVER_PACKAGE.workspace);
  expect(await run(process.execPath, [tandem, "--version"], project)).toBe(`${version}\n`);
});

test("an edited tandem.yaml counts for the next command, although a parsed one is cached", async () => {
  await using machine = await scratchMachine();
  const read = async () => (await machine.runProcess(["config", "get", "sessions.idle"], { tandem })).stdout.trim();
  for (const idle of ["7m", "7m", "9m"]) {
    await writeFile(join(machine.project, "tandem.yaml"), `sessions: { idle: ${idle} }\n`);
    expect(await read()).toBe(idle);
  }
  const cached = await readdir(join(machine.variables.TANDEM_HOME, "cache"));
  expect(cached.filter((name) => name.endsWith("tandem.yaml.json"))).toHaveLength(1);
});

test("a strict TypeScript program uses the installed libraries", async () => {
  const strict = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
  };
  const files = process.env["TANDEM_SOAK"] ? ["program.ts", "client.ts"] : ["program.ts"];
  await writeFile(join(project, "package.json"), JSON.stringify({ type: "module" }));
  await writeFile(join(project, "program.ts"), PROGRAM);
  await writeFile(join(project, "client.ts"), CLIENT);
  const compilerOptions = { ...strict, module: "nodenext", target: "es2024", lib: ["es2024", "esnext.disposable"] };
  await writeFile(
    join(project, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...compilerOptions, types: ["node"], noEmit: true }, files }),
  );
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", project], project);
  expect(await run(process.execPath, [join(project, "program.ts")], project)).toBe("1230\n200\n");
});

const PROGRAM = `import { startRehearsal, object } from "tandem-agent-rehearsal";
import { openTandem, type Tandem } from "tandem-agent-server";
import { configSchema, createBackend, createRuntime, type CallReport } from "tandem-agent-server/runtime";
import { z } from "zod";

await using rehearsal = await startRehearsal([object({ lengthKm: 1230 })]);
const { llm: config } = configSchema.parse({
  llm: { provider: { backend: "anthropic", anthropic: { baseUrl: rehearsal.url } } },
});
const backend = await createBackend(config, { readSecret: async () => "sk-made-up", stateFolder: ".", hostVariables: {} });
const runtime = createRuntime({ config, backend, sink: (report: CallReport) => void report.cost?.usd });
const schema = z.object({ lengthKm: z.number() });
const river = await runtime.generateObject({ role: "default", prompt: "How long is the Rhine?", schema });
const length: number = river.lengthKm;
console.log(length);
await runtime.close();

const env = { HOME: process.cwd(), TANDEM_HOME: process.cwd() + "/home", PATH: process.env["PATH"] };
await using tandem: Tandem = await openTandem({ project: ".", env, port: 0 });
const token: string = await tandem.createToken("test", { scopes: ["admin"] });
console.log((await fetch(tandem.url + "/v1/agents", { headers: { "x-api-key": token } })).status);
`;

const CLIENT = `import { createClient } from "tandem-agent-client";
import { TandemClient } from "tandem-agent-client/stdio";

const api = createClient({ baseUrl: "http://127.0.0.1:4760", token: "made-up" });
const { data } = await api.call("approvals.list", { query: { status: "pending" } });
export const tool: string | undefined = data[0]?.tool;
// @ts-expect-error an unknown field
export const wrong = data[0]?.nonsense;
export { TandemClient };
`;

test("its demo shows every kind of call on the real binary, and leaves nothing behind", async () => {
  await using machine = await scratchMachine();
  const { code, stdout, stderr } = await machine.runProcess(["demo"], { tandem });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("does not fit");
  expect(stdout).toMatch(/step 2 +read_note, read_note/);
  expect(stdout).toContain("529 overloaded: trying again");
  expect(stdout).toContain("23 model requests and 0 others, all to 127.0.0.1");
  expect(stdout).toContain("Claude Code processes still running: 0");
  expect(stdout, "colour is for terminals").not.toContain("\u001b[");
  expect((await readdir(machine.variables.TMPDIR)).filter((name) => name.startsWith("tandem-demo-"))).toEqual([]);
});

test("its demo of the context creates a usable catalogue and wiki and touches nothing else", async () => {
  await using machine = await scratchMachine();
  const { code, stdout, stderr } = await machine.runProcess(["demo", "context"], { tandem });
  expect({ code, errors: stderr.match(/^error.*/gm) }).toEqual({ code: 0, errors: null });
  expect(stderr, "progress").toContain("shop: descriptions: 10 described");
  expect(stdout).toContain("3 declared, 9 found in the data, 2 suggested and proven");
  expect(stdout, "what the model was not told, the rows have shown").toContain("orders (ship_to) → addresses (id)");
  expect(stdout).toMatch(/question \w+ {2}contradiction {2}page:metrics\/active-customer {2}open/);
  expect(stdout).toContain("3 pages accepted, 4 left to decide");
  expect(stdout).toContain("page:metrics/active-customer  Active customer");
  expect(stdout).toContain("main.order_lines.order_id = main.refunds.order_id AND");
  expect(stdout).toContain("Requests to the model: 0");
  expect(stdout, "colour is for terminals").not.toContain("\u001b[");

  const [, place = ""] = /export TANDEM_PROJECT=(\S+)/.exec(stdout) ?? [];
  const read = (path: string) => readFile(join(place, path), "utf8");
  expect(place.startsWith(machine.variables.TMPDIR)).toBe(true);
  // Every command writes the compile cache there.
  expect(await readdir(machine.variables.TANDEM_HOME), "the user's own home").toEqual(["cache"]);
  expect(await read("tandem.yaml"), "a stand-in that is gone").not.toContain("127.0.0.1");
  expect(await readdir(join(place, "context/catalogue/shop"))).toHaveLength(10);
  expect(await read("context/wiki/metrics/active-customer.md")).toContain(
    "[^docs/newsletter-handbook#whom-we-write-to]",
  );
  expect(existsSync(join(place, "context/wiki/newsletter.md")), "not accepted yet").toBe(false);

  const env = { TANDEM_PROJECT: place, TANDEM_HOME: `${place}.tandem` };
  const accepted = await machine.run(["context", "proposals", "accept", "last"], { env });
  expect(accepted).toMatchObject({ code: 0, stdout: expect.stringContaining("7 accepted in 7 files") });
  const found = await machine.run(["context", "search", "newsletter", "--kind", "page", "--json"], { env });
  expect(JSON.parse(found.stdout)).toMatchObject({ hits: [{ key: "page:newsletter" }, {}] });
  const rows = await machine.run(["context", "sql", "shop", "select count(*) as refunds from refunds", "--csv"], {
    env,
  });
  expect(rows.stdout).toBe("refunds\r\n151\r\n");
});

test("it serves the page and the API of the sources", async () => {
  await using machine = await scratchMachine();
  await using server = await startUp(machine.start(["up", "--demo", "--json", "--port", "0"], { tandem }));
  const page = await fetch(server.url);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain("<title>Tandem</title>");
  // Its schemas are built lazily, and describe the same API.
  const api = await fetch(`${server.url}/openapi.json`, { headers: { "x-api-key": server.token } });
  expect(await api.json()).toEqual(JSON.parse(JSON.stringify(describeApi(describedRoutes))));
});
