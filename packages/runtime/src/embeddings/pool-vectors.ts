/** Outputs of a model: one vector per token, or one per text. */
export type Outputs = Readonly<Record<string, { readonly data: unknown; readonly dims: readonly number[] }>>;

/** Output names: first those with one vector per text, then per token. */
const NAMES = ["sentence_embedding", "last_hidden_state", "token_embeddings"];

/** One unit vector per text: the mean over its own tokens, without padding. */
export function pool(outputs: Outputs, lengths: readonly number[]): Float32Array[] {
  const name = NAMES.find((each) => each in outputs) ?? Object.keys(outputs)[0];
  const output = name === undefined ? undefined : outputs[name];
  if (!output || !(output.data instanceof Float32Array) || output.dims[0] !== lengths.length) {
    throw new Error(`the model's output "${name}" is not one of vectors`);
  }
  const { data, dims } = output;
  if (dims.length === 2) {
    const size = dims[1]!;
    return lengths.map((_, row) => toUnit(data.slice(row * size, (row + 1) * size)));
  }
  if (dims.length !== 3) throw new Error(`the model's output "${name}" has ${dims.length} dimensions`);
  const [, tokens, size] = dims as [number, number, number];
  return lengths.map((length, row) => {
    const mean = new Float32Array(size);
    for (let token = 0; token < length; token += 1) {
      const start = (row * tokens + token) * size;
      for (let index = 0; index < size; index += 1) mean[index]! += data[start + index]! / length;
    }
    return toUnit(mean);
  });
}

function toUnit(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const length = Math.sqrt(sum);
  return length > 0 ? vector.map((value) => value / length) : vector;
}
