import { expect, test } from "vitest";
import { fuseRanks } from "./fuse-ranks.ts";
import { VectorMatrix } from "./vector-matrix.ts";

test("finds the same neighbours as a linear scan, also after changes", () => {
  let state = 1;
  const next = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647 - 0.5;
  const length = 7;
  const vectors = new Map<number, Float32Array>();
  const matrix = new VectorMatrix(length);
  const put = (documents: number[]): void => {
    const made = documents.map(() => Float32Array.from({ length }, next));
    for (const [index, document] of documents.entries()) vectors.set(document, made[index]!);
    matrix.put(Float64Array.from(documents), Float32Array.from(made.flatMap((vector) => [...vector])));
  };
  const cosine = (a: Float32Array, b: Float32Array): number => {
    const dot = (x: Float32Array, y: Float32Array): number =>
      x.reduce((sum, value, index) => sum + value * y[index]!, 0);
    return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
  };
  const expectSame = (): void => {
    const query = Float32Array.from({ length }, next);
    const expected = [...vectors]
      .map(([document, vector]) => ({ document, score: cosine(query, vector) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, 20)
      .map(({ document }) => document);
    expect(matrix.nearest(query, 20)).toEqual(expected);
    const among = Float64Array.from([...vectors.keys()].filter((document) => document % 3 === 0));
    expect(matrix.nearest(query, 5, among).every((document) => document % 3 === 0)).toBe(true);
  };
  put(Array.from({ length: 2_500 }, (_, index) => index * 2));
  expectSame();
  put([10, 20, 5_001]);
  expectSame();
  const kept = [...vectors.keys()].filter((document) => document % 7 !== 0);
  for (const document of vectors.keys()) if (document % 7 === 0) vectors.delete(document);
  matrix.keep(Float64Array.from(kept));
  expectSame();
  put([7, 14, 9_001]);
  expectSame();
});

test("ranks results of both searches before one, and exact names first", () => {
  expect(fuseRanks([1, 2, 3], [3, 4], 0).map(({ number, by }) => [number, by.join()])).toEqual([
    [3, "words,meaning"],
    [1, "words"],
    [2, "words"],
    [4, "meaning"],
  ]);
  expect(fuseRanks([1, 2, 3], [3, 4], 2).map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  expect(fuseRanks([], [], 0)).toEqual([]);
});
