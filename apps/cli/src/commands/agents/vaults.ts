import {
  TandemError,
  type CredentialAuthParams,
  type CredentialAuthUpdate,
  type VaultCredential,
} from "@tandem/protocol";
import { localActor } from "@tandem/tandem/project";
import { Option, type Command } from "commander";
import { confirm } from "../../input/confirm.ts";
import { ago } from "../../human-units.ts";
import type { Invocation } from "../../invocation.ts";
import { toPort } from "../../number-options.ts";
import { clientFor } from "../../sessions/open-client.ts";
import { printable, styleFor, table, write, writeJson, writeResult, writeTable, type Style } from "../../terminal.ts";
import { findCredential, findVault, readCredentials, readVaults, subjectOf } from "../../vaults/find-vault.ts";
import type { LoginFlags } from "../../vaults/log-in.ts";
import { readSecret } from "../../vaults/read-secret.ts";
import { listOption, subcommandsOf, type Registration } from "../registration.ts";

interface AddFlags {
  server?: string;
  variable?: string;
  host?: string[];
  anyHost?: true;
  in?: "header" | "body";
  name?: string;
  secretEnv?: string;
}

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const vault = (name: string, description: string) =>
    sub(name, description).argument("<vault>", "vault, by id or name").addOption(json());
  const fromVariable = () => new Option("--secret-env <variable>", "read the secret from this variable");
  examples(
    sub("list", "List vaults, newest first.")
      .option("--all", "include archived vaults")
      .addOption(json())
      .action(runner((on, flags: { all?: true }) => list(on, flags.all ?? false))),
    "tandem vaults list",
  );
  examples(
    sub("create", "Create a vault: credentials that sessions may use.")
      .argument("<name>", "name of the vault")
      .addOption(json())
      .action(runner(create)),
    "tandem vaults create team",
  );
  examples(
    vault("show", "Show a vault and its credentials, without their secrets.")
      .option("--all", "include archived credentials")
      .action(runner((on, name: string, flags: { all?: true }) => show(on, name, flags.all ?? false))),
    "tandem vaults show team",
  );
  examples(
    vault("add", "Add a credential. Its secret is typed, piped in, or read from a variable; never an argument.")
      .option("--server <url>", "MCP server that gets the secret as a bearer token")
      .option("--variable <name>", "variable of the agent's programs; needs the sandbox")
      .addOption(listOption("--host <names>", "hosts that get the variable's value, such as api.example.com"))
      .option("--any-host", "every host that the session may reach gets the variable's value")
      .addOption(new Option("--in <place>", "only this part of a request").choices(["header", "body"]))
      .option("--name <text>", "name for lists")
      .addOption(fromVariable())
      .action(runner(add)),
    "tandem vaults add team --server https://mcp.example.com/mcp",
    "tandem vaults add team --server https://mcp.example.com/mcp < token.txt",
    "tandem vaults add team --variable API_KEY --host api.example.com --secret-env API_KEY",
  );
  examples(
    vault("login", "Log in at an MCP server in the browser; the vault gets and refreshes its tokens.")
      .argument("<url>", "URL of the MCP server")
      .option("--client-id <id>", "OAuth client that you registered; default: Tandem registers one")
      .option("--client-secret-env <variable>", "read the client's secret from this variable")
      .option("--scope <text>", "OAuth scopes; default: those that the server names")
      .option("--name <text>", "name for lists")
      .option("--port <number>", "port of this machine that the browser comes back to; default: any", toPort)
      .option("--no-browser", "only print the link")
      .action(runner(login)),
    "tandem vaults login team https://mcp.example.com/mcp",
    "tandem vaults login team https://mcp.example.com/mcp --client-id tandem --client-secret-env SECRET",
  );
  examples(
    vault("replace", "Replace the secret of a credential. Running sessions use the new one.")
      .argument("<credential>", "credential, by id, name, server or variable")
      .addOption(fromVariable())
      .action(
        runner((on, name: string, credential: string, flags: AddFlags) =>
          replace(on, name, credential, flags.secretEnv),
        ),
      ),
    "tandem vaults replace team API_KEY",
  );
  examples(
    vault("check", "Try a credential at its MCP server.")
      .argument("<credential>", "credential, by id, name or server")
      .action(runner(check)),
    "tandem vaults check team https://mcp.example.com/mcp",
  );
  for (const [name, description] of [
    ["archive", "Archive a vault or one credential: delete the secrets, keep the records."],
    ["delete", "Delete a vault with its credentials, or one credential."],
  ] as const) {
    examples(
      vault(name, description)
        .argument("[credential]", "only this credential")
        .option("--yes", "skip the confirmation")
        .action(
          runner((on, its: string, credential: string | undefined, flags: { yes?: true }) =>
            remove(on, name, its, credential, flags.yes ?? false),
          ),
        ),
      `tandem vaults ${name} team`,
      `tandem vaults ${name} team API_KEY --yes`,
    );
  }
}

const open = clientFor("tandem vaults");

async function list(invocation: Invocation, includeArchived: boolean): Promise<void> {
  await using client = await open(invocation);
  const vaults = await readVaults(client, includeArchived);
  const { bold, dim } = styleFor(invocation.stdout);
  const rows = vaults.map(({ id, display_name: name, created_at: at, archived_at: archived }) => [
    bold(printable(name)),
    id,
    dim(archived === null ? ago(at) : "archived"),
  ]);
  await writeTable(invocation, { vaults }, rows, "No vaults. Create one: tandem vaults create NAME");
}

async function create(invocation: Invocation, name: string): Promise<void> {
  await using client = await open(invocation);
  const vault = await client.vaults.create({ display_name: name }, localActor());
  if (invocation.json) return writeJson(invocation.stdout, vault);
  const { dim } = styleFor(invocation.stdout);
  await write(invocation.stdout, `${vault.id}\n`);
  await write(invocation.stderr, `${dim(`Add a credential: tandem vaults add ${vault.id} --server URL`)}\n`);
}

async function show(invocation: Invocation, name: string, includeArchived: boolean): Promise<void> {
  await using client = await open(invocation);
  const vault = await findVault(client, name);
  const credentials = await readCredentials(client, vault.id, includeArchived || vault.archived_at !== null);
  const style = styleFor(invocation.stdout);
  const { dim } = style;
  const about = [
    [dim("name"), printable(vault.display_name)],
    [dim("id"), vault.id],
    ...(vault.archived_at === null ? [] : [[dim("state"), "archived"]]),
  ];
  const rows = credentials.map((each) => [
    each.id,
    TYPES[each.auth.type],
    printable(subjectOf(each)),
    printable(each.display_name ?? ""),
    stateOf(each, style),
  ]);
  const shown = rows.length > 0 ? table(rows) : [dim("No credentials. Add one: tandem vaults add")];
  await writeResult(invocation, { ...vault, credentials }, [...table(about), "", ...shown]);
}

const TYPES: Readonly<Record<VaultCredential["auth"]["type"], string>> = {
  static_bearer: "bearer token",
  mcp_oauth: "OAuth",
  environment_variable: "variable",
};

function stateOf({ tandem: { state } }: VaultCredential, { good, bad, dim }: Style): string {
  if (state === "valid") return good(state);
  if (state === "unverified") return dim("not checked");
  return state === "archived" ? dim(state) : bad(state.replace("_", " "));
}

async function add(invocation: Invocation, name: string, flags: AddFlags): Promise<void> {
  const authOf = credentialOf(flags);
  await using client = await open(invocation);
  const { id } = await findVault(client, name);
  const what = flags.server === undefined ? `Value of ${flags.variable}` : `Token for ${printable(flags.server)}`;
  const auth = authOf(await readSecret(invocation, what, flags.secretEnv));
  const params = { auth, display_name: flags.name ?? null };
  const made = await client.vaults.credentials.create(id, params, localActor());
  await printCredential(invocation, made, "is stored");
}

/** Checks the flags before the secret is typed. */
function credentialOf(flags: AddFlags): (secret: string) => CredentialAuthParams {
  const { server, variable, host, anyHost, in: place } = flags;
  if ((server === undefined) === (variable === undefined)) {
    throw new TandemError("usage", "A credential is for an MCP server or for a variable.", {
      fix: "Use --server URL, or --variable NAME with --host.",
    });
  }
  if (server !== undefined) {
    if (host || anyHost || place) {
      throw new TandemError("usage", "--host, --any-host and --in belong to a variable.", { fix: "Leave them out." });
    }
    return (token) => ({ type: "static_bearer", mcp_server_url: server, token });
  }
  if ((host === undefined) === (anyHost === undefined)) {
    throw new TandemError("usage", "A variable needs the hosts that get its value.", {
      fix: "Use --host api.example.com, or --any-host.",
    });
  }
  return (value) => ({
    type: "environment_variable",
    secret_name: variable!,
    secret_value: value,
    networking: host ? { type: "limited", allowed_hosts: host } : { type: "unrestricted" },
    ...(place && { injection_location: { [place]: true } }),
  });
}

async function login(invocation: Invocation, name: string, url: string, flags: LoginFlags): Promise<void> {
  await using client = await open(invocation);
  const { id } = await findVault(client, name);
  const { logIn } = await import("../../vaults/log-in.ts");
  await printCredential(invocation, await logIn(invocation, client, id, url, flags), "is stored");
}

async function replace(invocation: Invocation, name: string, text: string, variable?: string): Promise<void> {
  await using client = await open(invocation);
  const { id } = await findVault(client, name);
  const credential = await findCredential(client, id, text);
  const secret = await readSecret(invocation, `New secret for ${printable(subjectOf(credential))}`, variable);
  const auth = replacement(credential.auth.type, secret);
  const replaced = await client.vaults.credentials.update(id, credential.id, { auth }, localActor());
  await printCredential(invocation, replaced, "is replaced");
}

function replacement(type: VaultCredential["auth"]["type"], secret: string): CredentialAuthUpdate {
  if (type === "static_bearer") return { type, token: secret };
  return type === "mcp_oauth" ? { type, access_token: secret } : { type, secret_value: secret };
}

async function printCredential({ stdout, json }: Invocation, credential: VaultCredential, done: string): Promise<void> {
  if (json) return writeJson(stdout, credential);
  const { dim } = styleFor(stdout);
  const about = `The secret for ${printable(subjectOf(credential))} ${done}, encrypted.`;
  await write(stdout, `${credential.id}  ${dim(about)}\n`);
}

/** Exits with 1 if the server refuses the credential. */
async function check(invocation: Invocation, name: string, text: string): Promise<number> {
  await using client = await open(invocation);
  const { id } = await findVault(client, name);
  const credential = await findCredential(client, id, text);
  const result = await client.vaults.credentials.validate(id, credential.id);
  const { stdout, json } = invocation;
  const { good, bad, dim } = styleFor(stdout);
  if (json) await writeJson(stdout, result);
  else {
    const mark = { valid: good("✓"), invalid: bad("✗"), unknown: dim("?") }[result.status];
    const response = result.refresh?.http_response ?? result.mcp_probe?.http_response;
    const about = response ? `: the server answered ${response.status_code}` : "";
    await write(stdout, `${mark} ${printable(subjectOf(credential))}  ${result.status}${about}\n`);
  }
  return result.status === "invalid" ? 1 : 0;
}

async function remove(
  invocation: Invocation,
  action: "archive" | "delete",
  name: string,
  text: string | undefined,
  isSure: boolean,
): Promise<void> {
  await using client = await open(invocation);
  const { id: vault, display_name: label } = await findVault(client, name);
  const credential = text === undefined ? undefined : await findCredential(client, vault, text);
  const what = credential
    ? `the credential for ${subjectOf(credential)}`
    : `the vault ${label} with all its credentials`;
  const verb = action === "archive" ? "Archive" : "Delete";
  if (!isSure) await confirm(invocation, "", `${verb} ${printable(what)}? Its secrets cannot be restored.`);
  const id = credential?.id ?? vault;
  const { vaults } = client;
  if (action === "archive") {
    await (credential ? vaults.credentials.archive(vault, id, localActor()) : vaults.archive(vault, localActor()));
  } else {
    await (credential ? vaults.credentials.delete(vault, id, localActor()) : vaults.delete(vault, localActor()));
  }
  await writeResult(invocation, { id, [`${action}d`]: true }, [`${verb}d ${id}.`]);
}
