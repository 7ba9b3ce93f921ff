import { ORDER_KINDS, type OrderKind } from "./operation-history.ts";

const KINDS = ORDER_KINDS.join("|");
const ORDER = new RegExp(String.raw`Order (ord-\d+-\d+-\d+) (${KINDS})\.`, "g");
const CALL = /\bord-\d+-\d+-\d+\.\d+\b/;
const ANSWER = /Done (ord-\d+-\d+-\d+)\.(\d+)\./g;

export const orderText = (key: string, kind: OrderKind): string => `Order ${key} ${kind}.`;

/** The orders in a text, in their order. */
export const ordersIn = (text: string): { key: string; kind: OrderKind }[] =>
  [...text.matchAll(ORDER)].flatMap(([, key = "", kind]) => {
    const known = ORDER_KINDS.find((one) => one === kind);
    return known ? [{ key, kind: known }] : [];
  });

/** Each reply of the model has its own number, so that two calls of the same order can be told apart. */
export const callId = (key: string, number: number): string => `${key}.${number}`;
export const answerText = (key: string, number: number): string => `Done ${key}.${number}.`;

/** The id of the call that an input of a tool belongs to. */
export const callIdIn = (text: string): string | undefined => CALL.exec(text)?.[0];

export const answersIn = (text: string): { key: string; number: number }[] =>
  [...text.matchAll(ANSWER)].map(([, key = "", number]) => ({ key, number: Number(number) }));

export const orderOfCall = (id: string): string => id.slice(0, id.lastIndexOf("."));
