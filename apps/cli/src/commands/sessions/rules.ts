import { resolve } from "node:path";
import { TandemError, type KeptRule, type PermissionMode, type RuleAction, type TestedCall } from "@tandem/protocol";
import type { RuleOwner } from "@tandem/policy";
import type { Project } from "@tandem/tandem/config";
import type { Invocation } from "../../invocation.ts";
import { localActor, openProjectOrDefaults } from "@tandem/tandem/project";
import { findAgent } from "@tandem/tandem/engine";
import { readRule } from "../../rules/read-rule.ts";
import { findSession } from "../../sessions/find-session.ts";
import { clientFor, openClient } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { printable, styleFor, table, widthOf, wrap, writeResult, type Style } from "../../terminal.ts";
import { type Command, Option } from "commander";
import { modeOption, subcommandsOf, type Registration } from "../registration.ts";
import { RULE_ACTION_CHOICES } from "../../option-choices.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const whose = (self: Command) =>
    self
      .addOption(
        new Option("--scope <scope>", "scope: yours in all projects (user), or this project's").choices([
          "user",
          "project",
        ]),
      )
      .option("--agent <id>", "rules of this agent, by id or name")
      .option("--session <id>", "rules of this session, by id; `last` is the newest");

  examples(
    whose(sub("list", "List rules: those of tandem.yaml first, then by age.")).addOption(json()).action(runner(list)),
    "tandem rules list",
    "tandem rules list --session last",
  );
  examples(
    whose(
      sub("add", "Add a rule. It takes effect with the next tool call (default scope: user).")
        .addArgument(command.createArgument("<action>", "action for matching calls").choices(RULE_ACTION_CHOICES))
        .argument(
          "<rule>",
          "a tool with an optional pattern: Bash(git push *), edit(secrets/**), WebFetch(*.example.com)",
        ),
    )
      .option("--reason <text>", "reason, shown with the decision")
      .addOption(json())
      .action(runner(add)),
    'tandem rules add deny "Bash(rm)"',
    'tandem rules add allow "Bash(npm run test *)" --scope project',
    'tandem rules add ask "mcp__github__*" --agent reviewer --reason "Others see it"',
  );
  examples(
    sub("remove", "Remove rules.").argument("<rule...>", "rule ids").addOption(json()).action(runner(remove)),
    "tandem rules remove rule_01JAB",
  );
  examples(
    sub("test", "Test a call: show the decision and the matching rules without running it.")
      .argument("<call>", "a call, such as Bash(git push), Edit(src/a.ts), WebFetch(https://example.com/)")
      .addOption(modeOption("--mode <mode>", "permission mode of the call"))
      .option("--agent <id>", "agent of the call, by id or name")
      .option("--session <id>", "session of the call, by id; `last` is the newest")
      .option("--cwd <dir>", "folder of the call (default: this folder)")
      .addOption(json())
      .action(runner(test)),
    'tandem rules test "Bash(git push)"',
    'tandem rules test "Bash(git status && rm -rf build)" --mode bypass-permissions',
    'tandem rules test "Edit(src/index.ts)" --agent reviewer',
  );
}

const COMMAND = "tandem rules";
const open = clientFor(COMMAND);
const WIDEST = 100;

export interface PlaceFlags {
  scope?: "user" | "project";
  agent?: string;
  session?: string;
}

export interface TestFlags {
  mode?: PermissionMode;
  agent?: string;
  session?: string;
  cwd?: string;
}

export async function list(invocation: Invocation, flags: PlaceFlags): Promise<void> {
  const project = await openProjectOrDefaults(invocation);
  await using client = await openClient(invocation, project, { command: COMMAND });
  const owner = await ownerOf(invocation, client, project, flags);
  const rules = await client.rules.list(owner);
  const style = styleFor(invocation.stdout);
  const none = style.dim('No rules. The agents\' own policies decide. Add one: tandem rules add deny "Bash(rm)"');
  await writeResult(invocation, { rules }, rules.length > 0 ? ruleTable(rules, style) : [none]);
}

export async function add(
  invocation: Invocation,
  action: RuleAction,
  text: string,
  { reason, ...flags }: PlaceFlags & { reason?: string },
): Promise<void> {
  const rule = readRule(action, text, reason);
  const project = await openProjectOrDefaults(invocation);
  await using client = await openClient(invocation, project, { command: COMMAND });
  const owner = (await ownerOf(invocation, client, project, flags)) ?? { scope: "user", of: null };
  const kept = await client.rules.add(rule, { ...owner, by: localActor() });
  await writeResult(invocation, { rule: kept }, ruleTable([kept], styleFor(invocation.stdout)));
}

export async function remove(invocation: Invocation, ids: readonly string[]): Promise<void> {
  await using client = await open(invocation);
  for (const id of ids) await client.rules.remove(id, localActor());
  const said = ids.length === 1 ? "The rule is removed." : `${ids.length} rules are removed.`;
  await writeResult(invocation, { removed: ids }, [said]);
}

/** Exits with 0 for any verdict: the command only asks. */
export async function test(invocation: Invocation, call: string, flags: TestFlags): Promise<void> {
  const project = await openProjectOrDefaults(invocation);
  await using client = await openClient(invocation, project, { command: COMMAND });
  const session = flags.session === undefined ? undefined : await findSession(client, flags.session, invocation);
  const agent = flags.agent === undefined ? undefined : await findAgent(client, flags.agent);
  const here = session === undefined || flags.cwd !== undefined;
  const tested = await client.rules.test(call, {
    ...(session && { sessionId: session.id }),
    ...(agent && { agentId: agent.id }),
    ...(flags.mode && { mode: flags.mode }),
    ...(here && { folder: resolve(invocation.cwd, flags.cwd ?? ".") }),
  });
  await writeResult(
    invocation,
    { call, ...tested },
    explain(tested, styleFor(invocation.stdout), Math.min(widthOf(invocation.stdout), WIDEST)),
  );
}

async function ownerOf(
  invocation: Invocation,
  client: SessionsClient,
  project: Project,
  flags: PlaceFlags,
): Promise<RuleOwner | undefined> {
  const { scope, agent, session } = flags;
  if ([scope, agent, session].filter((flag) => flag !== undefined).length > 1) {
    throw new TandemError("usage", "--scope, --agent and --session exclude each other.");
  }
  if (scope === "user") return { scope, of: null };
  if (scope === "project") return { scope, of: project.folder };
  if (agent !== undefined) return { scope: "agent", of: (await findAgent(client, agent)).id };
  if (session !== undefined) return { scope: "session", of: (await findSession(client, session, invocation)).id };
  return undefined;
}

function ruleTable(rules: readonly KeptRule[], style: Style): string[] {
  return table(
    rules.map((rule) => [
      painted(rule.action, style),
      style.bold(printable(shown(rule))),
      rule.scope === "user" ? "yours" : printable(`${rule.scope} ${rule.of ?? ""}`),
      style.dim(rule.id ?? rule.source),
      style.dim(printable(rule.reason ?? "")),
    ]),
  );
}

function explain({ verdict, parts, suggestion }: TestedCall, style: Style, width: number): string[] {
  const { dim, bold } = style;
  const lines = [painted(verdict.action, style), ...wrap(printable(verdict.why), width - 2).map((line) => `  ${line}`)];
  for (const part of parts) {
    lines.push("", `${bold(printable(part.what))}  ${partVerdict(part, style)}`);
    const rows = part.considered.map(({ rule, fit, why }) => [
      `  ${FITS[fit]}`,
      painted(rule.action, style),
      printable(shown(rule)),
      dim(rule.scope),
      dim(printable(why)),
    ]);
    lines.push(...(rows.length > 0 ? table(rows) : [dim("  No rule matches.")]));
  }
  if (suggestion) lines.push("", dim("To always allow this:"), `  tandem rules add allow '${shown(suggestion)}'`);
  return lines;
}

const FITS = { yes: "matches", maybe: "may match", no: "–" };

function partVerdict({ verdict, neutral }: TestedCall["parts"][number], style: Style): string {
  if (verdict) return painted(verdict.action, style);
  return style.dim(neutral ? "has no effect" : "decided by agent policy and permission mode");
}

const shown = ({ tool, pattern }: { tool: string; pattern?: string | undefined }): string =>
  pattern === undefined ? tool : `${tool}(${pattern})`;

function painted(action: RuleAction, { good, warn, bad }: Style): string {
  return { allow: good, ask: warn, deny: bad }[action](action);
}
