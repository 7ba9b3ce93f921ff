import { evalReport } from "@tandem/protocol";
import { type ModelRequest, startRehearsal, text, toolUse } from "@tandem/rehearsal";
import { mkdir, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";

const env = { ANTHROPIC_API_KEY: "sk-ant-api03-made-up" };

const EVALS = `connection: shop
pass: { all: 1 }
questions:
  - { id: orders, ask: How many orders?, tags: [count], expect: { sql: SELECT count(*) AS n FROM orders } }
  - { id: weather, ask: How is the weather?, expect: abstain }
`;

/** Knows the weather, which it should not. */
function answer(request: ModelRequest) {
  if (request.toolResults.length > 0) return text("Done.");
  const isWeather = JSON.stringify(request.messages).includes("How is the weather?");
  return toolUse("final_answer", { kind: "answer", sql: isWeather ? "SELECT 'sunny'" : "SELECT count(*) FROM orders" });
}

test("tandem evals runs questions, keeps answers, compares runs and fails below a threshold", async () => {
  await using rehearsal = await startRehearsal(answer);
  const llm = `llm: { provider: { backend: anthropic, anthropic: { baseUrl: "${rehearsal.url}" } } }\n`;
  await using machine = await scratchMachine(`${llm}connections: { shop: { driver: sqlite, path: shop.sqlite } }\n`);
  const database = new DatabaseSync(machine.folder.join("project", "shop.sqlite"));
  database.exec("CREATE TABLE orders (id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (1), (2), (3);");
  database.close();
  await machine.trust();
  await machine.run(["context", "scan", "--no-descriptions"], { env });
  const evals = machine.folder.join("project", "context", "evals");
  await mkdir(evals);
  await writeFile(`${evals}/shop.yaml`, EVALS);

  const listed = await machine.run(["evals", "list"], { env });
  expect(listed.stdout).toContain("evals/shop.yaml  shop, 2 questions  count 1");

  const first = await machine.run(["evals", "run", "--arms", "bare", "--json"], { env });
  expect(first.code).toBe(1);
  const report = evalReport.parse(JSON.parse(first.stdout));
  expect(report).toMatchObject({ asked: 2, recorded: 0 });
  expect(report.scores[0]!.pass_at_1.value).toBe(0.5);
  expect(report.scores[0]!.wrong_but_confident.value).toBe(0.5);
  expect(report.missed).toEqual(["evals/shop.yaml: pass@1 is 50 % with bare, at least 100 % is needed."]);

  const requests = rehearsal.modelRequests.length;
  const second = await machine.run(["evals", "run", "--arms", "bare", "--tag", "count"], { env });
  expect(second.code).toBe(0);
  expect(second.stdout).toContain("0 trials asked, 1 from recordings");
  expect(second.stdout).toContain("All thresholds are met.");
  expect(rehearsal.modelRequests).toHaveLength(requests);

  await writeFile(
    machine.folder.join("project", "before.json"),
    first.stdout.replace(/"passed": true/, '"passed": false'),
  );
  const compared = await machine.run(["evals", "compare", "before.json", "last"], { env });
  expect(compared.stdout).toContain("Fixes 1, breaks 0 of 1 compared; 1 only in one run");
  expect((await machine.run(["evals", "show"], { env })).stdout).toContain("pass@1");

  await writeFile(`${evals}/shop.yaml`, EVALS.replace("expect: abstain", "expect: shrug"));
  const broken = await machine.run(["evals", "run", "--no-model"], { env });
  expect(broken.code).not.toBe(0);
  expect(broken.stderr).toContain("evals/shop.yaml:5: Questions.1.expect: expected `abstain`, `clarify`");
});
