import { BadRequestError, NotFoundError, toFile } from "@anthropic-ai/sdk";
import { object, text } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { collectUntil, endsTurn } from "../testing/collect-stream.ts";
import { setJudgeStage } from "../testing/judge-stage.ts";

const stage = await setJudgeStage();
afterAll(() => stage[Symbol.asyncDispose]());

const sessions = () => stage.client.beta.sessions;
const RUBRIC = { type: "text" as const, content: "It answers the question." };
const outcome = { type: "user.define_outcome" as const, description: "An answer.", rubric: RUBRIC };

test("an outcome starts the work, is evaluated until it is satisfied, and is kept on the session", async () => {
  stage.rehearsal.use([
    text("Perhaps."),
    object({ explanation: "It is vague.", result: "needs_revision" }),
    text("Yes."),
    object({ explanation: "It is clear.", result: "satisfied" }),
  ]);
  const session = await stage.session();
  const stream = await sessions().events.stream(session);
  const rubric = await stage.client.beta.files.upload({ file: await toFile(Buffer.from(RUBRIC.content), "rubric.md") });
  const sent = await sessions().events.send(session, {
    events: [{ ...outcome, rubric: { type: "file", file_id: rubric.id }, max_iterations: 5 }],
  });
  const echo = sent.data?.[0];
  expect(echo).toMatchObject({
    type: "user.define_outcome",
    outcome_id: expect.stringMatching(/^outc_/),
    rubric: RUBRIC,
    max_iterations: 5,
    processed_at: expect.any(String),
  });
  await expect(sessions().events.send(session, { events: [outcome] })).rejects.toThrow(BadRequestError);
  const events = await collectUntil(stream, endsTurn);
  const spans = events.flatMap((event) =>
    event.type === "span.outcome_evaluation_start" || event.type === "span.outcome_evaluation_end" ? [event] : [],
  );
  const usage = { input_tokens: expect.any(Number), output_tokens: expect.any(Number) };
  expect(spans).toMatchObject([
    { iteration: 0 },
    { iteration: 0, result: "needs_revision", explanation: "It is vague.", usage },
    { iteration: 1 },
    { iteration: 1, result: "satisfied", outcome_evaluation_start_id: spans[2]!.id },
  ]);
  expect(events.filter(({ type }) => type === "session.status_idle")).toHaveLength(1);
  expect(events.some(({ type }) => (type as string).startsWith("tandem."))).toBe(false);
  const { outcome_evaluations: outcomes, status } = await sessions().retrieve(session);
  expect({ status, outcomes }).toMatchObject({
    status: "idle",
    outcomes: [{ type: "outcome_evaluation", result: "satisfied", iteration: 1, explanation: "It is clear." }],
  });
  const listed = await sessions().events.list(session, { types: ["span.outcome_evaluation_end"] });
  expect(listed.data).toHaveLength(2);
});

test("in initial_events: one outcome with a rubric", async () => {
  const create = async (...initial_events: object[]) =>
    sessions().create({
      agent: await stage.agent(),
      environment_id: "env_local",
      initial_events: initial_events as never,
    });
  const { rubric: _, ...bare } = outcome;
  await expect(create(outcome, outcome)).rejects.toThrow(BadRequestError);
  await expect(create(bare)).rejects.toThrow(BadRequestError);
  await expect(create({ ...outcome, max_iterations: 21 })).rejects.toThrow(BadRequestError);
  await expect(create({ ...outcome, rubric: { type: "text", content: "x".repeat(262_145) } })).rejects.toThrow(
    BadRequestError,
  );
  await expect(create({ ...outcome, rubric: { type: "file", file_id: "file_1" } })).rejects.toThrow(NotFoundError);

  stage.rehearsal.use([text("Yes.")]);
  // An extension of Tandem: a program grades.
  const session = await create({ ...outcome, tandem: { grader: { type: "command", command: "test -d ." } } });
  expect(session).toMatchObject({ status: "running", outcome_evaluations: [{ result: "pending" }] });
  const result = async () => (await sessions().retrieve(session.id)).outcome_evaluations[0]?.result;
  await expect.poll(result).toBe("satisfied");
});
