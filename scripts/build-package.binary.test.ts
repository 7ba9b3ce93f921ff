import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { scratchMachine } from "../apps/cli/src/testing/run-tandem.ts";
import { startUp } from "../apps/cli/src/testing/session-machine.ts";
import { buildPackage } from "./build-package.ts";

const root = join(import.meta.dirname, "..");
// `npm test` has built the package already.
const built = process.env["TANDEM_TEST_COMMAND"];
const folder = built ? join(dirname(built), "..") : join(root, "node_modules", ".cache", "tandem", "built-by-test");
const tandem = join(folder, "bin", "tandem.mjs");
beforeAll(() => (built ? undefined : buildPackage(folder)));

test("the package declares its dependencies, and none of the workspace", async () => {
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    bin: object;
    dependencies: Record<string, string>;
  };
  expect(manifest.bin).toEqual({ tandem: "bin/tandem.mjs" });
  expect(Object.keys(manifest.dependencies)).toContain("@anthropic-ai/claude-agent-sdk");
  expect(Object.keys(manifest.dependencies).filter((name) => name.startsWith("@tandem/"))).toEqual([]);
  expect(Object.values(manifest.dependencies).every((version) => /^\d/.test(version))).toBe(true);
});

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

  const env = { TANDEM_PROJECT: place, TANDEM_HOME: join(place, ".tandem") };
  const accepted = await machine.run(["proposals", "accept", "last"], { env });
  expect(accepted).toMatchObject({ code: 0, stdout: expect.stringContaining("7 accepted in 7 files") });
  const found = await machine.run(["context", "search", "newsletter", "--kind", "page", "--json"], { env });
  expect(JSON.parse(found.stdout)).toMatchObject({ hits: [{ key: "page:newsletter" }, {}] });
  const rows = await machine.run(["sql", "shop", "select count(*) as refunds from refunds", "--csv"], { env });
  expect(rows.stdout).toBe("refunds\r\n151\r\n");
});

test("it serves the page", async () => {
  await using machine = await scratchMachine();
  await using server = await startUp(machine.start(["up", "--demo", "--json", "--port", "0"], { tandem }));
  const page = await fetch(server.url);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain("<title>Tandem</title>");
});
