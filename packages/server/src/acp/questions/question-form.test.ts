import type { AgentContext } from "@agentclientprotocol/sdk/unstable";
import { expect, test } from "vitest";
import type { PendingRequest } from "./pending-request.ts";
import { askQuestions } from "./question-form.ts";
import { AcpSchema } from "../testing/acp-schema.ts";
import { AcpClient } from "../acp-client.ts";

const pendingRequest: PendingRequest = {
  id: "sevt_1",
  kind: "question",
  name: "AskUserQuestion",
  input: {
    questions: [
      {
        question: "Which colours?",
        header: "Colours",
        multiSelect: true,
        options: [{ label: "Red" }, { label: "Blue" }],
      },
      { question: "Which name?", header: "Name", multiSelect: false, options: [{ label: "Ada" }, { label: "Bob" }] },
    ].map(({ options, ...rest }) => ({
      ...rest,
      options: options.map(({ label }) => ({ label, description: `${label}, that is` })),
    })),
  },
};

/** A client that gives these answers in order and validates each request against the schema. */
function clientThat(forms: boolean, answers: unknown[]) {
  const schema = new AcpSchema();
  const asked: Record<string, unknown>[] = [];
  const request = async (method: string, params: Record<string, unknown>) => {
    asked.push(params);
    schema.received(JSON.stringify({ jsonrpc: "2.0", id: asked.length, method, params }));
    return answers.shift();
  };
  const client = new AcpClient({ request } as unknown as AgentContext, forms ? { elicitation: { form: {} } } : {});
  const answer = () =>
    askQuestions("sesn_1", pendingRequest, { client, folder: "/work", signal: new AbortController().signal });
  return { answer, asked, schema };
}

test("all questions are in one form, with multiple choice and free text", async () => {
  const content = { question_1: ["Red", "Blue"], question_2: "Ada", question_2_other: "Zoe" };
  const client = clientThat(true, [{ action: "accept", content }]);
  expect(await client.answer()).toEqual({
    result: "allow",
    scope: "once",
    input: { answers: { "Which colours?": ["Red", "Blue"], "Which name?": "Zoe" } },
  });
  expect(client.asked).toMatchObject([
    { requestedSchema: { properties: { question_1: { type: "array" }, question_2: { type: "string" } } } },
  ]);
  expect(client.schema).toMatchObject({ checked: 1, wrong: [] });
});

test.each([{ action: "decline" }, { action: "cancel" }, { action: "accept", content: {} }])(
  "a form that returns as %o is no answer",
  async (filled) => {
    expect(await clientThat(true, [filled]).answer()).toMatchObject({ result: "deny" });
  },
);

test("without forms each question is a choice, and a skipped question is reported", async () => {
  const chosen = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });
  const client = clientThat(false, [chosen("option_1"), chosen("skip")]);
  expect(await client.answer()).toMatchObject({
    input: { answers: { "Which colours?": ["Blue"], "Which name?": "No answer." } },
  });
  expect(client.asked).toMatchObject([
    { toolCall: { title: "Which colours?" }, options: [{ name: "Red" }, { name: "Blue" }, { name: "Skip" }] },
    { toolCall: { title: "Which name?" } },
  ]);
  expect(client.schema).toMatchObject({ checked: 2, wrong: [] });
  expect(await clientThat(false, [chosen("made up"), chosen("skip")]).answer()).toMatchObject({ result: "deny" });
});
