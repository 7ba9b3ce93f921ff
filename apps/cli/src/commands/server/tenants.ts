import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import {
  TandemError,
  tenantCredential,
  tenantId,
  tenantQuotas,
  type TenantQuotas,
  type TenantUse,
  type TenantView,
  type UpdateTenant,
  systemClock,
} from "@tandem/protocol";
import { localActor, openProjectOrDefaults, bytes } from "@tandem/tandem/project";
import type { TenantService } from "@tandem/server";
import { openStore } from "@tandem/tandem/compose";
import type { Project } from "@tandem/tandem/config";
import { createTenantService } from "@tandem/tandem/tenants";
import { type Command, Option } from "commander";
import { confirm } from "../../input/confirm.ts";
import type { Invocation } from "../../invocation.ts";
import { ago } from "../../human-units.ts";
import { printable, styleFor, table, writeResult, writeTable, type Style } from "../../terminal.ts";
import { subcommandsOf, type Registration } from "../registration.ts";
import { serverFor } from "../../sessions/open-client.ts";
import { ServerConnection } from "../../sessions/server-connection.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const settings = (self: Command) =>
    self
      .option("--name <text>", "display name")
      .addOption(new Option("--auth <kind>", "credential of its sessions").choices(["api_key", "oauth_token"]))
      .option("--secret <place>", "secret reference to the credential: env:NAME, file:path or command:…")
      .option("--base-url <url>", "base URL of the service, if not the default")
      .option("--turns <number>", "maximum number of concurrent turns; `none` for no limit, as below")
      .option("--sessions <number>", "maximum number of unarchived sessions")
      .option("--usd-per-day <dollars>", "spending limit per day, at list price")
      .option("--file-mb <number>", "maximum size of uploaded files in megabytes")
      .addOption(json());

  examples(
    sub("list", "List tenants.").addOption(json()).action(runner(list)),
    "tandem tenants list",
    "tandem tenants list --json | jq -r '.tenants[].id'",
  );
  examples(
    settings(
      sub("add", "Add a tenant with its own folders, variables and database.")
        .argument("<id>", "tenant id: lower-case letters, digits and hyphens")
        .option("--folder <dir>", "working folder of its sessions (default: a new folder in its home)"),
    ).action(runner(create)),
    'tandem tenants add acme --name "Acme Ltd" --auth api_key --secret env:ACME_KEY',
    "tandem tenants add lab --folder /srv/lab --turns 4 --usd-per-day 20",
  );
  examples(
    sub("show", "Show a tenant, its limits and its current use.")
      .argument("<id>", "tenant id")
      .addOption(json())
      .action(runner(show)),
    "tandem tenants show acme",
  );
  examples(
    settings(sub("set", "Change settings of a tenant.").argument("<id>", "tenant id"))
      .option("--no-credential", "use the credential of the tenant's tandem.yaml")
      .action(runner(set)),
    "tandem tenants set acme --turns 8 --usd-per-day none",
    "tandem tenants set acme --auth api_key --secret 'command:op read op://acme/anthropic/key'",
  );
  examples(
    sub("archive", "Reject a tenant's tokens and end its turns. Its data is kept.")
      .argument("<id>", "tenant id")
      .option("--undo", "activate it again")
      .addOption(json())
      .action(runner(archive)),
    "tandem tenants archive acme",
    "tandem tenants archive acme --undo",
  );
  examples(
    sub("remove", "Permanently delete an archived tenant and its data.")
      .argument("<id>", "tenant id")
      .option("-y, --yes", "do not ask for confirmation")
      .addOption(json())
      .action(runner(remove)),
    "tandem tenants remove acme",
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
  const hint = "No tenants: all tokens belong to the operator. Add one: tandem tenants add acme";
  await writeTable(invocation, { tenants }, rows, hint);
}

export async function show(invocation: Invocation, id: string): Promise<void> {
  await using tenantService = await open(invocation);
  const tenant = await tenantService.get(id);
  await writeResult(invocation, tenant, describe(tenant, styleFor(invocation.stdout), tenant.use));
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
      `${JSON.stringify(id)} is not a valid tenant id: ${parsed.error.issues[0]?.message}.`,
    );
  }
  const settings = readSettings(flags);
  const project = flags.folder === undefined ? undefined : resolve(invocation.cwd, flags.folder);
  if (project !== undefined) await mkdir(project, { recursive: true, mode: 0o700 });
  await using tenantService = await open(invocation);
  const made = await tenantService.create({ ...settings, id, ...(project && { project }) }, localActor());
  const style = styleFor(invocation.stdout);
  const next = style.dim(`Add a token: tandem tokens add NAME --tenant ${id} --scope admin`);
  await writeResult(invocation, made, [...describe(made, style), "", next]);
}

export async function set(invocation: Invocation, id: string, flags: TenantFlags): Promise<void> {
  const settings = readSettings(flags);
  if (Object.keys(settings).length === 0) {
    throw new TandemError("usage", "No change was given.", {
      fix: "Give at least one option: `tandem tenants set --help`.",
    });
  }
  await using tenantService = await open(invocation);
  const changed = await tenantService.update(id, settings, localActor());
  await writeResult(invocation, changed, describe(changed, styleFor(invocation.stdout)));
}

export async function archive(invocation: Invocation, id: string, { undo = false }: { undo?: boolean }): Promise<void> {
  await using tenantService = await open(invocation);
  const tenant = await (undo ? tenantService.restore(id, localActor()) : tenantService.archive(id, localActor()));
  const { dim } = styleFor(invocation.stdout);
  const done = undo
    ? [`${id} is active again.`]
    : [
        `${id} is archived. Its tokens are rejected and its turns end.`,
        dim(`Undo: tandem tenants archive ${id} --undo`),
      ];
  await writeResult(invocation, tenant, done);
}

export async function remove(invocation: Invocation, id: string, { yes = false }: { yes?: boolean }): Promise<void> {
  await using tenantService = await open(invocation);
  const { name, home } = await tenantService.get(id);
  const what = `This deletes the sessions, files, context, audit log and tokens of ${id} (${printable(name)}), and ${home}.\n`;
  if (!yes) await confirm(invocation, what, "Delete permanently?");
  await tenantService.delete(id, localActor());
  await writeResult(invocation, { deleted: id }, [`${id} is deleted.`]);
}

function readSettings(flags: TenantFlags): UpdateTenant {
  const { name, auth, secret, baseUrl, credential: keeps } = flags;
  const quotas = readQuotas(flags);
  const wantsCredential = auth !== undefined || secret !== undefined || baseUrl !== undefined;
  if (wantsCredential && (auth === undefined || secret === undefined)) {
    throw new TandemError("usage", "A credential needs both --auth and --secret.", {
      fix: "Example: --auth api_key --secret env:ACME_KEY",
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
      [dim("folder"), printable(tenant.project)],
      [dim("home"), printable(tenant.home)],
      [
        dim("credential"),
        credential
          ? `${credential.auth.replace("_", " ")} ${dim(`from ${printable(credential.secret)}`)}${credential.base_url ? dim(`, ${credential.base_url}`) : ""}`
          : dim("its own tandem.yaml"),
      ],
      [dim("tokens"), String(tenant.tokens)],
      [dim("concurrent turns"), share(String, quotas.turns, use?.running_turns)],
      [dim("sessions"), share(String, quotas.sessions, use?.open_sessions)],
      [dim("spending per day"), share((usd) => `$${usd.toFixed(2)}`, quotas.usd_per_day, use?.usd_today)],
      [dim("files"), share(bytes, quotas.file_bytes, use?.file_bytes)],
    ]).map((line) => `  ${line}`),
  ];
}

function limitsInWords({ turns, sessions, usd_per_day: usd, file_bytes: files }: TenantQuotas): string {
  return [
    ...(turns === null ? [] : [`${turns} concurrent ${turns === 1 ? "turn" : "turns"}`]),
    ...(sessions === null ? [] : [`${sessions} sessions`]),
    ...(usd === null ? [] : [`$${usd.toFixed(2)} a day`]),
    ...(files === null ? [] : [`${bytes(files)} of files`]),
  ].join(", ");
}

/** Manages the tenants of our database through the running server, else in this process. */
async function openTenantService(invocation: Invocation, project: Project): Promise<TenantService & AsyncDisposable> {
  const server = await serverFor(invocation, project);
  if (server) return remoteTenantService(await ServerConnection.open(server));
  const store = await openStore(invocation, project);
  const tenantService = createTenantService({
    env: invocation.env,
    store,
    clock: systemClock,
    note: (note) => store.audit.append([note]),
  });
  return { ...tenantService, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

/** The server takes the actor of every request from the token. */
function remoteTenantService(server: ServerConnection): TenantService & AsyncDisposable {
  const { api } = server;
  return {
    list: async () => (await api.call("tenants.list")).data,
    get: (id) => api.call("tenants.retrieve", { params: { tenant_id: id } }),
    create: (body) => api.call("tenants.create", { body }),
    update: (id, body) => api.call("tenants.update", { params: { tenant_id: id }, body }),
    archive: (id) => api.call("tenants.archive", { params: { tenant_id: id } }),
    restore: (id) => api.call("tenants.restore", { params: { tenant_id: id } }),
    delete: async (id) => void (await api.call("tenants.delete", { params: { tenant_id: id } })),
    [Symbol.asyncDispose]: async () => server[Symbol.dispose](),
  };
}
