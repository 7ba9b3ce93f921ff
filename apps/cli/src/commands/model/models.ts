import { MODELS_AS_OF, type ListPrice } from "@tandem/protocol";
import type { ModelInfo } from "@tandem/runtime";
import type { Invocation } from "../../invocation.ts";
import { describeProject, openCallProject } from "@tandem/tandem/project";
import { complete, knownModels, type KnownModels } from "@tandem/tandem/models";
import { Progress } from "../../progress.ts";
import { ago } from "../../human-units.ts";
import { printable, styleFor, table, write, writeJson } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .option("--refresh", "fetch the list again, even if it is less than a day old")
      .addOption(json())
      .action(runner(models)),
    "tandem models",
    "tandem models --refresh",
    "tandem models --json | jq -r '.models[].id'",
  );
}

const DEADLINE_MS = 20_000;
const UNKNOWN = "–";

export async function models(invocation: Invocation, { refresh = false }: { refresh?: boolean } = {}): Promise<void> {
  const project = await openCallProject(invocation);
  const { models: roles } = await describeProject(project);
  const known = await (async () => {
    using _ = new Progress(invocation, "Fetching the models …");
    return knownModels(invocation, project, { refresh, deadlineMs: DEADLINE_MS });
  })();
  const { findModel, resolveModel } = await import("@tandem/runtime");
  const { backend } = project.config.llm.provider;
  const asked = roles.map(({ role, model }) => {
    const id = resolveModel(backend, model);
    return { role, id: findModel(known.models, id)?.id ?? id };
  });
  const missing = [...new Set(asked.map(({ id }) => id))].filter((id) => !findModel(known.models, id));
  // A configured model that is not in the list is shown with the known details.
  const others = complete(
    missing.map((id) => ({ id, name: "not in the service's list" })),
    "table",
  ).models;
  const { from, at, problem } = known;
  if (invocation.json) {
    const list = { from, at, ...(problem && { problem }) };
    const shown = { models: known.models, not_listed: others, list, roles };
    await writeJson(invocation.stdout, shown);
    return;
  }
  const { dim, bold, warn } = styleFor(invocation.stdout);
  const head = ["model", "", "aliases", "context", "output", "$ in / out", "effort", "can", "used by"].map(dim);
  const rows = [...known.models, ...others].map((model) => {
    const usedBy = asked.filter(({ id }) => id === model.id).map(({ role }) => role);
    const emphasis = usedBy.length > 0 ? bold : (text: string) => text;
    return [
      emphasis(printable(model.id)),
      dim(printable(model.name)),
      dim(printable((model.aliases ?? []).join(", "))),
      size(model.contextWindow),
      size(model.maxOutputTokens),
      price(model.price),
      dim(efforts(model.efforts)),
      dim(features(model)),
      usedBy.join(", "),
    ];
  });
  await write(
    invocation.stdout,
    `${table([head, ...rows]).join("\n")}\n\n${dim(origin({ ...known, models: [...known.models, ...others] }))}\n`,
  );
  if (problem)
    await write(invocation.stderr, `${warn("The list could not be fetched")}: ${printable(problem.message)}\n`);
}

/** `200k`, `1M`. */
function size(tokens: number | undefined): string {
  if (tokens === undefined) return UNKNOWN;
  return tokens >= 1_000_000 ? `${tokens / 1_000_000}M` : `${Math.round(tokens / 1_000)}k`;
}

function price(price: ListPrice | undefined): string {
  if (!price) return UNKNOWN;
  const long = price.longPrompt ? `, over ${size(price.longPrompt.overTokens)} ` : "";
  const dearer = price.longPrompt ? `${price.longPrompt.rates.input} / ${price.longPrompt.rates.output}` : "";
  return `${price.input} / ${price.output}${long}${dearer}`;
}

function efforts(levels: ModelInfo["efforts"]): string {
  if (!levels) return UNKNOWN;
  const [first] = levels;
  if (first === undefined) return "none";
  return levels.length === 1 ? first : `${first}–${levels.at(-1)}`;
}

/** Short column texts. Other features are unknown or unsupported. */
const WORDS: Record<string, string> = {
  image_input: "vision",
  pdf_input: "pdf",
  thinking: "thinking",
  structured_outputs: "structured",
  fast_mode: "fast",
};

function features({ features: known }: ModelInfo): string {
  if (!known) return UNKNOWN;
  const can = known["adaptive_thinking"] ? { ...known, thinking: true } : known;
  return Object.entries(WORDS)
    .flatMap(([feature, word]) => (can[feature] ? [word] : []))
    .join(" ");
}

function origin({ from, at, models: all }: KnownModels): string {
  const prices = all.find((model) => model.origins?.price)?.origins?.price?.at;
  const list = {
    live: "Fetched just now.",
    cache: `Fetched ${ago(at)}. Update: --refresh.`,
    table: `From Tandem's own table of ${MODELS_AS_OF}.`,
  }[from];
  const rest = from === "table" ? "" : ` Missing details are from Tandem's table of ${MODELS_AS_OF}.`;
  const money = prices === undefined ? "" : ` Prices: list prices of ${prices}, per million tokens.`;
  return `${list}${rest}${money}`;
}
