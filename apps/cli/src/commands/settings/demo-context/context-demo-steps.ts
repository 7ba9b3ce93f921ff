import { asCalled } from "../../../called-as.ts";
import type { Proposal } from "@tandem/context";
import { TandemError } from "@tandem/protocol";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { OpenedContext } from "@tandem/tandem/context";
import { trustFolder } from "@tandem/tandem/config";
import type { Invocation } from "../../../invocation.ts";
import { askTool, withKnowledge } from "../../../with-knowledge.ts";
import { openProject } from "@tandem/tandem/project";
import { describeProposal } from "../../../proposals/describe-proposal.ts";
import { styleFor, table, wrap } from "../../../terminal.ts";
import { SHOP_METRICS } from "../../../demo/context/shop-metrics.ts";
import { Narrator } from "../../../demo/narrator.ts";

const WIDTH = 100;
/** Pages that the demo accepts. The rest is left for the user to try. */
const ACCEPTED = ["wiki/metrics/active-customer.md", "wiki/orders.md", "wiki/refunds.md"];
const ANSWER = "Finance decides: 90 days. Marketing should say recipients.";

/** The steps of the demo. Scan, ingest and search are the real commands in the demo's project. */
export class ContextDemoSteps {
  readonly #narrator: Narrator;
  readonly #invocation: Invocation;

  constructor(stream: NodeJS.WriteStream, invocation: Invocation) {
    this.#narrator = new Narrator(stream);
    this.#invocation = invocation;
  }

  /** The demo wrote these settings itself, so it trusts them. */
  async trust(folder: string): Promise<void> {
    const { settings } = await openProject(this.#invocation);
    await trustFolder(this.#invocation.env, folder, settings);
  }

  async begin(folder: string, url: string): Promise<void> {
    await this.trust(folder);
    const narrator = this.#narrator;
    narrator.line(styleFor(this.#invocation.stdout).bold("What a shop knows, out of its database and its documents"));
    narrator.line(`Harbour Bikes does not exist. Its project is in ${folder}:`);
    narrator.note("data/shop.sqlite   10 tables, 3 declared foreign keys, no comments");
    narrator.note("docs/              6 documents, two of which contradict each other");
    narrator.note("tandem.yaml        names both");
    narrator.line(`The model's API is played by a stand-in at ${url}. Nothing is spent.`);
  }

  async scan(): Promise<void> {
    const { scan } = await import("../../context/scan.ts");
    this.#narrator.title("Read the database");
    this.#narrator.command("tandem context scan shop");
    this.#expect(await scan(this.#invocation, "shop", { descriptions: true }));
  }

  /** Shows one catalogue entry and the joins found. */
  async catalogue(): Promise<void> {
    const narrator = this.#narrator;
    const path = "context/catalogue/shop/main.orders.yaml";
    narrator.title("What it knows now: a plain file for each table");
    narrator.command(`cat ${path}`);
    for (const line of excerpt(await readFile(join(this.#invocation.cwd, path), "utf8"), "ship_to")) this.#show(line);
    narrator.title("Joins that the database does not declare");
    const { bold, dim } = styleFor(this.#invocation.stdout);
    const tables = await this.#know(({ catalogue }) => catalogue.tables("shop"));
    const joins = tables.flatMap(({ table: from, joins = [] }) => joins.map((each) => ({ from, ...each })));
    const chosen = new Set(["refunds line_no", "orders handled_by", "orders ship_to"]);
    for (const { from, columns, to, toColumns, origin, confidence, why = "" } of joins) {
      if (!chosen.has(`${from} ${columns.at(-1)}`)) continue;
      const how = origin === "model" ? "suggested by the model, proven by the rows" : "found in the data";
      const ends = `${from} (${columns.join(", ")}) → ${to.replace("main.", "")} (${toColumns.join(", ")})`;
      this.#show(`${bold(ends)}  ${confidence.toFixed(2)}, ${how}`);
      for (const line of wrap(why, WIDTH)) this.#show(`  ${dim(line)}`);
    }
    const count = (wanted: string) => joins.filter(({ origin }) => origin === wanted).length;
    narrator.note(
      `In all: ${count("declared")} declared, ${count("data")} found in the data, ${count("model")} suggested and proven.`,
    );
  }

  async ingest(): Promise<void> {
    const { ingest } = await import("../../context/ingest.ts");
    this.#narrator.title("Read the documents");
    this.#narrator.command("tandem context ingest");
    this.#expect(await ingest(this.#invocation, [], {}));
  }

  /** Shows the page on which two documents disagree, answers the question and accepts part of the rest. */
  async review(): Promise<void> {
    const narrator = this.#narrator;
    narrator.title("Nothing is written before a person has reviewed it");
    narrator.command("tandem context proposals show last");
    const proposal = await this.#know(({ context }) => newest(context.proposals));
    const changes = proposal.changes.filter(({ path }) => path === ACCEPTED[0]);
    for (const line of await describeProposal(this.#invocation.stdout, { ...proposal, changes }, { all: false })) {
      this.#show(line);
    }
    narrator.note(`… and ${proposal.changes.length - changes.length} more pages`);
    const [question] = proposal.decisions;
    const hunks = proposal.changes
      .filter(({ path }) => ACCEPTED.includes(path))
      .flatMap((change) => change.hunks.map(({ id }) => id));
    if (!question || hunks.length < ACCEPTED.length) {
      throw new TandemError("unexpected", "The documents of the demo were not read as they should be.");
    }
    narrator.line();
    narrator.command(`tandem context proposals answer last ${question.id} "${ANSWER}"`);
    narrator.command(`tandem context proposals accept last ${hunks.join(" ")}`);
    const by = "demo";
    const { counts, log } = await this.#know(async ({ context: { proposals, folder, search } }) => {
      await proposals.answer(proposal.id, { decision: question.id, answer: ANSWER, by });
      const { counts } = await proposals.accept(proposal.id, { hunks, by });
      await search.sync();
      return { counts, log: await folder.log(5) };
    });
    narrator.note(`${counts.accepted} pages accepted, ${counts.open} left to decide. Each acceptance is a commit:`);
    narrator.command("git -C context log --oneline");
    const { dim } = styleFor(this.#invocation.stdout);
    for (const { commit, subject } of log) this.#show(`${dim(commit.slice(0, 7))} ${subject}`);
  }

  /** Proposes and accepts the shop's metrics, and computes them. */
  async metrics(): Promise<void> {
    const narrator = this.#narrator;
    const { query } = await import("../../context/metrics.ts");
    narrator.title("Figures that are defined once");
    const files = await this.#know(({ context }) => acceptMetrics(context));
    narrator.note(`${files} files of metrics, whose rules are those of docs/metrics.md, were proposed and accepted.`);
    narrator.note("Lines and refunds are added up apart, so that no order counts twice:");
    const names = ["revenue", "orders", "average_order_value"];
    narrator.command(`tandem metrics query ${names.join(" ")} --by time.quarter --where 'time: 2025'`);
    await query(this.#invocation, names, { by: ["time.quarter"], where: ["time: 2025"], limit: "1000" });
  }

  /** Searches and queries the result. */
  async ask(): Promise<void> {
    const narrator = this.#narrator;
    const { search } = await import("../../context/context.ts");
    narrator.title("Ask");
    narrator.command("tandem context search active customer --limit 3");
    this.#expect(await search(this.#invocation, ["active", "customer"], { limit: "3" }));
    narrator.line();
    narrator.note("An agent asks over MCP how products and refunds join, and gets:");
    const input = { from: "products", to: "refunds" };
    const { markdown } = await this.#know((knowledge) => askTool(this.#invocation, knowledge, "join_path", input));
    const { accent } = styleFor(this.#invocation.stdout);
    this.#show(accent(`join_path ${JSON.stringify(input)}`));
    for (const line of markdown.split("\n")) this.#show(line);
  }

  async again(asked: () => number): Promise<void> {
    const { ingest } = await import("../../context/ingest.ts");
    this.#narrator.title("Once more: nothing has changed");
    this.#narrator.command("tandem context ingest");
    this.#expect(await ingest(this.#invocation, [], {}));
    this.#narrator.note(`Requests to the model: ${asked()}`);
  }

  end({ folder, home }: { folder: string; home: string }, requests: number): void {
    const narrator = this.#narrator;
    const { bold, dim } = styleFor(this.#invocation.stdout);
    narrator.title("It is yours to look at");
    const files = [
      [`${folder}/context/`, "the catalogue and the wiki, a git repository of its own: edit what you like"],
      [`${home}/`, "proposals, evidence, the search index: what an installation keeps in ~/.tandem"],
    ];
    for (const line of table(files.map(([name, what]) => [name!, dim(what!)]))) this.#show(line);
    narrator.note(`${requests} model requests were made, all of them to the stand-in.`);
    narrator.line();
    const next = [
      [`export TANDEM_PROJECT=${quoted(folder)} TANDEM_HOME=${quoted(home)}`, ""],
      ["tandem up", "the page, and sessions in this folder"],
      ["tandem context proposals show last", "what waits"],
      ["tandem context proposals accept last", "take the rest"],
      ["tandem context show refunds", "all that is known of a table"],
      ["tandem context graph orders", "what joins what"],
      ["tandem metrics query revenue --by customer.country", "a figure by its agreed definition"],
      ['tandem sql shop "select status, count(*) from orders group by 1"', "reads, and never writes"],
      ["tandem mcp", "all of it for an MCP client, on standard input and output"],
      [`rm -r ${quoted(folder)} ${quoted(home)}`, "remove both"],
    ];
    narrator.line("Next:");
    const [first, ...others] = next.map(([line, what]) => [bold(asCalled(line!)), what ? dim(`# ${what}`) : ""]);
    for (const line of [first![0]!, ...table(others)]) this.#show(line);
  }

  proposals() {
    return this.#know(async ({ context }) =>
      (await context.proposals.list({ limit: 10 })).map(({ id, title, state, counts }) => ({
        id,
        title,
        state,
        counts,
      })),
    );
  }

  #know<T>(work: (knowledge: OpenedContext) => Promise<T>): Promise<T> {
    return withKnowledge(this.#invocation, "tandem demo", work);
  }

  #show(line: string): void {
    this.#invocation.stdout.write(`${line}\n`);
  }

  /** The commands print their own errors. */
  #expect(code: number): void {
    this.#invocation.signal.throwIfAborted();
    if (code !== 0) throw new TandemError("unexpected", "The demo did not come to its end.");
  }
}

/** The definitions rest on the passage of the handbook about revenue. */
async function acceptMetrics(context: OpenedContext["context"]): Promise<number> {
  const { folder, proposals } = context;
  const [passage] = await context.passages("docs/metrics#revenue", 0, { isReviewer: true });
  if (!passage) throw new TandemError("unexpected", "The demo has not read docs/metrics.md.");
  const { source, path: file, sha256, citation } = passage;
  const evidence = [{ type: "source" as const, source, path: file, sha256, citation }];
  const drafts = await Promise.all(
    Object.entries(SHOP_METRICS).map(async ([path, after]) => ({
      path,
      before: (await folder.read(path)) ?? null,
      after,
      support: [{ from: 1, to: Infinity, aspect: "metric" as const, evidence }],
    })),
  );
  const given = { job: null, title: "Metrics of the monthly report", summary: "Revenue, orders and their parts." };
  const proposal = await proposals.propose({ ...given, drafts });
  if (proposal) await proposals.accept(proposal.id, { by: "demo" });
  return drafts.length;
}

async function newest(proposals: OpenedContext["context"]["proposals"]): Promise<Proposal> {
  const [summary] = await proposals.list({ states: ["open"], limit: 1 });
  const proposal = summary && (await proposals.get(summary.id));
  if (!proposal) throw new TandemError("unexpected", "The demo has proposed nothing.");
  return proposal;
}

/** The head of a table's file and one of its columns. */
function excerpt(text: string, column: string): string[] {
  const lines = text.trimEnd().split("\n");
  const start = lines.indexOf(`  - name: ${column}`);
  const end = lines.findIndex((line, at) => at > start && !line.startsWith("    "));
  return [...lines.slice(0, lines.indexOf("columns:") + 1), "  …", ...lines.slice(start, end), "  …"];
}

/** Quotes a path for a shell. */
const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
