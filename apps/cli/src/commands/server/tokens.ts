import { nearest, TandemError } from "@tandem/protocol";
import { DEFAULT_TENANT, type Scope } from "@tandem/storage";
import { loadServer, openStore } from "@tandem/tandem/compose";
import type { Invocation } from "../../invocation.ts";
import { localActor, openProjectOrDefaults } from "@tandem/tandem/project";
import { ago } from "../../human-units.ts";
import { findTenant } from "@tandem/tandem/tenants";
import { printable, styleFor, write, writeJson, writeTable } from "../../terminal.ts";
import type { Command } from "commander";
import { listOption, subcommandsOf, type Registration } from "../registration.ts";
import { SCOPE_CHOICES } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  examples(
    sub("add", "Add a token. Its secret is printed once.")
      .argument("<name>", "name of the token")
      .addOption(
        listOption(
          "--scope <scopes>",
          "permissions: read, run (also runs sessions) or admin (default: run)",
          SCOPE_CHOICES,
        ),
      )
      .option("--tenant <id>", "tenant of the token (default: the operator)")
      .addOption(json())
      .action(runner(create)),
    "tandem tokens add my-app",
    "tandem tokens add dashboard --scope read",
    "tandem tokens add ada --tenant acme --scope admin",
  );
  examples(
    sub("list", "List tokens, without their secrets.").addOption(json()).action(runner(list)),
    "tandem tokens list",
  );
  examples(
    sub("remove", "Revoke a token.")
      .argument("<token>", "id or name of the token")
      .addOption(json())
      .action(runner(revoke)),
    "tandem tokens remove my-app",
  );
}

/** Creates a token. Its secret is shown only once. */
export async function create(
  invocation: Invocation,
  name: string,
  { scope = ["run"], tenant }: { scope?: Scope[]; tenant?: string },
): Promise<void> {
  const server = await loadServer();
  await using store = await openStore(invocation, await openProjectOrDefaults(invocation));
  if (tenant !== undefined) await findTenant(store, tenant);
  const { secret, token } = await server.createToken(store.tokens, {
    name,
    scopes: [...new Set(scope)],
    ...(tenant !== undefined && { tenant }),
  });
  const details = { id: token.id, name, scopes: token.scopes, ...(tenant !== undefined && { tenant }) };
  await store.audit.append([{ kind: "token.created", actor: localActor(), details }]);
  if (invocation.json) {
    const { id, scopes } = token;
    await writeJson(invocation.stdout, { id, name, scopes, tenant: token.tenant, secret });
    return;
  }
  await write(invocation.stdout, `${secret}\n`);
  const { dim } = styleFor(invocation.stderr);
  const of = tenant === undefined ? "" : ` of ${tenant}`;
  const note = `${token.id}${of}, ${token.scopes.join(", ")}. The secret is not shown again. Revoke it: \`tandem tokens remove ${token.id}\``;
  await write(invocation.stderr, `${dim(note)}\n`);
}

export async function list(invocation: Invocation): Promise<void> {
  await using store = await openStore(invocation, await openProjectOrDefaults(invocation));
  const tokens = (await store.tokens.list()).filter(({ worker }) => !worker);
  const shown = tokens.map(({ id, name, scopes, tenant, createdAt, lastUsedAt }) => ({
    id,
    name,
    scopes,
    tenant,
    created_at: createdAt,
    last_used_at: lastUsedAt,
  }));
  const { dim, bold } = styleFor(invocation.stdout);
  const hasTenants = tokens.some(({ tenant }) => tenant !== DEFAULT_TENANT);
  const rows = tokens.map(({ id, name, scopes, tenant, createdAt, lastUsedAt }) => [
    id,
    bold(printable(name)),
    ...(hasTenants ? [tenant === DEFAULT_TENANT ? dim("operator") : tenant] : []),
    scopes.join(", "),
    dim(`created ${ago(createdAt)}`),
    dim(lastUsedAt ? `used ${ago(lastUsedAt)}` : "never used"),
  ]);
  await writeTable(invocation, { tokens: shown }, rows, "No tokens. The server creates its own when it first starts.");
}

/** The server rejects the token from now on and closes its open streams at the next heartbeat. */
export async function revoke(invocation: Invocation, idOrName: string): Promise<void> {
  await using store = await openStore(invocation, await openProjectOrDefaults(invocation));
  const tokens = (await store.tokens.list()).filter(({ worker }) => !worker);
  const found = tokens.filter(({ id, name }) => id === idOrName || name === idOrName);
  const [token] = found;
  if (!token) {
    const meant = nearest(
      idOrName,
      tokens.flatMap(({ id, name }) => [id, name]),
    );
    throw new TandemError("not_found", `There is no token ${idOrName}.`, {
      fix: meant ? `Did you mean ${meant}?` : "List them with `tandem tokens list`.",
    });
  }
  if (found.length > 1) {
    throw new TandemError("usage", `${found.length} tokens have the name ${idOrName}.`, {
      fix: `Name one by its id: ${found.map(({ id }) => id).join(", ")}.`,
    });
  }
  await store.tokens.delete(token.id);
  await store.audit.append([
    { kind: "token.revoked", actor: localActor(), details: { id: token.id, name: token.name } },
  ]);
  const { stdout, json } = invocation;
  await write(stdout, json ? `${JSON.stringify({ revoked: token.id })}\n` : `${token.id} is revoked.\n`);
}
