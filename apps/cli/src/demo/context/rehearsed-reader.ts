import { object, reply, text, toolUse, type ModelRequest, type Reply } from "@tandem/rehearsal";
import { z } from "zod";
import { SHOP_DESCRIPTIONS, SHOP_JOINS } from "./shop-descriptions.ts";
import { ACTIVE_CUSTOMER_DISPUTED, NEWSLETTER, SHOP_READINGS, type RehearsedPage } from "./shop-pages.ts";

/**
 * A scripted model for the scan and ingest of the shop. Its answers pass the same checks as those of a real model: citations
 * must exist, joins must hold.
 */
export function rehearsedReader(request: ModelRequest): Reply | Promise<Reply> {
  const { lastUserText, system } = request;
  // Claude Code may prepend text to the prompt.
  if (/^Describe th/m.test(lastUserText)) return asObject(descriptions(lastUserText), request);
  if (/^Which columns refer/m.test(lastUserText)) return asObject(joins(lastUserText), request);
  if (/^Sort th/m.test(lastUserText)) return asObject(lanes(lastUserText), request);
  if (/^What on (this|each of these) .*worth keeping/m.test(lastUserText))
    return asObject(candidates(lastUserText), request);
  if (system.includes("You read documents closely")) return turnOf(request, reading(request));
  if (system.includes("You are the curator")) return turnOf(request, curating(request));
  if (system.includes("Several agents have changed")) return turnOf(request, reconciling(request));
  return text("There is nothing to do.");
}

/** Returns the object by the mechanism that the request uses. */
async function asObject(value: object, request: ModelRequest): Promise<Reply> {
  const { answer } = object(value);
  return typeof answer === "function" ? answer(request) : answer;
}

const asked = z.object({ schema: z.string(), table: z.string(), columns: z.array(z.object({ name: z.string() })) });

function askedTables(prompt: string): z.output<typeof asked>[] {
  const [, lines = ""] = /<tables>\n(.*)\n<\/tables>/s.exec(prompt) ?? [];
  return lines.split("\n").flatMap((line) => (line === "" ? [] : [asked.parse(JSON.parse(line))]));
}

function descriptions(prompt: string) {
  return {
    tables: askedTables(prompt).map(({ schema, table, columns }) => {
      const [description, meanings] = SHOP_DESCRIPTIONS[table] ?? ["", {}];
      return {
        schema,
        table,
        description,
        columns: columns.map(({ name }) => ({ name, description: meanings[name] ?? "" })),
      };
    }),
  };
}

function joins(prompt: string) {
  const open = new Set(
    askedTables(prompt).flatMap(({ table, columns }) => columns.map(({ name }) => `${table}.${name}`)),
  );
  const end = ([table, column]: readonly [string, string]) => ({ schema: "main", table, columns: [column] });
  return {
    joins: SHOP_JOINS.filter(({ from }) => open.has(from.join("."))).map(({ from, to, why }) => ({
      from: end(from),
      to: end(to),
      confidence: 0.9,
      why,
    })),
  };
}

function lanes(prompt: string) {
  const pages = [...prompt.matchAll(/<document-\w+ id="(p\d+)" [^\n]*?path="([^"]+)"/g)];
  return {
    pages: pages.map(([, id, path]) => {
      const { lane, reason } = SHOP_READINGS[path!] ?? { lane: "skip", reason: "It is not of this shop." };
      return { id, lane, reason, suspicious: null };
    }),
  };
}

function candidates(prompt: string) {
  const passages = [...prompt.matchAll(/<passage-\w+ citation="([^"]+)" [^\n]*?page="(p\d+)"/g)];
  const pages = Map.groupBy(passages, ([, , page]) => page!);
  const known = [
    {
      key: "active-customers-for-marketing",
      topic: "Active customers",
      assertion: "Marketing calls a customer active who has ordered within the last 12 months or gets the newsletter.",
      rationale: "It decides who is written to, and differs from the report's definition.",
      citations: ["docs/newsletter-handbook#whom-we-write-to"],
      suggestedPage: ACTIVE_CUSTOMER_DISPUTED.key,
      action: "conflict",
      scores: { durability: 2, authority: 2, reuse: 3, novelty: 3, risk: 1 },
    },
    {
      key: "newsletter-frequency",
      topic: "Newsletter",
      assertion: "Newsletters go out at most twice a month, and never on a Sunday.",
      rationale: "A rule for everybody who writes to customers.",
      citations: ["docs/newsletter-handbook#how-often"],
      suggestedPage: NEWSLETTER.key,
      action: "create",
      scores: { durability: 2, authority: 2, reuse: 1, novelty: 2, risk: 0 },
    },
  ];
  return {
    pages: [...pages].map(([id, own]) => {
      const citations = new Set(own.map(([, citation]) => citation));
      const candidates = known.filter((each) => each.citations.every((one) => citations.has(one)));
      return { id, candidates, suspicious: null };
    }),
  };
}

/** One scripted turn: text, and tool calls by tool name. */
type Turn = { says?: string; calls?: [tool: string, input: object][] };

/** Returns the next scripted turn, without tools that were not offered. */
function turnOf(request: ModelRequest, turns: readonly Turn[]): Reply {
  const { says, calls = [] } = turns[request.messages.filter(({ role }) => role === "assistant").length] ?? {};
  const uses = calls.flatMap(([tool, input]) => {
    const name = request.toolNames.find((each) => each === tool || each.endsWith(`__${tool}`));
    return name === undefined ? [] : [toolUse(name, input)];
  });
  return uses.length > 0 ? reply([...(says ? [text(says)] : []), ...uses]) : text(says ?? "Done.");
}

const firstText = ({ messages }: ModelRequest): string =>
  messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => content.map(({ text: said }) => (typeof said === "string" ? said : "")))
    .join("\n");

const write = (page: RehearsedPage): [string, object] => ["wiki_write", page];

function reading(request: ModelRequest): Turn[] {
  const paths = [...firstText(request).matchAll(/^The document "docs\/([^"]+)" \(/gm)].map(([, path]) => path!);
  const known = paths.flatMap((path) => SHOP_READINGS[path] ?? []);
  const checks = known.flatMap(({ check }) => check ?? []);
  return [
    {
      says: "I look whether the database bears that out.",
      calls: checks.map(({ sql }) => ["sql_query", { connection: "shop", sql }]),
    },
    {
      calls: [
        [
          "record_verification",
          { summary: "Compared with the shop's database.", verified: checks.map(({ verified }) => verified) },
        ],
      ],
    },
    { calls: known.flatMap(({ pages = [] }) => pages.map(write)) },
    { says: "The pages are written." },
  ];
}

function curating(request: ModelRequest): Turn[] {
  const ids = [...firstText(request).matchAll(/<candidate-\w+ id="(c\d+)">\n(.*?)\n<\/candidate/gs)];
  const pages = new Map<string, RehearsedPage>([ACTIVE_CUSTOMER_DISPUTED, NEWSLETTER].map((page) => [page.key, page]));
  const given = ids.flatMap(([, id, json]) => {
    const { suggestedPage } = z.object({ suggestedPage: z.string().nullable() }).parse(JSON.parse(json!));
    const page = pages.get(suggestedPage ?? "");
    return page ? [{ candidate: id!, page }] : [];
  });
  return [
    { calls: [["wiki_read", { key: ACTIVE_CUSTOMER_DISPUTED.key }]] },
    { calls: given.map(({ page }) => write(page)) },
    {
      calls: given.map(({ candidate, page }) => [
        "candidate_mark",
        { candidate, verdict: "promote", reason: "A rule that is used again and again.", page: page.key },
      ]),
    },
    { says: "Both have a page now." },
  ];
}

function reconciling(request: ModelRequest): Turn[] {
  if (!firstText(request).includes(ACTIVE_CUSTOMER_DISPUTED.key)) return [];
  return [
    {
      calls: [
        [
          "emit_contradiction",
          {
            about: `page:${ACTIVE_CUSTOMER_DISPUTED.key}`,
            question: "Who is an active customer?",
            sides: [
              {
                claim: "A customer who placed an order that was not cancelled within the last 90 days.",
                citations: ["docs/metrics#active-customer"],
              },
              {
                claim: "A customer who ordered within the last 12 months, or subscribed to the newsletter.",
                citations: ["docs/newsletter-handbook#whom-we-write-to"],
              },
            ],
          },
        ],
      ],
    },
    { says: "Finance and marketing disagree: that is for a person to decide." },
  ];
}
