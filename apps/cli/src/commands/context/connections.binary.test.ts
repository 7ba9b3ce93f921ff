import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";

async function machineWithShop(config?: string) {
  const machine = await scratchMachine(config);
  const database = new DatabaseSync(machine.folder.join("project", "shop.sqlite"));
  database.exec("CREATE TABLE customers (id INTEGER PRIMARY KEY); CREATE VIEW everybody AS SELECT * FROM customers;");
  database.close();
  return machine;
}

const configOf = (machine: { folder: { join(...names: string[]): string } }) =>
  readFile(machine.folder.join("project", "tandem.yaml"), "utf8");

describe("tandem connections add", () => {
  test("detects the driver, creates tandem.yaml if missing, and tests the connection", async () => {
    await using machine = await machineWithShop();
    const { code, stdout, stderr } = await machine.run(["connections", "add", "shop", "shop.sqlite"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("1 table, 1 view");
    expect(await configOf(machine)).toBe("connections:\n  shop:\n    driver: sqlite\n    path: shop.sqlite\n");
    const listed = await machine.run(["connections", "list", "--json"]);
    expect(JSON.parse(listed.stdout)).toEqual({
      connections: [{ name: "shop", driver: "sqlite", path: "shop.sqlite" }],
    });
  });

  test("keeps the file's comments, and writes paths relative to it from any folder", async () => {
    await using machine = await machineWithShop("# mine\nscan:\n  concurrency: 2 # slow disk\n");
    await mkdir(machine.folder.join("project", "deep"));
    const { code } = await machine.run(["connections", "add", "shop", "../shop.sqlite"], { cwd: "deep" });
    expect(code).toBe(0);
    const config = await configOf(machine);
    expect(config).toContain("# mine\nscan:\n  concurrency: 2 # slow disk\n");
    expect(config).toContain("path: shop.sqlite");
  });

  test("tests first: a failed test writes nothing, and the corrected command works", async () => {
    await using machine = await machineWithShop("# mine\n");
    const failed = await machine.run(["connections", "add", "shop", "sqlite:nope.db"]);
    expect(failed.code).not.toBe(0);
    expect(failed.stdout).toContain("nope.db");
    expect(failed.stdout).toContain("tandem.yaml was not changed.");
    expect(await configOf(machine)).toBe("# mine\n");
    await mkdir(machine.folder.join("project", "deep", "down"), { recursive: true });
    const added = await machine.run(["connections", "add", "shop", "sqlite:../../shop.sqlite"], { cwd: "deep/down" });
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining("Added shop to") });
    expect(await configOf(machine)).toContain("path: shop.sqlite");
  });

  test.each([
    ["a password in the address", ["crm", "postgres://reader:sesame@127.0.0.1/crm"], "without a password"],
    [
      "a password in the address's query",
      ["crm", "postgres://127.0.0.1/crm?user=a&%70assword=sesame"],
      "a password does not belong in the URL",
    ],
    ["a name that cannot be one", ["My Shop", "shop.sqlite"], "expected a name of lower-case letters"],
    ["a secret without a driver", ["crm", "env:CRM_URL"], "--driver"],
    ["a pasted password", ["crm", "postgres://127.0.0.1/crm", "--password", "sesame"], "env:NAME"],
    ["a file of unknown kind", ["notes", "notes.txt"], "--driver"],
  ])("%s is refused, not repeated, and nothing is written", async (_, args, expected) => {
    await using machine = await machineWithShop("# mine\n");
    const { code, stdout, stderr } = await machine.run(["connections", "add", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(expected);
    expect(stderr).not.toContain("sesame");
    expect(await configOf(machine)).toBe("# mine\n");
  });

  test("rejects an existing name", async () => {
    await using machine = await machineWithShop("connections: { shop: { driver: sqlite, path: shop.sqlite } }\n");
    const { code, stderr } = await machine.run(["connections", "add", "shop", "other.sqlite"]);
    expect(code).toBe(2);
    expect(stderr).toContain("already");
  });
});

describe("tandem connections test", () => {
  test("a missing file, a file that is no database and a stopped server each give one sentence", async () => {
    await using machine = await machineWithShop(
      [
        "connections:",
        "  shop: { driver: sqlite, path: shop.sqlite }",
        "  gone: { driver: sqlite, path: gone.sqlite }",
        "  notes: { driver: sqlite, path: notes.txt }",
        `  down: { driver: postgres, url: "postgres://reader@127.0.0.1:${await closedPort()}/crm" }`,
        "  secret: { driver: postgres, url: env:CRM_URL }",
        "",
      ].join("\n"),
    );
    await machine.trust();
    await writeFile(machine.folder.join("project", "notes.txt"), "These are notes, not a database.".repeat(100));
    const { code, stdout } = await machine.run(["connections", "test"]);
    expect(code).toBe(5);
    const line = (name: string) => stdout.split("\n").find((text) => text.includes(` ${name}:`)) ?? "";
    expect(line("shop")).toMatch(/^✓ shop: 1 table, 1 view/);
    expect(line("gone")).toContain("gone.sqlite");
    expect(line("notes")).toContain("is not a SQLite database");
    expect(line("down")).toContain("127.0.0.1");
    expect(line("secret")).toContain("env:CRM_URL is not set");
  });

  test("does not read an untrusted folder, and suggests the nearest name", async () => {
    await using machine = await machineWithShop("connections: { shop: { driver: sqlite, path: shop.sqlite } }\n");
    const untrusted = await machine.run(["connections", "test"]);
    expect(untrusted).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("tandem trust") });
    const unknown = await machine.run(["connections", "test", "shopp"]);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean shop?") });
  });

  test("combines a separate address and password, and shows neither", async () => {
    await using machine = await scratchMachine(
      `connections: { crm: { driver: postgres, url: env:CRM_URL, password: env:CRM_PASSWORD } }`,
    );
    await machine.trust();
    const port = await closedPort();
    const env = { CRM_URL: `postgres://reader@127.0.0.1:${port}/crm`, CRM_PASSWORD: "p@ss/word" };
    const { code, stdout } = await machine.run(["connections", "test", "crm", "--json"], { env });
    expect(code).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({ connections: [{ ok: false, error: { code: "connection_failed" } }] });
    expect(stdout).not.toContain("p@ss");
    const wrong = await machine.run(["connections", "test", "crm"], { env: { ...env, CRM_URL: "sesame" } });
    expect(wrong.stdout).toContain("connections.crm.url");
    expect(wrong.stdout).not.toContain("sesame");
  });
});

describe("tandem connections remove", () => {
  test("removes its lines and no others", async () => {
    await using machine = await machineWithShop(
      "# mine\nconnections:\n  shop:\n    driver: sqlite\n    path: shop.sqlite\n  other: { driver: sqlite, path: o.sqlite }\nscan: { concurrency: 2 }\n",
    );
    const { code, stdout } = await machine.run(["connections", "remove", "shop"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "tandem.yaml: shop removed.\n" });
    expect(await configOf(machine)).toBe(
      "# mine\nconnections:\n  other: { driver: sqlite, path: o.sqlite }\nscan: { concurrency: 2 }\n",
    );
  });
});

/** A port without a listener. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
