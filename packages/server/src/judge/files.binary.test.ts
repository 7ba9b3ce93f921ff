import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { NotFoundError, toFile } from "@anthropic-ai/sdk";
import { text } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { collectUntil, endsTurn } from "../testing/collect-stream.ts";
import { setJudgeStage } from "../testing/judge-stage.ts";

const stage = await setJudgeStage();
afterAll(() => stage[Symbol.asyncDispose]());

const files = () => stage.client.beta.files;

test("upload, list, metadata, download, delete", async () => {
  const bytes = Buffer.from([0, 1, 2, 255, 10, 13]);
  const made = await files().upload({
    file: await toFile(bytes, "data.bin", { type: "application/octet-stream" }),
    expires_in_seconds: 3600,
  });
  expect(made).toMatchObject({
    type: "file",
    id: expect.stringMatching(/^file_/),
    filename: "data.bin",
    mime_type: "application/octet-stream",
    size_bytes: 6,
    downloadable: true,
    expires_at: expect.any(String),
  });
  expect(await files().retrieveMetadata(made.id)).toEqual(made);
  const other = await files().upload({ file: await toFile(Buffer.from("x"), "other.txt", { type: "text/plain" }) });
  const listed = [];
  for await (const { id } of files().list({ limit: 1 })) listed.push(id);
  expect(listed).toEqual([other.id, made.id]);
  expect((await files().list({ ids: [made.id] })).data).toEqual([made]);
  const content = await files().download(made.id);
  expect(Buffer.from(await content.arrayBuffer())).toEqual(bytes);
  expect(await files().delete(made.id)).toEqual({ type: "file_deleted", id: made.id });
  await expect(files().retrieveMetadata(made.id)).rejects.toThrow(NotFoundError);
  await expect(files().download(made.id)).rejects.toThrow(NotFoundError);
});

test("a session gets files, and a message may show one", async () => {
  const file = await files().upload({
    file: await toFile(Buffer.from("The secret is plum."), "note.txt", { type: "text/plain" }),
  });
  const { sessions } = stage.client.beta;
  const session = await stage.session({ resources: [{ type: "file", file_id: file.id, mount_path: "in/note.txt" }] });
  const { resources } = await sessions.retrieve(session);
  expect(resources).toMatchObject([{ type: "file", file_id: file.id }]);
  const [resource] = (await sessions.resources.list(session)).data as { id: string; mount_path: string }[];
  expect(await sessions.resources.retrieve(resource!.id, { session_id: session })).toEqual(resource);
  expect(resource!.mount_path).toBe("in/note.txt");
  expect(await readFile(join(stage.folder, "in/note.txt"), "utf8")).toBe("The secret is plum.");

  stage.rehearsal.use([text("Plum.")]);
  const stream = await sessions.events.stream(session);
  await sessions.events.send(session, {
    events: [
      {
        type: "user.message",
        content: [
          { type: "document", source: { type: "file", file_id: file.id } },
          { type: "text", text: "What is the secret?" },
        ],
      },
    ],
  });
  await collectUntil(stream, endsTurn);
  expect(JSON.stringify(stage.rehearsal.modelRequests.at(-1)?.body)).toContain("The secret is plum.");
});
