import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";

test("tandem demo context creates a usable catalogue and wiki and touches nothing else", async () => {
  await using machine = await scratchMachine();
  const { code, stdout, stderr } = await machine.run(["demo", "context"]);
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

  const [, folder = ""] = /export TANDEM_PROJECT=(\S+)/.exec(stdout) ?? [];
  const read = (path: string) => readFile(join(folder, path), "utf8");
  expect(folder.startsWith(machine.variables.TMPDIR)).toBe(true);
  // Every command writes the compile cache there.
  expect(await readdir(machine.variables.TANDEM_HOME), "the user's own home").toEqual(["cache"]);
  expect(await read("tandem.yaml"), "a stand-in that is gone").not.toContain("127.0.0.1");
  expect(await readdir(join(folder, "context/catalogue/shop"))).toHaveLength(10);
  expect(await read("context/wiki/metrics/active-customer.md")).toContain(
    "[^docs/newsletter-handbook#whom-we-write-to]",
  );
  expect(existsSync(join(folder, "context/wiki/newsletter.md")), "not accepted yet").toBe(false);

  const env = { TANDEM_PROJECT: folder, TANDEM_HOME: join(folder, ".tandem") };
  const accepted = await machine.run(["proposals", "accept", "last"], { env });
  expect(accepted).toMatchObject({ code: 0, stdout: expect.stringContaining("7 accepted in 7 files") });
  const found = await machine.run(["context", "search", "newsletter", "--kind", "page", "--json"], { env });
  expect(JSON.parse(found.stdout)).toMatchObject({ hits: [{ key: "page:newsletter" }, {}] });
  const rows = await machine.run(["sql", "shop", "select count(*) as refunds from refunds", "--csv"], { env });
  expect(rows.stdout).toBe("refunds\r\n151\r\n");
});

test("tandem demo context creates nothing in a non-empty folder", async () => {
  await using machine = await scratchMachine("# mine\n");
  const { code, stderr } = await machine.run(["demo", "context", "."]);
  expect(code).toBe(2);
  expect(stderr).toContain("is not empty.");
  expect(await readdir(machine.project)).toEqual(["tandem.yaml"]);
});
