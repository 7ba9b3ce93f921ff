import {
  TandemError,
  tenantCredential,
  tenantId,
  tenantQuotas,
  type TenantQuotas,
  type TenantUse,
  type TenantView,
  type UpdateTenant,
} from "@tandem/protocol";
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { confirm } from "../../confirm.ts";
import type { Invocation } from "../../invocation.ts";
import { localActor, openProjectOrDefaults, bytes } from "@tandem/tandem/project";
import { ago } from "../../human-units.ts";
import { openTenantService } from "../../tenants/open-tenant-service.ts";
import { printable, styleFor, table, write, type Style } from "../../terminal.ts";
import { type Command, Option } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const settings = (self: Command) =>
    self
      .option("--name <text>", "what it is called, for people")
      .addOption(new Option("--auth <kind>", "which credential its sessions get").choices(["api_key", "oauth_token"]))
      .option("--secret <place>", "where that is kept: env:NAME, file:path or command:… of yours")
      .option("--base-url <url>", "another address than the service's own")
      .option("--turns <number>", "at most so many turns at once; `none` for no limit, as below")
      .option("--sessions <number>", "at most so many sessions that are not archived")
      .option("--usd-per-day <dollars>", "at most so much money a day, at list price")
      .option("--file-mb <number>", "at most so many megabytes of uploaded files")
      .addOption(json());

  examples(
    sub("list", "List tenants.", true)
      .addOption(json())
      .action((_options: object, self: Command) => runner(self, (invocation) => list(invocation))),
    "tandem tenants",
    "tandem tenants --json | jq -r '.tenants[].id'",
  );
  examples(
    settings(
      sub("create", "Create a tenant, with folders, variables and a database of its own.")
        .argument("<id>", "small letters, digits and hyphens; it names folders")
        .option("--folder <dir>", "the folder that its sessions work in (default: a new one in its home)"),
    ).action((id: string, flags: TenantFlags & { folder?: string }, self: Command) =>
      runner(self, (invocation) => create(invocation, id, flags)),
    ),
    'tandem tenants create acme --name "Acme Ltd" --auth api_key --secret env:ACME_KEY',
    "tandem tenants create lab --folder /srv/lab --turns 4 --usd-per-day 20",
  );
  examples(
    sub("show", "Show a tenant, what it may take, and what it takes now.")
      .argument("<id>", "the tenant's id")
      .addOption(json())
      .action((id: string, _options: object, self: Command) => runner(self, (invocation) => show(invocation, id))),
    "tandem tenants show acme",
  );
  examples(
    settings(sub("set", "Change a tenant; what is not named stays.").argument("<id>", "the tenant's id"))
      .option("--no-credential", "from now on, what its own tandem.yaml says")
      .action((id: string, flags: TenantFlags, self: Command) =>
        runner(self, (invocation) => set(invocation, id, flags)),
      ),
    "tandem tenants set acme --turns 8 --usd-per-day none",
    "tandem tenants set acme --auth api_key --secret 'command:op read op://acme/anthropic/key'",
  );
  examples(
    sub("archive", "Refuse a tenant's tokens and end its turns; all that it has is kept.")
      .argument("<id>", "the tenant's id")
      .option("--undo", "serve it again")
      .addOption(json())
      .action((id: string, options: { undo?: boolean }, self: Command) =>
        runner(self, (invocation) => archive(invocation, id, options)),
      ),
    "tandem tenants archive acme",
    "tandem tenants archive acme --undo",
  );
  examples(
    sub("delete", "Delete an archived tenant with all that it has, for good.")
      .argument("<id>", "the tenant's id")
      .option("-y, --yes", "do not ask")
      .addOption(json())
      .action((id: string, options: { yes?: boolean }, self: Command) =>
        runner(self, (invocation) => remove(invocation, id, options)),
      ),
    "tandem tenants delete acme",
  );
}

const MB = 1_000_000;

export interface TenantFlags {
  name?: string;
  auth?: "api_key" | "oauth_token";
  secret?: string;
  baseUrl?: string;
  turns?: string;
  sessions?: string;
  usdPerDay?: string;
  fileMb?: string;
  /** False with --no-credential. */
  credential?: boolean;
}

const open = async (invocation: Invocation) => openTenantService(invocation, await openProjectOrDefaults(invocation));

export async function list(invocation: Invocation): Promise<void> {
  await using tenantService = await open(invocation);
  const tenants = await tenantService.list();
  const style = styleFor(invocation.stdout);
  const { dim, bold, warn } = style;
  const rows = tenants.map((tenant) => [
    bold(tenant.id),
    printable(tenant.name),
    dim(tenant.tokens === 1 ? "1 token" : `${tenant.tokens} tokens`),
    tenant.archived_at ? warn(`archived ${ago(tenant.archived_at)}`) : limitsInWords(tenant.quotas) || dim("no limits"),
  ]);
  const none = dim("No tenants: all tokens are the operator's. Make one: tandem tenants create acme");
  await print(invocation, { tenants }, rows.length > 0 ? table(rows) : [none]);
}

export async function show(invocation: Invocation, id: string): Promise<void> {
  await using tenantService = await open(invocation);
  const tenant = await tenantService.get(id);
  await print(invocation, tenant, describe(tenant, styleFor(invocation.stdout), tenant.use));
}

export async function create(
  invocation: Invocation,
  id: string,
  flags: TenantFlags & { folder?: string },
): Promise<void> {
  const parsed = tenantId.safeParse(id);
  if (!parsed.success) {
    throw new TandemError(
      "usage",
      `${JSON.stringify(id)} cannot be a tenant's id: ${parsed.error.issues[0]?.message}.`,
    );
  }
  const settings = readSettings(flags);
  const project = flags.folder === undefined ? undefined : resolve(invocation.cwd, flags.folder);
  if (project !== undefined) await mkdir(project, { recursive: true, mode: 0o700 });
  await using tenantService = await open(invocation);
  const made = await tenantService.create({ ...settings, id, ...(project && { project }) }, localActor());
  const style = styleFor(invocation.stdout);
  const next = style.dim(`Let somebody in: tandem token create NAME --tenant ${id} --scope admin`);
  await print(invocation, made, [...describe(made, style), "", next]);
}

export async function set(invocation: Invocation, id: string, flags: TenantFlags): Promise<void> {
  const settings = readSettings(flags);
  if (Object.keys(settings).length === 0) {
    throw new TandemError("usage", "Nothing is given to change.", {
      fix: "Give at least one option: `tandem tenants set --help`.",
    });
  }
  await using tenantService = await open(invocation);
  const changed = await tenantService.update(id, settings, localActor());
  await print(invocation, changed, describe(changed, styleFor(invocation.stdout)));
}

export async function archive(invocation: Invocation, id: string, { undo = false }: { undo?: boolean }): Promise<void> {
  await using tenantService = await open(invocation);
  const tenant = await (undo ? tenantService.restore(id, localActor()) : tenantService.archive(id, localActor()));
  const { dim } = styleFor(invocation.stdout);
  const done = undo
    ? [`${id} is served again.`]
    : [
        `${id} is archived: its tokens are refused, and its turns end.`,
        dim(`Undo: tandem tenants archive ${id} --undo`),
      ];
  await print(invocation, tenant, done);
}

export async function remove(invocation: Invocation, id: string, { yes = false }: { yes?: boolean }): Promise<void> {
  await using tenantService = await open(invocation);
  const { name, home } = await tenantService.get(id);
  const what = `Sessions, files, context, audit and tokens of ${id} (${printable(name)}) go, and ${home}.\n`;
  if (!yes) await confirm(invocation, what, "For good?");
  await tenantService.delete(id, localActor());
  await print(invocation, { deleted: id }, [`${id} is gone.`]);
}

function readSettings(flags: TenantFlags): UpdateTenant {
  const { name, auth, secret, baseUrl, credential: keeps } = flags;
  const quotas = readQuotas(flags);
  const wantsCredential = auth !== undefined || secret !== undefined || baseUrl !== undefined;
  if (wantsCredential && (auth === undefined || secret === undefined)) {
    throw new TandemError("usage", "A credential needs both --auth and --secret.", {
      fix: "For example: --auth api_key --secret env:ACME_KEY",
    });
  }
  const credential = wantsCredential
    ? tenantCredential.safeParse({ auth, secret, ...(baseUrl !== undefined && { base_url: baseUrl }) })
    : undefined;
  if (credential?.success === false) {
    const [issue] = credential.error.issues;
    throw new TandemError("usage", `${issue?.path[0] === "base_url" ? "--base-url" : "--secret"}: ${issue?.message}.`);
  }
  return {
    ...(name !== undefined && { name }),
    ...(credential ? { credential: credential.data } : keeps === false && { credential: null }),
    ...(Object.keys(quotas).length > 0 && { quotas }),
  };
}

function readQuotas({ turns, sessions, usdPerDay, fileMb }: TenantFlags): Partial<TenantQuotas> {
  const given = [
    { flag: "--turns", name: "turns", text: turns, scale: 1 },
    { flag: "--sessions", name: "sessions", text: sessions, scale: 1 },
    { flag: "--usd-per-day", name: "usd_per_day", text: usdPerDay, scale: 1 },
    { flag: "--file-mb", name: "file_bytes", text: fileMb, scale: MB },
  ] as const;
  const quotas: Partial<TenantQuotas> = {};
  for (const { flag, name, text, scale } of given) {
    if (text === undefined) continue;
    const value = tenantQuotas.shape[name].safeParse(text === "none" ? null : Number(text || Number.NaN) * scale);
    if (!value.success) {
      throw new TandemError("usage", `${flag} is ${JSON.stringify(text)}.`, { fix: "Give a number, or `none`." });
    }
    quotas[name] = value.data;
  }
  return quotas;
}

function describe(tenant: TenantView, style: Style, use?: TenantUse): string[] {
  const { bold, dim, warn } = style;
  const { quotas, credential } = tenant;
  const share = (format: (value: number) => string, most: number | null, now: number | undefined): string => {
    const limit = most === null ? dim("no limit") : format(most);
    if (now === undefined) return limit;
    const used = most !== null && now >= most ? warn(format(now)) : format(now);
    return most === null ? `${used}  ${limit}` : `${used} of ${limit}`;
  };
  return [
    `${bold(tenant.id)}  ${printable(tenant.name)}${tenant.archived_at ? `  ${warn(`archived ${ago(tenant.archived_at)}`)}` : ""}`,
    ...table([
      [dim("works in"), printable(tenant.project)],
      [dim("kept in"), printable(tenant.home)],
      [
        dim("credential"),
        credential
          ? `${credential.auth.replace("_", " ")} ${dim(`from ${printable(credential.secret)}`)}${credential.base_url ? dim(`, ${credential.base_url}`) : ""}`
          : dim("what its own tandem.yaml says"),
      ],
      [dim("tokens"), String(tenant.tokens)],
      [dim("turns at once"), share(String, quotas.turns, use?.running_turns)],
      [dim("sessions"), share(String, quotas.sessions, use?.open_sessions)],
      [dim("money a day"), share((usd) => `$${usd.toFixed(2)}`, quotas.usd_per_day, use?.usd_today)],
      [dim("files"), share(bytes, quotas.file_bytes, use?.file_bytes)],
    ]).map((line) => `  ${line}`),
  ];
}

function limitsInWords({ turns, sessions, usd_per_day: usd, file_bytes: files }: TenantQuotas): string {
  return [
    ...(turns === null ? [] : [`${turns} ${turns === 1 ? "turn" : "turns"} at once`]),
    ...(sessions === null ? [] : [`${sessions} sessions`]),
    ...(usd === null ? [] : [`$${usd.toFixed(2)} a day`]),
    ...(files === null ? [] : [`${bytes(files)} of files`]),
  ].join(", ");
}

async function print({ stdout, json }: Invocation, result: object, lines: readonly string[]): Promise<void> {
  await write(stdout, json ? `${JSON.stringify(result, null, 2)}\n` : `${lines.join("\n")}\n`);
}
