import {
  addCost,
  costOf,
  type Cassette,
  type CassetteStep,
  type CassetteStepOf,
  type ComparisonReport,
  type Cost,
  type RunSummary,
} from "@tandem/protocol";

export async function compareCassettes(
  a: Cassette,
  b: Cassette,
  names: ComparisonReport["names"],
): Promise<ComparisonReport> {
  const sides = { a: summariseRun(a), b: summariseRun(b) };
  const files = await compareFiles(a, b);
  const fields = ["model", "answers", "tools", "results", "approvals", "usd", "tokens"] as const;
  const different = fields.filter((field) => JSON.stringify(sides.a[field]) !== JSON.stringify(sides.b[field]));
  return {
    report: "comparison",
    names,
    ...sides,
    different: [...different, ...(files ? (["files"] as const) : [])],
    files,
  };
}

function summariseRun({ header, steps, events }: Cassette): RunSummary {
  const answers: string[] = [];
  let last = "";
  for (const step of steps) {
    if (step.kind === "model" && step.answer?.type === "message") {
      const texts = step.answer.content.flatMap(({ text }) => (typeof text === "string" ? [text] : []));
      if (texts.length > 0) last = texts.join("\n\n");
    }
    if (step.kind !== "idle") continue;
    answers.push(last);
    last = "";
  }
  const calls = steps.filter((step) => step.kind === "call");
  const models = steps.flatMap((step) =>
    step.kind === "model" && step.answer?.type === "message" && step.answer.model !== null ? [step.answer.model] : [],
  );
  const dates = events.flatMap(({ event }) => (event.processed_at === null ? [] : [Date.parse(event.processed_at)]));
  const { input_tokens: input, output_tokens: output, ...cached } = header.usage;
  return {
    model: [...new Set(models)].join(", ") || header.agent.model.id,
    answers: last === "" ? answers : [...answers, last],
    tools: calls.map(({ tool, input: given }) => `${tool} ${JSON.stringify(given)}`),
    results: calls.map(resultText),
    approvals: calls.filter(({ permission }) => permission === "ask").length,
    usd: listPrice(steps),
    tokens: input + output + cached.cache_read_input_tokens + cached.cache_creation_input_tokens,
    duration_ms: dates.length > 1 ? Math.max(...dates) - Math.min(...dates) : null,
  };
}

function resultText({ result }: CassetteStepOf<"call">): string {
  if (!result) return "";
  const parts = result.content.map(({ type, text }) => (typeof text === "string" ? text : `[${type}]`));
  return `${result.is_error ? "Error: " : ""}${parts.join("\n\n")}`;
}

/** Recorded costs are not comparable: a session of the demo is free, and prices change between versions. */
function listPrice(steps: readonly CassetteStep[]): number | null {
  const answers = steps.flatMap((step) =>
    step.kind === "model" && step.answer?.type === "message" ? [step.answer] : [],
  );
  const cost = answers.reduce<Cost>(
    (sum, { model, usage }) => {
      const long = usage.cache_write_1h_tokens ?? 0;
      return addCost(
        sum,
        costOf(model ?? "", {
          inputTokens: usage.input_tokens,
          outputTokens: usage.output_tokens,
          cacheReadTokens: usage.cache_read_input_tokens,
          cacheWrite5mTokens: usage.cache_creation_input_tokens - long,
          cacheWrite1hTokens: long,
          webSearches: 0,
        }),
      );
    },
    { usd: 0 },
  );
  return cost && Math.round(cost.usd * 1e8) / 1e8;
}

async function compareFiles({ folder: a }: Cassette, { folder: b }: Cassette): Promise<string | null> {
  if (a.type === "left_out" || b.type === "left_out") return null;
  if (a.after.tree === b.after.tree) return "";
  const { diffFolderBundles } = await import("@tandem/workspace");
  return diffFolderBundles(Buffer.from(a.bundle, "base64"), Buffer.from(b.bundle, "base64"));
}
