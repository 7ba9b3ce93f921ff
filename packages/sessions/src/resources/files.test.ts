import { scratchStore } from "@tandem/storage/testing/scratch-store";
import { expect, test } from "vitest";
import { MovableClock } from "../host/movable-clock.ts";
import { FileCatalogue } from "./files.ts";

test("an expired file is missing everywhere, and is deleted on its next access", async () => {
  const store = await scratchStore();
  const clock = new MovableClock();
  const files = new FileCatalogue(store.files, clock);
  const content = new TextEncoder().encode("hello");
  const upload = { filename: "notes.txt", mimeType: "text/plain", content };
  const kept = await files.upload(upload);
  const { id } = await files.upload({ ...upload, expiresInSeconds: 3_600 });
  expect(await files.get(id)).toMatchObject({ id });

  clock.advance(3_600_000);
  expect((await files.list({ limit: 10 })).data.map((file) => file.id)).toEqual([kept.id]);
  await expect(files.content(id)).rejects.toMatchObject({ code: "not_found" });
  expect(await store.files.get(id)).toBeUndefined();
});
