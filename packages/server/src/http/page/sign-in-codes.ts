import { RequestError, type Clock } from "@tandem/protocol";
import type { Records } from "@tandem/storage";
import { z } from "zod";

const entry = z.object({
  until: z.number(),
  tenant: z.string(),
  name: z.string().optional(),
  /** A used code is kept, so that the page can say why its link does not work. */
  used: z.boolean().optional(),
});
type SignInCode = z.infer<typeof entry>;

const SPACE = "page";
const KIND = "sign_in_code";
const MAX_CODES = 100;
/** How long a code that has expired is still known. */
const KEPT_MS = 24 * 60 * 60_000;

/** Sign-in codes, by hash. */
export interface SignInCodes {
  add(hash: string, code: SignInCode): Promise<void>;
  /** Atomic: each code is returned as unused at most once, even to concurrent callers. Undefined if it is unknown. */
  take(hash: string): Promise<SignInCode | undefined>;
}

/** Codes that are valid in this process only. */
export function ownCodes(clock: Pick<Clock, "now">): SignInCodes {
  const codes = new Map<string, SignInCode>();
  return {
    async add(hash, code) {
      for (const [other, { until }] of codes) if (until + KEPT_MS <= clock.now()) codes.delete(other);
      const [oldest] = codes.keys();
      if (codes.size >= MAX_CODES && oldest !== undefined) codes.delete(oldest);
      codes.set(hash, code);
    },
    async take(hash) {
      const code = codes.get(hash);
      if (code) codes.set(hash, { ...code, used: true });
      return code;
    },
  };
}

/** Codes that are valid at every server on the store. */
export function sharedCodes(records: Records, clock: Pick<Clock, "now">): SignInCodes {
  return {
    async add(hash, code) {
      const others = (await records.list(SPACE, KIND, { limit: 2 * MAX_CODES })).map(({ key, value }) => ({
        key,
        ...entry.parse(value),
      }));
      const newestFirst = others.toSorted((a, b) => b.until - a.until);
      const gone = newestFirst.filter(({ until }, index) => until + KEPT_MS <= clock.now() || index >= MAX_CODES - 1);
      await records.write(SPACE, [
        ...gone.map(({ key }) => ({ type: "delete" as const, kind: KIND, key })),
        { type: "put", kind: KIND, key: hash, value: code },
      ]);
    },
    async take(hash) {
      const found = await records.get(SPACE, KIND, hash);
      if (!found) return undefined;
      const code = entry.parse(found.value);
      if (code.used) return code;
      try {
        const value = { ...code, used: true };
        await records.write(SPACE, [{ type: "put", kind: KIND, key: hash, value, version: found.version }]);
        return code;
      } catch (error) {
        // Another caller used it first.
        if (error instanceof RequestError && error.code === "conflict") return { ...code, used: true };
        throw error;
      }
    },
  };
}
