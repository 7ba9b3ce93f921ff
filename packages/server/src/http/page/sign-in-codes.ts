import { RequestError } from "@tandem/protocol";
import type { Records } from "@tandem/storage";
import { z } from "zod";

const entry = z.object({ until: z.number(), tenant: z.string(), name: z.string().optional() });
type SignInCode = z.infer<typeof entry>;

const SPACE = "page";
const KIND = "sign_in_code";
const MAX_CODES = 100;

/** Unused sign-in codes, by hash. */
export interface SignInCodes {
  add(hash: string, code: SignInCode): Promise<void>;
  /** Atomic: each code is returned at most once, even to concurrent callers. */
  take(hash: string): Promise<SignInCode | undefined>;
}

/** Codes that are valid in this process only. */
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

/** Codes that are valid at every server on the store. */
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
        // Write before delete: the conditional write decides which caller wins; a delete does not tell whether the row
        // existed.
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
