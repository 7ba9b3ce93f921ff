import { createHash } from "node:crypto";
import { sep } from "node:path";
import {
  refusedHost,
  RequestError,
  sandboxHost,
  type AuditNote,
  type RefusedHost,
  type SandboxHost,
  type SessionEventBody,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import { hostRules, type EgressRefusal, type HostFilter } from "@tandem/sandbox";
import { recordPages, type Records } from "@tandem/storage";
import { worktreeAt } from "../host/worktree-registry.ts";

const SPACE = "tandem";
const GRANT = "sandbox_host";
const REFUSAL = "sandbox_refusal";
/** How stale grants of other processes may be while a session connects to hosts. */
const FRESH_MS = 1_000;
/** The refused hosts of one process that are recorded. An agent can try any number of names. */
const MAX_REFUSED = 100;
const SHOWN = 200;
/** A grant for once counts this long: programs connect several times for one task, such as after a redirect. */
const ONCE_MS = 5 * 60_000;

interface HostGrant {
  host: string;
  scope: SandboxHost["scope"];
  session?: string | undefined;
  folder?: string | undefined;
  by: string;
}

/** The networking that a session's environment names. */
export type SessionNetworking =
  /** The hosts of the configuration and the usual ones. */
  | { type: "default" }
  /** Every public host. */
  | { type: "unrestricted" }
  /** These only, and package registries if `packageManagers` is set. */
  | { type: "limited"; hosts: readonly string[]; packageManagers: boolean };

/** The hosts of one process of a session: its environment's networking, and what people allowed beyond it. */
export interface SessionHosts {
  networking: SessionNetworking;
  /** npm packages of the environment. */
  packages: readonly string[];
  /** Reads the current grants, so that a new one counts for the next connection. */
  isAllowed: HostFilter;
  /** Records a refusal. Returns the event to log, for the first one of each host. */
  refused(refusal: EgressRefusal): SessionEventBody | undefined;
}

interface HostGrantsOptions {
  records: Records;
  clock: Clock;
  stateFolder: string;
  note: (note: AuditNote) => Promise<void>;
  /** Rejects with `RequestError("not_found")`. */
  sessionOf: (id: string) => Promise<{ folder: string }>;
  /** The real path of a folder that sessions may work in. */
  resolveFolder: (folder: string) => Promise<string>;
  environmentOf: (environment: string) => Promise<Pick<SessionHosts, "networking" | "packages">>;
}

/**
 * Hosts that people allow beyond the configuration, and hosts that were refused. They are in the store, so that they survive
 * restarts and count in all processes of a fleet.
 */
export class HostGrants {
  readonly #options: HostGrantsOptions;
  #grants: readonly { grant: SandboxHost; matches: HostFilter }[] = [];
  #readAt = -Infinity;

  constructor(options: HostGrantsOptions) {
    this.#options = options;
  }

  /** Call it before a process of the session starts. */
  async open(session: { id: string; folder: string; environmentId: string }): Promise<SessionHosts> {
    const { clock, environmentOf, records } = this.#options;
    const [folders, environment] = await Promise.all([
      this.#foldersOf(session.folder),
      environmentOf(session.environmentId),
      this.#read(),
    ]);
    const counts = new Map<string, number>();
    return {
      ...environment,
      isAllowed: (target) => {
        // While the store is unreachable, the known grants count.
        if (clock.monotonic() - this.#readAt > FRESH_MS) void this.#read().catch(() => undefined);
        return this.#current.some(({ grant, matches }) => covers(grant, session.id, folders) && matches(target));
      },
      refused: ({ host, port, reason, message, fix }) => {
        const target = port === 443 || port === 80 ? host : `${host}:${port}`;
        const count = (counts.get(target) ?? 0) + 1;
        if (count === 1 && counts.size >= MAX_REFUSED) return undefined;
        counts.set(target, count);
        if (reason === "not_allowed" || reason === "port") {
          const value = { host: target, session_id: session.id, folder: folders.at(-1)!, count, rule: message };
          const put = { type: "put" as const, kind: REFUSAL, key: `${session.id}/${target}` };
          // The list is a convenience; the event in the log is the record.
          void records
            .write(SPACE, [{ ...put, value: { ...value, last_at: isoNow(clock) } satisfies RefusedHost }])
            .catch(() => undefined);
        }
        return count === 1 ? { type: "tandem.sandbox_violation", kind: "host", target, rule: message, fix } : undefined;
      },
    };
  }

  /** With a session: its own hosts and those of its folder. */
  async list(session?: string): Promise<{ data: SandboxHost[]; refused: RefusedHost[] }> {
    await this.#read();
    const own = session === undefined ? undefined : await this.#options.sessionOf(session);
    const folders = own && (await this.#foldersOf(own.folder));
    const data = this.#current
      .map(({ grant }) => grant)
      .filter((grant) => session === undefined || covers(grant, session, folders ?? []));
    const prefix = session === undefined ? {} : { prefix: `${session}/` };
    const refused: RefusedHost[] = [];
    for await (const page of recordPages(this.#options.records, SPACE, REFUSAL, prefix)) {
      for (const { value } of page) {
        const one = refusedHost.parse(value);
        if (!this.#isGranted(one)) refused.push(one);
      }
    }
    return {
      data: data.sort((a, b) => a.created_at.localeCompare(b.created_at)),
      refused: refused.sort((a, b) => b.last_at.localeCompare(a.last_at)).slice(0, SHOWN),
    };
  }

  /** Idempotent. `folder` is used for the scope `folder`; else the session's own. */
  async allow({ host, scope, session, folder, by }: HostGrant): Promise<SandboxHost> {
    // Throws for a pattern that the proxy does not accept.
    hostRules([host]);
    const of = await this.#ownerOf({ scope, session, folder });
    const id = idOf(scope, of, host.toLowerCase());
    await this.#read();
    const known = this.#current.find(({ grant }) => grant.id === id);
    if (known && scope !== "once") return known.grant;
    const { clock, note, records } = this.#options;
    const expires = scope === "once" && { expires_at: new Date(clock.now() + ONCE_MS).toISOString() };
    const grant: SandboxHost = { id, host: host.toLowerCase(), scope, of, by, created_at: isoNow(clock), ...expires };
    const expired = this.#grants.filter((each) => !this.#current.includes(each) && each.grant.id !== id);
    await records.write(SPACE, [
      { type: "put", kind: GRANT, key: id, value: grant },
      ...expired.map((each) => ({ type: "delete" as const, kind: GRANT, key: each.grant.id })),
    ]);
    await this.#read();
    await note({ kind: "sandbox.host_allowed", actor: by, session: session ?? null, details: { ...grant } });
    return grant;
  }

  async revoke(id: string, by: string): Promise<void> {
    await this.#read();
    const known = this.#current.find(({ grant }) => grant.id === id)?.grant;
    if (!known) {
      throw new RequestError("not_found", `There is no allowed host ${id}.`, {
        fix: "`tandem sandbox hosts` lists them; those of tandem.yaml are changed there.",
      });
    }
    await this.#delete([{ kind: GRANT, key: id }]);
    const session = known.scope === "folder" ? null : known.of;
    await this.#options.note({ kind: "sandbox.host_revoked", actor: by, session, details: { ...known } });
  }

  /** Removes the grants and refusals of a deleted session. */
  async forget(session: string): Promise<void> {
    await this.#read();
    const gone = this.#grants
      .filter(({ grant }) => grant.scope !== "folder" && grant.of === session)
      .map(({ grant }) => ({ kind: GRANT, key: grant.id }));
    for await (const page of recordPages(this.#options.records, SPACE, REFUSAL, { prefix: `${session}/` })) {
      gone.push(...page.map(({ key }) => ({ kind: REFUSAL, key })));
    }
    if (gone.length > 0) await this.#delete(gone);
  }

  async #ownerOf({ scope, session, folder }: Pick<HostGrant, "scope" | "session" | "folder">): Promise<string> {
    if (scope === "folder" && folder !== undefined) return this.#options.resolveFolder(folder);
    if (session === undefined) {
      throw new RequestError(
        "invalid_request",
        `The scope ${scope} needs a session${scope === "folder" ? " or a folder" : ""}.`,
        {
          fix: "Add session_id.",
        },
      );
    }
    const { folder: own } = await this.#options.sessionOf(session);
    return scope === "folder" ? (await this.#foldersOf(own)).at(-1)! : session;
  }

  /** The folder; for a worktree also its repository, whose grants count in it. */
  async #foldersOf(folder: string): Promise<string[]> {
    const worktree = await worktreeAt(this.#options.stateFolder, folder);
    return worktree ? [folder, worktree.repository] : [folder];
  }

  #isGranted({ host, session_id: session, folder }: RefusedHost): boolean {
    const [name = "", port = "443"] = host.split(":");
    const target = { host: name, port: Number(port) };
    return this.#current.some(({ grant, matches }) => covers(grant, session, [folder]) && matches(target));
  }

  /** Without those that have expired. */
  get #current(): readonly { grant: SandboxHost; matches: HostFilter }[] {
    const now = this.#options.clock.now();
    return this.#grants.filter(({ grant }) => grant.expires_at === undefined || Date.parse(grant.expires_at) > now);
  }

  async #delete(entries: readonly { kind: string; key: string }[]): Promise<void> {
    await this.#options.records.write(
      SPACE,
      entries.map((entry) => ({ type: "delete", ...entry })),
    );
    await this.#read();
  }

  async #read(): Promise<void> {
    this.#readAt = this.#options.clock.monotonic();
    const grants: { grant: SandboxHost; matches: HostFilter }[] = [];
    for await (const page of recordPages(this.#options.records, SPACE, GRANT)) {
      for (const { value } of page) {
        const grant = sandboxHost.parse(value);
        grants.push({ grant, matches: hostRules([grant.host]) });
      }
    }
    this.#grants = grants;
  }
}

export type SandboxHosts = Omit<HostGrants, "open" | "forget">;

const covers = ({ scope, of }: SandboxHost, session: string, folders: readonly string[]): boolean =>
  scope !== "folder" ? of === session : folders.some((folder) => folder === of || folder.startsWith(`${of}${sep}`));

/** The same grant has the same id, so that two requests at once create one. */
const idOf = (...parts: string[]): string =>
  `sbxhost_${createHash("sha256").update(parts.join("\0")).digest("hex").slice(0, 26)}`;
