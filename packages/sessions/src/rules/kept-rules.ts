import { dirname, isAbsolute, join, sep } from "node:path";
import {
  keptRule,
  newId,
  RequestError,
  type AuditNote,
  type HookConfig,
  type KeptRule,
  type PermissionMode,
  type Rule,
  type TestedCall,
  type Tool,
  type Verdict,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import { recordPages, type Records } from "@tandem/storage";
import { readSmallFile } from "@tandem/workspace";
import { z } from "zod";
import {
  decide,
  applyRules,
  checkRule,
  compileRule,
  type CompiledRule,
  decideCall,
  absolute,
  realPath,
  usualFolding,
  type SessionPaths,
  readCall,
  type SessionRules,
  type RuleOwner,
  suggestRule,
} from "@tandem/policy";
import type { TurnHook } from "../hooks/turn-hook.ts";
import { worktreeAt } from "../host/worktree-registry.ts";

const SPACE = "tandem";
const KIND = "rule";
/** The repository of a session's worktree, recorded on first use because the agent can delete the link. */
const PROJECT = "session_project";
const project = z.object({ repository: z.string() });

/** How stale rules from other processes may be during a turn. */
const FRESH_MS = 250;

/** The session for a test. It provides folder, agent and mode; by default the project's folder and `default`. */
interface TestedSession {
  sessionId?: string | undefined;
  agentId?: string | undefined;
  folder?: string | undefined;
  mode?: PermissionMode | undefined;
}

interface KeptRulesOptions {
  records: Records;
  clock: Clock;
  /** Rules of `tandem.yaml`. They apply to every session of this engine. */
  file: readonly Rule[];
  project: string;
  stateFolder: string;
  /** The home folder that commands see. */
  home: string;
  /** Claude Code's folder for the user, if not in the home. */
  configDir?: string | undefined;
  /** The host's hooks; agents must not write the files that they run. */
  hooks?: readonly HookConfig[];
  /** The tools of an agent; without one, the defaults. */
  toolsOf: (agent: string | undefined) => Promise<readonly Tool[]>;
  /** Called for each added or removed rule. */
  note?: (note: AuditNote) => Promise<void>;
  /** Rejects with `RequestError("not_found")`. */
  sessionOf: (id: string) => Promise<{ folder: string; agentId: string; mode: PermissionMode | undefined }>;
}

/** Stored permission rules: those of the project's file, followed by those in the store. */
export class KeptRules {
  readonly #parts: KeptRulesOptions;
  readonly #file: readonly KeptRule[];
  #stored: readonly KeptRule[] = [];
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;

  constructor(parts: KeptRulesOptions) {
    this.#parts = parts;
    this.#file = parts.file.map((rule, index): KeptRule => {
      try {
        checkRule(rule);
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        throw new RequestError("invalid_request", `tandem.yaml, rules[${index}]: ${error.message}`, { fix: error.fix });
      }
      return { ...rule, id: null, scope: "project", of: parts.project, source: "tandem.yaml", created_at: null };
    });
  }

  /** Rules of files come first, in order; the others by age. */
  async list(of?: RuleOwner): Promise<KeptRule[]> {
    await this.#read();
    const owner = of && (await this.#ownerOf(of));
    return this.#all().filter((rule) => !owner || (rule.scope === owner.scope && rule.of === owner.of));
  }

  /** Rejects a rule that cannot be enforced. Idempotent for an existing rule. */
  async add(rule: Rule, { by, ...given }: RuleOwner & { by: string }): Promise<KeptRule> {
    checkRule(rule);
    const owner = await this.#ownerOf(given);
    await this.#read();
    const known = this.#stored.find((kept) => isSame(kept, { ...rule, ...owner }));
    if (known) return known;
    const kept: KeptRule = { ...rule, ...owner, id: newId("rule"), source: by, created_at: isoNow(this.#parts.clock) };
    await this.#parts.records.write(SPACE, [{ type: "put", kind: KIND, key: kept.id!, value: kept }]);
    await this.#read();
    const session = kept.scope === "session" ? kept.of : null;
    await this.#parts.note?.({ kind: "rule.added", actor: by, session, details: { ...kept } });
    return kept;
  }

  /** `by` is the caller's name. */
  async remove(id: string, by = "unknown"): Promise<void> {
    await this.#read();
    const kept = this.#stored.find((rule) => rule.id === id);
    if (!kept) {
      throw new RequestError("not_found", `There is no rule ${id}.`, {
        fix: "`tandem rules list` shows them; those of tandem.yaml are changed there.",
      });
    }
    await this.#delete([id]);
    await this.#parts.note?.({ kind: "rule.removed", actor: by, details: { ...kept } });
  }

  /** Removes the rules of a deleted session or agent. */
  async forget(owner: RuleOwner): Promise<void> {
    await this.#read();
    const of = this.#stored.filter((rule) => rule.scope === owner.scope && rule.of === owner.of);
    if (of.length > 0) await this.#delete(of.map(({ id }) => id!));
  }

  /** The rules of a session: the user's, its project's, its agent's and its own. */
  async rulesOf(session: { id: string; agentId: string; folder: string }): Promise<SessionRules> {
    await this.#read();
    const paths = this.#paths(session.folder);
    const projects = await this.#projectsOf(session.id, session.folder);
    let source: readonly KeptRule[] | undefined;
    let compiled: { rule: KeptRule; compiled: CompiledRule }[] = [];
    const rulesFor = (agentId: string): CompiledRule[] => {
      if (source !== this.#stored) {
        source = this.#stored;
        compiled = this.#all().flatMap((rule) => compile(rule, paths).map((each) => ({ rule, compiled: each })));
      }
      return compiled
        .filter(({ rule }) => holdsFor(rule, { id: session.id, agentId, projects }))
        .map(({ compiled: each }) => each);
    };
    return {
      judge: (call) => {
        try {
          const agents = new Set([session.agentId, call.agentId ?? session.agentId]);
          const verdicts = [...agents].map((agentId) => applyRules(rulesFor(agentId), call, paths).verdict);
          return verdicts.reduce(stricter);
        } catch (error) {
          return {
            action: "deny",
            by: "caution",
            why: `The rules could not be applied to this call: ${String(error)}.`,
          };
        }
      },
      suggest: (call) => {
        try {
          return suggestRule(call, paths);
        } catch {
          return undefined;
        }
      },
      covers: (rule, call) => {
        checkRule(rule);
        const kept: KeptRule = { ...rule, id: null, scope: "session", of: session.id, source: "", created_at: null };
        return applyRules([compileRule(kept, paths)], call, paths).verdict?.action === rule.action;
      },
    };
  }

  /** Judges a call written as `Bash(git push)`, `Edit(src/a.ts)` or `mcp__github__merge`, with the reason. */
  async test(text: string, wanted: TestedSession): Promise<TestedCall> {
    const call = readCall(text);
    await this.#read();
    const session = wanted.sessionId === undefined ? undefined : await this.#parts.sessionOf(wanted.sessionId);
    const agentId = wanted.agentId ?? session?.agentId;
    const folder = wanted.folder ?? session?.folder ?? this.#parts.project;
    const paths = this.#paths(folder);
    const projects = session
      ? await this.#projectsOf(wanted.sessionId!, folder)
      : await projectsOf(folder, this.#parts.stateFolder);
    const rules = this.#all()
      .filter((rule) => holdsFor(rule, { id: wanted.sessionId, agentId, projects }))
      .flatMap((rule) => compile(rule, paths));
    const judgement = applyRules(rules, call, paths);
    const policy = decide(await this.#parts.toolsOf(agentId), call);
    const mode = wanted.mode ?? session?.mode ?? "default";
    const { verdict } = decideCall(call, { policy, verdict: judgement.verdict, mode, paths });
    const suggestion = verdict.action === "ask" ? suggestRule(call, paths) : undefined;
    return { verdict, parts: judgement.parts, ...(suggestion && { suggestion }) };
  }

  /** Refreshes rules during turns, so that other processes' changes apply within moments and idle sessions cost nothing. */
  get turnHook(): TurnHook {
    return {
      before: async () => {
        await this.#read();
        return [];
      },
      observe: () => {
        // While the store is unreachable, the known rules apply.
        if (this.#parts.clock.monotonic() - this.#readAt > FRESH_MS) void this.#read().catch(() => undefined);
      },
    };
  }

  /** Removes the records of a deleted session. */
  async left(session: string): Promise<void> {
    await this.#parts.records.write(SPACE, [{ type: "delete", kind: PROJECT, key: session }]);
  }

  async #projectsOf(session: string, folder: string): Promise<string[]> {
    const { records, stateFolder } = this.#parts;
    const found = await projectsOf(folder, stateFolder);
    const known = project.safeParse((await records.get(SPACE, PROJECT, session))?.value).data;
    if (known) return [...new Set([...found, known.repository])];
    const [, repository] = found;
    if (repository !== undefined) {
      await records.write(SPACE, [{ type: "put", kind: PROJECT, key: session, value: { repository } }]);
    }
    return found;
  }

  #all(): KeptRule[] {
    return [...this.#file, ...this.#stored];
  }

  /** Callers during a read wait for the next one: the change they expect may be newer than the current read. */
  async #read(): Promise<void> {
    await this.#reading?.catch(() => undefined);
    this.#reading ??= this.#readAll().finally(() => (this.#reading = undefined));
    await this.#reading;
  }

  async #readAll(): Promise<void> {
    const found: KeptRule[] = [];
    for await (const page of recordPages(this.#parts.records, SPACE, KIND, { pageSize: 1_000 })) {
      found.push(...page.map(({ value }) => keptRule.parse(value)));
    }
    this.#readAt = this.#parts.clock.monotonic();
    // Ids sort by creation time.
    if (JSON.stringify(found) !== JSON.stringify(this.#stored)) this.#stored = found;
  }

  async #delete(ids: readonly string[]): Promise<void> {
    await this.#parts.records.write(
      SPACE,
      ids.map((key) => ({ type: "delete" as const, kind: KIND, key })),
    );
    await this.#read();
  }

  /** A project is identified by its folder's real path; a worktree belongs to its repository's project. */
  async #ownerOf({ scope, of }: RuleOwner): Promise<RuleOwner> {
    if (scope === "user") return { scope, of: null };
    if (of === null) throw new RequestError("invalid_request", `A rule of a ${scope} must name its target.`);
    if (scope !== "project") return { scope, of };
    if (!isAbsolute(of))
      throw new RequestError("invalid_request", `${of} is not the whole path of a project's folder.`);
    return { scope, of: (await projectsOf(realPath(of) ?? of, this.#parts.stateFolder)).at(-1)! };
  }

  #paths(path: string): SessionPaths {
    const folder = realPath(path) ?? path;
    return {
      folder,
      home: this.#parts.home,
      foldsCase: usualFolding,
      state: this.#parts.stateFolder,
      secrets: credentialFiles(this.#parts),
      hookFiles: hookFiles(this.#parts.hooks ?? [], folder, this.#parts.home),
    };
  }
}

export type Rules = Omit<KeptRules, "turnHook" | "left">;

/** Claude Code's credential files. */
const credentialFiles = ({ home, configDir, stateFolder }: KeptRulesOptions): string[] => [
  join(home, ".claude.json"),
  ...[join(home, ".claude"), join(stateFolder, "claude-code"), ...(configDir === undefined ? [] : [configDir])].flatMap(
    (folder) => [join(folder, ".credentials.json"), join(folder, ".claude.json")],
  ),
];

/** Hooks run in the session's folder: each word of a command may name a file in it. */
const hookFiles = (hooks: readonly HookConfig[], folder: string, home: string): string[] =>
  hooks
    .flatMap(({ command = [] }) => command.flatMap((word) => [word, word.replace(/^-[^=]*=/, "")]))
    .flatMap((word) => realPath(absolute(word, folder, home)) ?? [])
    .filter((file) => file.startsWith(folder + sep));

/** A rule that cannot be parsed applies to the whole tool, unless it allows. */
function compile(rule: KeptRule, paths: SessionPaths): CompiledRule[] {
  try {
    return [compileRule(rule, paths)];
  } catch {
    return rule.action === "allow" ? [] : [{ rule, pattern: { type: "any" }, restricts: true }];
  }
}

function holdsFor(
  { scope, of, id }: KeptRule,
  session: { id: string | undefined; agentId: string | undefined; projects: readonly string[] },
): boolean {
  switch (scope) {
    case "user":
      return true;
    case "project":
      return id === null || session.projects.some((folder) => folder === of || folder.startsWith(of + sep));
    case "agent":
      return of === session.agentId;
    case "session":
      return of === session.id;
  }
}

/**
 * A session's folder and, for a git worktree, its repository. The agent can rewrite the link in the worktree, so our own record
 * counts for Tandem's worktrees, and the repository's list for others.
 */
async function projectsOf(path: string, stateFolder: string): Promise<string[]> {
  const folder = realPath(path) ?? path;
  const made = await worktreeAt(stateFolder, folder);
  if (made) return [folder, realPath(made.repository) ?? made.repository];
  const link = await readSmallFile(join(folder, ".git")).catch(() => "");
  const [, main, name] = /^gitdir: (.+)[/\\]\.git[/\\]worktrees[/\\]([^/\\]+?)\s*$/.exec(link) ?? [];
  if (main === undefined || name === undefined) return [folder];
  const back = await readSmallFile(join(main, ".git", "worktrees", name, "gitdir")).catch(() => "");
  const isKnown = realPath(dirname(back.trim())) === folder;
  return isKnown ? [folder, realPath(main) ?? main] : [folder];
}

const RANKS = ["allow", undefined, "ask", "deny"] as const;

/** Without a verdict the policy decides, which may be stricter than an allow rule. */
function stricter(a: Verdict | undefined, b: Verdict | undefined): Verdict | undefined {
  return RANKS.indexOf(a?.action) >= RANKS.indexOf(b?.action) ? a : b;
}

const isSame = (a: Rule & RuleOwner, b: Rule & RuleOwner): boolean =>
  a.tool === b.tool && a.pattern === b.pattern && a.action === b.action && a.scope === b.scope && a.of === b.of;
