import { TandemError, type Approval, type ApprovalAnswer, questionInput } from "@tandem/protocol";
import { openProjectOrDefaults, userName } from "@tandem/tandem/project";
import { type Command, Option } from "commander";
import { describeApproval, nameOf, describeRule, summaryOf } from "../../approvals/describe-approval.ts";
import { confirm } from "../../input/confirm.ts";
import type { Invocation } from "../../invocation.ts";
import { editText } from "../../proposals/edit-text.ts";
import { openClient } from "../../sessions/open-client.ts";
import type { SessionsClient } from "../../sessions/sessions-client.ts";
import { ago } from "../../human-units.ts";
import { toCount } from "../../number-options.ts";
import { clip, printable, styleFor, writeResult, writeTable } from "../../terminal.ts";
import { modeOption, subcommandsOf, type Registration } from "../registration.ts";

const AFTER_PLAN = ["ask", "accept-edits", "bypass-permissions"];
const KEPT_FOR = ["user", "project", "agent"];

export function register(command: Command, { examples, json, runner }: Registration): void {
  const sub = subcommandsOf(command);
  const one = (name: string, description: string) =>
    sub(name, description).argument("<approval>", "approval id; `last` is the newest pending one");
  const listed = (self: Command) =>
    self
      .option("--session <id>", "only approvals of this session")
      .option("--limit <number>", "maximum number of approvals", "20");

  examples(
    listed(sub("list", "List pending approvals and questions of all sessions, newest first."))
      .addOption(json())
      .action(runner(list)),
    "tandem approvals list",
    "tandem approvals list --json | jq -r '.approvals[].id'",
  );
  examples(
    one("show", "Print the full command, diff, plan or questions of an approval.")
      .addOption(json())
      .action(runner(show)),
    "tandem approvals show last",
  );
  examples(
    one("allow", "Allow a tool call or approve a plan.")
      .option("--session", "also allow similar calls for this session")
      .option("--always", "always allow similar calls: shows and saves the rule")
      .addOption(new Option("--for <whom>", "with --always: scope of the rule (default: project)").choices(KEPT_FOR))
      .option("--edit", "edit the input in your editor first")
      .option("--input <json>", "use this input instead")
      .addOption(modeOption("--mode <mode>", "for a plan: the session's permission mode from now on", AFTER_PLAN))
      .option("-y, --yes", "save the rule without confirmation")
      .addOption(json())
      .action(runner(allow)),
    "tandem approvals allow last",
    "tandem approvals allow last --always --for project",
    "tandem approvals allow last --mode accept-edits",
  );
  examples(
    one("deny", "Deny a tool call or a plan.")
      .option("-m, --message <text>", "reason that the agent sees")
      .addOption(json())
      .action(runner(deny)),
    'tandem approvals deny last --message "Not on the main branch"',
  );
  examples(
    one("answer", "Answer a question.")
      .argument("<answers...>", "NAME=ANSWER for each question, or only the answer to a single question")
      .addOption(json())
      .action(runner(answer)),
    'tandem approvals answer last "The blue one"',
    "tandem approvals answer last Colour=Blue Name=Ada",
  );
  examples(
    listed(sub("history", "List answered approvals, newest first.")).addOption(json()).action(runner(history)),
    "tandem approvals history",
  );
}

const COMMAND = "tandem approvals";
/** Time to interrupt a turn of this process in an orderly way. */
const GRACE_MS = 15_000;

export interface AllowOptions {
  session?: boolean;
  always?: boolean;
  for?: NonNullable<ApprovalAnswer["save_for"]>;
  edit?: boolean;
  input?: string;
  mode?: NonNullable<ApprovalAnswer["mode"]>;
  yes?: boolean;
}

export async function list(
  invocation: Invocation,
  { session, limit }: { session?: string; limit: string },
): Promise<void> {
  await print(invocation, "pending", { limit: toCount("--limit", limit), ...(session !== undefined && { session }) });
}

export async function history(
  invocation: Invocation,
  { session, limit }: { session?: string; limit: string },
): Promise<void> {
  await print(invocation, "resolved", { limit: toCount("--limit", limit), ...(session !== undefined && { session }) });
}

export async function show(invocation: Invocation, id: string): Promise<void> {
  await withClient(invocation, false, async (client) => print1(invocation, await find(client, id)));
}

export async function allow(invocation: Invocation, id: string, options: AllowOptions): Promise<void> {
  if (options.session && options.always) {
    throw new TandemError("usage", "--session and --always exclude each other.", { fix: "Choose one of them." });
  }
  if (options.for && !options.always) {
    throw new TandemError("usage", "--for needs --always.", { fix: "Add --always." });
  }
  await withClient(invocation, true, async (client) => {
    const approval = await find(client, id);
    const scope = options.always ? "always" : options.session ? "session" : "once";
    if (scope === "always" && approval.suggestion && !options.yes) {
      const kept = options.for ?? "project";
      await confirm(
        invocation,
        `This rule is saved for the ${kept}: ${describeRule(approval.suggestion)}\n`,
        "Save it?",
      );
    }
    const input = await inputOf(invocation, approval, options);
    const answer: ApprovalAnswer = {
      result: "allow",
      scope,
      ...(options.always && { save_for: options.for ?? "project" }),
      ...(input && { input }),
      ...(options.mode && { mode: options.mode }),
    };
    await send(invocation, client, approval, answer);
  });
}

export async function deny(invocation: Invocation, id: string, { message }: { message?: string }): Promise<void> {
  await withClient(invocation, true, async (client) => {
    const answer: ApprovalAnswer = { result: "deny", scope: "once", ...(message !== undefined && { message }) };
    await send(invocation, client, await find(client, id), answer);
  });
}

export async function answer(invocation: Invocation, id: string, words: readonly string[]): Promise<void> {
  await withClient(invocation, true, async (client) => {
    const approval = await find(client, id);
    if (approval.kind !== "question") {
      throw new TandemError("usage", `${approval.id} is not a question.`, {
        fix: "Use `tandem approvals allow` or `deny`.",
      });
    }
    const answers = readAnswers(approval, words);
    await send(invocation, client, approval, { result: "allow", scope: "once", input: { answers } });
  });
}

async function inputOf(
  invocation: Invocation,
  approval: Approval,
  { edit, input }: AllowOptions,
): Promise<Record<string, unknown> | undefined> {
  if (!edit && input === undefined) return undefined;
  const text = input ?? (await editText(invocation, "input.json", `${JSON.stringify(approval.input, null, 2)}\n`));
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Both errors have the same message.
  }
  throw new TandemError("usage", "The edited input is not a JSON object. Nothing was answered.");
}

/**
 * Without a server, the turn continues in the process that holds the session, such as an ACP agent, else in this process. Then
 * this command follows it until it ends or asks again.
 */
async function send(
  invocation: Invocation,
  client: SessionsClient,
  approval: Approval,
  given: ApprovalAnswer,
): Promise<void> {
  const end = new AbortController();
  const { session_id: session } = approval;
  const updates = client.url === undefined ? await client.follow(session, end.signal) : undefined;
  const before = await client.holder(session);
  const answered = await client.approvals.answer(approval.id, given, userName());
  await print1(invocation, answered);
  if (!updates) return;
  const { stderr } = invocation;
  const say = (words: string): void => void stderr.write(`${styleFor(stderr).dim(printable(words))}\n`);
  // The holder may have finished. If it died, this process takes over the session.
  const holder = (await client.holder(session)) ?? before;
  if (holder && !holder.isHere) {
    end.abort();
    const isTaken = answered.status === "resolved";
    return say(
      isTaken ? `The agent continues in ${holder.name}.` : `${holder.name} holds the session and will read the answer.`,
    );
  }
  say("No server is running, so the agent continues here.");
  const stop = (): void => end.abort();
  invocation.signal.addEventListener("abort", stop, { once: true });
  for await (const update of updates) {
    if (update.type !== "event") continue;
    const { event } = update;
    if (event.type === "agent.message") for (const { text } of event.content) stderr.write(`${printable(text)}\n`);
    if (event.type !== "session.status_idle") continue;
    const more = event.stop_reason.type === "requires_action" ? event.stop_reason.event_ids : [];
    if (more.length > 0) stderr.write(`New approvals: ${more.join(", ")}\n`);
    break;
  }
  end.abort();
}

const print1 = (invocation: Invocation, approval: Approval): Promise<void> =>
  writeResult(invocation, approval, describeApproval(approval, styleFor(invocation.stdout)));

async function print(
  invocation: Invocation,
  status: "pending" | "resolved",
  query: { session?: string; limit: number },
): Promise<void> {
  const { data } = await withClient(invocation, false, (client) => client.approvals.list({ status, ...query }));
  const { dim, bold, good, bad } = styleFor(invocation.stdout);
  const rows = data.map((item) => [
    item.id,
    ...(item.resolved
      ? [(item.resolved.outcome === "allowed" ? good : bad)(item.resolved.outcome), dim(printable(item.resolved.by))]
      : []),
    bold(printable(nameOf(item))),
    `${clip(summaryOf(item), 60)}${status === "pending" && item.state === "allowed" ? dim("  not run yet") : ""}`,
    dim(clip(printable(item.session_title ?? item.session_id), 30)),
    dim(ago(item.resolved?.at ?? item.created_at)),
  ]);
  await writeTable(
    invocation,
    { approvals: data },
    rows,
    status === "pending" ? "Nothing needs you." : "No approvals yet.",
  );
}

async function find(client: SessionsClient, id: string): Promise<Approval> {
  if (id !== "last") return client.approvals.get(id);
  const { data } = await client.approvals.list({ status: "pending", limit: 1 });
  if (data[0]) return data[0];
  throw new TandemError("usage", "Nothing needs you.");
}

async function withClient<T>(
  invocation: Invocation,
  answers: boolean,
  work: (client: SessionsClient) => Promise<T>,
): Promise<T> {
  const project = await openProjectOrDefaults(invocation);
  if (answers) invocation.allowToStop(GRACE_MS);
  await using client = await openClient(invocation, project, { command: COMMAND, runs: answers });
  return await work(client);
}

/** Parses answers from the command line: `NAME=ANSWER` for each question, or only the answer to a single question. */
function readAnswers({ input }: Approval, words: readonly string[]): Record<string, string | string[]> {
  const { questions } = questionInput.parse(input);
  if (questions.length === 1 && !words.some((word) => isNamed(word))) {
    const [only] = questions;
    return { [only!.question]: only!.multiSelect && words.length > 1 ? [...words] : words.join(" ") };
  }
  const answers: Record<string, string | string[]> = {};
  for (const word of words) {
    const [, name, answer] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (name === undefined || answer === undefined) {
      throw new TandemError("usage", `${JSON.stringify(word)} does not name the question that it answers.`, {
        fix: `Write NAME=ANSWER; the questions are ${questions.map((q) => q.header ?? q.question).join(", ")}.`,
      });
    }
    const before = answers[name];
    answers[name] = before === undefined ? answer : [before, answer].flat();
  }
  return answers;

  function isNamed(word: string): boolean {
    return questions.some(({ question, header }) => word.startsWith(`${question}=`) || word.startsWith(`${header}=`));
  }
}
