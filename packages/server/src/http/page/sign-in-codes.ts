import { RequestError } from "@tandem/protocol";
import type { Records } from "@tandem/storage";
import { z } from "zod";

const entry = z.object({ until: z.number(), tenant: z.string(), name: z.string().optional() });
type SignInCode = z.infer<typeof entry>;

const SPACE = "page";
const KIND = "sign_in_code";
const MAX_CODES = 100;

/** Codes that have been given out and not been used, by their hashes. */
export interface SignInCodes {
  add(hash: string, code: SignInCode): Promise<void>;
  /** Each is given once, whoever else asks at the same time. */
  take(hash: string): Promise<SignInCode | undefined>;
}

/** In this process alone. */
export function ownCodes(): SignInCodes {
  const codes = new Map<string, SignInCode>();
  return {
    async add(hash, code) {
      for (const [other, { until }] of codes) if (until <= Date.now()) codes.delete(other);
      const [oldest] = codes.keys();
      if (codes.size >= MAX_CODES && oldest !== undefined) codes.delete(oldest);
      codes.set(hash, code);
    },
    async take(hash) {
      const code = codes.get(hash);
      codes.delete(hash);
      return code;
    },
  };
}

/** Good at every server on the store. */
export function sharedCodes(records: Records): SignInCodes {
  return {
    async add(hash, code) {
      const others = (await records.list(SPACE, KIND, { limit: 2 * MAX_CODES })).map(({ key, value }) => ({
        key,
        ...entry.parse(value),
      }));
      const newestFirst = others.toSorted((a, b) => b.until - a.until);
      const gone = newestFirst.filter(({ until }, index) => until <= Date.now() || index >= MAX_CODES - 1);
      await records.write(SPACE, [
        ...gone.map(({ key }) => ({ type: "delete" as const, kind: KIND, key })),
        { type: "put", kind: KIND, key: hash, value: code },
      ]);
    },
    async take(hash) {
      const found = await records.get(SPACE, KIND, hash);
      if (!found) return undefined;
      try {
        // Whoever changes it first has it; to remove it is not to know that it was there.
        await records.write(SPACE, [
          { type: "put", kind: KIND, key: hash, value: found.value, version: found.version },
          { type: "delete", kind: KIND, key: hash },
        ]);
      } catch (error) {
        if (error instanceof RequestError && error.code === "conflict") return undefined;
        throw error;
      }
      return entry.parse(found.value);
    },
  };
}
