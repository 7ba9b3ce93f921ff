import type { EvalReport, EvalTrial } from "@tandem/protocol";
import { type ModelRequest, type Script, text } from "@tandem/rehearsal";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { plainTools, taskOf, use } from "../ingest/testing/agent-requests.ts";
import { RehearsedBackend } from "../scan/testing/rehearsed-backend.ts";
import { type EvalStage, openEvalStage } from "./testing/eval-stage.ts";
import { EVALS, GOLD, SHOP_SQL } from "./testing/shop-evals.ts";

const ASKS = new Map(
  [...EVALS.matchAll(/- id: (\S+)\n\s+ask: (.+)\n/g)].map(([, id, ask]) => [ask!, id as keyof typeof GOLD]),
);
const QUESTIONS = [...ASKS.values()];

const questionOf = (request: ModelRequest): keyof typeof GOLD =>
  ASKS.get(/Question: (.+)/.exec(taskOf(request))?.[1] ?? "")!;

const ABSTAIN = { kind: "abstain", reason: "There is no such data." };
const CLARIFY = { kind: "clarify", question: "By sales or by orders?" };
const answer = (sql: string) => ({ kind: "answer", sql });

type Agent = (question: string, nth: number) => object;

const right: Agent = (question) =>
  question === "footprint" ? ABSTAIN : question === "best" ? CLARIFY : answer(GOLD[question as keyof typeof GOLD]);

/** An agent that gives its final answer at once. Counts how often each question was asked. */
function scripted(agent: Agent): Script {
  const asked = new Map<string, number>();
  return (request) => {
    if (request.toolResults.length > 0) return text("Done.");
    const question = questionOf(request);
    const nth = asked.get(question) ?? 0;
    asked.set(question, nth + 1);
    return use("final_answer", agent(question, nth))(request);
  };
}

let backend: RehearsedBackend;
let stage: EvalStage;
beforeAll(async () => {
  backend = await RehearsedBackend.open("anthropic");
  stage = await openEvalStage(SHOP_SQL, { "evals/shop.yaml": EVALS }, backend);
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await backend[Symbol.asyncDispose]();
});

/** Lets an agent answer all questions in the arm `bare`. */
async function mark(name: string, agent: Agent): Promise<EvalReport> {
  backend.play(scripted(agent));
  return stage.report({ model: name, params: { arms: ["bare"] } });
}

const outcomes = ({ results }: EvalReport): Record<string, EvalTrial["outcome"][]> =>
  Object.fromEntries(results.map(({ question, trials }) => [question, trials.map(({ outcome }) => outcome).sort()]));

const marks = ({ scores, missed }: EvalReport) => ({
  pass: scores[0]!.pass_at_1.value,
  passAll: scores[0]!.pass_hat_k.value,
  wrong: scores[0]!.wrong_but_confident.value,
  missed: missed.length,
});

const three = <T>(value: T): T[] => [value, value, value];

describe("agents of known skill get the marks that they deserve", () => {
  test("always right", async () => {
    const report = await mark("right", right);
    expect(marks(report)).toEqual({ pass: 1, passAll: 1, wrong: 0, missed: 0 });
    expect(report).toMatchObject({ asked: 21, recorded: 0, model: "right" });
    expect(report.scores.map(({ tag }) => tag)).toEqual([
      null,
      "ambiguous",
      "fan-out",
      "filter",
      "joins",
      "no-answer",
      "order",
      "rounding",
    ]);
  });

  test("right two times out of three", async () => {
    const report = await mark("mostly", (question, nth) =>
      nth % 3 === 1 ? answer("SELECT 'nonsense', 41") : right(question, nth),
    );
    expect(marks(report).pass).toBeCloseTo(2 / 3, 12);
    expect(marks(report)).toMatchObject({ passAll: 0, missed: 2 });
    expect(marks(report).wrong).toBeCloseTo(1 / 3, 12);
    expect(outcomes(report)["total"]).toEqual(["correct", "correct", "wrong"]);
  });

  test("always wrong, and confident also where there is no answer", async () => {
    const report = await mark("wrong", () => answer("SELECT 'nonsense', 41"));
    expect(marks(report)).toEqual({ pass: 0, passAll: 0, wrong: 1, missed: 2 });
    expect(outcomes(report)["footprint"]).toEqual(three("wrong"));
  });

  test("always abstains: right once, and never wrong but confident", async () => {
    const report = await mark("coward", () => ABSTAIN);
    expect(marks(report).pass).toBeCloseTo(1 / QUESTIONS.length, 12);
    expect(marks(report)).toMatchObject({ wrong: 0, missed: 1 });
    expect(outcomes(report)).toMatchObject({ footprint: three("abstained"), best: three("abstained") });
  });

  test("careless: each fault is marked, and harmless differences are not", async () => {
    const twice = `SELECT * FROM (${GOLD["by-country"]})`;
    const faults: Record<string, readonly string[]> = {
      total: ["SELECT sum(o.amount) FROM orders o JOIN lines l ON l.order_id = o.id", GOLD.total, "SELECT nothing"],
      "by-country": [
        `${twice} UNION ALL ${twice}`,
        `SELECT count(*) AS n, t.* FROM (${GOLD["by-country"]}) t GROUP BY country ORDER BY country DESC`,
        "SELECT country, sum(amount) FROM customers, orders GROUP BY country",
      ],
      ranking: [GOLD.ranking.replace("DESC", "ASC"), GOLD.ranking, GOLD.ranking],
      average: [
        "SELECT round(avg(amount), 2) FROM orders",
        "SELECT round(avg(amount), 1) FROM orders",
        "SELECT 26.65625",
      ],
      paid: [GOLD.paid, GOLD.total, "SELECT sum(o.amount) FROM orders o JOIN lines l ON l.order_id = o.id"],
    };
    const report = await mark("careless", (question, nth) =>
      faults[question] ? answer(faults[question][nth]!) : right(question, nth),
    );
    const reasons = new Map(
      report.results.map(({ question, trials }) => [
        question,
        Object.fromEntries(trials.map((trial) => [trial.answer, `${trial.outcome}: ${trial.reason}`])),
      ]),
    );
    const reasonOf = (question: string, nth: number) => reasons.get(question)![faults[question]![nth]!];
    expect(reasonOf("total", 0)).toBe("wrong: Other rows: no column has the values of total.");
    expect(reasonOf("total", 1)).toBe("correct: null");
    expect(reasonOf("total", 2)).toMatch(/^failed: The statement does not run/);
    expect(reasonOf("by-country", 0)).toBe("wrong: Other rows: 6 rows instead of 3.");
    expect(reasonOf("by-country", 1)).toBe("correct: null");
    expect(reasonOf("by-country", 2)).toBe("wrong: Other rows: no column has the values of total.");
    expect(reasonOf("ranking", 0)).toBe("wrong: Other rows: no column has the values of name in the expected order.");
    expect(reasonOf("average", 0)).toBe("correct: null");
    expect(reasonOf("average", 1)).toBe("wrong: Other rows: no column has the values of average.");
    expect(reasonOf("average", 2)).toMatch(/^wrong: Right by accident/);
    expect(reasonOf("paid", 1)).toMatch(/^wrong: Right by accident/);
    const verdicts = report.results.flatMap(({ question, trials }) =>
      question === "total" ? trials.map(({ verdict }) => verdict) : [],
    );
    expect(verdicts).toContain("inflated");
    // Per question 1, 1, 2, 1, 1, 3 and 3 of 3 trials are right.
    expect(marks(report).pass).toBeCloseTo(12 / 21, 12);
    expect(marks(report).passAll).toBeCloseTo(2 / 7, 12);
    expect(marks(report).wrong).toBeCloseTo(8 / 21, 12);
  });

  test("an agent without an answer fails, but is not confident", async () => {
    backend.play(() => text("I would rather not."));
    const params = { arms: ["bare"], trials: 1, tags: ["rounding"] };
    expect(marks(await stage.report({ model: "silent", params }))).toMatchObject({ pass: 0, wrong: 0 });
  });
});

describe("a run", () => {
  test("answers repeats from recordings, until a tool gives another answer", async () => {
    const looking: Script = (request) => {
      const turn = request.messages.filter(({ role }) => role === "assistant").length;
      if (turn === 0) return use("context_search", { query: "orders" })(request);
      return turn === 1 ? use("final_answer", right(questionOf(request), 0))(request) : text("Done.");
    };
    const params = { arms: ["wiki"], trials: 1, tags: ["fan-out"] };
    backend.play(looking);
    expect(await stage.report({ model: "reader", params })).toMatchObject({ asked: 2, recorded: 0 });
    backend.play([]);
    const again = await stage.report({ model: "reader", params });
    expect(again).toMatchObject({ asked: 0, recorded: 2 });
    expect(again.results[0]!.trials[0]).toMatchObject({ recorded: true, passed: true });
    expect(backend.rehearsal.modelRequests).toHaveLength(0);
    await stage.write({ "wiki/orders.md": PAGE });
    backend.play(looking);
    expect(await stage.report({ model: "reader", params })).toMatchObject({ asked: 2, recorded: 0 });
    // Arms that cannot see the page are not asked again.
    backend.play([]);
    expect(await stage.report({ model: "right", params: { arms: ["bare"] } })).toMatchObject({
      asked: 0,
      recorded: 21,
    });
  });

  test("offers each arm its tools, and plants a false passage in the last one", async () => {
    const offered = new Map<string, string[]>();
    const planted: string[] = [];
    await stage.write({ "evals/planted.yaml": PLANTED });
    backend.play((request) => {
      const turn = request.messages.filter(({ role }) => role === "assistant").length;
      offered.set(String(plainTools(request).length), plainTools(request));
      if (turn === 0 && plainTools(request).includes("page_read")) {
        return use("context_search", { query: "sales" })(request);
      }
      planted.push(
        ...request.toolResults.map((result) => result.text).filter((said) => said.includes("Sales include")),
      );
      return turn < 2 && request.toolResults.length < 2 ? use("final_answer", ABSTAIN)(request) : text("Done.");
    });
    const arms = ["bare", "catalogue", "joins", "wiki", "planted"];
    const report = await stage.report({ model: "tools", params: { files: ["planted"], arms } });
    expect(report.results.map(({ arm }) => arm)).toEqual(arms);
    expect([...offered.values()].map((names) => names.filter((name) => name !== "final_answer"))).toEqual([
      ["sql_query"],
      ["context_search", "sql_query", "table_describe", "table_list"],
      ["context_search", "join_path", "sql_query", "table_describe", "table_list", "value_lookup"],
      ["context_search", "join_path", "page_read", "sql_query", "table_describe", "table_list", "value_lookup"],
      [
        "context_search",
        "join_path",
        "metric_query",
        "metric_search",
        "page_read",
        "sql_query",
        "table_describe",
        "table_list",
        "value_lookup",
      ],
    ]);
    expect(planted).toHaveLength(1);
    expect(planted[0]).toContain("UNREVIEWED");
  });

  test("checks gold, retrieval, values and joins without a model", async () => {
    backend.play([]);
    const report = await stage.report({ params: { files: ["shop"], ask: false } });
    expect(report).toMatchObject({
      model: null,
      arms: [],
      results: [],
      missed: [],
      checks: {
        gold: { wanted: 5, found: 5 },
        finds: { wanted: 1, found: 1 },
        values: { wanted: 1, found: 1 },
        joins: { wanted: 1, found: 1 },
        perturbed: { wanted: 5, found: 5 },
        discriminating: 5,
      },
    });
  });

  test("compares metric queries with gold rows", async () => {
    await stage.write({ "metrics/shop/order.yaml": METRICS, "evals/metrics.yaml": METRIC_EVALS });
    backend.play((request) => {
      if (request.toolResults.length > 0) return text("Done.");
      const isTotal = taskOf(request).includes("Question: All sales?");
      const query = { metrics: ["sales"], ...(!isTotal && { by: ["order.buyer"] }) };
      return use("final_answer", { kind: "answer", metric_query: query })(request);
    });
    const report = await stage.report({ model: "metrics", params: { files: ["metrics"] } });
    expect(report.checks.gold).toMatchObject({ wanted: 2, found: 2 });
    expect(outcomes(report)).toEqual({ sales: ["correct"], wrong: ["wrong"] });
    expect(report.results[0]!.trials[0]!.answer).toContain('"metrics":["sales"]');
  });

  test("with a broken gold answer fails, and does not ask the question", async () => {
    await stage.write({ "evals/broken.yaml": EVALS.replace('FROM orders" }', 'FROM order_s" }') });
    backend.play(scripted(right));
    const report = await stage.report({ model: "right", params: { files: ["broken"], arms: ["bare"] } });
    expect(report.results.map(({ question }) => question)).not.toContain("total");
    expect(report.missed).toEqual([expect.stringMatching(/^evals\/broken\.yaml: total: .*order_s/)]);
  });

  test("does not start above its limit", async () => {
    backend.play([]);
    const row = await stage.run({ model: "claude-opus-4-8", params: { files: ["shop"] }, limit: { usd: 0.01 } });
    expect(row).toMatchObject({ state: "failed", error: { code: "over_budget" } });
    expect(backend.rehearsal.modelRequests).toHaveLength(0);
  });
});

describe("a proposal", () => {
  test("fixes and breaks questions before it is accepted", async () => {
    await stage.write({ "evals/wiki.yaml": WIKI_EVALS });
    const proposal = await stage.context.proposals.propose({
      job: null,
      title: "Sales",
      summary: "",
      drafts: [
        {
          path: "wiki/sales.md",
          before: null,
          after: PAGE.replace("# Orders", "# Sales").replace("Orders are", "Sales are paid"),
          support: [{ from: 1, to: 20, aspect: "wiki", evidence: [{ type: "person", name: "Ada", at: "2026-01-01" }] }],
        },
      ],
    });
    /** Follows the page if there is one. */
    backend.play((request) => {
      const turn = request.messages.filter(({ role }) => role === "assistant").length;
      if (turn === 0) return use("page_read", { key: "page:sales" })(request);
      if (turn > 1) return text("Done.");
      const knows = request.toolResults[0]?.isError === false;
      const isTotal = taskOf(request).includes("Question: Sales?");
      return use("final_answer", knows === isTotal ? answer(GOLD.total) : ABSTAIN)(request);
    });
    const params = { files: ["wiki"], arms: ["wiki"], proposal: proposal!.id };
    const report = await stage.report({ model: "follows", params });
    expect(report.comparison).toMatchObject({
      compared: 2,
      fixes: [
        { question: "sales", before: "0/1", after: "1/1" },
        { question: "sales", arm: null, reason: "finds: page:sales" },
      ],
      breaks: [{ question: "orders", before: "1/1", after: "0/1" }],
    });
    expect(await stage.context.folder.read("wiki/sales.md")).toBeUndefined();
    backend.play([]);
    expect(await stage.report({ model: "follows", params })).toMatchObject({ asked: 0, recorded: 4 });
  });
});

const PAGE = `---
summary: What orders are.
tags: []
refs: []
sources: []
---

# Orders

Orders are orders.
`;

const PLANTED = `connection: shop
questions:
  - { id: sales, ask: Sales?, expect: { rows: [[1]] }, planted: Sales include cancelled orders. }
`;

const WIKI_EVALS = `connection: shop
questions:
  - { id: sales, ask: Sales?, expect: { sql: "${GOLD.total}" }, finds: [page:sales] }
  - { id: orders, ask: Orders?, expect: { sql: "${GOLD.total}" } }
`;

const METRICS = `entity: order
table: main.orders
grain: [id]
dimensions:
  buyer: { expr: customer_id }
measures:
  amount: { sum: amount }
metrics:
  sales: { measure: amount, label: Sales }
`;

const METRIC_EVALS = `connection: shop
questions:
  - { id: sales, ask: All sales?, expect: { sql: "${GOLD.total}" } }
  - { id: wrong, ask: Sales in total?, expect: { metric: { metrics: [sales] } } }
`;
