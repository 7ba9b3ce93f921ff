import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Vocabulary; the index is the row in the table. */
const WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "east", "north", "west"];
/** `[CLS]` and `[SEP]` are zero. */
const TABLE = [
  [9, 9],
  [0, 0],
  [0, 0],
  [1, 1],
  [1, 0],
  [0, 1],
  [-1, 0],
];

/** A minimal real model: looks up each token in a table. Wrong padding would change the result. */
export function writeTinyModel(folder: string, inputs = ["input_ids", "attention_mask", "token_type_ids"]): void {
  writeFileSync(join(folder, "model.onnx"), tinyModel(inputs));
  const special = WORDS.slice(0, 4).map((content, id) => ({ id, content, special: true, normalized: false }));
  const tokenizer = {
    version: "1.0",
    truncation: { max_length: 6, strategy: "LongestFirst", stride: 0, direction: "Right" },
    padding: { strategy: "BatchLongest", direction: "Right", pad_id: 0, pad_type_id: 0, pad_token: "[PAD]" },
    added_tokens: special.map((token) => ({ ...token, single_word: false, lstrip: false, rstrip: false })),
    normalizer: { type: "Lowercase" },
    pre_tokenizer: { type: "Whitespace" },
    post_processor: {
      type: "TemplateProcessing",
      single: [specialToken("[CLS]"), { Sequence: { id: "A", type_id: 0 } }, specialToken("[SEP]")],
      pair: [],
      special_tokens: {
        "[CLS]": { id: "[CLS]", ids: [1], tokens: ["[CLS]"] },
        "[SEP]": { id: "[SEP]", ids: [2], tokens: ["[SEP]"] },
      },
    },
    decoder: null,
    model: { type: "WordLevel", vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])), unk_token: "[UNK]" },
  };
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
}

const specialToken = (id: string): object => ({ SpecialToken: { id, type_id: 0 } });

// The few ONNX protobuf messages needed, by field number.

function tinyModel(inputs: readonly string[]): Buffer {
  const values = Buffer.from(Float32Array.from(TABLE.flat()).buffer);
  const table = [number(1, TABLE.length), number(1, 2), number(2, 1), text(8, "table"), bytes(9, values)];
  const gather = [text(1, "table"), text(1, "input_ids"), text(2, "last_hidden_state"), text(4, "Gather")];
  const graph = [
    message(1, gather),
    text(2, "tiny"),
    message(5, table),
    ...inputs.map((name) => message(11, tensor(name, 7, ["texts", "tokens"]))),
    message(12, tensor("last_hidden_state", 1, ["texts", "tokens", 2])),
  ];
  return Buffer.concat([number(1, 8), message(7, graph), message(8, [text(1, ""), number(2, 13)])]);
}

function tensor(name: string, type: number, shape: readonly (string | number)[]): Buffer[] {
  const dims = shape.map((dim) => message(1, [typeof dim === "number" ? number(1, dim) : text(2, dim)]));
  return [text(1, name), message(2, [message(1, [number(1, type), message(2, dims)])])];
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return Buffer.from([...bytes, value]);
}

const number = (field: number, value: number): Buffer => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field: number, value: Buffer): Buffer =>
  Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);
const text = (field: number, value: string): Buffer => bytes(field, Buffer.from(value));
const message = (field: number, parts: readonly Buffer[]): Buffer => bytes(field, Buffer.concat(parts));
