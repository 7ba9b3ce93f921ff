import { BadRequestError, NotFoundError } from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setJudgeStage, type JudgeStage } from "../testing/judge-stage.ts";

let stage: JudgeStage;
beforeAll(async () => {
  stage = await setJudgeStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const key = () => ({ environmentId: "env_local", environmentKey: stage.server.secret });

test("the client's poller and worker end with the server's sentence instead of retrying", async () => {
  const { work } = stage.client.beta.environments;
  const poll = async () => {
    for await (const _ of work.poller(key()));
  };
  await expect(poll()).rejects.toThrow(/not self-hosted/);
  const worker = work.worker({ ...key(), workdir: stage.folder });
  await expect(worker.run()).rejects.toThrow(/not self-hosted/);
  const refusal = await work.stats("env_local").catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(BadRequestError);
  expect((refusal as BadRequestError).headers?.get("x-should-retry")).toBe("false");
});

test("addresses of other APIs name the one that is here", async () => {
  for (const path of [
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/embeddings",
    "/v1/complete",
    "/agui",
    "/.well-known/agent-card.json",
  ]) {
    const answer = stage.client.post(path, { body: {} });
    await expect(answer).rejects.toBeInstanceOf(NotFoundError);
    await expect(answer).rejects.toThrow(/(\/v1\/|\/acp)/);
  }
});
