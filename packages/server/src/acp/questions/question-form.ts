import { questionInput, type ApprovalAnswer, type Question } from "@tandem/protocol";
import type { PendingRequest, PermissionQuestion, QuestionForm } from "./pending-request.ts";
import type { AcpClient } from "../acp-client.ts";
import { OTHER } from "./question-fields.ts";
import { callView } from "../tool-view.ts";

const UNANSWERED: ApprovalAnswer = { result: "deny", scope: "once", message: "The user did not answer." };

/** Asks a person the agent's questions: in one form, or one choice at a time if the client has no forms. */
export async function askQuestions(
  session: string,
  pendingRequest: PendingRequest,
  { client, folder, signal }: { client: AcpClient; folder: string; signal: AbortSignal },
): Promise<ApprovalAnswer> {
  const parsed = questionInput.safeParse(pendingRequest.input);
  if (!parsed.success) return UNANSWERED;
  const { questions } = parsed.data;
  const answers = client.abilities.forms
    ? readForm(questions, await client.fillIn(session, formOf(pendingRequest, questions), signal))
    : await choose(session, pendingRequest, questions, { client, folder, signal });
  if (Object.keys(answers).length === 0) return UNANSWERED;
  const all = questions.map(({ question }) => [question, answers[question] ?? SKIPPED]);
  return { result: "allow", scope: "once", input: { answers: Object.fromEntries(all) } };
}

type Answers = Record<string, string | string[]>;

/** Answers a skipped question, because the tool needs an answer to each. */
const SKIPPED = "No answer.";

const keyOf = (index: number): string => `question_${index + 1}`;

const formOf = (pendingRequest: PendingRequest, questions: readonly Question[]): QuestionForm => ({
  call: pendingRequest.id,
  message: questions.length === 1 ? questions[0]!.question : "The agent has some questions.",
  fields: questions.map(({ question, header, options, multiSelect }, index) => ({
    key: keyOf(index),
    title: header ?? question,
    question,
    options,
    multiSelect,
  })),
  ...(pendingRequest.child && { child: pendingRequest.child }),
});

/** Free text takes precedence over the choice. */
function readForm(questions: readonly Question[], filled: Record<string, unknown> = {}): Answers {
  const answers: Answers = {};
  for (const [index, { question, multiSelect }] of questions.entries()) {
    const own = filled[`${keyOf(index)}${OTHER}`];
    const chosen = filled[keyOf(index)];
    const several = Array.isArray(chosen) ? chosen.filter((each) => typeof each === "string") : [];
    if (typeof own === "string" && own.trim() !== "") answers[question] = multiSelect ? [...several, own] : own;
    else if (several.length > 0) answers[question] = several;
    else if (typeof chosen === "string" && chosen !== "") answers[question] = multiSelect ? [chosen] : chosen;
  }
  return answers;
}

async function choose(
  session: string,
  pendingRequest: PendingRequest,
  questions: readonly Question[],
  { client, folder, signal }: { client: AcpClient; folder: string; signal: AbortSignal },
): Promise<Answers> {
  const answers: Answers = {};
  const { id, name, input, child } = pendingRequest;
  for (const { question, options, multiSelect } of questions) {
    const described = options.map(({ label, description }) => `- **${label}**${description ? `: ${description}` : ""}`);
    const content = [{ type: "text" as const, text: [question, "", ...described].join("\n") }];
    const asked: PermissionQuestion = {
      call: { id, change: { ...callView({ name, input }, folder), title: question, status: "pending", content } },
      options: [
        ...options.map(({ label }, index) => ({ id: `option_${index}`, name: label, kind: "allow_once" as const })),
        { id: "skip", name: "Skip", kind: "reject_once" },
      ],
      ...(child && { child }),
    };
    const chosen = await client.ask(session, asked, signal);
    const label = options.find((_, index) => `option_${index}` === chosen)?.label;
    if (label !== undefined) answers[question] = multiSelect ? [label] : label;
  }
  return answers;
}
