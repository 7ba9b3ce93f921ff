import {
  AUDIT_KINDS,
  auditHead,
  nearest,
  TandemError,
  verdict,
  type AuditEntry,
  type AuditHead,
  type AuditKind,
  type AuditVerdict,
  type VerdictKind,
  VERDICTS,
} from "@tandem/protocol";
import type { Audit } from "@tandem/sessions";
import { resolve } from "node:path";
import { loadStorage } from "@tandem/tandem/compose";
import type { Invocation } from "../../invocation.ts";
import { EXIT_CODES } from "../../exit-code.ts";
import { readLines } from "../../input/read-lines.ts";
import { clientFor } from "../../sessions/open-client.ts";
import { writeExport } from "../../sessions/write-export.ts";
import { toCount } from "../../number-options.ts";
import { clip, printable, styleFor, write, writeResult, writeTable } from "../../terminal.ts";
import type { Command } from "commander";
import { listOption, collect, subcommandsOf, type Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  examples(
    sub("list", "List audit entries, newest last.")
      .option("--limit <number>", "maximum number of entries", "50")
      .option("--session <id>", "only entries of this session")
      .option("--actor <name>", "only entries of this actor: a token's name, local:USER, agent:NAME or tandem")
      .addOption(listOption("--kind <kinds>", "only these kinds, such as call.requested,message.sent"))
      .option("--verdict <verdicts>", "only statements with these verdicts, such as inflated,can_inflate")
      .option("--since <time>", "only entries since this time, such as 2026-01-31")
      .option("--until <time>", "only entries before this time")
      .addOption(json())
      .action(runner(list)),
    "tandem audit list",
    "tandem audit list --verdict inflated,wrong_grain",
    "tandem audit list --kind call.requested,call.resolved --since 2026-01-31",
  );
  examples(
    sub("export", "Export the audit log as JSON lines, with the head at the end.")
      .option("-o, --output <file>", "new private file (default: standard output)")
      .addOption(json())
      .action(runner(exportAudit)),
    "tandem audit export -o audit.jsonl",
  );
  examples(
    sub("verify", "Verify the hash chain and name the first entry that was changed, removed or moved.")
      .argument("[file]", "exported audit log (default: that of the store)")
      .option("--against <head>", "a noted head (SEQ:HASH) or an earlier export, to detect a missing end", collect)
      .addOption(json())
      .action(runner(verify)),
    "tandem audit verify",
    "tandem audit verify audit.jsonl",
    "tandem audit verify --against audit.jsonl",
  );
}

const open = clientFor("tandem audit");
const WIDEST = 100;
const PAGE = 1_000;

export interface AuditListOptions {
  limit: string;
  session?: string;
  actor?: string;
  kind?: string[];
  verdict?: string;
  since?: string;
  until?: string;
}

export async function list(invocation: Invocation, options: AuditListOptions): Promise<void> {
  const limit = toCount("--limit", options.limit);
  const kinds = options.kind?.map(toKind);
  await using client = await open(invocation);
  const verdicts = options.verdict?.split(",").map(toVerdict);
  const asked = {
    order: "desc" as const,
    ...(options.session && { session: options.session }),
    ...(options.actor && { actor: options.actor }),
    ...(kinds && { kinds }),
    ...(verdicts && !kinds && { kinds: ["sql.run", "call.finished"] as const }),
    created: {
      ...(options.since && { gte: toTime("--since", options.since) }),
      ...(options.until && { lt: toTime("--until", options.until) }),
    },
  };
  const data = verdicts
    ? await withVerdicts(client.audit, asked, verdicts, limit)
    : (await client.audit.list({ ...asked, limit })).data;
  const { dim, bold, accent } = styleFor(invocation.stdout);
  // Oldest first, so that the newest entry is at the end.
  const rows = data
    .toReversed()
    .map((entry) => [
      dim(String(entry.seq)),
      dim(entry.at.replace("T", " ").slice(0, 19)),
      bold(printable(entry.actor)),
      accent(entry.kind),
      dim(entry.session ?? ""),
      describe(entry),
    ]);
  await writeTable(invocation, { entries: data }, rows, "No matching entries.");
}

/** The newest entries about statements with these verdicts. Reads page by page, because the store does not index verdicts. */
async function withVerdicts(
  audit: Pick<Audit, "list">,
  asked: Omit<Parameters<Audit["list"]>[0], "limit" | "cursor">,
  verdicts: readonly VerdictKind[],
  limit: number,
): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  let cursor: string | null | undefined;
  while (found.length < limit && cursor !== null) {
    const page = await audit.list({ ...asked, limit: PAGE, ...(cursor !== undefined && { cursor }) });
    found.push(...page.data.filter(({ details }) => verdicts.some((verdict) => verdict === details["verdict"])));
    cursor = page.next;
  }
  return found.slice(0, limit);
}

/** Writes to standard output or to a new private file. */
export async function exportAudit(invocation: Invocation, { output }: { output?: string }): Promise<void> {
  await using client = await open(invocation);
  const { writeAuditFile } = await loadStorage();
  const { head, entries } = await client.audit.export();
  const lines = writeAuditFile(head, entries);
  if (output === undefined) {
    for await (const line of lines) await write(invocation.stdout, `${line}\n`);
    return;
  }
  const file = resolve(invocation.cwd, output);
  await writeExport(lines, file);
  const text = `${head.seq} entries in ${file}\nHead: ${head.seq}:${head.hash}`;
  await write(invocation.stdout, invocation.json ? `${JSON.stringify({ file, head })}\n` : `${text}\n`);
}

export interface VerifyOptions {
  /** `SEQ:HASH`, or the path of an earlier export. */
  against?: string[];
}

/** Verifies the store's audit or an exported file. Returns 1 if an entry was changed. */
export async function verify(
  invocation: Invocation,
  file: string | undefined,
  options: VerifyOptions,
): Promise<number> {
  const storage = await loadStorage();
  const noted: AuditHead[] = [];
  for (const text of options.against ?? []) {
    noted.push(parseHead(text) ?? (await storage.readAuditHead(readLines(invocation, text))));
  }
  const verdict = await (async (): Promise<AuditVerdict> => {
    if (file !== undefined) return storage.verifyAuditFile(readLines(invocation, file), noted);
    await using client = await open(invocation);
    return await client.audit.verify(noted);
  })();
  const { good, bad, dim } = styleFor(invocation.stdout);
  const { ok, entries, head, broken } = verdict;
  const lines = ok
    ? [
        `${good("✓")} ${entries} entries, all intact.`,
        dim(`Head: ${head.seq}:${head.hash}`),
        ...(noted.length === 0 && file === undefined
          ? [dim("Note the head elsewhere. With --against, a later check also detects a missing end.")]
          : []),
      ]
    : [
        `${bad("✗")} Entry ${broken?.seq} is ${broken?.problem}: ${broken?.message}`,
        dim(`${entries} entries before it are intact.`),
      ];
  await writeResult(invocation, verdict, lines);
  return ok ? EXIT_CODES.ok.code : EXIT_CODES.failure.code;
}

function parseHead(text: string): AuditHead | undefined {
  const [, seq, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
  return seq && hash ? auditHead.parse({ seq: Number(seq), hash }) : undefined;
}

const toKind = (kind: string): AuditKind => oneOf(AUDIT_KINDS, kind, "kind of entry");
const toVerdict = (verdict: string): VerdictKind => oneOf(VERDICTS, verdict, "verdict");

function oneOf<Word extends string>(words: readonly Word[], text: string, what: string): Word {
  const found = words.find((known) => known === text);
  if (found) return found;
  const meant = nearest(text, words);
  throw new TandemError("usage", `Unknown ${what}: ${text}.`, {
    fix: meant ? `Did you mean ${meant}?` : `Use one of ${words.join(", ")}.`,
  });
}

function toTime(option: string, text: string): string {
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new TandemError("usage", `${option} is ${JSON.stringify(text)}.`, {
    fix: "Write a time as in 2026-01-31 or 2026-01-31T12:00:00Z.",
  });
}

const reasoned = verdict.pick({ why: true });

/** Summarizes an entry in one line. */
function describe({ kind, details }: AuditEntry): string {
  const text = (key: string): string | undefined => {
    const value = details[key];
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  };
  const { data: reason } = reasoned.safeParse(details["verdict"]);
  const gist =
    kind === "call.requested"
      ? [text("permission"), text("tool"), inputOf(details["input"]), reason && `(${reason.why})`]
      : kind === "sql.run"
        ? [text("verdict"), text("connection"), text("sql")]
        : kind === "cost.counted"
          ? [`$${Number(details["usd"] ?? 0).toFixed(4)}`]
          : [
              text("verdict"),
              text("result") ?? text("outcome") ?? text("reason") ?? text("text") ?? text("message") ?? text("tool"),
              text("command") ?? text("name") ?? text("into") ?? text("title") ?? text("folder"),
            ];
  return clip(printable(gist.filter(Boolean).join(" ")).replaceAll(/\s+/g, " "), WIDEST);
}

function inputOf(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const first = Object.values(input).find((value) => typeof value === "string");
  return typeof first === "string" ? first : undefined;
}
