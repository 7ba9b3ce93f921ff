import { afterAll } from "vitest";
import { RehearsedBackend } from "./rehearsed-backend.ts";

/** One backend for all tests of a file. */
export async function sharedBackend(): Promise<RehearsedBackend> {
  const backend = await RehearsedBackend.open("anthropic");
  afterAll(() => backend[Symbol.asyncDispose]());
  return backend;
}
