import { createHash } from "node:crypto";
import { z } from "zod";

/** Numbers of a made-up vector: as many as a hash has bytes. */
const LENGTH = 64;

const requestShape = z.object({
  model: z.string().min(1),
  input: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
});

/** What OpenAI's `/embeddings` answers; undefined for a request that it would refuse. */
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

/** Always the same for a text and model, of length 1. Texts that share words are near each other. */
function vectorOf(text: string, model: string): number[] {
  const vector = Array.from({ length: LENGTH }, () => 0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [text]) {
    const bytes = createHash("sha512").update(`${model}\0${word}`).digest();
    for (let index = 0; index < LENGTH; index += 1) vector[index]! += bytes[index]! / 127.5 - 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
