import * as zod from "zod";
import { built, eagerly, lazily } from "./lazy-schema.ts";

// The part of zod that Tandem uses. The build fails on a use of anything else.

export {
  NEVER,
  ZodArray,
  ZodDefault,
  ZodError,
  ZodNullable,
  ZodObject,
  ZodOptional,
  ZodPipe,
  ZodPrefault,
  ZodRecord,
  prettifyError,
} from "zod";

export const toJSONSchema = eagerly(zod.toJSONSchema);
export const fromJSONSchema = zod.fromJSONSchema;

export const array = lazily(zod.array);
export const base64 = lazily(zod.base64);
export const boolean = lazily(zod.boolean);
export const custom = lazily(zod.custom);
export const date = lazily(zod.date);
export const discriminatedUnion = lazily(zod.discriminatedUnion);
export const email = lazily(zod.email);
export const file = lazily(zod.file);
export const int = lazily(zod.int);
export const literal = lazily(zod.literal);
export const looseObject = lazily(zod.looseObject);
export const never = lazily(zod.never);
export const number = lazily(zod.number);
export const object = lazily(zod.object);
export const partialRecord = lazily(zod.partialRecord);
export const preprocess = lazily(zod.preprocess);
export const record = lazily(zod.record);
export const strictObject = lazily(zod.strictObject);
export const string = lazily(zod.string);
export const tuple = lazily(zod.tuple);
export const union = lazily(zod.union);
export const unknown = lazily(zod.unknown);
export const url = lazily(zod.url);

const anEnum = lazily(zod.enum);
const aNull = lazily(zod.null);
const anUndefined = lazily(zod.undefined);
export { aNull as null, anEnum as enum, anUndefined as undefined };

export const lazy = (get: () => zod.ZodType) => zod.lazy(() => built(get()));

export const coerce = {
  date: lazily(zod.coerce.date),
  number: lazily(zod.coerce.number),
  string: lazily(zod.coerce.string),
};
export const iso = { date: lazily(zod.iso.date), datetime: lazily(zod.iso.datetime) };
