import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import type { Memory } from "../context-api.ts";

export interface Words {
  text: string;
  scope: Memory["scope"];
  agent?: string;
  expires_at: string | null;
}

export interface Remembered {
  memory: Memory;
  /** Null if the memory existed already. */
  proposal: string | null;
  unchecked: string | null;
}

/** Runs a change and refetches the memories. */
export function useMemoryChange<In, Out>(work: (input: In) => Promise<Out>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: work,
    onSettled: () =>
      queries.invalidateQueries({
        predicate: ({ queryKey: [path] }) => /^\/v1\/(proposals|context)/.test(String(path)),
      }),
  });
}

export const remember = (words: Words): Promise<Remembered> => api.call("context.memories.create", { body: words });
export const keep = ({ id, expires_at }: Pick<Memory, "id" | "expires_at">): Promise<unknown> =>
  api.call("context.memories.keep", { params: { memory_id: id }, body: { expires_at } });
export const forget = (id: string): Promise<{ proposal: string | null }> =>
  api.call("context.memories.forget", { params: { memory_id: id } });
export const undo = (proposal: string): Promise<unknown> =>
  api.call("proposals.undo", { params: { proposal_id: proposal } });
