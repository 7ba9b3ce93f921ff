import { expect, test } from "vitest";
import { pool } from "./pool-vectors.ts";

const output = (data: number[], dims: number[]) => ({ data: Float32Array.from(data), dims });

test("normalises the mean over a text's own tokens, without padding", () => {
  // Two texts with one and two tokens, two numbers each.
  const tokens = output([3, 4, 100, 100, 1, 0, 0, 1], [2, 2, 2]);
  const [first, second] = pool({ last_hidden_state: tokens }, [1, 2]);
  expect([...first!]).toEqual([0.6000000238418579, 0.800000011920929]);
  expect([...second!].map((value) => value.toFixed(4))).toEqual(["0.7071", "0.7071"]);
});

test("prefers one vector per text and returns it unchanged", () => {
  const outputs = { last_hidden_state: output([1, 1], [1, 1, 2]), sentence_embedding: output([0, 2], [1, 2]) };
  expect(pool(outputs, [1])).toEqual([Float32Array.of(0, 1)]);
  expect(pool({ unnamed: output([5, 0], [1, 1, 2]) }, [1])).toEqual([Float32Array.of(1, 0)]);
});

test("rejects an output that is not vectors, by name", () => {
  expect(() => pool({}, [1])).toThrow("not one of vectors");
  expect(() => pool({ logits: { data: [1], dims: [1, 1] } }, [1])).toThrow('"logits"');
  expect(() => pool({ last_hidden_state: output([1], [1]) }, [1])).toThrow("1 dimensions");
});
