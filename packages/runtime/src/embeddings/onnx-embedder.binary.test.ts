import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterAll, describe, expect, test } from "vitest";
import { writeTinyModel } from "../testing/tiny-onnx-model.ts";
import { createEmbedder } from "./create-embedder.ts";
import type { Embedder } from "./embedder.ts";

/** Folder with the optional packages, if they are not installed here. */
const PACKAGES = process.env["TANDEM_ONNX_PACKAGES"] ?? import.meta.dirname;

const scratch = mkdtempSync(join(tmpdir(), "tandem-onnx-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function isInstalled(): boolean {
  try {
    const { resolve } = createRequire(join(PACKAGES, "package.json"));
    return Boolean(resolve("onnxruntime-node") && resolve("@huggingface/tokenizers"));
  } catch {
    return false;
  }
}

function newFolder(name: string): string {
  const folder = join(scratch, name);
  mkdirSync(folder);
  return folder;
}

const open = async (path: string, folder = PACKAGES): Promise<Embedder> =>
  (await createEmbedder({ backend: "onnx", path }, { readSecret: () => Promise.reject(new Error("no")), folder }))!;

const missing = isInstalled() ? "" : " (skipped: onnxruntime-node and @huggingface/tokenizers are not installed)";

describe.skipIf(missing)(`a local model`, () => {
  test("returns the normalised mean of each text's tokens, in order, independent of padding", async () => {
    const folder = newFolder("tiny");
    writeTinyModel(folder);
    const embedder = await open(folder);
    const half = Math.SQRT1_2;
    const vectors = await embedder.embed(["East", "north", "east north", "east east north west", "unknown"]);
    expect(vectors.map((vector) => [...vector].map((value) => Number(value.toFixed(4))))).toEqual([
      [1, 0],
      [0, 1],
      [half, half].map((value) => Number(value.toFixed(4))),
      // Six tokens fit the limit, so none is dropped.
      [half, half].map((value) => Number(value.toFixed(4))),
      [half, half].map((value) => Number(value.toFixed(4))),
    ]);
    // The limit is four words and two special tokens.
    const [cut] = await embedder.embed(["north north north north east east east east east"]);
    expect([...cut!]).toEqual([0, 1]);
    expect(embedder.model).toMatch(/^tiny@[0-9a-f]{12}$/);
    const many = await embedder.embed(Array.from({ length: 150 }, (_, index) => (index % 3 ? "north" : "east")));
    expect(many.map(([first]) => first)).toEqual(Array.from({ length: 150 }, (_, index) => (index % 3 ? 0 : 1)));
    await embedder.close();
    await expect(embedder.embed(["east"])).rejects.toMatchObject({ code: "aborted" });
  });

  test("does not block the event loop", async () => {
    const folder = newFolder("loop");
    writeTinyModel(folder, ["input_ids"]);
    const embedder = await open(folder);
    await embedder.embed(["east"]);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await embedder.embed(Array.from({ length: 1_000 }, () => "east north west"));
    delay.disable();
    expect(delay.percentile(50) / 1e6).toBeLessThan(50);
    await embedder.close();
  });

  test("reports an unusable model, and retries on the next call", async () => {
    const folder = newFolder("broken");
    writeTinyModel(folder, ["input_ids", "pixels"]);
    const embedder = await open(folder);
    const unusable = { code: "not_configured", message: expect.stringContaining("pixels") };
    await expect(embedder.embed(["east"])).rejects.toMatchObject(unusable);
    await expect(embedder.embed(["east"])).rejects.toMatchObject(unusable);
    writeFileSync(join(folder, "tokenizer.json"), "{");
    await expect(embedder.embed(["east"])).rejects.toMatchObject({
      message: expect.stringContaining("tokenizer.json"),
    });
    writeTinyModel(folder);
    expect(await embedder.embed(["east"])).toEqual([Float32Array.of(1, 0)]);
    await embedder.close();
  });

  test("reports a missing model at once", async () => {
    await expect(open(join(scratch, "none"))).rejects.toMatchObject({
      code: "not_configured",
      fix: expect.stringContaining("embeddings.path"),
    });
  });
});

test.skipIf(isInstalled() && PACKAGES === import.meta.dirname)(
  "without its packages, it is said how to get them",
  async () => {
    const folder = newFolder("alone");
    writeTinyModel(folder);
    await expect(open(folder, scratch)).rejects.toMatchObject({
      code: "not_configured",
      fix: expect.stringContaining("npm install onnxruntime-node @huggingface/tokenizers"),
    });
  },
);
