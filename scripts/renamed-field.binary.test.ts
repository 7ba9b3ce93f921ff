import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

// A field is renamed in the declaration of a wire shape, in a copy. A caller that reads it by its old name must not compile.

const root = join(import.meta.dirname, "..");

interface Renamed {
  file: string;
  from: string;
  to: string;
  /** A function body with `api`, the client; it reads the field by its old name. */
  reads: string;
}

const RENAMED: Renamed[] = [
  {
    file: "api/sessions/session-tasks.ts",
    from: "description: z.string()",
    to: "summary: z.string()",
    reads: 'type Tasks = ResponseOf<"sessions.tasks.list">; const read = ({ data }: Tasks) => data[0]!.description;',
  },
  {
    file: "api/context/job-results.ts",
    from: "stage: z.string().nullable()",
    to: "phase: z.string().nullable()",
    reads: 'const read = ({ progress }: ResponseOf<"jobs.retrieve">) => progress?.stage;',
  },
  {
    file: "api/context/run-event.ts",
    from: "resumed: z.boolean()",
    to: "continued: z.boolean()",
    reads:
      'const read = ({ event }: FrameOf<"jobs.events.stream">) => (event.type === "started" ? event.resumed : false);',
  },
  {
    file: "config/rule.ts",
    from: "rule: keptRule",
    to: "decided_by: keptRule",
    reads: 'const read = ({ verdict }: ResponseOf<"approvals.retrieve">) => verdict?.rule;',
  },
  {
    file: "api/page.ts",
    from: "next_page: z.string().nullable()",
    to: "next: z.string().nullable()",
    reads: 'const read = (page: ResponseOf<"agents.list">) => page.next_page;',
  },
  {
    file: "events/session-event.ts",
    from: "seq: described(",
    to: "position: described(",
    reads: 'const read = ({ data }: ResponseOf<"sessions.log.list">) => data[0]!.seq;',
  },
  {
    file: "events/event-schema.ts",
    from: "processed_at: described(",
    to: "done_at: described(",
    reads: 'const read = ({ data }: ResponseOf<"sessions.events.list">) => data[0]!.processed_at;',
  },
  {
    file: "events/tandem/folder-event.ts",
    from: "undo_checkpoint_id: described(",
    to: "undo_id: described(",
    reads:
      'const read = (event: FrameOf<"sessions.events.stream">) => (event.type === "tandem.rewound" ? event.undo_checkpoint_id : null);',
  },
  // An outline and the type of its values: the declaration itself must not compile.
  { file: "cassettes/cassette.ts", from: "processed_at: z.string()", to: "finished_at: z.string()", reads: "" },
];

test("a field that is renamed in the protocol is a compile error where it is read", async () => {
  const folder = await mkdtemp(join(tmpdir(), "renamed-"));
  try {
    const errors = await errorsOf(folder);
    const missed = RENAMED.filter(({ reads, file }, at) => {
      const where = reads === "" ? `src/${file}` : `old-name-${at}.ts`;
      return !errors.some((error) => error.startsWith(where));
    });
    expect(missed.map(({ file, to }) => `${file}: ${to}`)).toEqual([]);
    expect(errors.filter((error) => error.startsWith("new-name-"))).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** The compiler's errors in a copy of the protocol with the new names, and in callers with the old and the new ones. */
async function errorsOf(folder: string): Promise<string[]> {
  await cp(join(root, "packages/protocol/src"), join(folder, "src"), { recursive: true });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  for (const [at, { file, from, to, reads }] of RENAMED.entries()) {
    const path = join(folder, "src", file);
    const source = await readFile(path, "utf8");
    expect(source, file).toContain(from);
    await writeFile(path, source.replace(from, to));
    if (reads === "") continue;
    await writeFile(join(folder, `old-name-${at}.ts`), caller(reads));
    await writeFile(join(folder, `new-name-${at}.ts`), caller(reads.replaceAll(`.${nameIn(from)}`, `.${nameIn(to)}`)));
  }
  const { compilerOptions } = JSON.parse(await readFile(join(root, "tsconfig.json"), "utf8"));
  const { paths: _, ...options } = compilerOptions;
  const config = { compilerOptions: options, include: ["src/api/contract.ts", "*-name-*.ts"] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const out = await new Promise<string>((resolve) => {
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const args = [tsc, "-p", folder, "--pretty", "false"];
    execFile(process.execPath, args, { cwd: folder }, (_error, stdout) => resolve(stdout));
  });
  return out.split("\n").filter((line) => line.includes("error TS"));
}

const caller = (reads: string): string =>
  [
    'import type { FrameOf, ResponseOf } from "./src/api/contract.ts";',
    'export type Imports = [FrameOf<"feed.stream">, ResponseOf<"agents.list">];',
    reads,
    "export { read };",
  ].join("\n");

const nameIn = (field: string): string => field.slice(0, field.indexOf(":"));
