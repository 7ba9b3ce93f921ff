import { RequestError } from "@tandem/protocol";
import type { Rules } from "../rules/rule-book.ts";

const none = async (): Promise<never> => {
  throw new RequestError("not_supported", "This engine keeps no rules.");
};

/** Where no rules are kept. */
export const noRules: Rules = {
  list: async () => [],
  add: none,
  remove: none,
  bookOf: async () => ({ judge: () => undefined, suggest: () => undefined }),
  test: none,
};
