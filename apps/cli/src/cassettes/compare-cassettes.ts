import type { Cassette, ComparisonReport, RunSummary } from "@tandem/protocol";

export async function compareCassettes(
  a: Cassette,
  b: Cassette,
  names: ComparisonReport["names"],
): Promise<ComparisonReport> {
  const sides = { a: summariseRun(a), b: summariseRun(b) };
  const files = await compareFiles(a, b);
  const fields = ["model", "answers", "tools", "approvals", "usd", "tokens"] as const;
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
    approvals: calls.filter(({ permission }) => permission === "ask").length,
    usd: header.usd,
    tokens: input + output + cached.cache_read_input_tokens + cached.cache_creation_input_tokens,
    duration_ms: dates.length > 1 ? Math.max(...dates) - Math.min(...dates) : null,
  };
}

async function compareFiles({ folder: a }: Cassette, { folder: b }: Cassette): Promise<string | null> {
  if (a.type === "left_out" || b.type === "left_out") return null;
  if (a.after.tree === b.after.tree) return "";
  const { diffFolderBundles } = await import("@tandem/workspace");
  return diffFolderBundles(Buffer.from(a.bundle, "base64"), Buffer.from(b.bundle, "base64"));
}
