import { TandemError } from "@tandem/protocol";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type AuthCheck, checkAuth, isPresent, withoutModels } from "@tandem/tandem/models";
import {
  checkEdited,
  editConfig,
  loadProject,
  parseConfig,
  type Project,
  projectAt,
  type ProjectLocation,
  readConfigFile,
  trustFolder,
  untrustedSettings,
  writeFileAtomically,
} from "@tandem/tandem/config";
import { exitCodeOfAuth } from "../../exit-code.ts";
import type { Invocation } from "../../invocation.ts";
import { describeProject, payerOf, PAYERS } from "@tandem/tandem/project";
import { Progress } from "../../progress.ts";
import { type Choices, toEdits } from "../../setup/choices.ts";
import { discover } from "../../setup/discover.ts";
import { newConfig } from "../../setup/new-config.ts";
import { planRegistration, readMcpClients, registerMcp, type McpRegistration } from "../../setup/register-mcp.ts";
import { printable, styleFor, table, write } from "../../terminal.ts";
import { describeAuth } from "./status.ts";
import { type Command, Option } from "commander";
import type { Registration } from "../registration.ts";
import { AUTH_CHOICES, BACKEND_CHOICES, type McpClient } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .addOption(new Option("--backend <name>", "what performs LLM calls").choices(BACKEND_CHOICES))
      .addOption(new Option("--auth <kind>", "with claude-code: which credential it gets").choices(AUTH_CHOICES))
      .option("--api-key <place>", "where the key is kept: env:NAME, file:path or command:…")
      .option("--base-url <url>", "another address than the service's own")
      .option("--vertex-project <id>", "with vertex: the Google Cloud project")
      .option("--vertex-location <region>", "with vertex: the region")
      .option("--vertex-credentials <place>", "with vertex: where a service account's JSON is kept")
      .option("--model <name>", "the model of every role that has none of its own")
      .option("-y, --yes", "ask nothing; everything comes from the flags")
      .option("--mcp <clients>", "register `tandem mcp` with claude-code, cursor, vscode or zed; commas between them")
      .option("--no-verify", "do not check the login or key at the end")
      .addOption(json())
      .action((options: SetupOptions, self: Command) => runner(self, (invocation) => setup(invocation, options))),
    "tandem setup",
    "tandem setup --yes --backend claude-code",
    "tandem setup --mcp claude-code,cursor",
    "tandem setup --yes --backend anthropic --api-key 'command:op read op://dev/anthropic/key'",
  );
}

const DEADLINE_MS = 15_000;

export interface SetupOptions extends Choices {
  yes?: boolean;
  verify: boolean;
  /** Clients of `tandem mcp`, comma-separated. */
  mcp?: string;
}

export async function setup(invocation: Invocation, options: SetupOptions): Promise<number> {
  const { yes = false, verify, mcp, ...flags } = options;
  const place = projectAt(resolve(invocation.cwd, invocation.project ?? "."), invocation.cwd);
  const clients = mcp === undefined ? undefined : readMcpClients(mcp);
  // With only `--mcp` in an existing project, ask nothing else.
  if (clients && existsSync(place.file) && Object.values(pick(flags)).every((choice) => choice === undefined)) {
    return registerOnly(invocation, await loadProject(place), clients);
  }
  const choices = await choose(invocation, place, pick(flags), yes);
  const { project, changed } = await save(invocation, place, choices);
  const registered = await registerWith(project, { clients, canAsk: !yes });
  const { ignored } = await describeProject(project);
  const auth = verify ? await verifyAuth(invocation, project) : undefined;
  const { llm } = project.config;
  const payer = payerOf(llm);
  if (invocation.json) {
    const result = {
      file: project.file,
      changed,
      backend: llm.provider.backend,
      payer,
      auth: auth && withoutModels(auth),
      ignored,
      ...(registered.length > 0 && { mcp: registered.map(asJson) }),
    };
    await write(invocation.stdout, `${JSON.stringify(result, null, 2)}\n`);
  } else {
    const style = styleFor(invocation.stdout);
    const { dim, warn } = style;
    const works = auth === undefined || isPresent(auth);
    const rows = [
      [dim(changed ? "wrote" : "unchanged"), printable(project.file)],
      [dim("backend"), llm.provider.backend],
      [dim("payer"), PAYERS[payer]],
      ...(auth ? [[dim("auth"), describeAuth(auth, style)]] : []),
      ...(auth?.fix ? [["", `${dim("→")} ${printable(auth.fix)}`]] : []),
      ...ignored.map(({ key, why }, i) => [i === 0 ? warn("ignored") : "", `${key}  ${dim(why)}`]),
      ...registered.map((each, i) => [i === 0 ? dim("mcp") : "", describeRegistration(each)]),
      [dim("next"), works ? 'tandem text "Name three rivers"' : "tandem doctor"],
    ];
    await write(invocation.stdout, `${table(rows).join("\n")}\n`);
    await writeSnippets(invocation, registered);
  }
  return auth ? exitCodeOfAuth(auth) : 0;
}

async function registerOnly(invocation: Invocation, project: Project, clients: McpClient[]): Promise<number> {
  const registered = await registerWith(project, { clients, canAsk: false });
  if (invocation.json) {
    await write(invocation.stdout, `${JSON.stringify({ file: project.file, mcp: registered.map(asJson) }, null, 2)}\n`);
  } else {
    await write(invocation.stdout, `${registered.map(describeRegistration).join("\n")}\n`);
    await writeSnippets(invocation, registered);
  }
  return 0;
}

/** The flag is consent. Without it, shows each file and asks before writing. */
async function registerWith(
  { folder }: Project,
  { clients, canAsk }: { clients: McpClient[] | undefined; canAsk: boolean },
): Promise<McpRegistration[]> {
  const asking = clients === undefined && canAsk ? await import("../../setup/ask-mcp.ts") : undefined;
  const chosen = clients ?? (await asking?.askMcpClients()) ?? [];
  const registered: McpRegistration[] = [];
  for (const client of chosen) {
    const plan = await planRegistration(client, folder);
    if (plan.state === "new" && asking && !(await asking.mayRegister(plan))) continue;
    await registerMcp(plan);
    registered.push(plan);
  }
  return registered;
}

const asJson = ({ client, file, state, snippet }: McpRegistration) => ({
  client,
  file,
  state,
  ...(state === "by_hand" && { snippet }),
});

function describeRegistration({ label, file, state, why }: McpRegistration): string {
  if (state === "by_hand") return printable(`${label}: ${why}`);
  return printable(`${label}: ${state === "new" ? "wrote" : "is already in"} ${file}`);
}

async function writeSnippets({ stdout }: Invocation, registered: readonly McpRegistration[]): Promise<void> {
  for (const { label, state, snippet } of registered) {
    if (state === "by_hand") await write(stdout, `\n${label}:\n${snippet}\n`);
  }
}

/** With `--yes` uses only the flags, else asks for missing values. */
async function choose(invocation: Invocation, place: ProjectLocation, flags: Choices, yes: boolean): Promise<Choices> {
  if (yes) {
    if (flags.backend) return flags;
    throw new TandemError("usage", "With --yes, --backend must say who answers: that decides who pays.", {
      fix: `Add --backend with one of ${BACKEND_CHOICES.join(", ")}.`,
    });
  }
  if (!invocation.stdin.isTTY || !invocation.stdout.isTTY || invocation.json) {
    throw new TandemError("usage", "There is no terminal to ask questions on.", {
      fix: "Give the answers as flags: tandem setup --yes --backend claude-code",
    });
  }
  const { ask } = await import("../../setup/ask.ts");
  const discovery = await (async () => {
    using _ = new Progress(invocation, "Looking for logins and keys …");
    return discover(invocation, place);
  })();
  return ask(place.folder, flags, discovery);
}

async function save(
  invocation: Invocation,
  place: ProjectLocation,
  choices: Choices,
): Promise<{ project: Project; changed: boolean }> {
  const source = existsSync(place.file) ? await readConfigFile(place) : undefined;
  const before = source === undefined ? [] : parseConfig(source, place.displayPath).settings;
  const text = source === undefined ? newConfig(choices) : editConfig(source, toEdits(choices));
  const parsed = checkEdited(text, place.displayPath);
  // Do not trust existing settings that the user has not trusted yet.
  const strangers = source === undefined ? [] : await untrustedSettings(invocation.env, place.folder, before);
  if (text !== source) await writeFileAtomically(place.file, text);
  if (strangers.length === 0) await trustFolder(invocation.env, place.folder, parsed.settings);
  return { project: { ...place, ...parsed }, changed: text !== source };
}

async function verifyAuth(invocation: Invocation, project: Project): Promise<AuthCheck> {
  using _ = new Progress(invocation, "Checking the login or key …");
  return checkAuth(invocation, project, DEADLINE_MS);
}

/** Drops the global options that commander adds. */
function pick({
  backend,
  auth,
  apiKey,
  baseUrl,
  vertexProject,
  vertexLocation,
  vertexCredentials,
  model,
}: Choices): Choices {
  return { backend, auth, apiKey, baseUrl, vertexProject, vertexLocation, vertexCredentials, model };
}
