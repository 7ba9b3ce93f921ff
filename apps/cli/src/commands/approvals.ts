import { TandemError, type Approval, type ApprovalAnswer } from "@tandem/protocol";
import { userInfo } from "node:os";
import { describeApproval, nameOf, ruleText, summaryOf } from "../approvals/describe-approval.ts";
import { readAnswers } from "../approvals/read-answers.ts";
import { confirm } from "../confirm.ts";
import type { Context } from "../context.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { editText } from "../proposals/edit-text.ts";
import { openClient } from "../sessions/open-client.ts";
import type { SessionsClient } from "../sessions/sessions-client.ts";
import { ago, toCount } from "../shown.ts";
import { printable, styleFor, table, write } from "../terminal.ts";

const COMMAND = "tandem approvals";
/** Long enough for a turn that goes on in this process to be interrupted in an orderly way. */
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

export async function list(context: Context, { session, limit }: { session?: string; limit: string }): Promise<void> {
  await print(context, "pending", { limit: toCount("--limit", limit), ...(session !== undefined && { session }) });
}

export async function history(
  context: Context,
  { session, limit }: { session?: string; limit: string },
): Promise<void> {
  await print(context, "resolved", { limit: toCount("--limit", limit), ...(session !== undefined && { session }) });
}

export async function show(context: Context, id: string): Promise<void> {
  await withClient(context, false, async (client) => print1(context, await find(client, id)));
}

export async function allow(context: Context, id: string, options: AllowOptions): Promise<void> {
  if (options.session && options.always) {
    throw new TandemError("usage", "--session and --always exclude each other.", { fix: "Choose one of them." });
  }
  if (options.for && !options.always) {
    throw new TandemError("usage", "--for says where --always is kept.", { fix: "Add --always." });
  }
  await withClient(context, true, async (client) => {
    const approval = await find(client, id);
    const scope = options.always ? "always" : options.session ? "session" : "once";
    if (scope === "always" && approval.suggestion && !options.yes) {
      const kept = options.for ?? "project";
      await confirm(context, `This rule is saved for the ${kept}: ${ruleText(approval.suggestion)}\n`, "Save it?");
    }
    const input = await inputOf(context, approval, options);
    const answer: ApprovalAnswer = {
      result: "allow",
      scope,
      ...(options.always && { save_for: options.for ?? "project" }),
      ...(input && { input }),
      ...(options.mode && { mode: options.mode }),
    };
    await send(context, client, approval, answer);
  });
}

export async function deny(context: Context, id: string, { message }: { message?: string }): Promise<void> {
  await withClient(context, true, async (client) => {
    const answer: ApprovalAnswer = { result: "deny", scope: "once", ...(message !== undefined && { message }) };
    await send(context, client, await find(client, id), answer);
  });
}

export async function answer(context: Context, id: string, words: readonly string[]): Promise<void> {
  await withClient(context, true, async (client) => {
    const approval = await find(client, id);
    if (approval.kind !== "question") {
      throw new TandemError("usage", `${approval.id} is no question.`, {
        fix: "Use `tandem approvals allow` or `deny`.",
      });
    }
    const answers = readAnswers(approval, words);
    await send(context, client, approval, { result: "allow", scope: "once", input: { answers } });
  });
}

async function inputOf(
  context: Context,
  approval: Approval,
  { edit, input }: AllowOptions,
): Promise<Record<string, unknown> | undefined> {
  if (!edit && input === undefined) return undefined;
  const text = input ?? (await editText(context, "input.json", `${JSON.stringify(approval.input, null, 2)}\n`));
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The same sentence serves both.
  }
  throw new TandemError("usage", "The edited input is no JSON object; nothing was answered.");
}

/**
 * With no server up, the turn goes on where the session is: in the process that has it, such as an editor's agent, else in
 * this one. Then it is stayed with until it ends or asks again.
 */
async function send(
  context: Context,
  client: SessionsClient,
  approval: Approval,
  given: ApprovalAnswer,
): Promise<void> {
  const end = new AbortController();
  const { session_id: session } = approval;
  const happenings = client.url === undefined ? await client.follow(session, end.signal) : undefined;
  const before = await client.holder(session);
  const answered = await client.approvals.answer(approval.id, given, userInfo().username);
  await print1(context, answered);
  if (!happenings) return;
  const { stderr } = context;
  const say = (words: string): void => void stderr.write(`${styleFor(stderr).dim(printable(words))}\n`);
  // Who had it may be done already; or it is dead, and what it had is taken over here.
  const holder = (await client.holder(session)) ?? before;
  if (holder && !holder.isHere) {
    end.abort();
    const isTaken = answered.status === "resolved";
    return say(
      isTaken ? `The agent goes on in ${holder.name}.` : `The answer waits for ${holder.name}, which has the session.`,
    );
  }
  say("No server is up, so that the agent goes on here.");
  const stop = (): void => end.abort();
  context.signal.addEventListener("abort", stop, { once: true });
  for await (const happening of happenings) {
    if (happening.type !== "event") continue;
    const { event } = happening;
    if (event.type === "agent.message") for (const { text } of event.content) stderr.write(`${printable(text)}\n`);
    if (event.type !== "session.status_idle") continue;
    const more = event.stop_reason.type === "requires_action" ? event.stop_reason.event_ids : [];
    if (more.length > 0) stderr.write(`It asks again: ${more.join(", ")}\n`);
    break;
  }
  end.abort();
}

async function print1({ stdout, json }: Context, approval: Approval): Promise<void> {
  const lines = json ? [JSON.stringify(approval, null, 2)] : describeApproval(approval, styleFor(stdout));
  await write(stdout, `${lines.join("\n")}\n`);
}

async function print(
  context: Context,
  status: "pending" | "resolved",
  query: { session?: string; limit: number },
): Promise<void> {
  const { data } = await withClient(context, false, (client) => client.approvals.list({ status, ...query }));
  const { stdout, json } = context;
  if (json) {
    await write(stdout, `${JSON.stringify({ approvals: data }, null, 2)}\n`);
    return;
  }
  const { dim, bold, good, bad } = styleFor(stdout);
  const rows = data.map((item) => [
    item.id,
    ...(item.resolved
      ? [(item.resolved.outcome === "allowed" ? good : bad)(item.resolved.outcome), dim(printable(item.resolved.by))]
      : []),
    bold(printable(nameOf(item))),
    clip(summaryOf(item)),
    dim(clip(printable(item.session_title ?? item.session_id), 30)),
    dim(ago(item.resolved?.at ?? item.created_at)),
  ]);
  const none = dim(status === "pending" ? "Nothing waits for you." : "Nothing has been asked yet.");
  await write(stdout, `${rows.length > 0 ? table(rows).join("\n") : none}\n`);
}

const clip = (text: string, most = 60): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

async function find(client: SessionsClient, id: string): Promise<Approval> {
  if (id !== "last") return client.approvals.get(id);
  const { data } = await client.approvals.list({ status: "pending", limit: 1 });
  if (data[0]) return data[0];
  throw new TandemError("usage", "Nothing waits for you.");
}

async function withClient<T>(
  context: Context,
  answers: boolean,
  work: (client: SessionsClient) => Promise<T>,
): Promise<T> {
  const project = await openProjectOrDefaults(context);
  if (answers) context.allowToStop(GRACE_MS);
  await using client = await openClient(context, project, { command: COMMAND, runs: answers });
  return await work(client);
}
