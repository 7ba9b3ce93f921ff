import { asCalled } from "../../called-as.ts";
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
import {
  planRegistration,
  planSkill,
  readMcpClients,
  registerMcp,
  type McpRegistration,
} from "../../setup/register-mcp.ts";
import { printable, styleFor, table, write, writeJson } from "../../terminal.ts";
import { describeAuth } from "./status.ts";
import { type Command, Option } from "commander";
import type { Registration } from "../registration.ts";
import { AUTH_CHOICES, BACKEND_CHOICES, type McpClient } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .addOption(new Option("--backend <name>", "model backend").choices(BACKEND_CHOICES))
      .addOption(new Option("--auth <kind>", "with claude-code: kind of credential").choices(AUTH_CHOICES))
      .option("--api-key <place>", "secret reference to the key: env:NAME, file:path or command:…")
      .option("--base-url <url>", "base URL of the service, if not the default")
      .option("--vertex-project <id>", "with vertex: Google Cloud project")
      .option("--vertex-location <region>", "with vertex: region")
      .option("--vertex-credentials <place>", "with vertex: secret reference to a service account's JSON")
      .option("--model <name>", "default model")
      .option("-y, --yes", "ask nothing; use only the flags")
      .option(
        "--mcp <clients>",
        "register `tandem mcp` with claude-code, claude-desktop, cursor, vscode, codex, opencode or zed (comma-separated)",
      )
      .option("--dry-run", "with --mcp: only print the files that would change")
      .option("--remove", "with --mcp: undo the registration")
      .option("--no-verify", "do not check the login or key at the end")
      .addOption(json())
      .action(runner(setup)),
    "tandem setup",
    "tandem setup --yes --backend claude-code",
    "tandem setup --mcp claude-code,cursor",
    "tandem setup --mcp codex,claude-desktop --dry-run",
    "tandem setup --yes --backend anthropic --api-key 'command:op read op://dev/anthropic/key'",
  );
}

const DEADLINE_MS = 15_000;

export interface SetupOptions extends Choices {
  yes?: boolean;
  verify: boolean;
  /** Clients of `tandem mcp`, comma-separated. */
  mcp?: string;
  dryRun?: boolean;
  remove?: boolean;
}

export async function setup(invocation: Invocation, options: SetupOptions): Promise<number> {
  const { yes = false, verify, mcp, dryRun = false, remove = false, ...flags } = options;
  const place = projectAt(resolve(invocation.cwd, invocation.project ?? "."), invocation.cwd);
  const clients = mcp === undefined ? undefined : readMcpClients(mcp);
  // With only `--mcp` in an existing project, ask nothing else.
  if (clients && existsSync(place.file) && Object.values(pick(flags)).every((choice) => choice === undefined)) {
    return registerOnly(invocation, await loadProject(invocation.env, place), clients, { dryRun, remove });
  }
  if (dryRun || remove) {
    throw new TandemError("usage", "--dry-run and --remove need --mcp alone, in a project that is set up.", {
      fix: "For example: tandem setup --mcp codex --dry-run",
    });
  }
  const choices = await choose(invocation, place, pick(flags), yes);
  const registered = await planRegistrations(invocation, place.folder, { clients, canAsk: !yes });
  const { project, changed } = await save(invocation, place, choices);
  for (const plan of registered) await registerMcp(plan);
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
    await writeJson(invocation.stdout, result);
  } else {
    const style = styleFor(invocation.stdout);
    const { dim, warn } = style;
    const works = auth === undefined || isPresent(auth);
    const rows = [
      [dim(changed ? "wrote" : "unchanged"), printable(project.file)],
      [dim("backend"), llm.provider.backend],
      [dim("billed to"), PAYERS[payer]],
      ...(auth ? [[dim("auth"), describeAuth(auth, style)]] : []),
      ...(auth?.fix ? [["", `${dim("→")} ${asCalled(printable(auth.fix))}`]] : []),
      ...ignored.map(({ key, why }, i) => [i === 0 ? warn("ignored") : "", `${key}  ${dim(why)}`]),
      ...registered.map((each, i) => [i === 0 ? dim("mcp") : "", describeRegistration(each)]),
      [dim("next"), asCalled(works ? 'tandem text "Name three rivers"' : "tandem doctor")],
    ];
    await write(invocation.stdout, `${table(rows).join("\n")}\n`);
    await writeSnippets(invocation, registered);
  }
  return auth ? exitCodeOfAuth(auth) : 0;
}

async function registerOnly(
  invocation: Invocation,
  project: Project,
  clients: McpClient[],
  { dryRun, remove }: { dryRun: boolean; remove: boolean },
): Promise<number> {
  const registered = await planRegistrations(invocation, project.folder, { clients, canAsk: false, remove });
  if (!dryRun) for (const plan of registered) await registerMcp(plan);
  const { stdout, json } = invocation;
  if (json) {
    const mcp = registered.map((plan) => ({
      ...asJson(plan),
      ...(dryRun && plan.text !== undefined && { text: plan.text }),
    }));
    await writeJson(stdout, { file: project.file, mcp });
    return 0;
  }
  await write(stdout, `${registered.map((plan) => describeRegistration(plan, dryRun)).join("\n")}\n`);
  await writeSnippets(invocation, registered);
  const shown = dryRun ? registered.filter(({ text }) => typeof text === "string") : [];
  for (const { file, text } of shown) await write(stdout, `\n${printable(`${file}:\n${text}`)}`);
  return 0;
}

/** The flag is consent. Without it, shows each file and asks. These are the last questions. */
async function planRegistrations(
  { env }: Invocation,
  folder: string,
  { clients, canAsk, remove = false }: { clients: McpClient[] | undefined; canAsk: boolean; remove?: boolean },
): Promise<McpRegistration[]> {
  const asking = clients === undefined && canAsk ? await import("../../setup/ask-mcp.ts") : undefined;
  const chosen = clients ?? (await asking?.askMcpClients()) ?? [];
  const registered: McpRegistration[] = [];
  const place = { folder, env, isRemoval: remove };
  const plans = await Promise.all(chosen.map((client) => planRegistration(client, place)));
  for (const plan of [...plans, ...(await planSkill(chosen, place))]) {
    if (plan.state === "new" && asking && !(await asking.mayRegister(plan))) continue;
    registered.push(plan);
  }
  asking?.endQuestions();
  return registered;
}

const asJson = ({ client, file, state, snippet }: McpRegistration) => ({
  client,
  file,
  state,
  ...(state === "by_hand" && { snippet }),
});

function describeRegistration({ label, file, state, why }: McpRegistration, dryRun = false): string {
  if (state === "by_hand") return printable(`${label}: ${why}`);
  const states = {
    new: dryRun ? "would write" : "wrote",
    there: "is already in",
    removed: dryRun ? "would remove it from" : "removed it from",
    absent: "is not in",
  };
  return printable(`${label}: ${states[state]} ${file}`);
}

async function writeSnippets({ stdout }: Invocation, registered: readonly McpRegistration[]): Promise<void> {
  for (const { label, state, snippet } of registered) {
    if (state === "by_hand" && label !== "Skill") await write(stdout, `\n${label}:\n${snippet}\n`);
  }
}

/** With `--yes` uses only the flags, else asks for missing values. */
async function choose(invocation: Invocation, place: ProjectLocation, flags: Choices, yes: boolean): Promise<Choices> {
  if (yes) {
    if (flags.backend) return flags;
    throw new TandemError("usage", "--yes needs --backend, which also decides who is billed.", {
      fix: `Add --backend with one of ${BACKEND_CHOICES.join(", ")}.`,
    });
  }
  if (!invocation.stdin.isTTY || !invocation.stdout.isTTY || invocation.json) {
    throw new TandemError("usage", "There is no terminal for questions.", {
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
