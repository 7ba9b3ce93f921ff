import { createHash } from "node:crypto";
import { z } from "zod";

/** Length of a fake vector: the number of bytes of a hash. */
const LENGTH = 64;

const requestShape = z.object({
  model: z.string().min(1),
  input: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
});

/** Response of OpenAI's `/embeddings`; undefined for an invalid request. */
export function madeUpEmbeddings(body: unknown): unknown {
  const request = requestShape.safeParse(body);
  if (!request.success) return undefined;
  const { model, input } = request.data;
  const texts = typeof input === "string" ? [input] : input;
  const tokens = texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
  return {
    object: "list",
    model,
    data: texts.map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text, model) })),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/** Deterministic unit vector of a text and model. Texts with common words are close. */
function vectorOf(text: string, model: string): number[] {
  const vector = Array.from({ length: LENGTH }, () => 0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [text]) {
    const bytes = createHash("sha512").update(`${model}\0${word}`).digest();
    for (let index = 0; index < LENGTH; index += 1) vector[index]! += bytes[index]! / 127.5 - 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
