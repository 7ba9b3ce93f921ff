import {
  newId,
  project,
  type EventId,
  type LoggedEvent,
  type SessionEvent,
  type SessionEventBody,
} from "@tandem/protocol";

const WORDS =
  "the ledger keeps every posting once and the importer reads a statement before it writes anything so a second run changes nothing while the balance of each account is checked against the bank at the end of the day".split(
    " ",
  );
const CODE = [
  "export function balanceOf(postings: readonly Posting[]): Money {",
  "  return postings.reduce((sum, { amount }) => sum.plus(amount), Money.zero);",
  "}",
  "",
  "test('a second import changes nothing', async () => {",
  "  const before = await ledger.entries();",
  "  await importStatement(ledger, statement);",
  "  expect(await ledger.entries()).toEqual(before);",
  "});",
].join("\n");
const TODOS = ["Read the importer", "Write a test that fails", "Mend the importer", "Run all tests"];

type Body = SessionEventBody & { id?: EventId };
type Line = { thread: LoggedEvent["thread"]; event: SessionEvent };

/** A long session's log: so many parts of all kinds, about a kilobyte each, the same in every run but for the ids. */
export function longSession(parts: number): { lines: Line[]; parts: number; bytes: number } {
  const lines: Line[] = [];
  let counted = 0;
  let at = Date.UTC(2026, 10, 14, 8);
  for (let turn = 0; counted < parts; turn += 1) {
    const own = turnOf(turn).map((body): Line => {
      at += 1_500;
      const event = { id: newId("event"), processed_at: new Date(at).toISOString(), ...body } as SessionEvent;
      return { thread: null, event };
    });
    lines.push(...own);
    counted += partsOf(own);
  }
  return { lines, parts: counted, bytes: JSON.stringify(lines).length };
}

/** As a person counts them: a model request is no part of its own. */
function partsOf(lines: readonly Line[]): number {
  const messages = project(lines.map((line, index) => ({ seq: index + 1, ...line })));
  return messages.flatMap((message) => message.parts).filter(({ type }) => type !== "step").length;
}

function turnOf(turn: number): Body[] {
  const requests = Array.from({ length: 8 }, (_, index) => requestOf(turn * 8 + index));
  return [
    { type: "session.status_running" },
    { type: "user.message", content: [{ type: "text", text: prose(180, turn) }] },
    ...requests.flat(),
    { type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null },
  ];
}

/** One model request: thought, words, calls; and each kind of part at its own pace. */
function requestOf(number: number): Body[] {
  const request = newId("event");
  return [
    { type: "span.model_request_start", id: request, tandem: { model: "claude-sonnet-5-5" } },
    ...thought(number),
    ...(number % 4 === 3 ? [todo(number)] : []),
    { type: "agent.message", content: [{ type: "text", text: answer(number) }] },
    ...(number % 3 === 0 ? edit(number) : bash(number)),
    ...(number % 5 === 1 ? [...looked(number), ...looked(number + 1)] : []),
    ...(number % 12 === 7 ? approved(number) : []),
    ...(number % 16 === 10 ? subagent(number) : []),
    {
      type: "span.model_request_end",
      model_request_start_id: request,
      is_error: false,
      model_usage: {
        input_tokens: 1_204,
        output_tokens: 480,
        cache_read_input_tokens: 18_220,
        cache_creation_input_tokens: 310,
      },
      tandem: { model: "claude-sonnet-5-5", message_id: `msg_${number}`, usd: 0.0141 },
    },
  ];
}

function thought(number: number): Body[] {
  const thinking = newId("event");
  const data = prose(200, number + 3).replaceAll(" ", "");
  return [
    { type: "agent.thinking", id: thinking },
    number % 7 === 2
      ? { type: "tandem.thinking_redacted", thinking_id: thinking, data }
      : { type: "tandem.thinking", thinking_id: thinking, text: prose(420, number), signature: data },
  ];
}

function answer(number: number): string {
  const list = [0, 1, 2].map((index) => `- **${prose(14, number + index)}**: ${prose(90, number * 3 + index)}`);
  const words = [prose(240, number), list.join("\n")];
  if (number % 3 === 1) words.push(`\`\`\`ts\n${CODE}\n\`\`\``);
  if (number % 6 === 4)
    words.push(`| account | entries | open |\n|---|---|---|\n| ${number} | 214 | 3 |\n| 4711 | 18 | 0 |`);
  return words.join("\n\n");
}

const allowed = (id: EventId, name: string, input: Record<string, unknown>): Body => ({
  type: "agent.tool_use",
  id,
  name,
  input,
  evaluated_permission: "allow",
  tandem: { tool_use_id: `toolu_${id}` },
});

function bash(number: number): Body[] {
  const id = newId("event");
  const output = Array.from({ length: 10 }, (_, line) => ` ✓ ${prose(48, number + line)} ${line} ms`).join("\n");
  return [
    allowed(id, "Bash", { command: `npm test -- ledger/${number}`, description: prose(40, number) }),
    { type: "agent.tool_result", tool_use_id: id, content: [{ type: "text", text: output }] },
  ];
}

function edit(number: number): Body[] {
  const id = newId("event");
  const path = `/srv/ledger/src/import-${number % 40}.ts`;
  const lines = CODE.split("\n").flatMap((line, index) =>
    index % 3 === 1 ? [`-${line}`, `+${line} // ${number}`] : [` ${line}`],
  );
  const hunks = [{ old_start: 10, old_lines: 9, new_start: 10, new_lines: 9, lines }];
  return [
    allowed(id, "Edit", { file_path: path, old_string: CODE.slice(0, 90), new_string: CODE.slice(0, 96) }),
    {
      type: "agent.tool_result",
      tool_use_id: id,
      content: [{ type: "text", text: `The file ${path} has been updated.` }],
      tandem: { patch: { path, kind: "update", hunks } },
    },
  ];
}

function looked(number: number): Body[] {
  const id = newId("event");
  return [
    allowed(id, "Read", { file_path: `/srv/ledger/src/account-${number % 60}.ts` }),
    { type: "agent.tool_result", tool_use_id: id, content: [{ type: "text", text: CODE.repeat(2) }] },
  ];
}

function approved(number: number): Body[] {
  const id = newId("event");
  const at = new Date(Date.UTC(2026, 10, 14)).toISOString();
  return [
    {
      ...allowed(id, "Bash", { command: `git push origin importer-${number}`, description: "Push the branch" }),
      evaluated_permission: "ask",
    } as Body,
    { type: "user.tool_confirmation", tool_use_id: id, result: "allow" },
    { type: "tandem.approval_resolved", event_id: id, outcome: "allowed", by: "mira", at, scope: "once" },
    { type: "agent.tool_result", tool_use_id: id, content: [{ type: "text", text: prose(160, number) }] },
  ];
}

function subagent(number: number): Body[] {
  const thread = newId("thread");
  const id = newId("event");
  const prompt = prose(220, number);
  return [
    allowed(id, "Task", { description: "Look for other importers", prompt, subagent_type: "explorer" }),
    { type: "session.thread_created", session_thread_id: thread, agent_name: "explorer", workflow_run_id: null },
    {
      type: "agent.thread_message_sent",
      to_session_thread_id: thread,
      to_agent_name: "explorer",
      content: [{ type: "text", text: prompt }],
    },
    {
      type: "agent.thread_message_received",
      from_session_thread_id: thread,
      from_agent_name: "explorer",
      content: [{ type: "text", text: prose(500, number + 1) }],
    },
    {
      type: "session.thread_status_idle",
      session_thread_id: thread,
      agent_name: "explorer",
      stop_reason: { type: "end_turn" },
      stop_details: null,
    },
    { type: "agent.tool_result", tool_use_id: id, content: [{ type: "text", text: prose(500, number + 1) }] },
  ];
}

const todo = (number: number): Body => ({
  type: "tandem.todo",
  todos: TODOS.map((content, index) => ({
    id: String(index),
    content,
    status: index < number % 4 ? "completed" : index === number % 4 ? "in_progress" : "pending",
  })),
});

function prose(length: number, seed: number): string {
  let text = "";
  for (let index = seed; text.length < length; index += 1) text += `${WORDS[(index * 7919) % WORDS.length]!} `;
  return text.slice(0, length).trimEnd();
}
