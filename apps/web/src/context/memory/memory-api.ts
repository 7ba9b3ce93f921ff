import type { BodyInput } from "@tandem/protocol";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import type { Memory } from "../context-api.ts";

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

export const remember = (body: BodyInput<"context.memories.create">) => api.call("context.memories.create", { body });
export const keep = ({ id, expires_at }: Pick<Memory, "id" | "expires_at">): Promise<unknown> =>
  api.call("context.memories.keep", { params: { memory_id: id }, body: { expires_at } });
export const forget = (id: string): Promise<{ proposal: string | null }> =>
  api.call("context.memories.forget", { params: { memory_id: id } });
export const undo = (proposal: string): Promise<unknown> =>
  api.call("proposals.undo", { params: { proposal_id: proposal } });
