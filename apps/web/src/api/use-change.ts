import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";

/** Runs a call that changes the data of the queries below `key`, and reloads them. */
export function useChange<Value = void, Result = unknown>(
  key: QueryKey | undefined,
  act: (value: Value) => Promise<Result>,
  onDone?: (result: Result) => unknown,
) {
  const queries = useQueryClient();
  return useMutation({
    // Reloads after a failure, too: the data shown may be stale.
    mutationFn: async (value: Value) => {
      try {
        return await act(value);
      } finally {
        if (key) await queries.invalidateQueries({ queryKey: key });
      }
    },
    onSuccess: (result) => onDone?.(result),
  });
}
